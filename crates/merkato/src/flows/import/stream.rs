//! The drafts of a source, in its order.

use std::{
    collections::HashMap,
    io::{Read, Seek},
    ops::ControlFlow,
    sync::Arc,
};

use tokio::sync::mpsc;
use widerow::Timestamp;

use super::{
    draft::{self, Draft},
    error::{Error, Result},
    gather::Gathered,
    mapping::{self, Field, Mapping, Plan},
    ops::Options,
    record::{Item, Place, Record},
    source,
};
use crate::{id::ProductId, limits};

/// What comes of some records.
pub(super) enum Step {
    Draft(Box<Draft>),
    Rejected { place: Place, id: Option<String>, records: usize, reason: String },
}

/// Twice through the source, on a thread that may block: how many records each product has, then the products, each as soon as it has all of them.
///
/// ORDER: the first time says whether the source can be read to its end, before anything is written.
pub(super) fn read(
    mut input: impl Read + Seek,
    options: &Options,
    now: Timestamp,
    steps: &mpsc::Sender<Step>,
) -> Result<()> {
    let mapping = options.mapping.clone().unwrap_or_default();
    let counts = count_records(&mut input, options, &mapping)?;
    let mut waiting: HashMap<ProductId, Vec<Record>> = HashMap::new();
    let mut ids = Ids::new(&mapping);
    // Whether anybody still waits for it.
    let mut wanted = true;
    let mut send = |step| {
        wanted = steps.blocking_send(step).is_ok();
        if wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    source::read(&mut input, options.format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return send(Step::Rejected { place, id: None, records: 1, reason }),
        };
        let Some(source_id) = ids.of(&record) else {
            let reason = "it has no id".into();
            return send(Step::Rejected { place: record.place, id: None, records: 1, reason });
        };
        let id = draft::product_id(&options.source, &source_id);
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
        let gathered = Gathered::new(&records, &mapping);
        send(match draft::draft(&gathered, &source_id, options, now) {
            Ok(draft) => Step::Draft(Box::new(draft)),
            Err(reason) => {
                Step::Rejected { place: gathered.place, id: Some(source_id), records: records.len(), reason }
            }
        })
    })?;
    if wanted && !waiting.is_empty() {
        return Err(Error::unreadable("it was changed while it was read"));
    }
    Ok(())
}

/// How often a product is in the source, and between which records.
struct Span {
    count: u32,
    first: u32,
    last: u32,
}

/// How many records each product has, where it has more than one; and whether the source makes sense at all.
fn count_records(
    input: &mut (impl Read + Seek),
    options: &Options,
    mapping: &Mapping,
) -> Result<HashMap<ProductId, u32>> {
    let mut spans: HashMap<ProductId, Span> = HashMap::new();
    let mut ids = Ids::new(mapping);
    let mut refused = None;
    let mut read: u32 = 0;
    source::read(input, options.format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(columns) => {
                let plan = Plan::new(&columns, mapping);
                refused = mapping::check_columns(&columns, mapping, &plan).err().map(Error::from);
                return if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
            Item::Bad(..) => return ControlFlow::Continue(()),
        };
        read += 1;
        if read > limits::IMPORT_RECORDS_MAX {
            refused = Some(Error::unreadable(format!("it has more than {} records", limits::IMPORT_RECORDS_MAX)));
            return ControlFlow::Break(());
        }
        if let Some(id) = ids.of(&record) {
            let id = draft::product_id(&options.source, &id);
            let span = spans.entry(id).or_insert(Span { count: 0, first: read, last: read });
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
        let reason =
            "too many products are scattered over it; sort it by its ids, so that their records stand together";
        return Err(Error::unreadable(reason));
    }
    Ok(spans.into_iter().map(|(id, span)| (id, span.count)).collect())
}

/// The most records that wait, at any time, for others of their products.
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
struct Ids<'a> {
    mapping: &'a Mapping,
    known: Option<(Arc<[String]>, Option<usize>)>,
}

impl<'a> Ids<'a> {
    fn new(mapping: &'a Mapping) -> Self {
        Ids { mapping, known: None }
    }

    fn of(&mut self, record: &Record) -> Option<String> {
        let at = match &self.known {
            Some((columns, at)) if Arc::ptr_eq(columns, &record.columns) => *at,
            _ => {
                let plan = Plan::new(&record.columns, self.mapping);
                let at = plan.columns.iter().position(|(field, _)| *field == Field::Id);
                self.known = Some((record.columns.clone(), at));
                at
            }
        };
        let id = record.values.get(at?)?.text().trim().to_owned();
        (!id.is_empty()).then_some(id)
    }
}
