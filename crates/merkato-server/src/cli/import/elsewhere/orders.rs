//! Orders from elsewhere, joined from several files if need be.

use std::{fs::File, path::Path};

use clap::Args;
use merkato::{
    Context, Currency,
    flows::import::{Companion, OrderOptions, Report, import_orders},
    orders::OrderStatus,
};

use super::{Dates, Foreign, Input, Progress, date_order, exit, open};

#[derive(Args)]
pub struct Orders {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    foreign: Foreign,
    /// A file whose records are joined to the lines by a column; FILE:COLUMN=OTHER where the lines call it otherwise
    #[arg(long, value_name = "FILE:COLUMN")]
    with: Vec<String>,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// Of orders in a source without a column for it
    #[arg(long, default_value = "delivered")]
    status: String,
    /// What the ids of cancellations begin with
    #[arg(long)]
    cancellation_prefix: Option<String>,
    /// Stands before the source's ids in the numbers of orders
    #[arg(long, default_value = "")]
    number_prefix: String,
}

impl Orders {
    pub async fn import(
        &self,
        ctx: &Context,
        file: File,
        currency: &Currency,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let foreign = &self.foreign;
        let status = OrderStatus::ALL.into_iter().find(|status| status.as_str() == self.status);
        let status = status.ok_or_else(|| {
            let known = OrderStatus::ALL.map(|status| status.as_str()).join(", ");
            exit::usage(format!("--status: {} is none of {known}", self.status))
        })?;
        let options = OrderOptions {
            format: foreign.format.into(),
            mapping: foreign.mapping()?,
            dates: date_order(self.dates),
            status,
            cancellation_prefix: self.cancellation_prefix.clone(),
            number_prefix: self.number_prefix.clone(),
            category: foreign.category.clone(),
            ..OrderOptions::new(foreign.source(&self.input.file), foreign.currency(currency))
        };
        let companions = self.with.iter().map(|text| companion(text)).collect::<anyhow::Result<_>>()?;
        Ok(import_orders(ctx, file, companions, options, |report| progress.at(report.read)).await?)
    }
}

fn companion(text: &str) -> anyhow::Result<Companion<File>> {
    let (path, column) =
        text.rsplit_once(':').ok_or_else(|| exit::usage(format!("--with: {text} is not FILE:COLUMN")))?;
    let file = open(Path::new(path))?;
    Ok(match column.split_once('=') {
        Some((column, other)) => Companion::new(path, file, column).joining(other),
        None => Companion::new(path, file, column),
    })
}
