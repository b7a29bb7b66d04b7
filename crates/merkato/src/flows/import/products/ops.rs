//! Imports products.

use std::io::{Read, Seek};

use uuid::Uuid;
use widerow::Timestamp;

use super::{
    draft::{self, Draft},
    fields::Field,
    gather::Gathered,
    write::Products,
};
use crate::{
    catalog::ProductStatus,
    check::{Check, Invalid},
    context::Context,
    flows::import::{
        error::Result,
        ids,
        mapping::{self, Mapping},
        record::Record,
        report::{Report, Sum},
        run,
        source::Format,
        stream::{Maker, Step},
    },
    limits,
    money::Currency,
};

/// How a source is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the source: the same product of the same source is the same product here.
    pub source: String,
    /// Of all prices, unless a column says otherwise.
    pub currency: Currency,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping>,
    /// Of products about which the source says nothing.
    pub status: ProductStatus,
    /// Of products about which the source says nothing: a name, or a path as `Home > Garden`.
    pub category: String,
}

impl Options {
    pub fn new(source: impl Into<String>, currency: Currency) -> Self {
        Options {
            source: source.into(),
            currency,
            format: Format::Auto,
            mapping: None,
            status: ProductStatus::Active,
            category: "Uncategorised".into(),
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.currency("currency", &self.currency);
        check.line("category", &self.category, 1..=limits::NAME_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Imports a source. Every record ends in the report, which is shown to `on_progress` whenever it has grown.
///
/// Where it is stopped half-way, the same import again finds what is there and goes on.
pub async fn import_products<R>(
    ctx: &Context,
    input: R,
    options: Options,
    on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let mapping = options.mapping.clone().unwrap_or_default();
    let maker = Making { options, mapping, now: ctx.now() };
    run::run(ctx, move || Ok((maker, input)), Products, Report::default(), on_progress).await
}

struct Making {
    options: Options,
    mapping: Mapping,
    now: Timestamp,
}

impl Maker for Making {
    type Field = Field;
    type Draft = Draft;

    fn format(&self) -> Format {
        self.options.format
    }

    fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    fn id(&self, source_id: &str) -> Uuid {
        ids::product(&self.options.source, source_id).0
    }

    fn check(&self, columns: &[String]) -> Result<(), Invalid> {
        mapping::check_columns(columns, &self.mapping)
    }

    fn make(&mut self, source_id: &str, records: Vec<Record>) -> Vec<Step<Draft>> {
        let gathered = Gathered::new(&records, &self.mapping);
        vec![match draft::draft(&gathered, source_id, &self.options, self.now) {
            Ok(draft) => Step::Draft(Box::new(draft)),
            Err(reason) => Step::Rejected {
                place: gathered.place,
                id: Some(source_id.to_owned()),
                records: records.len(),
                reason,
                sum: Sum::default(),
            },
        }]
    }
}
