//! Where one is logged in.

use askama::Template;
use axum::response::Response;
use merkato::{accounts, id::SessionId};

use crate::{
    http::{Path, Problem, Visit, entry},
    web::{Form, Frame, Html, see_other, words},
};

#[derive(Template)]
#[template(path = "shop/account/sessions.html")]
pub struct SessionsPage {
    frame: Frame,
    sessions: Vec<SessionBox>,
}

struct SessionBox {
    id: SessionId,
    browser: String,
    address: String,
    since: String,
    seen: String,
    is_this: bool,
}

pub async fn list(visit: Visit, frame: Frame) -> Result<Html<SessionsPage>, Problem> {
    let actor = visit.person()?;
    let view = |session: accounts::UserSession| SessionBox {
        id: session.session_id,
        browser: browser(session.user_agent.as_deref().unwrap_or_default()),
        address: session.address,
        since: words::moment(session.created_at),
        seen: words::moment(session.last_seen_at),
        is_this: session.session_id == actor.session_id,
    };
    let found = accounts::list_sessions(&visit.ctx, actor.user_id).await?;
    Ok(Html(SessionsPage { frame, sessions: found.into_iter().map(view).collect() }))
}

/// What a browser says of itself, in a word or two: enough to tell one's own from another's.
fn browser(agent: &str) -> String {
    // ORDER: a browser names those that it wants to be taken for, too; the more particular ones come first.
    const BROWSERS: [(&str, &str); 6] = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ];
    const SYSTEMS: [(&str, &str); 6] = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    ];
    let find =
        |known: &[(&str, &'static str)]| known.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => "Another program".to_owned(),
    }
}

pub async fn end(visit: Visit, Path(id): Path<SessionId>, Form(_): Form) -> Result<Response, Problem> {
    let actor = visit.person()?;
    accounts::revoke_session(&visit.ctx, actor.user_id, id).await?;
    if id == actor.session_id {
        let mut response = see_other("/?notice=logged-out");
        response.headers_mut().extend(entry::forget_session(&visit));
        return Ok(response);
    }
    Ok(see_other("/account/sessions?notice=session-ended"))
}

pub async fn end_all(visit: Visit, Form(_): Form) -> Result<Response, Problem> {
    accounts::revoke_all_sessions(&visit.ctx, visit.person()?.user_id).await?;
    let mut response = see_other("/login?notice=logged-out-everywhere");
    response.headers_mut().extend(entry::forget_session(&visit));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::browser;

    #[test]
    fn a_browser_is_told_in_a_word_or_two() {
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36";
        assert_eq!(browser(chrome), "Chrome on Linux");
        assert_eq!(browser(&format!("{chrome} Edg/150.0")), "Edge on Linux");
        assert_eq!(browser(""), "Another program");
    }
}
