//! Where a case runs: a copy of the furnished shop, a server on a port of its own, letters that can be read, and browsers.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use merkato::{Context, Settings, context::SystemChance, settings::PasswordSettings};
use merkato_server::{
    config::JobsConfig,
    demo,
    http::{
        App, HttpSettings,
        mail::{Mail, Mailer},
        settings::{PagesSettings, RateSettings},
    },
    jobs::Jobs,
};
use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use widerow::{Database, Date, embedded::Embedded, time::SystemClock};

use crate::{browser::Browser, devtools, run::Stage};

const FURNISH_TIME_MAX: Duration = Duration::from_secs(300);
const CLOSE_TIME_MAX: Duration = Duration::from_secs(10);
const LETTER_TIME_MAX: Duration = Duration::from_secs(30);
const HASH_MEMORY_KIB: u32 = 8;

/// Nothing but the shop is reached, and no window is opened.
const FLAGS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-breakpad",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--hide-scrollbars",
    "--lang=en",
    // Elements know their accessible name, by which `scripts/find.js` finds them.
    "--enable-blink-features=ComputedAccessibilityInfo",
];

#[derive(Default)]
struct Letters(Mutex<Vec<Mail>>);

#[async_trait]
impl Mailer for Letters {
    async fn send(&self, mail: Mail) -> std::io::Result<()> {
        self.0.lock().expect("no panic").push(mail);
        Ok(())
    }
}

pub struct World {
    /// The shop, for what a case prepares or looks up behind the pages.
    pub ctx: Context,
    /// As `http://127.0.0.1:1234`.
    pub origin: String,
    /// The day on which the case began, which may be yesterday by now.
    pub began_on: Date,
    letters: Arc<Letters>,
    /// With the folder of each.
    browsers: Mutex<Vec<(Client, TempDir)>>,
    opener: Opener,
    axe: Option<Arc<str>>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
    jobs: Jobs,
    _folder: TempDir,
}

/// What it takes to open a browser.
struct Opener {
    driver: String,
    chromium: PathBuf,
    home: PathBuf,
}

impl World {
    pub async fn open(stage: &Stage) -> Self {
        let home = stage.home.path();
        let furnished = stage.shop.get_or_init(|| async { furnish(home) }).await;
        let folder = TempDir::new_in(home).expect("a folder");
        copy(furnished, folder.path()).expect("a copy of the shop");
        let schema = merkato::schema().expect("a schema");
        let database = Database::new(Embedded::open(folder.path(), &schema).expect("the shop"), schema);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let mut shop = Settings::default();
        shop.accounts.passwords =
            PasswordSettings { memory_kib: HASH_MEMORY_KIB, passes: 1, lanes: 1, at_once: 2, wait_seconds_max: 10 };
        let name = demo::SHOP_NAME.to_owned();
        let settings = HttpSettings {
            pages: PagesSettings { name, tagline: demo::SHOP_LINE.to_owned(), ..PagesSettings::default() },
            public_url: Some(origin.clone()),
            rate: RateSettings { requests_a_minute: 0, logins_a_minute: 0, ..RateSettings::default() },
            stop_seconds_max: 5,
            ..HttpSettings::default()
        };
        let letters = Arc::new(Letters::default());
        let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
        let app = App::new(database.clone(), shop, settings, clock, chance, letters.clone()).expect("an app");
        let contexts = app.contexts().expect("contexts");
        let ctx = contexts.first().expect("a shop").clone();
        let jobs = Jobs::start(&database, contexts, &JobsConfig::default());
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(async move {
            merkato_server::http::serve(app, listener, async { _ = stopped.await }).await.expect("served");
        });
        let opener = Opener {
            driver: stage.driver.url.clone(),
            chromium: stage.programs.chromium().to_owned(),
            home: home.to_owned(),
        };
        let (axe, browsers, began_on) = (stage.axe.clone(), Mutex::default(), ctx.now().date());
        World { ctx, origin, began_on, letters, browsers, opener, axe, stop, server, jobs, _folder: folder }
    }

    /// A browser that nobody has used.
    pub async fn browser(&self) -> Browser {
        self.open_browser(true).await
    }

    /// The same, with JavaScript off.
    pub async fn browser_without_javascript(&self) -> Browser {
        self.open_browser(false).await
    }

    async fn open_browser(&self, javascript: bool) -> Browser {
        let profile = TempDir::new_in(&self.opener.home).expect("a folder");
        let mut flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        let mut options = json!({ "binary": self.opener.chromium, "args": flags });
        if !javascript {
            options["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
        }
        let wanted = json!({
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        });
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(wanted.as_object().expect("an object").clone());
        let client = builder.connect(&self.opener.driver).await.expect("a browser");
        self.browsers.lock().expect("no panic").push((client.clone(), profile));
        Browser::new(client, self.origin.clone(), self.axe.clone()).await
    }

    /// The letter to an address after so many earlier ones; waits for it.
    pub async fn letter(&self, email: &str, earlier: usize) -> Mail {
        let end = Instant::now() + LETTER_TIME_MAX;
        loop {
            let found = {
                let letters = self.letters.0.lock().expect("no panic");
                letters.iter().filter(|mail| mail.to == email).nth(earlier).cloned()
            };
            match found {
                Some(mail) => return mail,
                None => assert!(Instant::now() < end, "no letter came to {email}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What the pages have complained of since it was asked last.
    pub async fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        for client in self.clients() {
            all.extend(devtools::complaints(&client).await.expect("a log"));
        }
        all
    }

    /// Pictures and sources of all pages that are open. What cannot be had any more is left out.
    pub async fn keep_evidence(&self, begin: &Path) {
        for (number, client) in self.clients().into_iter().enumerate() {
            let file = |ending: &str| format!("{}-{number}.{ending}", begin.display());
            let seen = tokio::time::timeout(CLOSE_TIME_MAX, async {
                (client.screenshot().await, client.source().await, client.current_url().await)
            });
            let Ok((picture, source, url)) = seen.await else { continue };
            let url = url.map(|url| url.to_string()).unwrap_or_default();
            let _ = picture.map(|png| std::fs::write(file("png"), png));
            let _ = source.map(|html| std::fs::write(file("html"), format!("<!-- {url} -->\n{html}")));
            eprintln!("{url} is kept as {}", file("png"));
        }
    }

    /// ORDER: the browsers first, so that no connection is left to wait for.
    pub async fn close(self) {
        let browsers = std::mem::take(&mut *self.browsers.lock().expect("no panic"));
        for (client, _profile) in browsers {
            let _ = tokio::time::timeout(CLOSE_TIME_MAX, client.close()).await;
        }
        let _ = self.stop.send(());
        let _ = self.server.await;
        self.jobs.stop().await;
    }

    fn clients(&self) -> Vec<Client> {
        self.browsers.lock().expect("no panic").iter().map(|(client, _)| client.clone()).collect()
    }
}

/// The first link of a letter.
pub fn link_in(mail: &Mail) -> String {
    let link = mail.text.split_whitespace().find(|word| word.starts_with("http"));
    link.unwrap_or_else(|| panic!("no link in: {}", mail.text)).to_owned()
}

/// Makes the shop as people do, by a process of its own: when that has ended, its folder is at rest and can be copied.
fn furnish(home: &Path) -> PathBuf {
    let folder = home.join("furnished");
    let mut command = Command::new(env!("CARGO_BIN_EXE_merkato"));
    command.env_clear().current_dir(home).args(["demo", "--only-make", "--folder"]).arg(&folder);
    // A password is guessed in no time here, and hashed in no time.
    for set in [format!("memory_kib={HASH_MEMORY_KIB}"), "passes=1".to_owned()] {
        command.args(["--set", &format!("shop.accounts.passwords.{set}")]);
    }
    let log = home.join("furnish.log");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(&log).expect("a log"));
    let mut child = command.spawn().expect("merkato");
    let end = Instant::now() + FURNISH_TIME_MAX;
    let status = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break Some(status),
            None if Instant::now() >= end => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let told = || std::fs::read_to_string(&log).unwrap_or_default();
    assert!(status.is_some_and(|status| status.success()), "the demo was not made: {status:?} {}", told());
    folder
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
