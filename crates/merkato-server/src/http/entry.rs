//! Coming in and going out, for the API and for the pages alike: registering, logging in and out, letters.
//!
//! Nobody learns here whether an address has an account: the answers are the same, and so is the time they take. What differs
//! is told by a letter, to who reads the address's letters.

use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue, header};
use merkato::{
    accounts::{self, Again, Letter, LoggedIn, NewUser},
    carts::{self, MergePolicy, Shopper},
    flows,
};

use super::{App, Problem, Visit, Who, cookies, mail::Mail, v1::carts::let_go, who::By};

/// Answers that must not tell of what they did come at multiples of this.
const EVEN: Duration = Duration::from_millis(250);

async fn even_out(began: Instant) {
    let over = began.elapsed().as_millis() % EVEN.as_millis();
    let rest = EVEN.as_millis() - over;
    tokio::time::sleep(Duration::from_millis(u64::try_from(rest).unwrap_or(0))).await;
}

/// Registers, and sends a letter to the address, whether or not somebody has registered with it before. The letter is counted in
/// either case, or the count would tell a stranger which of them it was.
pub async fn register(app: &App, visit: &Visit, new: NewUser) -> Result<(), Problem> {
    let began = Instant::now();
    let email = new.email.clone();
    match accounts::register(&visit.ctx, new).await {
        Ok(registered) => match accounts::count_letter(&visit.ctx, &email, &counted_as(&email)).await {
            Ok(()) => app.post().send(verification(visit, registered.letter)),
            Err(error) => no_letter(&error),
        },
        Err(accounts::Error::EmailTaken) => register_again(app, visit, &email).await,
        Err(error) => return Err(error.into()),
    }
    even_out(began).await;
    Ok(())
}

async fn register_again(app: &App, visit: &Visit, email: &str) {
    let mail = match accounts::register_again(&visit.ctx, email, &counted_as(email)).await {
        Ok(Again::Verify(letter)) => verification(visit, letter),
        Ok(Again::Choose(letter)) => {
            let link = link(visit, "/password-reset", letter.token.as_str());
            let text = format!(
                "This address was registered with more than once. Choose the password of its account:\n\n{link}\n\nIf you did \
                 not register, do nothing.\n"
            );
            Mail { to: letter.email, subject: "Choose your password".into(), text }
        }
        Ok(Again::Known) => Mail {
            to: accounts::fold_email(email),
            subject: "You have an account already".into(),
            text: "Somebody, perhaps you, wanted to register with this address. It has an account: log in, or ask for \
                   a new password.\n"
                .into(),
        },
        Err(error) => return no_letter(&error),
    };
    app.post().send(mail);
}

/// Sends the letter of one who has registered once more. Whoever has no account, or has verified the address, gets none.
pub async fn send_verification(app: &App, visit: &Visit, email: &str) {
    let began = Instant::now();
    match accounts::request_verification(&visit.ctx, email, &counted_as(email)).await {
        Ok(Some(letter)) => app.post().send(verification(visit, letter)),
        Ok(None) => {}
        Err(error) => no_letter(&error),
    }
    even_out(began).await;
}

/// Attempts at letters are counted by the address alone, not against the client: whoever tries many addresses would learn
/// from its own count which of them are known.
fn counted_as(email: &str) -> String {
    format!("register {}", accounts::fold_email(email))
}

/// Too many letters went there of late, or the store does not answer: the person asks again.
fn no_letter(error: &accounts::Error) {
    tracing::info!(code = error.code(), "no letter was sent");
}

/// Sends a letter for who has forgotten the password, if the address has an account.
pub async fn request_password_reset(app: &App, visit: &Visit, email: &str) -> Result<(), Problem> {
    let began = Instant::now();
    let letter = accounts::request_password_reset(&visit.ctx, email, &visit.client.address).await?;
    if let Some(letter) = letter {
        let link = link(visit, "/password-reset", letter.token.as_str());
        let text = format!("Choose a new password:\n\n{link}\n\nIf you did not ask for it, do nothing.\n");
        app.post().send(Mail { to: letter.email, subject: "A new password".into(), text });
    }
    even_out(began).await;
    Ok(())
}

/// Sends a letter to the address that a person wants to have from now on. Nothing changes before it is answered.
pub async fn request_email_change(app: &App, visit: &Visit, password: &str, email: &str) -> Result<(), Problem> {
    let (user, address) = (visit.person()?.user_id, &visit.client.address);
    accounts::confirm_password(&visit.ctx, user, password, address).await?;
    let letter = accounts::request_email_change(&visit.ctx, user, email, address).await?;
    let link = link(visit, "/account/email", letter.token.as_str());
    let text = format!("Make this the address of your account:\n\n{link}\n\nIf you did not ask for it, do nothing.\n");
    app.post().send(Mail { to: letter.email, subject: "Your new e-mail address".into(), text });
    Ok(())
}

fn verification(visit: &Visit, letter: Letter) -> Mail {
    let link = link(visit, "/verify", letter.token.as_str());
    let text = format!("Show that this address is yours:\n\n{link}\n\nIf you did not register, do nothing.\n");
    Mail { to: letter.email, subject: "Verify your e-mail address".into(), text }
}

/// Where a letter leads to; the token alone where it is not known how people reach the server.
fn link(visit: &Visit, path: &str, token: &str) -> String {
    match &visit.origin {
        Some(origin) => format!("{origin}{path}?token={token}"),
        None => token.to_owned(),
    }
}

/// Always opens a new session, and takes the guest's cart along that comes with the request. The headers set the cookies.
pub async fn log_in(visit: &Visit, email: &str, password: &str) -> Result<(LoggedIn, HeaderMap), Problem> {
    let entered = accounts::log_in(&visit.ctx, email, password, &visit.client).await?;
    // The session that the browser had before is not used any more; a program that shows another's token keeps it.
    if let Who::Person { actor, by: By::Cookie } = &visit.who {
        accounts::revoke_session(&visit.ctx, actor.user_id, actor.session_id).await?;
    }
    // One is logged in, whatever becomes of the carts; the next login tries again.
    if let Err(error) = flows::person::show_email(&visit.ctx, &entered.user).await {
        tracing::warn!(code = error.code(), "the address is not shown beside the carts");
    }
    let mut headers = session_cookie(visit, &entered);
    if let Some(guest) = &visit.guest {
        // What is kept for either cart must not be in the way of what they become.
        for shopper in [Shopper::Guest(guest.clone()), Shopper::User(entered.actor.user_id)] {
            let_go(visit, &shopper).await;
        }
        match carts::merge_guest_cart(&visit.ctx, entered.actor.user_id, guest, MergePolicy::Max).await {
            Ok(_) => {
                let forgotten = cookies::set(cookies::GUEST, "", 0, visit.secure);
                forgotten.into_iter().for_each(|cookie| _ = headers.append(header::SET_COOKIE, cookie));
            }
            // One is logged in nevertheless. The token is still good for another try.
            Err(error) => tracing::warn!(code = error.code(), "a guest's cart could not be merged"),
        }
    }
    Ok((entered, headers))
}

/// The cookie of a session that was just opened, in an answer that nobody keeps.
pub fn session_cookie(visit: &Visit, entered: &LoggedIn) -> HeaderMap {
    let seconds = (entered.expires_at.millis() - visit.ctx.now().millis()) / 1_000;
    let cookie = cookies::set(cookies::SESSION, entered.token.as_str(), seconds, visit.secure);
    let mut headers = HeaderMap::new();
    headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
}

/// Ends the session. The headers take its cookie away.
pub async fn log_out(visit: &Visit) -> Result<HeaderMap, Problem> {
    let actor = visit.person()?;
    accounts::revoke_session(&visit.ctx, actor.user_id, actor.session_id).await?;
    Ok(forget_session(visit))
}

pub fn forget_session(visit: &Visit) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.extend(cookies::set(cookies::SESSION, "", 0, visit.secure).map(|cookie| (header::SET_COOKIE, cookie)));
    headers
}
