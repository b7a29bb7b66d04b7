//! `merkato explain`: what can be asked, and what it costs.

use clap::Args;
use merkato::AccessPattern;
use serde_json::json;

use super::{Global, exit, output};

/// Every access pattern with its table, its key and the most that it costs, whatever the number of rows elsewhere; n stands for
/// the rows that were asked for. The costs are measured by the tests.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato explain                 all of them
  merkato explain Q2              one of them
  merkato explain cart --json     those whose name, question or table has the word")]
pub struct Explain {
    /// A name, or a word of a name, a question or a table
    pattern: Option<String>,
}

impl Explain {
    pub fn run(self, global: &Global) -> anyhow::Result<()> {
        let all =
            merkato::PATTERNS.iter().flat_map(|(module, patterns)| patterns.iter().map(move |one| (*module, one)));
        let found: Vec<(&str, &AccessPattern)> = match &self.pattern {
            None => all.collect(),
            Some(word) => {
                let named: Vec<_> = all.clone().filter(|(_, one)| one.name.eq_ignore_ascii_case(word)).collect();
                if named.is_empty() { all.filter(|(_, one)| is_about(one, word)).collect() } else { named }
            }
        };
        if found.is_empty() {
            return Err(exit::usage("there is no such access pattern: merkato explain lists all of them"));
        }
        if global.json {
            let each = found.iter().map(|(module, one)| {
                let cost = one.cost;
                json!({
                    "module": module, "name": one.name, "question": one.question, "table": one.table, "key": one.key,
                    "partitions": cost.partitions.to_string(), "rows": cost.rows.to_string(),
                    "requests": cost.requests.to_string(), "engines": engines(one),
                })
            });
            return output::json(&json!({ "data": each.collect::<Vec<_>>() }));
        }
        if self.pattern.is_none() || found.len() > 5 {
            let row = |(module, one): &(&str, &AccessPattern)| {
                let cost = one.cost;
                let (partitions, rows, requests) = (cost.partitions, cost.rows, cost.requests);
                let costs = [partitions, rows, requests].map(|amount| amount.to_string());
                [
                    vec![(*module).to_owned(), one.name.to_owned(), one.question.to_owned(), one.table.to_owned()],
                    costs.into(),
                ]
                .concat()
            };
            let heading = ["module", "name", "question", "table", "partitions", "rows", "requests"];
            return output::table(&heading, &found.iter().map(row).collect::<Vec<_>>());
        }
        for (module, one) in found {
            output::line(format!("{} ({module}): {}", one.name, one.question))?;
            output::line(format!("  table      {}", one.table))?;
            output::line(format!("  key        {}", one.key))?;
            for (engine, cost) in engines(one) {
                output::line(format!("  {engine:<10} {cost}"))?;
            }
        }
        Ok(())
    }
}

fn is_about(pattern: &AccessPattern, word: &str) -> bool {
    let word = word.to_lowercase();
    [pattern.name, pattern.question, pattern.table].iter().any(|text| text.to_lowercase().contains(&word))
}

/// What the most that it costs means to each engine.
fn engines(pattern: &AccessPattern) -> std::collections::BTreeMap<&'static str, String> {
    let cost = pattern.cost;
    let (partitions, rows, requests) = (cost.partitions, cost.rows, cost.requests);
    [
        ("embedded", format!("{requests} snapshots, {rows} rows from {partitions} partitions, no network")),
        ("cassandra", format!("{requests} requests to the replicas of {partitions} partitions, {rows} rows")),
        ("dynamodb", format!("{requests} Query or GetItem requests, {rows} items")),
    ]
    .into()
}
