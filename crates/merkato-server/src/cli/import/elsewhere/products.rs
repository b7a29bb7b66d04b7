//! Products from elsewhere.

use std::fs::File;

use clap::{Args, ValueEnum};
use merkato::{
    Context, Currency,
    catalog::ProductStatus,
    flows::import::{self, Mapping, Report, import_products},
};

use super::{Foreign, Input, Progress};

#[derive(Args)]
pub struct Products {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    foreign: Foreign,
    /// Of products about which the source says nothing
    #[arg(long, value_enum, default_value_t)]
    status: Shown,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Shown {
    #[default]
    Active,
    Draft,
}

impl Products {
    pub async fn import(
        &self,
        ctx: &Context,
        file: File,
        currency: &Currency,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let foreign = &self.foreign;
        let options = import::Options {
            format: foreign.format.into(),
            mapping: foreign.mapping::<Mapping>()?,
            category: foreign.category.clone(),
            status: match self.status {
                Shown::Active => ProductStatus::Active,
                Shown::Draft => ProductStatus::Draft,
            },
            ..import::Options::new(foreign.source(&self.input.file), foreign.currency(currency))
        };
        Ok(import_products(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}
