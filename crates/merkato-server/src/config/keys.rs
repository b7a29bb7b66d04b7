//! Every setting: its name, what it expects, what it is for.

use toml::Value;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As in the file, sections first: `cassandra.nodes`.
    pub path: &'static str,
    pub expects: Expects,
    pub doc: &'static str,
}

/// What a setting's value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expects {
    Text,
    Choice(&'static [&'static str]),
    /// From the first to the last.
    Integer(i64, i64),
    Boolean,
    /// A list of texts; in a variable or a flag, with commas.
    Texts,
    /// Names with amounts, as `{ DE = "0.19" }`.
    Amounts,
    Secret,
    /// The path of a file that has a secret, and nothing else but a line's end.
    SecretFile,
    Path,
    /// What a word cannot say, with an example of it.
    Toml(&'static str),
}

impl Expects {
    pub fn describe(self) -> String {
        match self {
            Expects::Text => "a text".into(),
            Expects::Choice(words) => format!("one of {}", words.join(", ")),
            Expects::Integer(0, i64::MAX) => "a whole number".into(),
            Expects::Integer(least, i64::MAX) => format!("a whole number from {least} on"),
            Expects::Integer(least, most) => format!("a whole number from {least} to {most}"),
            Expects::Boolean => "true or false".into(),
            Expects::Texts => "a list of texts, as [\"one\", \"two\"]".into(),
            Expects::Amounts => "names with amounts in quotes, as { DE = \"0.19\" }".into(),
            Expects::Secret => "a text, which is never shown".into(),
            Expects::SecretFile => "the path of a file".into(),
            Expects::Path => "a path".into(),
            Expects::Toml(example) => format!("a value as {example}"),
        }
    }

    /// Whether a value is what is expected.
    pub(super) fn admits(self, value: &Value) -> bool {
        match (self, value) {
            (Expects::Text | Expects::Secret, Value::String(_)) => true,
            (Expects::SecretFile | Expects::Path, Value::String(path)) => !path.is_empty(),
            (Expects::Choice(words), Value::String(word)) => words.contains(&word.as_str()),
            (Expects::Integer(least, most), Value::Integer(number)) => (least..=most).contains(number),
            (Expects::Boolean, Value::Boolean(_)) => true,
            (Expects::Texts, Value::Array(items)) => items.iter().all(Value::is_str),
            // A number with a point would be a float, and no float is an amount.
            (Expects::Amounts, Value::Table(amounts)) => amounts.values().all(is_amount),
            (Expects::Toml(_), Value::Float(_)) => false,
            (Expects::Toml(_), _) => true,
            _ => false,
        }
    }

    /// What a variable or a flag says. Words stand for themselves; what is more than a word is written as in the file.
    pub(super) fn read(self, text: &str) -> Option<Value> {
        let value = match self {
            Expects::Text | Expects::Choice(_) | Expects::Secret | Expects::SecretFile | Expects::Path => {
                Value::String(text.to_owned())
            }
            Expects::Texts if !text.trim_start().starts_with('[') => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
            }
            Expects::Toml(_) if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                Value::String(text.to_owned())
            }
            _ => text.trim().parse().ok()?,
        };
        self.admits(&value).then_some(value)
    }
}

fn is_amount(value: &Value) -> bool {
    let amount = match value {
        Value::String(text) => text.parse::<rust_decimal::Decimal>().ok(),
        Value::Integer(whole) => Some((*whole).into()),
        _ => None,
    };
    amount.is_some_and(|amount| amount >= rust_decimal::Decimal::ZERO)
}

const fn key(path: &'static str, expects: Expects, doc: &'static str) -> Key {
    Key { path, expects, doc }
}

const COUNT: Expects = Expects::Integer(0, i64::MAX);
const ONE_OR_MORE: Expects = Expects::Integer(1, i64::MAX);
const U32: Expects = Expects::Integer(0, u32::MAX as i64);
const U32_FROM_1: Expects = Expects::Integer(1, u32::MAX as i64);

/// What the sections are, in the order in which they are shown.
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("", "The one line that decides where the rows are."),
    ("embedded", "A folder of this machine, for one process."),
    ("cassandra", "Apache Cassandra or ScyllaDB."),
    ("dynamodb", "DynamoDB. The binary must be built with the feature `dynamodb`."),
    ("http", "The server."),
    ("http.rate", "How often one client may ask, a minute; 0 turns a limit off."),
    ("http.tls", "TLS, if both are set."),
    ("http.mail", "Letters to customers."),
    ("http.pages", "The pages for people."),
    ("http.log", "What is logged, to standard error. Commands that end log what went wrong, unless a filter is set."),
    ("jobs", "How often the work in the background is done while serving."),
    ("shop.catalog", "The shop: its catalog."),
    ("shop.accounts", "How people prove who they are, and for how long."),
    ("shop.accounts.passwords", "The work that a guess at a password costs (Argon2id)."),
    ("shop.accounts.attempts", "How many wrong passwords are free, and how the waits grow after that."),
    ("shop.carts", "How long carts live."),
    ("shop.orders", "What an order costs beside its goods, and how it is numbered."),
    ("shop.inventory", "How long stock is kept for someone, and where it is taken from."),
    ("shop.analytics", "How much is counted in memory before it is written."),
    ("shop.sales", "How sales are recorded for the analysis of prices."),
    ("shop.sales.suggestion", "How sales are weighed where a price is suggested. Weights are from 0 to 1."),
    ("shop.sales.prices", "What DynamoDB asks for the table of sales, on demand: for `merkato sales cost`."),
    ("shop.telemetry", "How measurements of sensors are taken and rolled up."),
    ("shop.graph", "How the lists of people who know each other are kept."),
    ("shop.flows", "How checkouts that were stopped are taken up again."),
    ("shop.keys", "What is written down of programs' keys."),
    ("shop.replies", "How answers are kept under idempotency keys."),
];

pub const KEYS: &[Key] = &[
    key("engine", Expects::Choice(&["embedded", "cassandra", "dynamodb"]), "Which engine keeps the rows."),
    key("embedded.folder", Expects::Path, "The folder; it is made if it is not there."),
    key("embedded.cache_mib", Expects::Integer(1, 1_048_576), "Memory for blocks that were read."),
    key(
        "embedded.memtable_mib",
        Expects::Integer(1, 4_096),
        "Memory for rows that were written and not yet sorted to disk; large means less sorting anew, small a quick start after a crash.",
    ),
    key(
        "embedded.page_cache_mib",
        Expects::Integer(0, 1_048_576),
        "Memory for pages that are read again and again; 0 for none.",
    ),
    key("cassandra.nodes", Expects::Texts, "host:port of some nodes; the others are found through them."),
    key("cassandra.keyspace", Expects::Text, "The keyspace; `merkato migrate` makes it if it is not there."),
    key("cassandra.replication", Expects::Text, "The keyspace's replication, as CQL writes it."),
    key("cassandra.user", Expects::Text, "Who logs in; nobody if it is not set."),
    key("cassandra.password", Expects::Secret, "The user's password."),
    key("cassandra.datacenter", Expects::Text, "Whose nodes to speak to, where there are several data centers."),
    key("cassandra.connect_timeout_ms", ONE_OR_MORE, "For the first connection, all of it."),
    key("cassandra.request_timeout_ms", ONE_OR_MORE, "For one request."),
    key("cassandra.hedge_after_ms", ONE_OR_MORE, "A read that takes longer is sent to another node as well."),
    key("dynamodb.endpoint", Expects::Text, "Another address than the region's, as http://127.0.0.1:8000."),
    key("dynamodb.region", Expects::Text, "The region; from the environment if it is not set."),
    key("dynamodb.table_prefix", Expects::Text, "Stands before the name of every table."),
    key(
        "dynamodb.names",
        Expects::Toml("{ sales_intelligence = \"bg-remover-dev-sales-intelligence\" }"),
        "Tables, and indexes, that are called otherwise on DynamoDB: the prefix is not added.",
    ),
    key("dynamodb.stage", Expects::Text, "What `{stage}` stands for in the name of the table of sales."),
    key("dynamodb.sales_table", Expects::Text, "The table of sales, which other tools share; the prefix is not added."),
    key("dynamodb.access_key", Expects::Text, "The access key; from the environment if it is not set."),
    key("dynamodb.secret_key", Expects::Secret, "What belongs to the access key."),
    key("dynamodb.request_timeout_ms", ONE_OR_MORE, "For one request, repetitions included."),
    key("dynamodb.migrate_timeout_ms", ONE_OR_MORE, "How long `merkato migrate` waits for a table to become active."),
    key("http.listen", Expects::Text, "The address and port on which the server listens."),
    key(
        "http.public_url",
        Expects::Text,
        "How people reach it from outside: links in letters begin with it, unless the shop's own host was asked.",
    ),
    key("http.body_bytes_max", ONE_OR_MORE, "Bytes of a request's body."),
    key("http.request_seconds_max", ONE_OR_MORE, "Seconds for a body to come, and as many for its answer to be made."),
    key("http.header_seconds_max", ONE_OR_MORE, "Seconds for a request's head to come, and between two requests."),
    key("http.stall_seconds_max", ONE_OR_MORE, "Seconds for which a client may take in nothing of its answer."),
    key("http.stop_seconds_max", ONE_OR_MORE, "Seconds that running requests are given when the server stops."),
    key("http.connections_max", ONE_OR_MORE, "Connections at the same time; more wait."),
    key("http.requests_at_once_max", ONE_OR_MORE, "Requests at the same time; more are told to come later."),
    key(
        "http.followers_max",
        COUNT,
        "Programs and pages that follow the feed of events at once. More are told to come later.",
    ),
    key("http.cors_origins", Expects::Texts, "Sites whose pages may read answers, as https://shop.example."),
    key(
        "http.tenants",
        Expects::Toml("{ default = [], other = [\"other.example\"] }"),
        "The shops, and the host names that each is reached by.",
    ),
    key(
        "http.trusted_proxies",
        Expects::Texts,
        "Networks of proxies whose X-Forwarded-For is believed, as 10.0.0.0/8.",
    ),
    key("http.behind_tls", Expects::Boolean, "Whether a proxy in front speaks TLS, so that cookies are Secure."),
    key(
        "http.signing_key",
        Expects::Secret,
        "What cursors and forms are signed with: 64 hexadecimal digits. Each shop makes and stores its own if it is not set.",
    ),
    key("http.rate.requests_a_minute", U32, "Requests of one client."),
    key("http.rate.logins_a_minute", U32, "Requests of one client that take passwords, or send letters."),
    key("http.rate.clients_max", ONE_OR_MORE, "Clients that are remembered."),
    key("http.tls.certificate", Expects::Path, "The chain of certificates, in PEM."),
    key("http.tls.key", Expects::Path, "The private key, in PEM."),
    key("http.mail.folder", Expects::Path, "Where letters are put as .eml files; without it they are dropped."),
    key("http.mail.from", Expects::Text, "Who the letters are from."),
    key("http.pages.enabled", Expects::Boolean, "Whether there are pages: the shop at /, the office at /admin."),
    key("http.pages.name", Expects::Text, "What the shop is called."),
    key("http.pages.tagline", Expects::Text, "What the shop is, in a few words."),
    key(
        "http.pages.picture_origins",
        Expects::Texts,
        "Hosts whose pictures of products are shown, as https://pictures.example. Others' are replaced by drawn ones.",
    ),
    key("http.log.format", Expects::Choice(&["text", "json"]), "For people or for programs."),
    key("http.log.filter", Expects::Text, "How much: error, warn, info, debug; or by module, as info,merkato=debug."),
    key("jobs.flows_seconds", ONE_OR_MORE, "Checkouts that were stopped go on."),
    key("jobs.stock_seconds", ONE_OR_MORE, "Stock of holds that have ended is shown as available again."),
    key("jobs.carts_seconds", ONE_OR_MORE, "What is left of carts whose time is over is deleted."),
    key("jobs.trees_seconds", ONE_OR_MORE, "Subtrees whose move, renaming or deletion was stopped half-way get there."),
    key("jobs.graph_seconds", ONE_OR_MORE, "Connections that were not counted, as their process died, are counted."),
    key("jobs.analysis_seconds", ONE_OR_MORE, "What the whole graph says about everybody is found out anew."),
    key("jobs.ranking_seconds", ONE_OR_MORE, "The best products are ranked anew."),
    key("jobs.sales_seconds", ONE_OR_MORE, "Orders that have changed are recorded as sales."),
    key("jobs.rollup_seconds", ONE_OR_MORE, "Measurements of hours that are over are rolled up."),
    key("jobs.sequence_seconds", ONE_OR_MORE, "Events that nobody has asked for get their places in the feed."),
    key("jobs.projections_seconds", ONE_OR_MORE, "Read models follow the feed of events, or are made anew."),
    key("jobs.snapshots_seconds", ONE_OR_MORE, "Snapshots are taken of streams that have a hundred events more."),
    key("jobs.maintain_seconds", ONE_OR_MORE, "Commits whose process died are finished, and expired rows reclaimed."),
    key("shop.catalog.products_a_name_max", COUNT, "Active products with one and the same name."),
    key(
        "shop.accounts.verified_email_needed",
        Expects::Boolean,
        "Whether one must have shown that the e-mail address is one's own before logging in. A role needs it in any case.",
    ),
    key("shop.accounts.session_seconds", U32_FROM_1, "How long a session lasts."),
    key("shop.accounts.session_seen_seconds", COUNT, "How exact it is when a session was last seen."),
    key("shop.accounts.verify_token_seconds", ONE_OR_MORE, "How long a link to verify an address works."),
    key("shop.accounts.reset_token_seconds", ONE_OR_MORE, "How long a link to a new password works."),
    key("shop.accounts.email_change_token_seconds", ONE_OR_MORE, "How long a link to another address works."),
    key("shop.accounts.passwords.memory_kib", Expects::Integer(8, 4_194_304), "Memory for each."),
    key("shop.accounts.passwords.passes", Expects::Integer(1, 1_000), "Passes over it."),
    key("shop.accounts.passwords.lanes", Expects::Integer(1, 64), "Lanes."),
    key(
        "shop.accounts.passwords.at_once",
        Expects::Integer(1, 1_024),
        "Passwords that are hashed side by side; each takes the memory. As many as there are cores if it is not set.",
    ),
    key(
        "shop.accounts.passwords.wait_seconds_max",
        COUNT,
        "How long one waits for one's turn before being told to come later.",
    ),
    key("shop.accounts.attempts.account_free", U32, "Wrong passwords for one account without a wait."),
    key("shop.accounts.attempts.address_free", U32, "Wrong passwords from one network address without a wait."),
    key("shop.accounts.attempts.first_wait_seconds", COUNT, "The first wait; doubled with each attempt."),
    key("shop.accounts.attempts.wait_seconds_max", COUNT, "The longest wait."),
    key("shop.accounts.attempts.forget_seconds", ONE_OR_MORE, "One attempt is forgotten for so many without any."),
    key("shop.carts.default_cart_name", Expects::Text, "What the cart is called that a user gets without asking."),
    key("shop.carts.guest_cart_days", U32_FROM_1, "Days after its last change for which a guest's cart lives."),
    key("shop.carts.saved_cart_days", U32_FROM_1, "As many for the lines of a user's cart; for good if it is not set."),
    key("shop.orders.currency", Expects::Text, "Of the shipping methods' amounts, and of orders that name no other."),
    key(
        "shop.orders.tax_rates",
        Expects::Amounts,
        "By country: 0.19 is nineteen per cent. No tax where none is named.",
    ),
    key("shop.orders.tax_on_shipping", Expects::Boolean, "Whether shipping is taxed as the goods are."),
    key(
        "shop.orders.shipping_methods",
        Expects::Toml(
            "[{ name = \"standard\", title = \"Standard\", amount = \"4.90\", free_from = \"50\", days = 4 }]",
        ),
        "The ways in which goods come to the shopper. Nothing is charged from `free_from` on.",
    ),
    key("shop.orders.number_prefix", Expects::Text, "What an order's number begins with: ORD-2026-000123."),
    key(
        "shop.orders.number_block",
        Expects::Integer(1, 10_000),
        "Numbers that a process takes at once. What is left of them is lost when it ends.",
    ),
    key("shop.orders.unpaid_seconds", ONE_OR_MORE, "How long an order may stay unpaid before it is given up."),
    key("shop.inventory.hold_seconds", U32_FROM_1, "How long a hold lasts that is asked for without a time."),
    key("shop.inventory.hold_seconds_max", U32_FROM_1, "The longest that a hold is asked for, and extended to."),
    key("shop.inventory.hold_grid_seconds", U32_FROM_1, "Holds end at multiples of this."),
    key("shop.inventory.memory_days", U32_FROM_1, "Days for which a repeated request changes nothing."),
    key("shop.inventory.confirmed_days", U32_FROM_1, "Days for which sold units can be given back."),
    key(
        "shop.inventory.warehouse_rule",
        Expects::Toml("\"most_stock_first\" or { priority = [\"berlin\", \"hamburg\"] }"),
        "The order in which warehouses are asked.",
    ),
    key(
        "shop.analytics.views_flush_seconds",
        ONE_OR_MORE,
        "Seconds between two flushes of views: what a crash may lose.",
    ),
    key("shop.analytics.views_products_max", ONE_OR_MORE, "Products whose views are held at most."),
    key("shop.analytics.views_bytes_max", ONE_OR_MORE, "Bytes that they take at most, about."),
    key(
        "shop.sales.retention_years",
        Expects::Integer(0, 1_000),
        "Calendar years for which a sale is kept; 0: for good.",
    ),
    key(
        "shop.sales.category_shards",
        Expects::Integer(1, 100),
        "Shards of a category's trends; after a change all records have to be written anew.",
    ),
    key("shop.sales.embedding_shards", Expects::Integer(1, 100), "Shards of the products' embeddings, likewise."),
    key(
        "shop.sales.hemisphere",
        Expects::Choice(&["north", "south"]),
        "Where the customers are, for the season of a sale that comes without one.",
    ),
    key(
        "shop.sales.follow_orders",
        Expects::Boolean,
        "Whether the shop's own orders are recorded as sales: those in the currency of `shop.orders`.",
    ),
    key("shop.sales.suggestion.half_life_days", U32_FROM_1, "Days after which a sale weighs half."),
    key("shop.sales.suggestion.sales_min", ONE_OR_MORE, "With fewer sales nothing is suggested."),
    key("shop.sales.suggestion.other_season_weight", Expects::Text, "The weight of a sale of another season."),
    key(
        "shop.sales.suggestion.other_brand_weight",
        Expects::Text,
        "The weight of a sale of another brand, where those of the brand are too few.",
    ),
    key(
        "shop.sales.suggestion.without_vector_weight",
        Expects::Text,
        "The weight of a sale without a vector, where others have one.",
    ),
    key("shop.sales.suggestion.shown_max", Expects::Integer(0, 100), "How many of the sales are shown."),
    key("shop.sales.suggestion.few_sales", U32, "Evenly weighted sales, below which confidence suffers."),
    key(
        "shop.sales.suggestion.wide_spread",
        Expects::Text,
        "The distance from low to high as a share of the price, above which confidence suffers.",
    ),
    key("shop.sales.prices.currency", Expects::Text, "Of these prices."),
    key("shop.sales.prices.write_million", Expects::Text, "For a million write request units."),
    key("shop.sales.prices.read_million", Expects::Text, "For a million read request units."),
    key("shop.sales.prices.storage_gigabyte_month", Expects::Text, "For a gigabyte that is kept for a month."),
    key("shop.telemetry.raw_hours", Expects::Integer(1, 8_760), "Hours for which raw measurements are shown."),
    key(
        "shop.telemetry.raw_reserve_hours",
        Expects::Integer(0, 8_760),
        "Hours for which they are kept beyond: so long roll-ups may stand still, and nothing is missing in them.",
    ),
    key(
        "shop.telemetry.grace_seconds",
        Expects::Integer(0, 86_400),
        "How long the roll-up of an hour waits for measurements on their way; clocks must not differ by more.",
    ),
    key(
        "shop.telemetry.future_seconds",
        Expects::Integer(0, 590),
        "How far ahead of this machine's clock a measurement's time may be.",
    ),
    key(
        "shop.telemetry.outlier_threshold",
        Expects::Text,
        "How many times the robust deviation a value lies off the median to be an outlier.",
    ),
    key(
        "shop.graph.pairs_a_bucket",
        Expects::Integer(100, 100_000),
        "People of one partition of somebody's lists; lists that are there stay.",
    ),
    key("shop.flows.lease_seconds", ONE_OR_MORE, "For how long a checkout is left to whoever runs it."),
    key("shop.keys.used_seconds", ONE_OR_MORE, "How exact it is when a key was last used."),
    key("shop.replies.memory_seconds", U32_FROM_1, "How long a key and its answer are remembered."),
    key(
        "shop.replies.lease_seconds",
        ONE_OR_MORE,
        "How long a request is left to whoever runs it; longer than any takes.",
    ),
];

/// What a path is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Setting(Expects),
    Section,
    Nothing,
}

pub(super) fn find(path: &str) -> Found {
    let exact = |path: &str| KEYS.iter().find(|key| key.path == path);
    if let Some(key) = exact(path) {
        return Found::Setting(key.expects);
    }
    if secret_of(path).is_some() {
        return Found::Setting(Expects::SecretFile);
    }
    let begins = |key: &&Key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    if KEYS.iter().any(|key| begins(&key)) { Found::Section } else { Found::Nothing }
}

/// The secret whose file the setting names.
pub(super) fn secret_of(path: &str) -> Option<&'static str> {
    let secret = path.strip_suffix("_file")?;
    KEYS.iter().find(|key| key.path == secret && key.expects == Expects::Secret).map(|key| key.path)
}

/// Every path that can be set, the files of secrets included.
pub(super) fn paths() -> impl Iterator<Item = String> {
    KEYS.iter().flat_map(|key| {
        let file = (key.expects == Expects::Secret).then(|| format!("{}_file", key.path));
        [Some(key.path.to_owned()), file].into_iter().flatten()
    })
}

/// The setting that was probably meant.
pub(super) fn nearest(path: &str) -> Option<String> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |known: &String| {
        let whole = strsim::damerau_levenshtein(path, known);
        // In the wrong section, or without one.
        let own = strsim::damerau_levenshtein(&last(path), &last(known)) + 1;
        whole.min(own)
    };
    let near = last(path).len().div_ceil(2).max(2);
    paths().map(|known| (distance(&known), known)).filter(|(far, _)| *far <= near).min().map(|(_, known)| known)
}
