//! What became of the records of a file, told and written down.

use std::{fs::File, io::Write as _, path::PathBuf};

use anyhow::Context as _;
use merkato::flows::import::{self, Report};
use serde_json::json;

use super::input::Input;
use crate::cli::{Global, exit, output};

pub fn tell(global: &Global, input: &Input, report: &Report) -> anyhow::Result<()> {
    let rejected = report.rejected_count();
    let rejects = match rejected {
        0 => None,
        _ => Some(write_rejects(input, report)?),
    };
    if global.json {
        let sum = |sum: &import::Sum| json!({ "orders": sum.orders, "lines": sum.lines, "pieces": sum.pieces, "amount": sum.amount.to_string() });
        let sales = report.sales.as_ref().map(|sales| {
            json!({
                "standing": sum(&sales.standing), "open": sum(&sales.open), "cancelled": sum(&sales.cancelled),
                "rejected": sum(&sales.rejected), "orders_without_lines": sales.orders_without_lines,
            })
        });
        let notes: Vec<_> =
            report.notes.iter().map(|note| json!({ "record": note.record, "text": note.text })).collect();
        output::json(&json!({
            "read": report.read, "created": report.created, "changed": report.changed, "unchanged": report.unchanged,
            "folded": report.folded, "rejected": rejected, "categories_created": report.categories_created,
            "rejects_file": rejects, "sales": sales, "notes": notes,
        }))?;
    } else {
        let figures = [
            ("read", report.read),
            ("created", report.created),
            ("changed", report.changed),
            ("unchanged", report.unchanged),
            ("folded", report.folded),
            ("rejected", rejected),
            ("categories created", report.categories_created),
        ];
        let rows: Vec<_> = figures.map(|(name, figure)| vec![name.to_owned(), figure.to_string()]).into();
        output::table(&["records", ""], &rows)?;
        let notes = report.notes.len() as u64 + report.notes_unlisted;
        if notes > 0 {
            eprintln!("{notes} notes; --json lists them");
        }
    }
    if let Some(path) = rejects {
        eprintln!("{rejected} records were rejected; the reasons are in {}", path.display());
        return Err(exit::differences());
    }
    Ok(())
}

fn write_rejects(input: &Input, report: &Report) -> anyhow::Result<PathBuf> {
    let beside = || {
        let name = if input.file.as_os_str() == "-" { "stdin".into() } else { input.file.display().to_string() };
        PathBuf::from(format!("{name}.rejects.ndjson"))
    };
    let path = input.rejects.clone().unwrap_or_else(beside);
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    let mut out = std::io::BufWriter::new(file);
    for rejected in &report.rejected {
        let line =
            json!({ "record": rejected.record, "line": rejected.line, "id": rejected.id, "reason": rejected.reason });
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(path)
}
