//! The file that is read, and where what is bad in it goes.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;

use crate::cli::open::TenantChoice;

#[derive(Args)]
pub struct Input {
    /// The file, or - for standard input
    pub file: PathBuf,
    /// Where records go that were rejected, with the reasons [default: FILE.rejects.ndjson]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    #[command(flatten)]
    pub tenant: TenantChoice,
}

#[derive(Args)]
pub struct FromExport {
    #[command(flatten)]
    pub input: Input,
}

/// A file that can be read twice; standard input is kept for that.
pub fn open(path: &Path) -> anyhow::Result<File> {
    if path.as_os_str() != "-" {
        return File::open(path).with_context(|| path.display().to_string());
    }
    let mut kept = tempfile::tempfile()?;
    std::io::copy(&mut std::io::stdin().lock(), &mut kept)?;
    Ok(kept)
}
