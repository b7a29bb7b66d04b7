//! Who knows whom, from elsewhere: a table, or a list of edges.

use std::fs::File;

use clap::{Args, ValueEnum};
use merkato::{
    Context,
    flows::import::{GraphLayout, GraphOptions, Report, import_graph},
    graph::ConnectionType,
};
use rust_decimal::Decimal;

use super::{Dates, Format, Input, Progress, date_order, mapping, source};

#[derive(Args)]
pub struct GraphFile {
    #[command(flatten)]
    pub input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: the same id of the same source is the same person here [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// What they are to each other, where the file does not say
    #[arg(long = "type", value_name = "TYPE", default_value = "friend", value_parser = connection_type)]
    connection_type: ConnectionType,
    /// Whether the file has a heading
    #[arg(long, value_enum, default_value_t)]
    layout: Layout,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The least and the most that a rating can be, as 1..5
    #[arg(long, value_name = "LEAST..MOST", value_parser = ratings, allow_hyphen_values = true)]
    ratings: Option<(Decimal, Decimal)>,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Layout {
    /// As it looks
    #[default]
    Auto,
    /// With names of columns
    Table,
    /// A line a connection, without a heading
    Edges,
}

fn connection_type(text: &str) -> Result<ConnectionType, String> {
    ConnectionType::parse(text).map_err(|error| error.to_string())
}

fn ratings(text: &str) -> Result<(Decimal, Decimal), String> {
    let number = |text: &str| text.parse::<Decimal>().map_err(|_| format!("{text:?} is not a number"));
    let (least, most) = text.split_once("..").ok_or("not LEAST..MOST")?;
    Ok((number(least)?, number(most)?))
}

impl GraphFile {
    pub async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let new = GraphOptions::new(source(self.source.as_ref(), &self.input.file));
        let options = GraphOptions {
            layout: match self.layout {
                Layout::Auto => GraphLayout::Auto,
                Layout::Table => GraphLayout::Table,
                Layout::Edges => GraphLayout::Edges,
            },
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            connection_type: self.connection_type,
            ratings: self.ratings.unwrap_or(new.ratings),
            dates: date_order(self.dates),
            ..new
        };
        Ok(import_graph(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}
