//! What the macros refuse: each mistake, and the words that its author reads.
//!
//! The expansions run here on plain tokens, so that no mistake needs a compiler run of its own. Mistakes that only trait
//! bounds can see are `compile_fail` examples in `widerow`.

use syn::{DeriveInput, parse_str};

fn row_problems(code: &str) -> Vec<String> {
    problems(crate::row::expand(&declaration(code)))
}

fn cell_problems(code: &str) -> Vec<String> {
    problems(crate::cell::expand(&declaration(code)))
}

fn declaration(code: &str) -> DeriveInput {
    parse_str(code).unwrap_or_else(|error| panic!("{code}: {error}"))
}

fn problems(expanded: syn::Result<proc_macro2::TokenStream>) -> Vec<String> {
    expanded.err().map(|error| error.into_iter().map(|one| one.to_string()).collect()).unwrap_or_default()
}

/// A row with columns of every kind, under the given words.
fn row(words: &str) -> Vec<String> {
    row_problems(&format!("#[row({words})] struct R {{ id: Uuid, at: Timestamp, name: String }}"))
}

fn row_with(words: &str, fields: &str) -> Vec<String> {
    row_problems(&format!("#[row({words})] struct R {{ {fields} }}"))
}

/// The one problem is this one, to the word.
#[track_caller]
fn says(problems: Vec<String>, expected: &str) {
    assert_eq!(problems, [expected]);
}

#[track_caller]
fn fine(problems: Vec<String>) {
    assert!(problems.is_empty(), "{problems:?}");
}

mod rows {
    use super::*;

    const TABLE: &str = r#"table = "t", partition(id)"#;

    #[test]
    fn what_is_right_is_taken() {
        fine(row(r#"table = "t", partition(id)"#));
        fine(row(r#"table = "t", partition(id, name), clustering(at asc), guarded, ttl = "20s", gc_grace = 0"#));
        fine(row(r#"table = "t", partition(id), clustering(at desc,), index(name = "I", projection = keys_only)"#));
        fine(row_problems(r#"#[row(table = "t")] #[row(partition(id))] pub(crate) struct R { id: Uuid }"#));
        fine(row_with(r#"table = "t", partition(type)"#, "r#type: String"));
        fine(row_with(r#"table = "t", partition(id), counters, gc_grace = "1d""#, "id: Uuid, n: value::Counter"));
    }

    #[test]
    fn shared() {
        fine(row(r#"table = "t", partition(id), shared"#));
        fine(row_with(
            r#"table = "t", partition(id), shared, ends = "ttl""#,
            r#"id: Uuid, ttl: Option<Timestamp>, #[row(index_key = "GSI1PK")] shard: Option<i32>"#,
        ));
        says(
            row(&format!("{TABLE}, shared, guarded")),
            "other tools write a shared table past every guard: keep `shared` or `guarded`",
        );
        says(
            row(&format!(r#"{TABLE}, shared, ttl = "1d""#)),
            "rows of a shared table end by a column that all tools see: use `ends` in place of `ttl`",
        );
        says(
            row_with(
                &format!("{TABLE}, clustering(at), shared"),
                "id: Uuid, at: Timestamp, #[row(static)] n: Option<i32>",
            ),
            "a shared table has rows and nothing beside them: remove `static`",
        );
        says(
            row_with(TABLE, r#"id: Uuid, #[row(index_key = "GSI1PK")] shard: Option<i32>"#),
            "`index_key` is for a column outside the key of a shared table that has indexes",
        );
    }

    #[test]
    fn ends() {
        fine(row(r#"table = "t", partition(id), ends = "at""#));
        fine(row(r#"table = "t", partition(id), clustering(at), guarded, ends = "at""#));
        says(row(&format!(r#"{TABLE}, ends = "when""#)), "there is no column `when`: the columns are id, at, name");
        says(
            row(&format!(r#"{TABLE}, ends = "at", ttl = 5"#)),
            "rows end by a column or after a time: keep `ends` or `ttl`",
        );
        says(
            row(&format!(r#"{TABLE}, ends = "at", index(name = "I")"#)),
            "an index ends with its base table's rows: remove `ends` here or `index`",
        );
        says(
            row_with(
                &format!(r#"{TABLE}, clustering(n), ends = "at""#),
                "id: Uuid, n: i32, #[row(static)] at: Timestamp",
            ),
            "a static column does not end: let rows end by a column of their own",
        );
        says(
            row_with(&format!(r#"{TABLE}, counters, ends = "id""#), "id: Uuid, n: Counter"),
            "counters do not expire: remove `ends`",
        );
    }

    #[test]
    fn no_name() {
        let problem = r#"a table needs a name: add #[row(table = "…", partition(…))]"#;
        says(row("partition(id)"), problem);
        says(row_problems("struct R { id: Uuid }"), problem);
    }

    #[test]
    fn no_partition_key() {
        let problem = "a table needs a partition key: add partition(…) with its columns to #[row(…)]";
        says(row(r#"table = "t""#), problem);
        says(row(r#"table = "t", partition()"#), problem);
    }

    #[test]
    fn a_column_that_is_not_there() {
        says(row(r#"table = "t", partition(ident)"#), "there is no field `ident`: the fields are id, at, name");
        says(
            row(r#"table = "t", partition(id), clustering(when desc)"#),
            "there is no field `when`: the fields are id, at, name",
        );
    }

    #[test]
    fn a_column_twice_in_the_key() {
        says(row(r#"table = "t", partition(id), clustering(at, id)"#), "`id` is in the key already: remove it here");
    }

    #[test]
    fn too_many_columns_in_the_key() {
        let names: Vec<String> = (0..9).map(|i| format!("c{i}")).collect();
        let words = format!(r#"table = "t", partition({})"#, names.join(", "));
        let fields: String = names.iter().map(|name| format!("{name}: i32,")).collect();
        says(row_with(&words, &fields), "a key has at most 8 columns: join some of them into one");
    }

    #[test]
    fn floats_in_a_key() {
        let problem = "floats have no order that all engines agree on: use Decimal or an integer in a key";
        for float in ["f32", "f64", "std::primitive::f64"] {
            says(row_with(TABLE, &format!("id: {float}")), problem);
        }
    }

    #[test]
    fn a_counter_among_plain_columns() {
        let problem = "a counter needs a table of counters: add `counters` or move the counter to a table of its own";
        says(row_with(TABLE, "id: Uuid, n: Counter"), problem);
        says(row_with(TABLE, "id: Counter"), "a counter changes and cannot be part of a key: use i64");
        let problem = "a counter stands alone in its column: write `Counter`";
        says(row_with(TABLE, "id: Uuid, n: Vec<Option<Counter>>"), problem);
    }

    #[test]
    fn a_plain_column_among_counters() {
        let words = format!("{TABLE}, counters");
        says(
            row_with(&words, "id: Uuid, n: Counter, name: String"),
            "in a table of counters every column outside the key is a `Counter`: move this one to a table of its own",
        );
        says(row_with(&words, "id: Uuid"), "there is no counter: add a column of type `Counter`");
    }

    #[test]
    fn counters_with_what_they_cannot_have() {
        let fields = "id: Uuid, at: Timestamp, n: Counter";
        let words = |more: &str| format!("{TABLE}, clustering(at), counters, {more}");
        says(
            row_with(&words(r#"ttl = "1d""#), fields),
            "counters do not expire: remove `ttl`, or count in a table keyed by day and delete old days",
        );
        says(
            row_with(&words("guarded"), fields),
            "counters are added to without a guard: remove `guarded`, or keep the number in a plain column",
        );
        says(
            row_with(&words(r#"index(name = "I")"#), fields),
            "an index is derived from rows and holds no counters: remove `index` or `counters`",
        );
        let fields = "id: Uuid, at: Timestamp, #[row(static)] n: Counter";
        says(row_with(&words(""), fields), "a table of counters has no static columns: remove `static`");
    }

    #[test]
    fn statics_out_of_place() {
        let words = format!("{TABLE}, clustering(at)");
        let fields = "id: Uuid, #[row(static)] at: Timestamp";
        says(row_with(&words, fields), "a column of the key cannot be static: remove `static`");
        let problem = "without clustering columns a partition has one row: remove `static` or add clustering(…)";
        says(row_with(TABLE, "id: Uuid, #[row(static)] name: String"), problem);
        let words = format!(r#"{words}, index(name = "I")"#);
        let fields = "id: Uuid, at: Timestamp, #[row(static)] name: String";
        says(row_with(&words, fields), "an index has no static columns: remove `static`");
    }

    #[test]
    fn times_that_cannot_be_read() {
        let problem = r#"write a whole number and its unit, as "30d", "12h", "45m" or "10s", or plain seconds"#;
        for time in [r#""30 days""#, r#""d""#, r#""""#, r#""+3d""#, r#""1.5h""#, r#""ü""#, "1.5", "true"] {
            says(row(&format!("{TABLE}, ttl = {time}")), problem);
        }
        says(row(&format!(r#"{TABLE}, gc_grace = "1w""#)), problem);
    }

    #[test]
    fn times_out_of_bounds() {
        let zero = "a time to live of zero would keep nothing: remove `ttl` to keep rows for good";
        says(row(&format!("{TABLE}, ttl = 0")), zero);
        says(row(&format!(r#"{TABLE}, ttl = "0d""#)), zero);
        fine(row(&format!(r#"{TABLE}, ttl = "7300d""#)));
        for time in ["630720001", r#""7301d""#, r#""18446744073709551615d""#] {
            says(row(&format!("{TABLE}, ttl = {time}")), "at most twenty years, which are 630720000 seconds");
        }
    }

    #[test]
    fn unknown_words() {
        says(
            row(&format!("{TABLE}, guard")),
            "unknown word `guard`: #[row(…)] on a struct takes table, partition, clustering, guarded, shared, series, \
             counters, ttl, ends, gc_grace, read, write and index",
        );
        says(
            row_with(TABLE, "#[row(column = \"ID\")] id: Uuid"),
            "unknown word `column`: #[row(…)] on a field takes static, name, label and index_key",
        );
        says(
            row(&format!("{TABLE}, read = Two")),
            "unknown consistency `Two`: it is one of One, LocalOne, LocalQuorum, Quorum, Serial",
        );
        says(row(&format!("{TABLE}, clustering(at down)")), "unknown direction `down`: write asc or desc");
        says(
            row(&format!("{TABLE}, index(name = \"I\", sort = 1)")),
            "unknown word `sort`: index(…) takes name, sort_columns and projection",
        );
        says(
            row(&format!("{TABLE}, index(name = \"I\", projection = some)")),
            "unknown projection `some`: it is one of all, keys_only and include(…)",
        );
        says(row(&format!("{TABLE}, guarded, guarded")), "said twice: keep one of them");
    }

    #[test]
    fn indexes_that_cannot_be() {
        says(row(&format!("{TABLE}, index(projection = all)")), r#"an index needs a name: index(name = "GSI1")"#);
        says(
            row(&format!("{TABLE}, guarded, index(name = \"I\")")),
            "an index is kept by its base table's commits: remove `guarded` here and guard the base",
        );
        says(
            row(&format!("{TABLE}, clustering(at), index(name = \"I\", sort_columns = 2)")),
            "an index sorts by its clustering columns, of which there are 1",
        );
    }

    #[test]
    fn what_is_no_struct_of_columns() {
        let problem = "#[derive(Row)] is for structs with named fields: each field is a column";
        says(row_problems("enum R { A }"), problem);
        says(row_problems("struct R(Uuid);"), problem);
        says(row_problems("struct R;"), problem);
        let problem = "a table has columns of fixed types: remove the generic parameters and write the types out";
        says(row_problems("struct R<T> { id: T }"), problem);
        says(row_problems("struct R<'a> { id: &'a str }"), problem);
    }

    #[test]
    fn several_mistakes_are_told_together() {
        let problems = row_with(
            r#"table = "t", partition(id), counters, guarded, ttl = "1d""#,
            "id: f64, #[row(static)] name: String",
        );
        assert_eq!(problems.len(), 7, "{problems:#?}");
    }
}

mod cells {
    use super::*;

    #[test]
    fn what_is_right_is_taken() {
        fine(cell_problems("struct Id(Uuid);"));
        fine(cell_problems("pub enum State { On, Off }"));
        fine(cell_problems(r#"#[cell(name = "a")] struct Address { #[cell(name = "s")] street: String }"#));
    }

    #[test]
    fn enums_with_data() {
        let problem = "an enum is kept as text and its variants hold no data: \
                       keep the data in columns of their own, or in a struct with #[derive(Cell)]";
        says(cell_problems("enum E { A, B(i32) }"), problem);
        says(cell_problems("enum E { A { b: i32 } }"), problem);
        says(cell_problems("enum E {}"), "an enum without variants has no value to keep: add a variant");
    }

    #[test]
    fn two_variants_of_one_text() {
        says(
            cell_problems(r#"enum E { OnSale, #[cell(name = "on_sale")] Offered }"#),
            "two variants are kept as `on_sale`: give one another #[cell(name)]",
        );
    }

    #[test]
    fn two_fields_of_one_name() {
        says(
            cell_problems(r#"struct S { a: i32, #[cell(name = "a")] b: i32 }"#),
            "two fields are named `a`: rename one",
        );
    }

    #[test]
    fn counters_outside_their_tables() {
        says(
            cell_problems("struct Hits(Counter);"),
            "a counter cannot be wrapped: use `Counter` itself in a table of counters",
        );
        says(
            cell_problems("struct S { hits: Counter }"),
            "a counter cannot be nested: use i64, or a table of counters",
        );
    }

    #[test]
    fn a_struct_in_itself() {
        says(
            cell_problems("struct Comment { answers: Vec<Comment> }"),
            "a nested type cannot contain itself: keep the others by their ids",
        );
    }

    #[test]
    fn names_where_none_is_kept() {
        says(
            cell_problems(r#"#[cell(name = "id")] struct Id(Uuid);"#),
            "a newtype is kept as what it wraps and has no name: remove `name`",
        );
        says(
            cell_problems(r#"#[cell(name = "state")] enum State { On }"#),
            "an enum is kept as text and has no name: remove `name`",
        );
        says(cell_problems("enum E { #[cell(rename = \"a\")] A }"), "unknown word `rename`: #[cell(…)] takes name");
    }

    #[test]
    fn what_is_no_cell() {
        let problem =
            "#[derive(Cell)] is for newtypes (one unnamed field), enums without data and structs with named fields";
        for code in ["struct S;", "struct S {}", "struct S(i32, i32);", "union U { a: i32 }"] {
            says(cell_problems(code), problem);
        }
        says(
            cell_problems("struct Id<T>(T);"),
            "a column's type has one name in the schema: remove the generic parameters and write the types out",
        );
    }

    #[test]
    fn words_in_snake_case() {
        let names = ["OnSale", "HTTPPort", "Level2", "A", "Already_Parted", "X2Y"].map(crate::cell::snake_case);
        assert_eq!(names, ["on_sale", "http_port", "level2", "a", "already_parted", "x2_y"]);
    }
}
