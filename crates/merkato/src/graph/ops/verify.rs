//! Whether everybody has as many connections as were counted. What follows from pairs is verified by the data layer.

use std::collections::HashMap;

use super::{
    lists::{list_connections, list_followers},
    people::get_person,
};
use crate::{
    context::Context,
    graph::{
        error::Result,
        tables::{ConnectionType, Degree, Pair, Person},
    },
    id::UserId,
    limits,
    pattern::PageRequest,
};

/// Looks at a person whose connections change meanwhile.
const LOOKS_MAX: usize = 5;
/// Wrong people that a report lists.
const LISTED_MAX: usize = 100;

/// What a look at the graph found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphReport {
    pub pairs: u64,
    pub people: u64,
    /// Pairs whose last change is not counted yet, which is no error: `settle_counts` does.
    pub uncounted: u64,
    pub wrong_people: u64,
    /// The first of them.
    pub wrong: Vec<WrongPerson>,
}

/// Somebody who has more or fewer connections than were counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPerson {
    pub user_id: UserId,
    pub counted: Degree,
    pub found: Degree,
}

/// Looks at every pair and everybody. It keeps some hundred bytes for each person.
pub async fn verify_graph(ctx: &Context) -> Result<GraphReport> {
    let mut report = GraphReport::default();
    let mut found: HashMap<UserId, Degree> = HashMap::new();
    ctx.for_each_row::<Pair>(|pair| {
        report.pairs += 1;
        let (mut low, mut high) = pair.degrees();
        if let Some(uncounted) = pair.uncounted {
            report.uncounted += 1;
            (low, high) = (low.plus(-uncounted.low), high.plus(-uncounted.high));
        }
        for (user, degree) in [(pair.low_user_id, low), (pair.high_user_id, high)] {
            let sum = found.entry(user).or_default();
            *sum = sum.plus(degree);
        }
    })
    .await?;
    let mut wrong: Vec<UserId> = Vec::new();
    ctx.for_each_row::<Person>(|person| {
        report.people += 1;
        if found.remove(&person.user_id).unwrap_or_default() != person.degree {
            wrong.push(person.user_id);
        }
    })
    .await?;
    wrong.extend(found.into_iter().filter(|(_, degree)| *degree != Degree::default()).map(|(user, _)| user));
    // It may have changed between the two walks: each is looked at by itself.
    for user in wrong {
        if let Some(wrong) = look(ctx, user).await? {
            report.wrong_people += 1;
            if report.wrong.len() < LISTED_MAX {
                report.wrong.push(wrong);
            }
        }
    }
    Ok(report)
}

async fn look(ctx: &Context, user: UserId) -> Result<Option<WrongPerson>> {
    let mut last = None;
    for _ in 0..LOOKS_MAX {
        let before = get_person(ctx, user).await?.degree;
        let found = listed(ctx, user).await?;
        let after = get_person(ctx, user).await?.degree;
        if before == found || after == found {
            return Ok(None);
        }
        let wrong = WrongPerson { user_id: user, counted: after, found };
        // Twice the same, and nothing has changed between.
        if before == after && last.as_ref() == Some(&wrong) {
            return Ok(Some(wrong));
        }
        last = Some(wrong);
    }
    Ok(None)
}

/// How many connections the lists of somebody have.
async fn listed(ctx: &Context, user: UserId) -> Result<Degree> {
    let mut degree = Degree::default();
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let some = list_connections(ctx, user, None, page).await?;
        for row in some.rows {
            match row.connection_type {
                ConnectionType::Friend => degree.friends += 1,
                ConnectionType::Follow => degree.following += 1,
                ConnectionType::Colleague => degree.colleagues += 1,
                ConnectionType::Block => degree.blocked += 1,
            }
        }
        match some.next {
            Some(next) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) },
            None => break,
        }
    }
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let some = list_followers(ctx, user, None, page).await?;
        for row in some.rows {
            match row.connection_type {
                ConnectionType::Follow => degree.followers += 1,
                ConnectionType::Colleague => degree.colleague_of += 1,
                ConnectionType::Friend | ConnectionType::Block => {}
            }
        }
        match some.next {
            Some(next) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) },
            None => return Ok(degree),
        }
    }
}
