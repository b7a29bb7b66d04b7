//! Events from elsewhere, those of a case in one stream.

use std::fs::File;

use clap::Args;
use merkato::{
    Context,
    flows::import::{EventOptions, Report, import_events},
};

use super::{Dates, Format, Input, Progress, date_order, mapping, source};

#[derive(Args)]
pub struct EventFile {
    #[command(flatten)]
    pub input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: its names of cases are its own [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// What its cases are, where the file does not say so
    #[arg(long, default_value = "case", value_name = "KIND")]
    kind: String,
}

impl EventFile {
    pub async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let options = EventOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            dates: date_order(self.dates),
            kind: self.kind.clone(),
            ..EventOptions::new(source(self.source.as_ref(), &self.input.file))
        };
        Ok(import_events(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}
