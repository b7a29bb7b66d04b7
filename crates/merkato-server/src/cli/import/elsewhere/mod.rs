//! What other systems wrote, in their layouts: which columns mean what, and how dates and amounts are read. A file a kind.

mod events;
mod graph;
mod measurements;
mod orders;
mod products;
mod sales;
mod transactions;
mod tree;

use std::path::Path;

use clap::{Args, ValueEnum};
use merkato::{
    Currency,
    flows::import::{self, DateOrder},
};

pub use self::{
    events::EventFile, graph::GraphFile, measurements::Measurements, orders::Orders, products::Products, sales::Sales,
    transactions::TransactionFile, tree::TreeFile,
};
use super::input::{Input, open};
use crate::cli::{exit, progress::Progress};

#[derive(Args)]
pub struct Foreign {
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: the same id of the same source is the same thing here [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// Of all amounts [default: shop.orders.currency]
    #[arg(long)]
    currency: Option<String>,
    /// Of what the source names no category for, as "Home > Garden"
    #[arg(long, default_value = "Uncategorised")]
    category: String,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Format {
    #[default]
    Auto,
    Csv,
    Tsv,
    Json,
    Ndjson,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Dates {
    DayFirst,
    MonthFirst,
}

impl From<Format> for import::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Auto => import::Format::Auto,
            Format::Csv => import::Format::Csv,
            Format::Tsv => import::Format::Tsv,
            Format::Json => import::Format::Json,
            Format::Ndjson => import::Format::NdJson,
        }
    }
}

/// The name of a source: what was said, or the file's.
fn source(said: Option<&String>, file: &Path) -> String {
    let stem = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    said.cloned().or_else(stem).unwrap_or_else(|| "import".into())
}

fn mapping<F: std::str::FromStr<Err = merkato::Invalid>>(said: Option<&String>) -> anyhow::Result<Option<F>> {
    let parsed = said.map(|text| text.parse::<F>()).transpose();
    parsed.map_err(|invalid| exit::usage(format!("--map: {invalid}")))
}

impl Foreign {
    fn source(&self, file: &Path) -> String {
        source(self.source.as_ref(), file)
    }

    fn currency(&self, default: &Currency) -> Currency {
        self.currency.as_ref().map_or_else(|| default.clone(), Currency::new)
    }

    fn mapping<F: std::str::FromStr<Err = merkato::Invalid>>(&self) -> anyhow::Result<Option<F>> {
        mapping(self.map.as_ref())
    }
}

fn date_order(dates: Option<Dates>) -> DateOrder {
    match dates {
        Some(Dates::DayFirst) => DateOrder::DayFirst,
        Some(Dates::MonthFirst) => DateOrder::MonthFirst,
        None => DateOrder::Unknown,
    }
}
