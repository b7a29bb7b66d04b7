//! Customers who know each other, and what follows from it.

use std::collections::BTreeMap;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    graph::{self, Betweenness, ConnectionType, Edge, NewConnection},
    id::UserId,
};

use super::{AT_ONCE, Writing};
use crate::demo::{SEED, circles};

impl Writing {
    /// Who knows whom. What was made before, and what somebody has changed since, stays.
    pub(super) async fn circles(&self) -> anyhow::Result<()> {
        let (ctx, people) = (&self.ctx, self.people.ada.into_iter().chain(self.people.customers.iter().copied()));
        let people: Vec<UserId> = people.collect();
        let made = circles::circles(SEED, people.len());
        let (blocks, ties): (Vec<_>, Vec<_>) = made.ties.into_iter().partition(|tie| tie.kind == ConnectionType::Block);
        // ORDER: who is blocked already is not connected any more, which is no reason to fail.
        for ties in [ties, blocks] {
            let edges = ties.into_iter().map(|tie| Edge {
                user: people[tie.from],
                connection_type: tie.kind,
                other: people[tie.to],
                new: NewConnection {
                    strength: tie.strength,
                    metadata: (!tie.met.is_empty()).then(|| BTreeMap::from([("met".to_owned(), tie.met.to_owned())])),
                    created_at: None,
                },
            });
            for answer in graph::connect_many(ctx, edges.collect()).await? {
                match answer {
                    Ok(_) | Err(graph::Error::Blocked { .. }) => self.done.add(1),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let described = people.iter().zip(&made.likes).map(|(user, likes)| graph::describe_person(ctx, *user, likes));
        stream::iter(described.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await?;
        let suggested = people.iter().map(|user| graph::suggest(ctx, *user));
        stream::iter(suggested.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await?;
        graph::analyze(ctx, Betweenness::Exact, graph::unwatched()).await?;
        Ok(())
    }
}
