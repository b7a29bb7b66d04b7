//! What the store and the stock have done, for Prometheus: reads by access pattern, conditional writes, the outbox, the
//! committer, holds.

use std::fmt::{Result, Write as _};

use merkato::{PATTERNS, events::EventStats, inventory::HoldStats, sales::SaleStats, telemetry::TelemetryStats};
use widerow::stats::{BUCKETS_MICROS, DatabaseStats, ReadKind, ReadStats};

use super::metrics::head;
use crate::model;

/// The text format of Prometheus.
pub fn render(
    store: &DatabaseStats,
    holds: &HoldStats,
    sales: &SaleStats,
    telemetry: &TelemetryStats,
    events: &[EventStats],
) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut text, store, holds);
    let _ = write_sales(&mut text, sales);
    let _ = write_telemetry(&mut text, telemetry);
    let _ = write_events(&mut text, events);
    text
}

fn write_sales(text: &mut String, sales: &SaleStats) -> Result {
    let name = "merkato_sales_records_total";
    head(text, name, "counter", "Sales that were to be stored, by what became of them")?;
    for (outcome, count) in [("stored", sales.stored), ("refused", sales.refused), ("failed", sales.failed)] {
        writeln!(text, "{name}{{outcome=\"{outcome}\"}} {count}")?;
    }
    let name = "merkato_sales_queries_total";
    head(text, name, "counter", "Questions about sales, by what was asked for")?;
    for (what, times, _) in &sales.asked {
        writeln!(text, "{name}{{what=\"{what}\"}} {times}")?;
    }
    let name = "merkato_sales_found_total";
    head(text, name, "counter", "Sales that were found for those questions")?;
    for (what, _, found) in &sales.asked {
        writeln!(text, "{name}{{what=\"{what}\"}} {found}")?;
    }
    Ok(())
}

fn write_telemetry(text: &mut String, telemetry: &TelemetryStats) -> Result {
    let name = "merkato_measurements_total";
    head(text, name, "counter", "Measurements that were to be stored, by what became of them")?;
    for (outcome, count) in [("stored", telemetry.stored), ("refused", telemetry.refused), ("failed", telemetry.failed)]
    {
        writeln!(text, "{name}{{outcome=\"{outcome}\"}} {count}")?;
    }
    let hours = "Hours of sensors whose figures were made or made anew";
    single(text, "merkato_rollup_hours_total", "counter", hours, telemetry.hours)?;
    let name = "merkato_rollup_measurements_total";
    head(text, name, "counter", "Measurements that came to a roll-up for the first time, by what became of them")?;
    for (outcome, count) in [("counted", telemetry.counted), ("left_out", telemetry.left_out)] {
        writeln!(text, "{name}{{outcome=\"{outcome}\"}} {count}")?;
    }
    let failed = "Days of sensors that could not be rolled up at their turn";
    single(text, "merkato_rollup_failures_total", "counter", failed, telemetry.days_failed)
}

fn write_events(text: &mut String, events: &[EventStats]) -> Result {
    let name = "merkato_events_position";
    head(text, name, "gauge", "The last place of the feed that was taken when a job last looked")?;
    for of in events {
        writeln!(text, "{name}{{tenant=\"{}\"}} {}", of.tenant, of.position)?;
    }
    let name = "merkato_projection_lag_events";
    head(text, name, "gauge", "Events of the feed that a projection did not know when a job last looked")?;
    for of in events {
        for (projection, lag) in &of.lags {
            writeln!(text, "{name}{{tenant=\"{}\",projection=\"{projection}\"}} {lag}", of.tenant)?;
        }
    }
    Ok(())
}

fn write(text: &mut String, store: &DatabaseStats, holds: &HoldStats) -> Result {
    reads(text, &store.reads)?;
    let conditional = &store.conditional;
    let name = "merkato_conditional_writes_total";
    head(
        text,
        name,
        "counter",
        "Conditional writes by what became of them; those that were decided again count each time",
    )?;
    let applied = conditional.tried.saturating_sub(conditional.moved + conditional.refused + conditional.unknown);
    for (outcome, count) in [
        ("applied", applied),
        ("conflicted", conditional.moved),
        ("refused", conditional.refused),
        ("unknown", conditional.unknown),
    ] {
        writeln!(text, "{name}{{outcome=\"{outcome}\"}} {count}")?;
    }
    single(text, "merkato_outbox_opened_total", "counter", "Commits with later writes", store.outbox.opened)?;
    single(
        text,
        "merkato_outbox_finished_total",
        "counter",
        "Commits whose later writes were made",
        store.outbox.finished,
    )?;
    let lag = "Age of the oldest commit that the last sweep left waiting";
    single(text, "merkato_outbox_lag_seconds", "gauge", lag, store.outbox.lag_seconds)?;
    if let Some(committer) = &store.committer {
        single(text, "merkato_committer_queue", "gauge", "Commits that wait to be written", committer.queued)?;
        single(text, "merkato_committer_groups_total", "counter", "Groups that were written", committer.groups)?;
        single(text, "merkato_committer_commits_total", "counter", "Commits in those groups", committer.commits)?;
        let largest = "Commits of the largest group so far";
        single(text, "merkato_committer_largest_group", "gauge", largest, committer.largest_group)?;
        let entries = "Entries that were put into the engine or removed";
        single(text, "merkato_committer_entries_total", "counter", entries, committer.entries)?;
        let bytes = "Bytes of the keys and values of those entries";
        single(text, "merkato_committer_bytes_total", "counter", bytes, committer.bytes)?;
    }
    let name = "merkato_holds_total";
    head(text, name, "counter", "Requests for holds by the state that the hold was left in")?;
    for (state, count) in [
        ("held", holds.held),
        ("confirmed", holds.confirmed),
        ("released", holds.released),
        ("returned", holds.returned),
        ("refused", holds.refused),
    ] {
        writeln!(text, "{name}{{state=\"{state}\"}} {count}")?;
    }
    let in_force = "Units that were reserved when the last sweep came by";
    single(text, "merkato_hold_units_in_force", "gauge", in_force, holds.units_in_force)?;
    let ended = "Units whose hold had ended when a sweep came by";
    single(text, "merkato_hold_units_ended_total", "counter", ended, holds.units_ended)
}

fn reads(text: &mut String, reads: &[ReadStats]) -> Result {
    let name = "merkato_read_seconds";
    head(text, name, "histogram", "How long reads of the store took, by access pattern")?;
    for of in reads {
        let labels = labels(of);
        let mut sum = 0;
        for (micros, count) in BUCKETS_MICROS.iter().zip(&of.buckets) {
            sum += count;
            writeln!(text, "{name}_bucket{{{labels},le=\"{}\"}} {sum}", *micros as f64 / 1e6)?;
        }
        let answered = of.count - of.failed;
        writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {answered}")?;
        writeln!(text, "{name}_sum{{{labels}}} {}", of.micros as f64 / 1e6)?;
        writeln!(text, "{name}_count{{{labels}}} {answered}")?;
    }
    type Figure = fn(&ReadStats) -> u64;
    let figures: [(&str, &str, Figure); 3] = [
        ("merkato_read_rows_total", "Rows that were read, by access pattern", |of| of.rows),
        ("merkato_read_partitions_total", "Partitions that were read, by access pattern", |of| of.partitions),
        ("merkato_read_failures_total", "Reads that failed, by access pattern", |of| of.failed),
    ];
    for (name, help, figure) in figures {
        head(text, name, "counter", help)?;
        for of in reads {
            writeln!(text, "{name}{{{}}} {}", labels(of), figure(of))?;
        }
    }
    Ok(())
}

/// The access patterns that the table answers, the table, and how it is read.
fn labels(of: &ReadStats) -> String {
    let patterns = PATTERNS.iter().flat_map(|(_, patterns)| *patterns).filter(|pattern| model::asks(pattern, of.table));
    let patterns: Vec<&str> = patterns.map(|pattern| pattern.name).collect();
    let kind = match of.kind {
        ReadKind::Rows => "rows",
        ReadKind::Page => "page",
    };
    format!("pattern=\"{}\",table=\"{}\",kind=\"{kind}\"", patterns.join(", "), of.table)
}

fn single(text: &mut String, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) -> Result {
    head(text, name, kind, help)?;
    writeln!(text, "{name} {value}")
}
