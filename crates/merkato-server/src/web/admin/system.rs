//! How the system is: the engine, how quick it answers, what waits, and whether everything agrees.

use std::time::Instant;

use askama::Template;
use axum::{extract::State, response::Response};
use merkato::inventory;

use super::inspection::{CHECKS, Inspection, State as Stand};
use crate::{
    http::{App, Problem, Visit},
    web::{Form, Frame, Html, see_other, words},
};

/// Routes that are listed.
const ROUTES: usize = 40;

/// A name and what is said of it.
struct Fact {
    name: &'static str,
    value: String,
    /// What it means.
    says: &'static str,
}

fn fact(name: &'static str, value: impl ToString, says: &'static str) -> Fact {
    Fact { name, value: value.to_string(), says }
}

/// A route and how quick it is.
struct Route {
    method: &'static str,
    route: &'static str,
    count: String,
    mean: String,
    half: String,
    most: String,
    failed: u64,
}

/// One check of an inspection.
struct Check {
    name: &'static str,
    looked_at: String,
    differences: u64,
    listed: Vec<String>,
}

/// The last inspection, as it is told.
struct Told {
    began: String,
    summary: String,
    is_good: bool,
    checks: Vec<Check>,
}

#[derive(Template)]
#[template(path = "admin/system.html")]
pub struct System {
    frame: Frame,
    engine: Vec<Fact>,
    problems: Vec<String>,
    waiting: Vec<Fact>,
    routes: Vec<Route>,
    routes_left: usize,
    inspection: Option<Told>,
    is_busy: bool,
}

pub async fn show(frame: Frame, visit: Visit, State(app): State<App>) -> Result<Html<System>, Problem> {
    let began = Instant::now();
    let compared = app.database().compare().await?;
    let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    let problems: Vec<String> = compared.problems.iter().map(ToString::to_string).collect();
    let (running, connections) = app.metrics().going_on();
    let state = if problems.is_empty() { "as declared".to_owned() } else { format!("{} differences", problems.len()) };
    let engine = vec![
        fact("Engine", app.database().engine().name(), "Where everything is kept."),
        fact("Tables", state, "Compared with what the program declares, just now."),
        fact("Answered in", words::duration(took), "The time that the comparison took."),
        fact("Version", env!("CARGO_PKG_VERSION"), "Of this program."),
        fact("Shop", visit.ctx.store.tenant().as_str(), "The tenant that this page is about."),
        fact("Requests at this moment", running, "Of all shops of this process, this one among them."),
        fact("Connections", connections, "That are open."),
    ];
    let all = app.metrics().show();
    let routes = all.iter().take(ROUTES).map(|of| Route {
        method: of.method,
        route: of.route,
        count: words::thousands(&of.count.to_string()),
        mean: words::duration(of.mean_micros),
        half: of.half_millis.map_or("over 30 s".into(), |millis| format!("{millis} ms")),
        most: of.most_millis.map_or("over 30 s".into(), |millis| format!("{millis} ms")),
        failed: of.failed,
    });
    let inspection = app.inspections().last(&visit.ctx);
    Ok(Html(System {
        frame,
        engine,
        problems,
        waiting: waiting(&app),
        routes: routes.collect(),
        routes_left: all.len().saturating_sub(ROUTES),
        is_busy: inspection.as_ref().is_some_and(Inspection::is_running),
        inspection: inspection.map(told),
    }))
}

/// What the store and the stock have done since the process began.
fn waiting(app: &App) -> Vec<Fact> {
    let stats = app.database().stats();
    let count = |number: u64| words::thousands(&number.to_string());
    let mut facts = vec![
        fact(
            "In the outbox",
            count(stats.outbox.opened.saturating_sub(stats.outbox.finished)),
            "Commits of this process whose later writes are not made yet.",
        ),
        fact("Oldest of them", format!("{} s", stats.outbox.lag_seconds), "When the last sweep came by."),
        fact("Conditional writes", count(stats.conditional.tried), "Tried since the process began."),
        fact("Decided again", count(stats.conditional.moved), "Because another was quicker."),
        fact("Refused", count(stats.conditional.refused), "Because a guard did not hold."),
    ];
    if let Some(committer) = stats.committer {
        let tenths = committer.commits * 10 / committer.groups.max(1);
        facts.extend([
            fact("Commits that wait", count(committer.queued), "To be written by the committer."),
            fact(
                "Commits a group",
                format!("{}.{}", tenths / 10, tenths % 10),
                "Written to disk together, on average.",
            ),
            fact("Largest group", count(committer.largest_group), "So far."),
        ]);
    }
    let holds = inventory::stats(app.ctx());
    facts.extend([
        fact("Units on hold", words::thousands(&holds.units_in_force.to_string()), "When the last sweep came by."),
        fact("Holds refused", count(holds.refused), "Since the process began: there was not enough stock."),
    ]);
    facts
}

fn told(inspection: Inspection) -> Told {
    let differences = inspection.differences();
    let (summary, is_good) = match &inspection.state {
        Stand::Running => {
            (format!("Checking: {} of {CHECKS} are done. This page loads itself again.", inspection.found.len()), true)
        }
        Stand::Done(at) if differences == 0 => (format!("Everything agrees, as of {} UTC.", words::moment(*at)), true),
        Stand::Done(at) => {
            let count = words::count(differences, "difference was", "differences were");
            (format!("{count} found at {} UTC. Run merkato verify --repair to mend.", words::moment(*at)), false)
        }
        Stand::Failed(why) => (why.clone(), false),
    };
    let check = |found: &crate::checks::Found| Check {
        name: found.check,
        looked_at: words::thousands(&found.looked_at.to_string()),
        differences: found.differences,
        listed: found.listed.clone(),
    };
    Told {
        began: words::moment(inspection.began_at),
        summary,
        is_good,
        checks: inspection.found.iter().map(check).collect(),
    }
}

pub async fn verify(visit: Visit, State(app): State<App>, Form(_): Form) -> Result<Response, Problem> {
    if !app.inspections().begin(&visit.ctx) {
        return Err(Problem::new("busy", "Somebody is measuring or checking already.").retry_after(5));
    }
    Ok(see_other("/admin/system?notice=checks-begun#checks"))
}
