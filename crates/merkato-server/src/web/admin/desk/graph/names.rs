//! What people are called: the graph knows ids alone, and some of them are no customers.

use std::collections::HashMap;

use merkato::{Context, accounts, id::UserId};

use super::person_path;
use crate::{http::Problem, web::words};

/// Names by id.
pub(super) struct Names(HashMap<UserId, String>);

/// Somebody, with the way to their page.
#[derive(Clone, Debug)]
pub(super) struct Somebody {
    pub path: String,
    pub name: String,
}

impl Names {
    /// Those of these people, in one request.
    pub(super) async fn of(ctx: &Context, people: impl IntoIterator<Item = UserId>) -> Result<Self, Problem> {
        let mut people: Vec<UserId> = people.into_iter().collect();
        people.sort_unstable();
        people.dedup();
        let found = accounts::find_users(ctx, &people).await?;
        let named = people.into_iter().zip(found).filter_map(|(id, user)| Some((id, words::name_or_email(user?)?)));
        Ok(Names(named.collect()))
    }

    /// Whoever has no account is told by the end of the id, in which ids differ.
    pub(super) fn get(&self, user: UserId) -> String {
        self.0.get(&user).cloned().unwrap_or_else(|| {
            let id = user.to_string();
            format!("Somebody {}", &id[id.len().saturating_sub(8)..])
        })
    }

    pub(super) fn somebody(&self, user: UserId) -> Somebody {
        Somebody { path: person_path(user), name: self.get(user) }
    }
}

/// Whoever has the e-mail address or the id; what is wrong, in words, if nobody has.
pub(super) async fn find(ctx: &Context, text: &str) -> Result<Result<UserId, String>, Problem> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(Ok(UserId(id)));
    }
    match accounts::find_by_email(ctx, text).await {
        Ok(Some(found)) => Ok(Ok(found.user_id)),
        Ok(None) => Ok(Err(format!("Nobody has the e-mail address {text}."))),
        Err(accounts::Error::Invalid(_)) => Ok(Err(format!("“{text}” is neither a whole e-mail address nor an id."))),
        Err(error) => Err(error.into()),
    }
}
