//! The access patterns: what is asked, of which table, at which cost; and what this process has measured.

use askama::Template;
use axum::extract::State;
use merkato::AccessPattern;
use widerow::stats::ReadStats;

use crate::{
    http::App,
    model,
    web::{Frame, Html, words},
};

/// A question and its cost.
struct Pattern {
    name: &'static str,
    anchor: String,
    question: &'static str,
    tables: Vec<&'static str>,
    key: &'static str,
    partitions: String,
    rows: String,
    requests: String,
    measured: Option<Measured>,
}

/// What the reads of a question's tables came to in this process. A table that answers several questions is in all of them.
struct Measured {
    reads: String,
    mean: String,
    /// Nineteen in twenty took no longer.
    most: String,
    rows: String,
}

struct Group {
    name: &'static str,
    patterns: Vec<Pattern>,
}

#[derive(Template)]
#[template(path = "admin/patterns.html")]
pub struct Patterns {
    frame: Frame,
    engine: &'static str,
    count: usize,
    groups: Vec<Group>,
}

pub async fn show(frame: Frame, State(app): State<App>) -> Html<Patterns> {
    let reads = app.database().stats().reads;
    let engine = app.database().engine().name();
    let group = |(name, patterns): &(&'static str, &'static [AccessPattern])| Group {
        name,
        patterns: patterns.iter().map(|pattern| told(pattern, &reads)).collect(),
    };
    let groups: Vec<Group> = merkato::PATTERNS.iter().map(group).collect();
    Html(Patterns { frame, engine, count: groups.iter().map(|group| group.patterns.len()).sum(), groups })
}

fn told(pattern: &'static AccessPattern, reads: &[ReadStats]) -> Pattern {
    Pattern {
        name: pattern.name,
        anchor: model::anchor(pattern),
        question: pattern.question,
        tables: pattern.table.split(", ").collect(),
        key: pattern.key,
        partitions: pattern.cost.partitions.to_string(),
        rows: pattern.cost.rows.to_string(),
        requests: pattern.cost.requests.to_string(),
        measured: measured(pattern, reads),
    }
}

/// None where its tables were not read yet.
fn measured(pattern: &AccessPattern, reads: &[ReadStats]) -> Option<Measured> {
    let own: Vec<&ReadStats> = reads.iter().filter(|of| model::asks(pattern, of.table)).collect();
    let sum = |figure: fn(&ReadStats) -> u64| own.iter().map(|of| figure(of)).sum::<u64>();
    let answered = sum(|of| of.count - of.failed);
    if answered == 0 {
        return None;
    }
    let mut seen = 0;
    let most = widerow::stats::BUCKETS_MICROS.iter().enumerate().find_map(|(bucket, micros)| {
        seen += own.iter().map(|of| of.buckets[bucket]).sum::<u64>();
        (seen * 100 >= answered * 95).then_some(*micros)
    });
    let tenths = sum(|of| of.rows) * 10 / answered;
    Some(Measured {
        reads: words::thousands(&answered.to_string()),
        mean: words::duration(sum(|of| of.micros) / answered),
        most: most.map_or("more".into(), words::duration),
        rows: format!("{}.{}", words::thousands(&(tenths / 10).to_string()), tenths % 10),
    })
}
