//! What a command answers: a table for people, JSON for programs.

use std::io::{IsTerminal as _, Write as _};

use serde_json::Value;

use super::exit;

/// One JSON document, as a whole.
pub(super) fn json(value: &Value) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

pub(super) fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// Columns as wide as their widest cell; a column of numbers is set to the right.
pub(super) fn table(heading: &[&str], rows: &[Vec<String>]) -> anyhow::Result<()> {
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count());
        cells.chain([heading[i].chars().count()]).max().unwrap_or(0)
    };
    let is_number = |i: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(i)).filter(|cell| !cell.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.chars().all(|c| c.is_ascii_digit() || "-.,%".contains(c)))
    };
    let columns: Vec<(usize, bool)> = (0..heading.len()).map(|i| (width(i), is_number(i))).collect();
    let show = |cells: Vec<&str>| {
        let padded = cells
            .iter()
            .zip(&columns)
            .map(|(cell, (width, right))| if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    line(show(heading.to_vec()))?;
    rows.iter().try_for_each(|row| line(show(row.iter().map(String::as_str).collect())))
}

/// What cannot be taken back is done only if that was said.
pub(super) fn confirm(yes: bool, what: &str) -> anyhow::Result<()> {
    if yes {
        return Ok(());
    }
    Err(exit::usage(format!("{what} cannot be taken back: say --yes if that is what you want")))
}

/// A password, asked for without showing it; from a program, the first line of standard input. Never an argument, which
/// others could see.
pub(super) fn password(prompt: &str) -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        let first = rpassword::prompt_password(format!("{prompt}: "))?;
        let again = rpassword::prompt_password(format!("{prompt}, again: "))?;
        anyhow::ensure!(first == again, "the two are not the same");
        return Ok(first);
    }
    let mut text = String::new();
    std::io::BufRead::read_line(&mut std::io::stdin().lock(), &mut text)?;
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() {
        return Err(exit::usage("no password: it is the first line of standard input"));
    }
    Ok(text.to_owned())
}
