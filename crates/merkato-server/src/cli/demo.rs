//! `merkato demo`: a furnished shop in a folder of its own.

use std::{
    path::{Path, PathBuf},
    pin::pin,
    time::Duration,
};

use clap::Args;
use merkato::Context;
use serde_json::json;

use super::{
    Global, logs,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    serve,
};
use crate::demo::{self, Done, Size};

/// Serve a furnished shop on the embedded engine, in ./merkato-demo or --folder: the first start makes it, in some seconds, the
/// next ones find it. Its addresses and logins are printed; the logins exist in that folder only.
#[derive(Args, Default)]
#[command(after_help = "Examples:
  merkato
  merkato demo --listen 127.0.0.1:9000
  merkato demo --only-make --folder /tmp/shop     make the shop and end

To begin anew, remove the folder.")]
pub struct Demo {
    /// Where to listen, over what is configured
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Make the shop and do not serve it
    #[arg(long)]
    only_make: bool,
    /// Make a smaller one, for tests: a thing of each kind, some dozen orders
    #[arg(long)]
    small: bool,
}

const FOLDER: &str = "merkato-demo";
const LETTERS: &str = "letters";
const TENANT: &str = "default";
/// How often sensors measure what is due.
const MEASURE_EVERY: Duration = Duration::from_secs(120);
/// How often it is looked how far the making is.
const LOOK_EVERY: Duration = Duration::from_millis(200);

impl Demo {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let folder = global.folder.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
        // Whatever shop is configured here, the demo is another one.
        let mut over = vec![
            ("engine".to_owned(), "embedded".to_owned()),
            ("embedded.folder".to_owned(), folder.display().to_string()),
            ("http.tenants".to_owned(), tenants()),
            ("http.pages.name".to_owned(), demo::SHOP_NAME.to_owned()),
            ("http.pages.tagline".to_owned(), demo::SHOP_LINE.to_owned()),
        ];
        // Whoever tries out the way in reads the letters there.
        let letters = folder.join(LETTERS);
        over.push(("http.mail.folder".to_owned(), letters.display().to_string()));
        over.extend(self.listen.map(|listen| ("http.listen".to_owned(), listen)));
        let config = global.load_with(over)?.config;
        logs::start(&config.http.log)?;
        let opened = Opened::with(config).await?;
        opened.database.migrate().await?;
        let ctx = opened.context(&TenantChoice { tenant: TENANT.to_owned() })?;
        let size = if self.small { Size::Small } else { Size::Full };
        if !demo::is_furnished(&ctx).await? {
            eprintln!("making the demo shop in {} …", folder.display());
            make(&ctx, size).await?;
        }
        // Whatever was measured since the last start, too.
        demo::measure(&ctx, demo::SEED, size).await?;
        for trader in &demo::TRADERS {
            let ctx = opened.context(&TenantChoice { tenant: trader.tenant.to_owned() })?;
            if !demo::is_stocked(&ctx).await? {
                demo::stock_trader(&ctx, trader, demo::SEED, size, &Done::default()).await?;
            }
        }
        let listener = if self.only_make { None } else { Some(serve::bind(&opened.config).await?) };
        let address = match &listener {
            Some(listener) => Some(format!("http://{}", listener.local_addr()?)),
            None => None,
        };
        let stop = serve::stop_signal()?;
        tell(global, address.as_deref(), &letters)?;
        let Some(listener) = listener else { return Ok(()) };
        let measuring = tokio::spawn(keep_measuring(ctx, size));
        let served = serve::until_stopped(&opened.database, &opened.config, listener, stop).await;
        measuring.abort();
        served
    }
}

/// The sensors go on while the demo is served.
async fn keep_measuring(ctx: Context, size: Size) {
    loop {
        tokio::time::sleep(MEASURE_EVERY).await;
        if let Err(error) = demo::measure(&ctx, demo::SEED, size).await {
            tracing::warn!(%error, "the demo's sensors measured nothing");
        }
    }
}

/// The shop, and those of whom sales alone are shown.
fn tenants() -> String {
    let traders = demo::TRADERS.iter().map(|trader| format!(", {} = [\"{}\"]", trader.tenant, trader.host));
    format!("{{ {TENANT} = []{} }}", traders.collect::<String>())
}

/// Where the office of a trader is: at the same port, under a name of its own.
fn office(address: &str, trader: &demo::Trader) -> Option<String> {
    let (_, port) = address.rsplit_once(':')?;
    Some(format!("http://{}:{port}/admin/sales", trader.host))
}

async fn make(ctx: &Context, size: Size) -> anyhow::Result<()> {
    let furniture = demo::furnish(demo::SEED, ctx.now(), size);
    let mut progress = Progress::new("things", u64::try_from(furniture.steps()).ok());
    let done = Done::default();
    let mut written = pin!(demo::write(ctx, furniture, &done));
    loop {
        match tokio::time::timeout(LOOK_EVERY, written.as_mut()).await {
            Ok(written) => return written,
            Err(_) => progress.at(done.count()),
        }
    }
}

fn tell(global: &Global, address: Option<&str>, letters: &Path) -> anyhow::Result<()> {
    let (admin, clerk, customer) = (demo::ADMIN, demo::CLERK, demo::CUSTOMER);
    let at = |path: &str| address.map(|address| format!("{address}{path}"));
    if global.json {
        let login = |(email, password): (&str, &str)| json!({ "email": email, "password": password });
        return output::json(&json!({
            "shop": demo::SHOP_NAME,
            "storefront": at("/"), "admin": at("/admin"), "docs": at("/docs"), "api": at("/v1/categories"),
            "letters": letters.display().to_string(),
            "prices": demo::TRADERS.iter().map(|trader| json!({
                "tenant": trader.tenant, "admin": address.and_then(|address| office(address, trader)),
            })).collect::<Vec<_>>(),
            "logins": { "admin": login(admin), "staff": login(clerk), "customer": login(customer) },
        }));
    }
    for (name, path) in [("storefront", "/"), ("admin", "/admin"), ("docs", "/docs"), ("API", "/v1/categories")] {
        if let Some(address) = at(path) {
            output::line(format!("{name:<12}{address}"))?;
        }
    }
    for trader in &demo::TRADERS {
        if let Some(office) = address.and_then(|address| office(address, trader)) {
            output::line(format!("{:<12}{office} ({}, two years of sales)", "prices", trader.line))?;
        }
    }
    output::line(format!("letters     {}", letters.display()))?;
    for (role, (email, password)) in [("admin", admin), ("staff", clerk), ("customer", customer)] {
        output::line(format!("{role:<12}{email:<22}password: {password}"))?;
    }
    Ok(())
}
