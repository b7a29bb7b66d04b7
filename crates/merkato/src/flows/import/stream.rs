//! The drafts of a source, in its order.

use std::{
    collections::HashMap,
    io::{Read, Seek},
    ops::ControlFlow,
    sync::Arc,
};

use tokio::sync::mpsc;
use uuid::Uuid;

use super::{
    error::{Error, Result},
    mapping::{Fields, Mapping, Plan},
    record::{Item, Place, Record},
    report::Sum,
    source::{self, Format},
};
use crate::{check::Invalid, limits};

/// Makes drafts of records that belong together. Pure: it reads no store and no clock.
pub(super) trait Maker: Send + 'static {
    type Field: Fields;
    type Draft: Send + 'static;

    fn format(&self) -> Format;

    fn mapping(&self) -> &Mapping<Self::Field>;

    /// What the source's own id becomes.
    fn id(&self, source_id: &str) -> Uuid;

    /// Refuses a table of which nothing can be made.
    fn check(&self, columns: &[String]) -> Result<(), Invalid>;

    /// Of all the records with one id, in their order, at least one. Every record is in one of the steps.
    fn make(&mut self, source_id: &str, records: Vec<Record>) -> Vec<Step<Self::Draft>>;

    /// What is to be told when all of them are made.
    fn end(&mut self) -> Vec<Step<Self::Draft>> {
        Vec::new()
    }
}

/// What comes of some records.
pub(super) enum Step<D> {
    Draft(Box<D>),
    /// The sum is what they come to, as far as they can be read.
    Rejected {
        place: Place,
        id: Option<String>,
        records: usize,
        reason: String,
        sum: Sum,
    },
    Note(Place, String),
    /// An order that companions tell of, and no line.
    WithoutLines(String),
}

impl<D> Step<D> {
    fn unread(place: Place, reason: String) -> Self {
        Step::Rejected { place, id: None, records: 1, reason, sum: Sum::of_lines(1) }
    }
}

/// Twice through the source, on a thread that may block: how many records each id has, then the drafts, each as soon as all
/// its records are there.
///
/// ORDER: the first time says whether the source can be read to its end, before anything is written.
pub(super) fn read<M: Maker>(
    mut input: impl Read + Seek,
    maker: &mut M,
    steps: &mpsc::Sender<Step<M::Draft>>,
) -> Result<()> {
    let counts = count_records(&mut input, maker)?;
    let mut waiting: HashMap<Uuid, Vec<Record>> = HashMap::new();
    let mut ids = Ids::default();
    // Whether anybody still waits for it.
    let mut wanted = true;
    let mut send = |made: Vec<Step<M::Draft>>| {
        for step in made {
            wanted = wanted && steps.blocking_send(step).is_ok();
        }
        if wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    source::read(&mut input, maker.format(), &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return send(vec![Step::unread(place, reason)]),
        };
        let Some(source_id) = ids.of(&record, maker.mapping()) else {
            return send(vec![Step::unread(record.place, "it has no id".into())]);
        };
        let id = maker.id(&source_id);
        let expected = counts.get(&id).copied().unwrap_or(1);
        let records = if expected == 1 {
            vec![record]
        } else {
            let records = waiting.entry(id).or_default();
            records.push(record);
            if records.len() < expected as usize {
                return ControlFlow::Continue(());
            }
            waiting.remove(&id).unwrap_or_default()
        };
        send(maker.make(&source_id, records))
    })?;
    // What is left to tell is told to whoever still waits.
    if send(maker.end()).is_continue() && !waiting.is_empty() {
        return Err(Error::unreadable("it was changed while it was read"));
    }
    Ok(())
}

/// How often an id is in the source, and between which records.
struct Span {
    count: u32,
    first: u32,
    last: u32,
}

/// How many records each id has, where it has more than one; and whether the source makes sense at all.
fn count_records<M: Maker>(input: &mut (impl Read + Seek), maker: &M) -> Result<HashMap<Uuid, u32>> {
    let mut spans: HashMap<Uuid, Span> = HashMap::new();
    let mut ids = Ids::default();
    let mut refused = None;
    let mut read: u32 = 0;
    source::read(input, maker.format(), &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(columns) => {
                refused = maker.check(&columns).err().map(Error::from);
                return if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
            Item::Bad(..) => return ControlFlow::Continue(()),
        };
        read += 1;
        if read > limits::IMPORT_RECORDS_MAX {
            refused = Some(Error::unreadable(format!("it has more than {} records", limits::IMPORT_RECORDS_MAX)));
            return ControlFlow::Break(());
        }
        if let Some(id) = ids.of(&record, maker.mapping()) {
            let span = spans.entry(maker.id(&id)).or_insert(Span { count: 0, first: read, last: read });
            span.count += 1;
            span.last = read;
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = refused {
        return Err(error);
    }
    spans.retain(|_, span| span.count > 1);
    if most_waiting(spans.values()) > limits::IMPORT_WAITING_MAX {
        let reason = "records of too many ids are scattered over it; sort it by its ids, so that they stand together";
        return Err(Error::unreadable(reason));
    }
    Ok(spans.into_iter().map(|(id, span)| (id, span.count)).collect())
}

/// The most records that wait, at any time, for others with their ids.
fn most_waiting<'a>(spans: impl Iterator<Item = &'a Span>) -> u64 {
    let ends = |span: &Span| [(span.first, i64::from(span.count)), (span.last, -i64::from(span.count))];
    let mut changes: Vec<(u32, i64)> = spans.flat_map(ends).collect();
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |waiting, (_, change)| {
        *waiting += change;
        Some(*waiting)
    });
    sums.max().and_then(|most| u64::try_from(most).ok()).unwrap_or(0)
}

/// Finds the source's own id of a record. The rows of a table share their columns, so that it is looked for once.
#[derive(Default)]
struct Ids {
    known: Option<(Arc<[String]>, Option<usize>)>,
}

impl Ids {
    fn of<F: Fields>(&mut self, record: &Record, mapping: &Mapping<F>) -> Option<String> {
        let at = match &self.known {
            Some((columns, at)) if Arc::ptr_eq(columns, &record.columns) => *at,
            _ => {
                let at = Plan::new(&record.columns, mapping).position(F::ID);
                self.known = Some((record.columns.clone(), at));
                at
            }
        };
        let id = record.values.get(at?)?.text().trim().to_owned();
        (!id.is_empty()).then_some(id)
    }
}
