//! Letters: to verify an address, to reset a password. They are sent in the background, in turn, so that nobody learns from
//! the time of an answer whether one was sent.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use merkato::{context::Chance, text::hex};
use tokio::sync::mpsc;
use widerow::time::Clock;

use super::settings::HttpSettings;

/// A letter to one person. A log is no place for it: a token is in it.
#[derive(Clone)]
pub struct Mail {
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Whoever takes letters away.
#[async_trait]
pub trait Mailer: Send + Sync + 'static {
    async fn send(&self, mail: Mail) -> std::io::Result<()>;
}

/// The queue of letters.
pub struct Post {
    letters: mpsc::Sender<Mail>,
    /// Until it has begun.
    carrier: Mutex<Option<Carrier>>,
}

/// Takes letters out of the queue, one after the other.
struct Carrier {
    letters: mpsc::Receiver<Mail>,
    mailer: Arc<dyn Mailer>,
}

impl Post {
    pub fn new(mailer: Arc<dyn Mailer>, letters_max: usize) -> Self {
        let (sender, letters) = mpsc::channel(letters_max);
        Post { letters: sender, carrier: Mutex::new(Some(Carrier { letters, mailer })) }
    }

    /// Puts a letter into the queue. Where it is full, the letter is dropped, and the log says so: the person asks again.
    pub fn send(&self, mail: Mail) {
        self.begin();
        if self.letters.try_send(mail).is_err() {
            tracing::error!("a letter was dropped, as too many are waiting");
        }
    }

    /// Waits until the last letter has been taken out of the queue.
    pub async fn rest(&self) {
        let _ = self.letters.reserve_many(self.letters.max_capacity()).await;
    }

    /// The carrier begins with the first letter, when there is a runtime to run it.
    fn begin(&self) {
        let mut carrier = self.carrier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut carrier) = carrier.take() {
            tokio::spawn(async move {
                while let Some(mail) = carrier.letters.recv().await {
                    if let Err(error) = carrier.mailer.send(mail).await {
                        tracing::error!(%error, "a letter could not be sent");
                    }
                }
            });
        }
    }
}

/// Writes letters as `.eml` files into a folder, for whatever sends them. Without a folder it drops them, and says so.
pub struct Folder {
    folder: Option<PathBuf>,
    from: String,
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
}

impl Folder {
    pub fn new(settings: &HttpSettings, clock: Arc<dyn Clock>, chance: Arc<dyn Chance>) -> Self {
        Folder { folder: settings.mail.folder.clone(), from: settings.mail.from.clone(), clock, chance }
    }
}

#[async_trait]
impl Mailer for Folder {
    async fn send(&self, mail: Mail) -> std::io::Result<()> {
        let Some(folder) = self.folder.clone() else {
            tracing::warn!("a letter was written and dropped, as http.mail.folder is not set");
            return Ok(());
        };
        let now = self.clock.now();
        let mut random = [0; 8];
        self.chance.fill(&mut random);
        let name = format!("{}-{}", now.millis(), hex(&random));
        let Mail { to, subject, text } = mail;
        let from = &self.from;
        let eml = format!(
            "From: {from}\r\nTo: {to}\r\nSubject: {subject}\r\nDate: {}\r\nMIME-Version: 1.0\r\n\
             Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{}",
            http_date(now),
            text.replace('\n', "\r\n"),
        );
        let written = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            // ORDER: under another name first, so that whoever sends finds whole letters only.
            let unfinished = folder.join(format!(".{name}"));
            std::fs::write(&unfinished, eml)?;
            std::fs::rename(unfinished, folder.join(format!("{name}.eml")))
        });
        written.await.map_err(std::io::Error::other)?
    }
}

/// As RFC 5322 has it, in UTC.
fn http_date(now: widerow::Timestamp) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = now.to_string();
    let part = |range| text.get(range).unwrap_or_default();
    let month = part(5..7).parse().ok().and_then(|month: usize| MONTHS.get(month.wrapping_sub(1))).unwrap_or(&"Jan");
    format!("{} {month} {} {} +0000", part(8..10), part(0..4), part(11..19))
}
