//! Transactions of a bank or of gift cards.

use clap::Args;
use merkato::{
    Context, Currency,
    flows::import::{Report, TransactionOptions, import_transactions},
};
use rust_decimal::Decimal;

use super::{Dates, Format, Input, Progress, date_order, mapping, open, source};

#[derive(Args)]
pub struct TransactionFile {
    #[command(flatten)]
    pub input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: its ids and its names of accounts are its own [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// Of all amounts [default: shop.orders.currency]
    #[arg(long)]
    currency: Option<String>,
    /// By how much the file's own balances may differ at the end of a day
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    tolerance: Decimal,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
}

impl TransactionFile {
    pub async fn import(&self, ctx: &Context, currency: &Currency) -> anyhow::Result<Report> {
        let currency = self.currency.as_ref().map_or_else(|| currency.clone(), Currency::new);
        let options = TransactionOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            dates: date_order(self.dates),
            tolerance: self.tolerance,
            ..TransactionOptions::new(source(self.source.as_ref(), &self.input.file), currency)
        };
        let mut progress = Progress::new("records", None);
        let file = open(&self.input.file)?;
        let report = import_transactions(ctx, file, options, |report| progress.at(report.read)).await?;
        drop(progress);
        if let Some(balances) = &report.balances {
            eprintln!("{} of {} ends of days are as the file says", balances.matched, balances.days);
        }
        Ok(report)
    }
}
