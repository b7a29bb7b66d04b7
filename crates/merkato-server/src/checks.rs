//! Is everything that follows from something else as it should be? What `merkato verify` and the office's page of the system
//! look at, one function a check. The shop may go on meanwhile.

use merkato::{
    Context, PageRequest, carts, catalog, catalog::Misfiled, events, flows, graph, hierarchy, inventory, limits,
    telemetry, wallets,
};
use widerow::{
    Date,
    store::{DifferenceKind, VerifyOptions, VerifyReport},
};

/// Differences of derived tables that are looked at to tell them apart.
const LISTED_MAX: usize = 1_000;

/// What one check found.
#[derive(Clone, Debug)]
pub struct Found {
    pub check: &'static str,
    pub tenant: String,
    pub looked_at: u64,
    pub differences: u64,
    pub mended: u64,
    /// Some of them, in words.
    pub listed: Vec<String>,
}

/// Why a check did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Data(#[from] widerow::Error),
    #[error(transparent)]
    Carts(#[from] carts::Error),
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    #[error(transparent)]
    Inventory(#[from] inventory::Error),
    #[error(transparent)]
    Flows(#[from] flows::Error),
    #[error(transparent)]
    Telemetry(#[from] telemetry::Error),
    #[error(transparent)]
    Trees(#[from] hierarchy::Error),
    #[error(transparent)]
    Events(#[from] events::Error),
    #[error(transparent)]
    Graph(#[from] graph::Error),
    #[error(transparent)]
    Wallets(#[from] wallets::Error),
}

/// How to check.
#[derive(Clone, Copy, Debug)]
pub struct Checking {
    /// Mend what differs.
    pub repair: bool,
    /// Differences that are listed.
    pub listed_max: usize,
}

impl Checking {
    pub fn options(self) -> VerifyOptions {
        VerifyOptions { repair: self.repair, listed_max: LISTED_MAX, ..VerifyOptions::default() }
    }

    /// What a verification of the derived tables says.
    pub fn derived(self, tenant: String, report: &VerifyReport) -> Found {
        // A row with other values is found from its base and from itself: it is one difference all the same.
        let mut found = Vec::new();
        for difference in &report.listed {
            if !found.contains(&difference) {
                found.push(difference);
            }
        }
        let twice = (report.listed.len() - found.len()) as u64;
        let listed = found.iter().take(self.listed_max).map(|difference| {
            let kind = match difference.kind {
                DifferenceKind::Missing => "is missing",
                DifferenceKind::Different => "is not as its base says",
                DifferenceKind::Orphan => "has no base",
            };
            let key: Vec<String> = difference.key.iter().map(text).collect();
            format!("{} of {}: the row {} {kind}", difference.table, difference.tenant, key.join(", "))
        });
        Found {
            check: "derived tables",
            tenant,
            looked_at: report.base_rows + report.derived_rows,
            differences: report.differences - twice,
            mended: report.repaired,
            listed: listed.collect(),
        }
    }

    /// The subtotals of carts, and that of a person's carts one is active.
    pub async fn carts(self, ctx: &Context) -> Result<Found, Error> {
        let report = carts::verify_carts(ctx, self.repair).await?;
        let totals = report.totals.iter().map(|wrong| {
            format!("cart {}: {} is stored, its lines come to {}", wrong.cart, wrong.stored, wrong.subtotal)
        });
        let active = report
            .active
            .iter()
            .map(|(user, active)| format!("user {user}: {active} of the carts are active, not one"));
        let differences = (report.totals.len() + report.active.len()) as u64;
        Ok(Found {
            check: "carts",
            tenant: ctx.store.tenant().to_string(),
            looked_at: report.carts,
            differences,
            mended: if self.repair { differences } else { 0 },
            listed: totals.chain(active).take(self.listed_max).collect(),
        })
    }

    /// What is reserved of stock, against the holds in force.
    pub async fn stock(self, ctx: &Context) -> Result<Found, Error> {
        let found = inventory::verify_stock(ctx, None).await?;
        let unsettled = found.unsettled.iter().map(|product| format!("product {product}: it never stood still"));
        let listed = found.differences.iter().map(|difference| {
            format!(
                "product {}, warehouse {}: {} are reserved, the holds in force have {}",
                difference.product, difference.warehouse, difference.in_force, difference.held
            )
        });
        let listed = listed.chain(unsettled).take(self.listed_max).collect();
        let differences = (found.differences.len() + found.unsettled.len()) as u64;
        let mended = match self.repair && differences > 0 {
            true => {
                let repaired = inventory::repair_stock(ctx, None).await?;
                differences.saturating_sub((repaired.left.len() + repaired.unsettled.len()) as u64)
            }
            false => 0,
        };
        let tenant = ctx.store.tenant().to_string();
        Ok(Found { check: "reserved stock", tenant, looked_at: found.products, differences, mended, listed })
    }

    /// The roll-ups of sensors, against the raw measurements that are there.
    pub async fn roll_ups(self, ctx: &Context) -> Result<Found, Error> {
        let found = telemetry::verify_rolls(ctx, self.repair).await?;
        let listed = found.differences.iter().map(|(sensor, date)| {
            format!("sensor {sensor}, {date}: its figures are not what its measurements come to")
        });
        Ok(Found {
            check: "roll-ups",
            tenant: ctx.store.tenant().to_string(),
            looked_at: found.hours,
            differences: found.differences.len() as u64,
            mended: found.mended,
            listed: listed.take(self.listed_max).collect(),
        })
    }

    /// Every tree: each node below its parent, counted there, and alone with its name. With `repair`, subtrees that were left
    /// half-way get where they were going first; a node that is wrong for another reason is listed, and left to people.
    pub async fn trees(self, ctx: &Context) -> Result<Found, Error> {
        let mut found = Found {
            check: "trees",
            tenant: ctx.store.tenant().to_string(),
            looked_at: 0,
            differences: 0,
            mended: 0,
            listed: Vec::new(),
        };
        if self.repair {
            hierarchy::finish_relocations(ctx).await?;
        }
        let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
        loop {
            let trees = hierarchy::list_trees(ctx, page).await?;
            for tree in &trees.rows {
                let report = hierarchy::verify_tree(ctx, tree.org_id).await?;
                found.looked_at += report.nodes;
                found.differences += report.wrong_nodes;
                let wrong = report.wrong.iter();
                found
                    .listed
                    .extend(wrong.map(|node| format!("{}: {}: {}", tree.tree_name, node.node_id, node.problem)));
                found.listed.truncate(self.listed_max);
            }
            match trees.next {
                Some(next) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) },
                None => return Ok(found),
            }
        }
    }

    /// That every category has an address, and that products say of their category what the tree does. With `repair`, products
    /// that have not followed a category yet do so first.
    pub async fn categories(self, ctx: &Context) -> Result<Found, Error> {
        let report = catalog::verify_categories(ctx, self.repair, self.listed_max).await?;
        let listed = report.wrong.iter().map(|wrong| match wrong {
            Misfiled::NoSlug { category } => format!("category {category}: it has no address"),
            Misfiled::Product { product, category } => {
                format!("product {product}: it does not say where its category {category} stands, or its name")
            }
            Misfiled::NoCategory { product, category } => {
                format!("product {product}: there is no category {category}")
            }
        });
        Ok(Found {
            check: "categories",
            tenant: ctx.store.tenant().to_string(),
            looked_at: report.categories + report.products,
            differences: report.differences,
            mended: report.mended,
            listed: listed.collect(),
        })
    }

    /// The feed and the lists of events, against the log: each event has one place. With `repair`, those that nobody would give
    /// a place get one; what else is wrong is listed, and left to people.
    pub async fn events(self, ctx: &Context) -> Result<Found, Error> {
        let found = events::verify(ctx, self.repair, |_| {}).await?;
        let listed = found.faults.iter().map(|fault| format!("{}: {}", fault.table, fault.problem));
        Ok(Found {
            check: "events",
            tenant: ctx.store.tenant().to_string(),
            looked_at: found.events,
            differences: found.faults_count,
            mended: found.mended,
            listed: listed.take(self.listed_max).collect(),
        })
    }

    /// How many connections everybody has, against the pairs. With `repair`, what was left uncounted is counted first; somebody who
    /// is wrong for another reason is listed, and left to people.
    pub async fn connections(self, ctx: &Context) -> Result<Found, Error> {
        let mended = if self.repair { graph::settle_counts(ctx).await? } else { 0 };
        let report = graph::verify_graph(ctx).await?;
        let listed = report.wrong.iter().map(|wrong| {
            format!("person {}: {:?} were counted, there are {:?}", wrong.user_id, wrong.counted, wrong.found)
        });
        Ok(Found {
            check: "connections",
            tenant: ctx.store.tenant().to_string(),
            looked_at: report.pairs + report.people,
            differences: report.wrong_people + mended,
            mended,
            listed: listed.take(self.listed_max).collect(),
        })
    }

    /// What wallets hold, against their entries. What is wrong is listed, and left to people.
    pub async fn wallets(self, ctx: &Context) -> Result<Found, Error> {
        let found = wallets::verify_wallets(ctx).await?;
        let listed = found.faults.iter().map(|fault| format!("wallet of {}: {}", fault.user_id, fault.problem));
        Ok(Found {
            check: "wallets",
            tenant: ctx.store.tenant().to_string(),
            looked_at: found.wallets,
            differences: found.faults.len() as u64 + found.faults_unlisted,
            mended: 0,
            listed: listed.take(self.listed_max).collect(),
        })
    }

    /// The sales of these days, against their orders. `done` is told after each how many there were.
    pub async fn sales(
        self,
        ctx: &Context,
        days: impl IntoIterator<Item = Date> + Send,
        mut done: impl FnMut(u64) + Send,
    ) -> Result<Found, Error> {
        let mut found = Found {
            check: "daily sales",
            tenant: ctx.store.tenant().to_string(),
            looked_at: 0,
            differences: 0,
            mended: 0,
            listed: Vec::new(),
        };
        let days: Vec<Date> = days.into_iter().collect();
        for day in days {
            let report = flows::sales::rebuild_sales(ctx, day, self.repair).await?;
            found.looked_at += 1;
            done(found.looked_at);
            if !report.is_sound() {
                found.differences += 1;
                found.mended += u64::from(report.repaired);
                let (orders, totals) = (report.wrong_orders, report.differences.len());
                found.listed.push(format!("{day}: {orders} orders and {totals} totals are counted wrongly"));
            }
        }
        found.listed.truncate(self.listed_max);
        Ok(found)
    }
}

fn text(value: &widerow::value::Value) -> String {
    use widerow::value::Value;
    match value {
        Value::Text(text) => text.clone(),
        Value::Uuid(id) => id.to_string(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(time) => time.to_string(),
        other => format!("{other:?}"),
    }
}
