//! Imports orders.

use std::{
    collections::BTreeSet,
    io::{Read, Seek},
};

use uuid::Uuid;

use super::{
    companion::{Companion, Companions},
    draft::{self, Draft},
    fields::OrderField,
    line::{self, Line, Row},
    write::Orders,
};
use crate::{
    check::{Check, Invalid},
    context::Context,
    flows::import::{
        error::Result,
        ids,
        mapping::{self, Fields as _, Mapping, Plans},
        record::{Place, Record},
        report::{Report, Sales},
        run,
        source::Format,
        stream::{Maker, Step},
        time::DateOrder,
    },
    limits,
    money::Currency,
    orders::OrderStatus,
};

/// How a source of orders is to be read.
#[derive(Clone, Debug)]
pub struct OrderOptions {
    /// The name of the source: the same order of the same source is the same order here, and its products are those of a
    /// catalog that is imported under this name.
    pub source: String,
    /// Of all amounts. A line in another is rejected.
    pub currency: Currency,
    /// Of the file of lines; companions have their own.
    pub format: Format,
    /// Columns whose names do not speak for themselves, of the lines and of their companions.
    pub mapping: Option<Mapping<OrderField>>,
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
    /// Of orders in a source without a column for it.
    pub status: OrderStatus,
    /// What the ids of cancellations begin with, as `C`: their quantities are below nought, and each is an order of its own
    /// that was cancelled.
    pub cancellation_prefix: Option<String>,
    /// Stands before the source's ids in the numbers of orders. Two sources that number alike need one; the shop's own
    /// numbers are never given to two orders, in any case.
    pub number_prefix: String,
    /// Of lines about which the source says nothing: a name, or a path as `Home > Garden`.
    pub category: String,
}

impl OrderOptions {
    pub fn new(source: impl Into<String>, currency: Currency) -> Self {
        OrderOptions {
            source: source.into(),
            currency,
            format: Format::Auto,
            mapping: None,
            dates: DateOrder::Unknown,
            status: OrderStatus::Delivered,
            cancellation_prefix: None,
            number_prefix: String::new(),
            category: "Uncategorised".into(),
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.currency("currency", &self.currency);
        check.line("category", &self.category, 1..=limits::NAME_BYTES_MAX);
        if !self.number_prefix.is_empty() {
            check.line("number_prefix", &self.number_prefix, 1..=limits::ORDER_NUMBER_BYTES_MAX);
        }
        let prefix = self.cancellation_prefix.as_deref();
        check.optional_line("cancellation_prefix", prefix, limits::ORDER_NUMBER_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Imports lines of orders, joined with companions in their order. Every line ends in the report, which is shown to
/// `on_progress` whenever it has grown.
///
/// Where it is stopped half-way, the same import again finds what is there and goes on.
pub async fn import_orders<R>(
    ctx: &Context,
    input: R,
    companions: Vec<Companion<R>>,
    options: OrderOptions,
    on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let open = move || Ok((Making::new(options, Companions::read(companions)?), input));
    let report = Report { sales: Some(Sales::default()), ..Report::default() };
    run::run(ctx, open, Orders, report, on_progress).await
}

pub(super) struct Making {
    options: OrderOptions,
    plans: Plans<OrderField>,
    companions: Companions,
    /// Columns without a home that were told already.
    told: BTreeSet<String>,
    id_column: Option<String>,
}

impl Making {
    pub(super) fn new(options: OrderOptions, companions: Companions) -> Self {
        let plans = Plans::new(options.mapping.clone());
        Making { options, plans, companions, told: BTreeSet::new(), id_column: None }
    }

    /// The line with its companions, and what is to be told of it.
    fn row(&mut self, record: Record, steps: &mut Vec<Step<Draft>>) -> Row {
        let (record, missing) = self.companions.join(record);
        steps.extend(missing.into_iter().map(|note| Step::Note(record.place, note)));
        let plan = self.plans.of(&record.columns);
        let homeless = record.columns.iter().zip(&plan.columns).zip(&record.values);
        let homeless = homeless.filter(|((_, (field, _)), value)| *field == OrderField::HOMELESS && !value.is_empty());
        for ((column, _), _) in homeless {
            if !self.told.contains(column) {
                self.told.insert(column.clone());
                steps.push(Step::Note(
                    record.place,
                    format!("the column {column} is left out: orders have no place for it"),
                ));
            }
        }
        self.id_column = plan.position(OrderField::Id).and_then(|at| record.columns.get(at).cloned());
        Row { record, plan }
    }
}

impl Maker for Making {
    type Field = OrderField;
    type Draft = Draft;

    fn format(&self) -> Format {
        self.options.format
    }

    fn mapping(&self) -> &Mapping<OrderField> {
        &self.plans.mapping
    }

    fn id(&self, source_id: &str) -> Uuid {
        ids::order(&self.options.source, source_id).0
    }

    fn check(&self, columns: &[String]) -> Result<(), Invalid> {
        self.companions.check(columns)?;
        mapping::check_columns(&self.companions.columns(columns), &self.plans.mapping)
    }

    /// Lines that are bad by themselves are rejected one by one; the others are an order, or are rejected with it.
    fn make(&mut self, source_id: &str, records: Vec<Record>) -> Vec<Step<Draft>> {
        let prefix = self.options.cancellation_prefix.as_deref();
        let is_cancellation = prefix.is_some_and(|prefix| source_id.starts_with(prefix));
        let mut steps = Vec::new();
        let mut lines: Vec<(Row, Line)> = Vec::new();
        let rejected = |place, records, reason, sum| Step::Rejected {
            place,
            id: Some(source_id.to_owned()),
            records,
            reason,
            sum,
        };
        for record in records {
            let row = self.row(record, &mut steps);
            match line::line(&row, &self.options, is_cancellation) {
                Ok(line) => lines.push((row, line)),
                Err((reason, sum)) => steps.push(rejected(row.record.place, 1, reason, sum)),
            }
        }
        let Some(place) = lines.first().map(|(row, _)| row.record.place) else { return steps };
        let sum = draft::as_read(draft::sum(lines.iter().map(|(_, line)| line)), is_cancellation);
        let records = lines.len();
        steps.push(match draft::draft(source_id, lines, &self.options, is_cancellation) {
            Ok(draft) => Step::Draft(Box::new(draft)),
            Err(reason) => rejected(place, records, reason, sum),
        });
        steps
    }

    fn end(&mut self) -> Vec<Step<Draft>> {
        let notes =
            self.companions.take_notes().into_iter().map(|(place, note): (Place, String)| Step::Note(place, note));
        let never = self.companions.never_joined(self.id_column.as_deref());
        notes.chain(never.into_iter().map(Step::WithoutLines)).collect()
    }
}
