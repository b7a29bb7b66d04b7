//! What people are called: the graph knows ids alone, and some of them are no customers.

use std::collections::HashMap;

use merkato::{accounts, id::UserId, keys::Scope::CustomersRead};

use super::{super::may, person_path};
use crate::{
    http::{Problem, Visit},
    web::words,
};

/// Names by id.
pub(super) struct Names(HashMap<UserId, String>);

/// Somebody, with the way to their page.
#[derive(Clone, Debug)]
pub(super) struct Somebody {
    pub path: String,
    pub name: String,
}

impl Names {
    /// Those of these people, in one request. A key that is not for customers is told none.
    pub(super) async fn of(visit: &Visit, people: impl IntoIterator<Item = UserId>) -> Result<Self, Problem> {
        if !may(visit, CustomersRead) {
            return Ok(Names(HashMap::new()));
        }
        let mut people: Vec<UserId> = people.into_iter().collect();
        people.sort_unstable();
        people.dedup();
        let found = accounts::find_users(&visit.ctx, &people).await?;
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

/// Whoever has the e-mail address or the id; what is wrong, in words, if nobody has. Who has an address is told to nobody whose
/// key is not for customers.
pub(super) async fn find(visit: &Visit, text: &str) -> Result<Result<UserId, String>, Problem> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(Ok(UserId(id)));
    }
    if !may(visit, CustomersRead) {
        return Ok(Err(format!("“{text}” is no id, and this key finds nobody by an e-mail address.")));
    }
    match accounts::find_by_email(&visit.ctx, text).await {
        Ok(Some(found)) => Ok(Ok(found.user_id)),
        Ok(None) => Ok(Err(format!("Nobody has the e-mail address {text}."))),
        Err(accounts::Error::Invalid(_)) => Ok(Err(format!("“{text}” is neither a whole e-mail address nor an id."))),
        Err(error) => Err(error.into()),
    }
}
