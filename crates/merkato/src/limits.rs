//! Every limit of the domain, in one place.

use rust_decimal::Decimal;

/// Bytes of a name: a product's, a category's, a cart's. It is a partition key in `items_by_name`.
pub const NAME_BYTES_MAX: usize = 600;
pub const SLUG_BYTES_MAX: usize = 120;
pub const URL_BYTES_MAX: usize = 2_000;
/// Bytes of a short text: a brand, a city, an option's name or value.
pub const LINE_BYTES_MAX: usize = 200;
/// Bytes of a product's description.
pub const DESCRIPTION_BYTES_MAX: usize = 50_000;
/// The document keeps collections under fifty.
pub const COLLECTION_ITEMS_MAX: usize = 50;
/// Bytes of an attribute's value.
pub const ATTRIBUTE_BYTES_MAX: usize = 2_000;
/// How far another machine's clock may be ahead.
pub const CLOCK_SKEW_SECONDS: i64 = 24 * 60 * 60;
/// The largest price. The sort keys have ten digits before the point.
pub const PRICE_MAX: Decimal = Decimal::from_parts(0x540B_E3FF, 2, 0, false, 0);
pub const QUANTITY_MAX: u32 = 100_000;
/// Millimetres of a side.
pub const DIMENSION_MAX: i32 = 100_000;
/// A hundred tonnes.
pub const WEIGHT_GRAMS_MAX: i32 = 100_000_000;
/// Categories from the root to a leaf.
pub const CATEGORY_DEPTH_MAX: usize = 10;
/// Categories and products that follow a category before the answer to whoever changed it.
pub const FOLLOWED_AT_ONCE_MAX: usize = 1_000;
/// A product is filed so long after its category's place was read, and no longer.
pub const FILING_SECONDS_MAX: i64 = 20;
/// When all is gone through again, after a category was changed. The change may be seen so late as a commit takes, what was filed
/// until then is written so late again, and a sweep ends what the dead have begun when it is old enough.
pub const FOLLOW_AGAIN_SECONDS: i64 = FILING_SECONDS_MAX + 2 * COMMIT_SECONDS_MAX + widerow::outbox::GRACE_SECONDS;
/// From the decision about a commit to its end: its turn is waited for, and it is made.
const COMMIT_SECONDS_MAX: i64 =
    (widerow::limits::LOCK_TIME_MAX.as_secs() + widerow::limits::COMMIT_TIME_MAX.as_secs()) as i64;
/// Products with one and the same name.
pub const PRODUCTS_A_NAME_MAX: usize = 10_000;
/// Rows of a page.
pub const PAGE_ROWS_MAX: usize = 100;
pub const PAGE_ROWS_DEFAULT: usize = 24;
/// Suggestions as someone types.
pub const SUGGESTIONS_MAX: usize = 20;
/// Words of one search.
pub const SEARCH_WORDS_MAX: usize = 32;
/// Words of one search by which the products are looked for, one after the other, until one is found that few names have.
pub const SEARCH_WALKS_MAX: usize = 3;
/// Products of one featured list.
pub const FEATURED_MAX: usize = 100;
/// Related products that are shown.
pub const RELATED_MAX: usize = 24;
/// Products of one purchase that are counted as bought together.
pub const BOUGHT_TOGETHER_MAX: usize = 50;
/// Seconds for which a claim to a name is left to the one who made it, before another may ask whether it was used.
pub const CLAIM_GRACE_SECONDS: i64 = 10;
/// The document's: carts of one user.
pub const CARTS_A_USER_MAX: usize = 100;
/// The document's: lines of one cart.
pub const LINES_A_CART_MAX: usize = 1_000;
/// Bytes of a cart's name, which is a part of a key.
pub const CART_NAME_BYTES_MAX: usize = 200;
/// Options of one line: size, colour, engraving.
pub const OPTIONS_A_LINE_MAX: usize = 20;
/// Lines that are added in one step. Each may replace a row of another key, and a commit has 99 writes.
pub const LINES_AT_ONCE_MAX: usize = 45;
/// Days for which the sweep of ended carts may stand still before it misses one.
pub const CART_SWEEP_DAYS: i32 = 30;

/// Bytes of an e-mail address, as SMTP has it.
pub const EMAIL_BYTES_MAX: usize = 254;
/// Bytes of a new password. Nothing else is asked of it: length is what makes it hard to guess.
pub const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 10..=1_024;
/// Addresses that one person keeps.
pub const ADDRESSES_MAX: usize = 5;
/// Sessions of one person; the oldest goes when there are more.
pub const SESSIONS_MAX: usize = 50;
/// Bytes of what a browser says of itself that are kept.
pub const USER_AGENT_BYTES_MAX: usize = 200;
/// Bytes of a client's address that are kept: the longest that IPv6 has, with a zone.
pub const CLIENT_ADDRESS_BYTES_MAX: usize = 64;
pub const PHONE_BYTES_MAX: usize = 40;
pub const POSTAL_CODE_BYTES_MAX: usize = 20;
/// Records of one import: an id and a count are kept for each.
pub const IMPORT_RECORDS_MAX: u32 = 5_000_000;
/// Records of an import that wait for others of their products.
pub const IMPORT_WAITING_MAX: u64 = 100_000;
/// Bytes of one record of an import.
pub const IMPORT_RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Rejected records, and notes, that a report lists.
pub const IMPORT_LISTED_MAX: usize = 100_000;

/// Seconds for which a flow is left to whoever runs it.
pub const FLOW_LEASE_SECONDS: i64 = 120;
/// Seconds for which a finished flow is the answer to whoever asks again, unless it is for good: thirty days.
pub const FLOW_MEMORY_SECONDS: u32 = 30 * 24 * 60 * 60;
/// Hours after which no flow is put under an hour that is past, clocks that differ included.
pub const FLOW_LATE_HOURS: i32 = 2;
/// Characters of the key under which a checkout is asked for.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// Lines of one order: as many as a cart has.
pub const LINES_AN_ORDER_MAX: usize = LINES_A_CART_MAX;
/// The largest total of an order.
pub const AMOUNT_MAX: Decimal = Decimal::from_parts(0xA4C6_8000, 0x0003_8D7E, 0, false, 0);
/// Partitions over which a day's orders are spread. It is a part of stored keys and never changes.
pub const ORDER_SHARDS: u32 = 8;
/// Days for which an order is listed by its status after it came to it.
pub const STATUS_LIST_DAYS: i32 = 30;
/// Bytes of a note on an order.
pub const NOTES_BYTES_MAX: usize = 4_000;
/// Bytes of an order's number.
pub const ORDER_NUMBER_BYTES_MAX: usize = 40;
/// Bytes of what stands for who changed an order, of a provider's id, of a carrier and a tracking number.
pub const REFERENCE_BYTES_MAX: usize = 200;
/// Bytes of a discount code.
pub const DISCOUNT_CODE_BYTES_MAX: usize = 40;
/// Uses of one discount code.
pub const DISCOUNT_USES_MAX: i64 = 1_000_000;
/// Order numbers that a process takes at once.
pub const NUMBER_BLOCK_MAX: u32 = 10_000;
/// Decimals of a tax rate or a percentage.
pub const RATE_DECIMALS_MAX: u32 = 6;
/// Times that a list by status is read on for orders that have moved on meanwhile.
pub const STATUS_LIST_PASSES_MAX: usize = 4;
/// Units of one request to the stock: a hold, a delivery, a transfer.
pub const UNITS_MAX: i64 = 1_000_000;
/// Units of one product in one warehouse.
pub const WAREHOUSE_UNITS_MAX: i32 = 1_000_000_000;
/// Warehouses that have one product. Their rows are read with every decision.
pub const WAREHOUSES_A_PRODUCT_MAX: usize = 50;
/// Characters of a warehouse's id, which is a part of a key.
pub const WAREHOUSE_ID_CHARS_MAX: usize = 64;
/// Requests for the stock of one product that are decided together. Each may write a row, and a commit has 99 writes.
pub const STOCK_REQUESTS_TOGETHER_MAX: usize = 90;
/// Requests for the stock of one product that wait in one process.
pub const STOCK_REQUESTS_WAITING_MAX: usize = 10_000;
/// Purchases of two products together by which one that is noted again is known.
pub const PURCHASES_A_PAIR_KNOWN: usize = 8;
/// Rows of stock and holds that one process remembers of what it wrote last; each takes some hundred bytes.
pub const STOCK_ROWS_REMEMBERED_MAX: usize = 65_536;
/// Memory of one process for the heads of the streams that it appended to last, about.
pub const STREAM_HEADS_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Categories of one order that are counted.
pub const CATEGORIES_AN_ORDER_MAX: usize = 1_000;
/// Units of one order and category, or of one product and day.
pub const UNITS_COUNTED_MAX: i64 = 1_000_000_000;
/// Minor units of a currency that one order has in one category, or one product makes on one day. Tens of thousands of them
/// can be summed.
pub const REVENUE_CENTS_MAX: i64 = 100_000_000_000_000;
/// Days whose sales are listed together: a quarter.
pub const SALES_DAYS_MAX: i32 = 92;
/// Categories, in each of their currencies, that sell on one day.
pub const SALES_LINES_A_DAY_MAX: usize = 5_000;
/// Wrong orders that a report lists.
pub const WRONG_ORDERS_LISTED: usize = 100;
/// Bytes by which a visitor is known.
pub const VISITOR_BYTES_MAX: usize = 200;
/// Days whose views are listed together; no more are kept.
pub const VIEW_DAYS_MAX: i32 = 91;
/// Days whose views are summed over all products.
pub const DAY_VIEWS_DAYS_MAX: i32 = 31;
/// Products of one day and shard that are summed.
pub const DAY_VIEWS_A_SHARD_MAX: usize = 1_000;
/// Processes whose last flush a row of views remembers.
pub const FLUSHES_KEPT: usize = 50;
/// Products of one day: eight shards, each of which is read whole.
pub const PRODUCTS_A_DAY_MAX: usize = 50_000;
/// Products of a ranking.
pub const RANKED_MAX: usize = 50;
/// Orders of one day that are counted in one go. Each takes a row of the 99 that a commit writes, beside the totals.
pub const ORDERS_TOGETHER_MAX: usize = 90;
/// Orders of one day that wait for it in one process.
pub const ORDERS_WAITING_MAX: usize = 10_000;
/// Instants at which holds in force may end, for one product: each is an entry in the rows of stock.
pub const HOLD_ENDS_MAX: u32 = 1_000;
/// Bytes of all the files beside the lines of an import of orders, which are held in memory.
pub const IMPORT_COMPANIONS_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Keys of programs that are in force in one shop: a list of one partition.
pub const KEYS_MAX: usize = 200;
/// Seconds for which a key may be made: ten years.
pub const KEY_SECONDS_MAX: i64 = 10 * 365 * 24 * 60 * 60;
/// Seconds for which a key is still listed that is revoked or at its end: ninety days.
pub const KEY_MEMORY_SECONDS: i64 = 90 * 24 * 60 * 60;
/// Bytes of the body and the headers of an answer that is kept. A row has 320 KiB.
pub const REPLY_BYTES_MAX: usize = 256 * 1024;
/// Headers of an answer that is kept.
pub const REPLY_HEADERS_MAX: usize = 100;
/// Partitions over which the list of users is spread. It is a part of stored keys and never changes.
pub const USER_SHARDS: u32 = 16;
/// Partitions over which the list of products is spread. It is a part of stored keys and never changes.
pub const PRODUCT_SHARDS: u32 = 4;
/// Bytes of the ids of a sale: the product's and its own. Both stand in the keys of indexes beside a date and a price.
pub const SALE_ID_BYTES_MAX: usize = 128;
/// Bytes of a sale's category and brand, each a part of a key.
pub const SALE_NAME_BYTES_MAX: usize = 200;
/// Bytes of where an embedding is kept.
pub const EMBEDDING_KEY_BYTES_MAX: usize = 2_048;
/// Bytes of one sale record. DynamoDB takes 400 KB with all names; a row of the data layer has 320 KiB.
pub const SALE_BYTES_MAX: usize = 320 * 1024;
/// The largest price of a sale: ten digits of minor units in a sort key.
pub const SALE_PRICE_MAX: Decimal = Decimal::from_parts(0x540B_E3FF, 2, 0, false, 2);
/// Numbers of one vector.
pub const VECTOR_FLOATS_MAX: usize = 4_096;
/// Sales that are written in one call.
pub const SALES_TOGETHER_MAX: usize = 10_000;
/// Shards of a category's trends, or of embeddings: all of a category's are read side by side.
pub const SALE_SHARDS_MAX: u32 = 100;
/// Hits of an index that are looked at for one page: where few of them are wanted, the page is short and goes on behind.
pub const SALE_HITS_A_PAGE_MAX: usize = 5_000;
/// Days of orders that are followed in one go after a time without.
pub const FOLLOWED_DAYS_MAX: i32 = 30;
/// Nearest products that are asked for at once.
pub const NEAREST_MAX: usize = 100;
/// Measurements that are taken in one call.
pub const MEASUREMENTS_TOGETHER_MAX: usize = 10_000;
/// Metrics of one sensor besides temperature, humidity and pressure. The figures of 24 hours of all of them are one row.
pub const METRICS_A_SENSOR_MAX: usize = 24;
/// Bytes of a metric's name.
pub const METRIC_NAME_BYTES_MAX: usize = 64;
/// Entries of a measurement's metadata.
pub const MEASUREMENT_METADATA_MAX: usize = 10;
/// Raw measurements of one hour that a roll-up looks at, and that are read for one answer.
pub const RAW_ROWS_MAX: usize = 100_000;
/// Outliers of an hour that are listed.
pub const OUTLIERS_LISTED_MAX: usize = 20;
/// Days of one answer.
pub const TELEMETRY_DAYS_MAX: i64 = 3_660;
/// Sensors whose latest values are asked for at once.
pub const LATEST_SENSORS_MAX: usize = 200;
/// Levels of a tree below its root. A node has a row with each node above it, and a commit 2,000 writes.
pub const NODE_DEPTH_MAX: usize = 1_000;
/// Nodes right below one.
pub const CHILDREN_A_NODE_MAX: i64 = 100_000;
/// Bytes of a node's name.
pub const NODE_NAME_BYTES_MAX: usize = 200;
/// Bytes of a folded name by which nodes are in order: a part of a key.
pub const NODE_ORDER_BYTES_MAX: usize = 160;
/// Bytes of a node's path. A row holds two of them while the node is moved.
pub const NODE_PATH_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a path that is a part of a key as it is; of a longer one the beginning and a digest are.
pub const NODE_PATH_KEY_BYTES_MAX: usize = 480;
/// Bytes of what a node is: department, team, category.
pub const NODE_TYPE_BYTES_MAX: usize = 60;
/// Bytes of all that is noted of a node, names and values.
pub const NODE_METADATA_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a tree's name.
pub const TREE_NAME_BYTES_MAX: usize = 100;
/// How often a thing can have been edited elsewhere: far from where counting on would end.
pub const REVISION_MAX: i64 = 1 << 53;
/// Trees of one shop: a list of one partition.
pub const TREES_MAX: usize = 10_000;
/// Nodes that are inserted in one call.
pub const NODES_TOGETHER_MAX: usize = 10_000;
/// Nodes that one search by name looks at: after as many the page ends, and the next goes on behind.
pub const NODES_SEARCHED_MAX: usize = 10_000;
/// Rows that are passed over for one page while a subtree is moved: after as many the page is short and goes on behind.
pub const PASSED_ROWS_A_PAGE_MAX: usize = 20_000;
/// Relocations that were given up, of which a tree remembers why.
pub const REFUSALS_KEPT: usize = 16;
/// Nodes of one import, which are held in memory to be put in order: a few hundred bytes each.
pub const IMPORT_NODES_MAX: usize = 500_000;
/// Events of one append. Each has up to three rows in the one commit.
pub const EVENTS_TOGETHER_MAX: usize = 500;
/// Bytes of an event's data as JSON. A row has 320 KiB.
pub const EVENT_DATA_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the data of all events of one append: a commit has 4 MiB.
pub const EVENTS_DATA_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of an event's type and of an aggregate's kind, each a part of a key or of many rows.
pub const EVENT_NAME_BYTES_MAX: usize = 100;
/// Entries of an event's metadata, and bytes of a name or a value of them.
pub const EVENT_METADATA_MAX: usize = 20;
pub const EVENT_METADATA_BYTES_MAX: usize = 1_000;
/// Bytes of what a domain keeps beside a stream's version.
pub const STREAM_STATE_BYTES_MAX: usize = 16 * 1024;
/// Events of one partition of the log, and places of one of the feed. They are a part of stored keys and never change.
pub const EVENTS_A_BLOCK: i64 = 1_000;
/// Events after which a snapshot is due.
pub const EVENTS_A_SNAPSHOT: i64 = 100;
/// Bytes of a snapshot; of a larger state none is kept.
pub const SNAPSHOT_BYTES_MAX: usize = 256 * 1024;
/// Days that one page of events by type or by time looks at: after as many the page is short and goes on behind.
pub const EVENT_DAYS_A_PAGE_MAX: usize = 62;
/// Seconds by which the time of an event may lie ahead of this process's clock.
pub const EVENT_AHEAD_SECONDS: i64 = 300;
/// Entries of what is noted of a connection.
pub const CONNECTION_METADATA_MAX: usize = 20;
/// Bytes of a name, and of a value, of what is noted of a connection.
pub const CONNECTION_METADATA_BYTES_MAX: usize = 500;
/// Changes that somebody has counted and that may be marked as uncounted still: above, they are looked after.
pub const COUNTED_KEPT: usize = 20;
/// Changes of one person's connections that are counted together.
pub const COUNTED_TOGETHER_MAX: usize = 200;
/// Changes of one person's connections that wait in one process.
pub const COUNTS_WAITING_MAX: usize = 10_000;
/// What somebody likes.
pub const INTERESTS_MAX: usize = 50;
/// Bytes of one interest.
pub const INTEREST_BYTES_MAX: usize = 100;
/// Buckets of somebody's connections that are looked at for one page: where few of them have any, the page is short and goes on
/// behind.
pub const BUCKETS_A_PAGE_MAX: u64 = 4;
/// Steps of a path.
pub const PATH_HOPS_MAX: usize = 6;
/// Rows that one search for a path reads.
pub const PATH_ROWS_MAX: usize = 200_000;
/// Rows that the making of one person's suggestions reads.
pub const SUGGESTION_ROWS_MAX: usize = 200_000;
/// Those who may be suggested and whose interests are looked at.
pub const SUGGESTED_CONSIDERED_MAX: usize = 1_000;
/// Suggestions of one person. They are replaced in one commit of 99 writes.
pub const SUGGESTIONS_A_USER_MAX: usize = 49;
/// Communities that are listed. They are replaced in one commit of 99 writes.
pub const COMMUNITIES_LISTED_MAX: usize = 49;
/// People who are named of a community.
pub const COMMUNITY_LEADERS_MAX: usize = 10;
/// Connections that are made in one call.
pub const CONNECTIONS_TOGETHER_MAX: usize = 10_000;
/// Wishes to one wallet that are decided together. Each writes two rows, and a transaction of DynamoDB has a hundred.
pub const WALLET_WISHES_TOGETHER_MAX: usize = 45;
/// Wishes to one wallet that wait in one process.
pub const WALLET_WISHES_WAITING_MAX: usize = 10_000;
/// Wallets that do not add up, of which a report tells.
pub const WALLET_FAULTS_LISTED: usize = 100;
