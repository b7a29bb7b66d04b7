//! Sales from elsewhere.

use std::fs::File;

use clap::Args;
use merkato::{
    Context, Currency,
    flows::import::{Report, SaleOptions, import_sales},
};

use super::{Dates, Foreign, Input, Progress, date_order};

#[derive(Args)]
pub struct Sales {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    foreign: Foreign,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// Years for which these sales are kept, 0: for good [default: shop.sales.retention_years]
    #[arg(long, value_name = "N")]
    pub retention_years: Option<u32>,
}

impl Sales {
    pub async fn import(
        &self,
        ctx: &Context,
        file: File,
        currency: &Currency,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let foreign = &self.foreign;
        let options = SaleOptions {
            format: foreign.format.into(),
            mapping: foreign.mapping()?,
            dates: date_order(self.dates),
            category: foreign.category.clone(),
            ..SaleOptions::new(foreign.source(&self.input.file), foreign.currency(currency))
        };
        Ok(import_sales(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}
