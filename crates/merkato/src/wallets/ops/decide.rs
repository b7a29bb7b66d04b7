//! How wishes to a wallet are decided: those that come together, in one guarded commit of its stream.

use std::{borrow::Cow, collections::HashMap};

use uuid::Uuid;
use widerow::key::Tenant;

use crate::{
    combine::Combiner,
    context::Context,
    events::{self, Change, Event, Stream},
    id::{EventId, UserId},
    limits,
    wallets::{
        error::{Error, Result},
        rules::{self, Decision, KIND, Told, Wallet, Wish},
    },
};

/// One writer a process and wallet: a conditional write for each who wants the same wallet would make them fight.
pub(crate) struct WalletWriter(Combiner<(Tenant, UserId), Wish, Result<Decision>>);

impl Default for WalletWriter {
    fn default() -> Self {
        WalletWriter(Combiner::new(limits::WALLET_WISHES_TOGETHER_MAX, limits::WALLET_WISHES_WAITING_MAX))
    }
}

/// What comes of a wish, decided with those that wait for the same wallet in this process.
pub(super) async fn submit(ctx: &Context, user: UserId, wish: Wish) -> Result<Told> {
    decide_soon(ctx, user, wish).await.map(Decision::into_told)
}

async fn decide_soon(ctx: &Context, user: UserId, wish: Wish) -> Result<Decision> {
    let own = ctx.clone();
    let decide = move |(_, user), wishes: Vec<Wish>, _| {
        let ctx = own.clone();
        async move {
            let answers = decide_together(&ctx, user, &wishes).await;
            Ok(answers.unwrap_or_else(|error| wishes.iter().map(|_| Err(error.clone())).collect()))
        }
    };
    ctx.wallet_writer.0.submit((ctx.store.tenant().clone(), user), wish, decide).await?
}

/// What the deciding came to.
enum Decided {
    Answers(Vec<Result<Decision>>),
    /// Versions of events that must be read to answer who asks again.
    Wanted(Vec<i64>),
}

/// Decides the wishes in their order, each on what the ones before it left; all that is told is told in one commit.
///
/// RACE: two who want the last of it, in two processes. All that is decided rests on one version of the stream, and is written
/// only if it still has that version; otherwise it is decided again.
pub(super) async fn decide_together(ctx: &Context, user: UserId, wishes: &[Wish]) -> Result<Vec<Result<Decision>>> {
    let stream = rules::stream_of(user);
    let mut ids: HashMap<EventId, Uuid> = HashMap::new();
    for operation in wishes.iter().flat_map(Wish::operations) {
        ids.insert(rules::event_of(user, operation), operation);
    }
    let given: Vec<EventId> = ids.keys().copied().collect();
    // Entries never change: what was read of them is good for every try.
    let mut read: HashMap<i64, Told> = HashMap::new();
    loop {
        let decide = |stream: &Stream| decide(user, wishes, stream, &ids, &read);
        match events::change::<_, Error>(ctx, stream, KIND, &given, decide).await?.answer {
            Decided::Answers(answers) => return Ok(answers),
            Decided::Wanted(versions) => {
                let keys = versions.iter().map(|version| (stream, events::block_of(*version), *version));
                for event in ctx.store.get_many::<Event>(keys).await?.into_iter().flatten() {
                    read.insert(event.event_version, told(&event)?);
                }
                if let Some(version) = versions.iter().find(|version| !read.contains_key(*version)) {
                    let detail = format!("version {version} of {stream} is not there");
                    return Err(widerow::Error::corrupt("event_log", detail).into());
                }
            }
        }
    }
}

fn decide(
    user: UserId,
    wishes: &[Wish],
    stream: &Stream,
    ids: &HashMap<EventId, Uuid>,
    read: &HashMap<i64, Told>,
) -> Result<Change<'static, Decided>> {
    let wanted = stream.known.values().map(|row| row.event_version).filter(|version| !read.contains_key(version));
    let wanted: Vec<i64> = wanted.collect();
    if !wanted.is_empty() {
        return Ok(Change { events: Cow::default(), state: None, answer: Decided::Wanted(wanted) });
    }
    let known =
        stream.known.iter().filter_map(|(id, row)| Some((*ids.get(id)?, read.get(&row.event_version)?.clone())));
    let mut known: HashMap<Uuid, Told> = known.collect();
    let mut wallet = wallet_of(user, stream.state())?;
    let (mut events, mut answers) = (Vec::new(), Vec::with_capacity(wishes.len()));
    for wish in wishes {
        let decided = rules::decide(&wallet, wish, &known);
        if let Ok(Decision::Tell(told)) = &decided {
            rules::apply(&mut wallet, told);
            events.push(wish.event(told));
            known.insert(told.entry.operation_id, told.clone());
        }
        answers.push(decided);
    }
    let state = serde_json::to_string(&wallet).map_err(|error| corrupt(format!("{error}")))?;
    Ok(Change { events: events.into(), state: Some(state), answer: Decided::Answers(answers) })
}

/// The wallet as it stands beside its stream; an empty one where there is none.
pub(super) fn wallet_of(user: UserId, state: Option<&str>) -> Result<Wallet> {
    match state {
        Some(state) => serde_json::from_str(state).map_err(|error| corrupt(format!("the wallet of {user}: {error}"))),
        None => Ok(Wallet::new(user)),
    }
}

pub(super) fn told(event: &Event) -> Result<Told> {
    Told::of(event).map_err(|problem| {
        let (aggregate, version) = (event.aggregate_id, event.event_version);
        Error::Events(events::Error::Unreadable { aggregate, version, problem })
    })
}

fn corrupt(detail: String) -> Error {
    widerow::Error::corrupt("event_streams", detail).into()
}
