//! A tree from elsewhere: a table with ids and parents, or lines with paths.

use std::fs::File;

use clap::Args;
use merkato::{
    Context,
    flows::import::{Report, TreeOptions, import_tree},
};

use super::{Format, Input, Progress, mapping};

#[derive(Args)]
pub struct TreeFile {
    #[command(flatten)]
    pub input: Input,
    /// The tree, which is made if it is not there [default: the file's name]
    #[arg(long, value_name = "NAME")]
    tree: Option<String>,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: the same id of the same source is the same node here [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// Between the names of a path
    #[arg(long, default_value = " > ")]
    separator: String,
    /// Of nodes about which the file says nothing, as "department"
    #[arg(long, value_name = "TYPE")]
    node_type: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl TreeFile {
    pub async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let stem = self.input.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.filter(|stem| stem != "-").unwrap_or_else(|| "import".into());
        let options = TreeOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            separator: self.separator.clone(),
            node_type: self.node_type.clone(),
            ..TreeOptions::new(self.source.clone().unwrap_or_else(|| stem.clone()), self.tree.clone().unwrap_or(stem))
        };
        Ok(import_tree(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}
