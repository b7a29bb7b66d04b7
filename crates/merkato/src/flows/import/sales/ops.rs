//! Reads a source on a thread of its own and records its sales, many at once.

use std::{
    collections::BTreeSet,
    io::{Read, Seek},
    ops::ControlFlow,
};

use super::{fields::SaleField, read::Reading};
use crate::{
    check::Check,
    context::Context,
    flows::import::{
        error::Result,
        heaps::{Heaps, Step, Steps, check_source},
        mapping::{Fields as _, Mapping},
        record::{Item, Place},
        report::Report,
        source::{self, Format},
        time::DateOrder,
    },
    limits,
    money::Currency,
    sales::{self, NewSale, Restored},
};

/// How a source of sales is to be read.
#[derive(Clone, Debug)]
pub struct SaleOptions {
    /// The name of the source: a record without an id is the same sale in the same source only.
    pub source: String,
    /// Of all amounts. A record in another is rejected.
    pub currency: Currency,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<SaleField>>,
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
    /// Of sales about which the source says nothing.
    pub category: String,
}

impl SaleOptions {
    pub fn new(source: impl Into<String>, currency: Currency) -> Self {
        SaleOptions {
            source: source.into(),
            currency,
            format: Format::Auto,
            mapping: None,
            dates: DateOrder::Unknown,
            category: "uncategorised".into(),
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.currency("currency", &self.currency);
        check.line("category", &self.category, 1..=limits::SALE_NAME_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Sales that are recorded together.
const TOGETHER: usize = 1_000;

/// Imports sales. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is stopped
/// half-way, the same import again finds what is there and goes on.
pub async fn import_sales<R>(
    ctx: &Context,
    input: R,
    options: SaleOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let mut heaps = Heaps::of(move |steps| read(input, options, steps));
    let mut report = Report::default();
    while let Some(sales) = heaps.next(&mut report, &mut on_progress).await {
        write(ctx, sales, &mut report).await?;
        on_progress(&report);
    }
    heaps.end().await?;
    report.sort();
    Ok(report)
}

async fn write(ctx: &Context, sales: Vec<(Place, NewSale)>, report: &mut Report) -> Result<()> {
    let (places, sales): (Vec<(Place, String)>, Vec<NewSale>) =
        sales.into_iter().map(|(place, sale)| ((place, sale.sale_id.clone()), sale)).unzip();
    for ((place, id), answer) in places.into_iter().zip(sales::restore_sales(ctx, sales).await?) {
        report.count(1);
        match answer {
            Ok(Restored::Created) => report.created += 1,
            Ok(Restored::Changed) => report.changed += 1,
            Ok(Restored::Unchanged) => report.unchanged += 1,
            Err(error) if error.kind().is_failure() => return Err(error.into()),
            Err(error) => report.reject(place, Some(id), error.to_string()),
        }
    }
    Ok(())
}

/// Twice through the source: whether it can be read to its end, before anything is written; then its sales.
fn read(mut input: impl Read + Seek, options: SaleOptions, steps: &Steps<Vec<(Place, NewSale)>>) -> Result<()> {
    let (mapping, format) = (options.mapping.clone().unwrap_or_default(), options.format);
    check_source(&mapping, |each| source::read(&mut input, format, each))?;
    let mut reading = Reading::new(options);
    let mut waiting: Vec<(Place, NewSale)> = Vec::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    source::read(&mut input, format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return steps.send(Step::Rejected(place, None, reason)),
        };
        let plan = reading.plans.of(&record.columns);
        let cells = record.columns.iter().zip(&plan.columns).zip(&record.values);
        for ((column, (field, _)), value) in cells {
            if *field == SaleField::HOMELESS && !value.is_empty() && told.insert(column.clone()) {
                let note = format!("the column {column} is left out: sales have no place for it");
                steps.send(Step::Note(record.place, note))?;
            }
        }
        match reading.sale(&record) {
            Ok(sale) => waiting.push((record.place, sale)),
            Err(reason) => return steps.send(Step::Rejected(record.place, None, reason)),
        }
        if waiting.len() < TOGETHER {
            return ControlFlow::Continue(());
        }
        steps.send(Step::Heap(std::mem::take(&mut waiting)))
    })?;
    if !waiting.is_empty() {
        let _ = steps.send(Step::Heap(waiting));
    }
    Ok(())
}
