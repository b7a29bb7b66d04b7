//! `#[derive(Row)]`: from a struct to its table, its keys and its column constants.
//!
//! Invariant: columns stand in canonical order (partition, clustering, then the others as declared) in the table, in
//! `to_values` and in `from_cells`, because all three are made from one list.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Type, Visibility, ext::IdentExt, spanned::Spanned};

use crate::{
    attributes::{self, ColumnWords, Included, ProjectionWord, TableWords},
    cell::{last_word, mentions, refuse_generics},
};

/// Keys are tuples, and the trait of their parts ends there.
const KEY_COLUMNS_MAX: usize = 8;

/// A field and what its attributes say.
struct Column<'a> {
    field: &'a Ident,
    visibility: &'a Visibility,
    column_type: &'a Type,
    name: String,
    label: String,
    index_key: Option<String>,
    is_static: Option<Span>,
}

/// The place of a column in the key.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Partition,
    Ascending,
    Descending,
    Other,
}

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = columns(input)?;
    let words = TableWords::parse(&input.attrs)?;
    let Some(table_name) = &words.table else {
        let problem = "a table needs a name: add #[row(table = \"…\", partition(…))]";
        return Err(Error::new(input.ident.span(), problem));
    };
    let columns = in_canonical_order(input, &fields, &words)?;
    check(&columns, &words)?;
    Ok(generate(input, table_name, &columns, &words))
}

fn columns(input: &DeriveInput) -> Result<Vec<Column<'_>>> {
    refuse_generics(input, "a table has columns of fixed types")?;
    let only = "#[derive(Row)] is for structs with named fields: each field is a column";
    let Data::Struct(data) = &input.data else { return Err(Error::new(input.ident.span(), only)) };
    let Fields::Named(fields) = &data.fields else { return Err(Error::new(input.ident.span(), only)) };
    fields
        .named
        .iter()
        .map(|field| {
            let words = ColumnWords::parse(&field.attrs)?;
            let ident = field.ident.as_ref().expect("the fields are named");
            let name = words.name.map_or_else(|| ident.unraw().to_string(), |name| name.value());
            let label = words.label.map_or_else(|| name.to_uppercase(), |label| label.value());
            Ok(Column {
                field: ident,
                visibility: &field.vis,
                column_type: &field.ty,
                name,
                label,
                index_key: words.index_key.map(|name| name.value()),
                is_static: words.is_static,
            })
        })
        .collect()
}

fn in_canonical_order<'a>(
    input: &DeriveInput,
    fields: &'a [Column<'a>],
    words: &TableWords,
) -> Result<Vec<(&'a Column<'a>, Kind)>> {
    let mut key: Vec<(&Ident, Kind)> = match &words.partition {
        Some((_, columns)) if !columns.is_empty() => columns.iter().map(|c| (c, Kind::Partition)).collect(),
        given => {
            let span = given.as_ref().map_or(input.ident.span(), |(span, _)| *span);
            let problem = "a table needs a partition key: add partition(…) with its columns to #[row(…)]";
            return Err(Error::new(span, problem));
        }
    };
    for word in words.clustering.iter().flatten() {
        key.push((&word.column, if word.descending { Kind::Descending } else { Kind::Ascending }));
    }
    let mut ordered: Vec<(&Column<'_>, Kind)> = Vec::new();
    for (column, kind) in key {
        let Some(field) = fields.iter().find(|f| f.field.unraw() == column.unraw()) else {
            let known: Vec<String> = fields.iter().map(|f| f.field.unraw().to_string()).collect();
            let problem = format!("there is no field `{column}`: the fields are {}", known.join(", "));
            return Err(Error::new(column.span(), problem));
        };
        if ordered.iter().any(|(other, _)| other.field == field.field) {
            return Err(Error::new(column.span(), format!("`{column}` is in the key already: remove it here")));
        }
        if ordered.len() == KEY_COLUMNS_MAX {
            let problem = format!("a key has at most {KEY_COLUMNS_MAX} columns: join some of them into one");
            return Err(Error::new(column.span(), problem));
        }
        ordered.push((field, kind));
    }
    let in_key = ordered.len();
    for field in fields {
        if !ordered[..in_key].iter().any(|(key, _)| key.field == field.field) {
            ordered.push((field, Kind::Other));
        }
    }
    Ok(ordered)
}

/// All that is wrong, in one go, so that it can be mended in one go.
fn check(columns: &[(&Column<'_>, Kind)], words: &TableWords) -> Result<()> {
    let mut problems = Vec::new();
    let mut refuse = |span: Span, problem: &str| problems.push(Error::new(span, problem));
    if let Some(counters) = words.counters {
        if let Some((span, _)) = words.ttl {
            refuse(span, "counters do not expire: remove `ttl`, or count in a table keyed by day and delete old days");
        }
        if let Some(span) = words.guarded {
            refuse(
                span,
                "counters are added to without a guard: remove `guarded`, or keep the number in a plain column",
            );
        }
        if !columns.iter().any(|(c, kind)| *kind == Kind::Other && is_counter(c)) {
            refuse(counters, "there is no counter: add a column of type `Counter`");
        }
    }
    if let Some(span) = words.shared {
        if words.guarded.is_some() {
            refuse(span, "other tools write a shared table past every guard: keep `shared` or `guarded`");
        }
        if words.counters.is_some() {
            refuse(span, "counters are nobody else's: keep `shared` or `counters`");
        }
        if words.ttl.is_some() {
            refuse(span, "rows of a shared table end by a column that all tools see: use `ends` in place of `ttl`");
        }
    }
    if let Some(ends) = &words.ends {
        if words.counters.is_some() {
            refuse(ends.span(), "counters do not expire: remove `ends`");
        }
        if words.ttl.is_some() {
            refuse(ends.span(), "rows end by a column or after a time: keep `ends` or `ttl`");
        }
        if words.index.is_some() {
            refuse(ends.span(), "an index ends with its base table's rows: remove `ends` here or `index`");
        }
        match position_of(columns, ends) {
            None => {
                let known: Vec<&str> = columns.iter().map(|(c, _)| c.name.as_str()).collect();
                let problem = format!("there is no column `{}`: the columns are {}", ends.value(), known.join(", "));
                refuse(ends.span(), &problem);
            }
            Some(position) if columns[position].0.is_static.is_some() => {
                refuse(ends.span(), "a static column does not end: let rows end by a column of their own");
            }
            Some(_) => {}
        }
    }
    if let Some((span, 0)) = words.ttl {
        refuse(span, "a time to live of zero would keep nothing: remove `ttl` to keep rows for good");
    }
    if let Some(index) = &words.index {
        let clustering = words.clustering.as_ref().map_or(0, Vec::len);
        if let Some(sort_columns) = &index.sort_columns
            && !matches!(sort_columns.base10_parse::<usize>(), Ok(n) if n <= clustering)
        {
            let problem = format!("an index sorts by its clustering columns, of which there are {clustering}");
            refuse(sort_columns.span(), &problem);
        }
        if words.guarded.is_some() {
            refuse(
                index.span,
                "an index is kept by its base table's commits: remove `guarded` here and guard the base",
            );
        }
        if words.counters.is_some() {
            refuse(index.span, "an index is derived from rows and holds no counters: remove `index` or `counters`");
        }
    }
    for (column, kind) in columns {
        check_column(column, *kind, words, &mut refuse);
    }
    problems
        .into_iter()
        .reduce(|mut all, one| {
            all.combine(one);
            all
        })
        .map_or(Ok(()), Err)
}

fn check_column(column: &Column<'_>, kind: Kind, words: &TableWords, refuse: &mut impl FnMut(Span, &str)) {
    let span = column.column_type.span();
    let in_key = kind != Kind::Other;
    if !is_counter(column) && mentions(column.column_type, "Counter") {
        refuse(span, "a counter stands alone in its column: write `Counter`");
    }
    if in_key {
        if matches!(last_word(column.column_type).as_deref(), Some("f32" | "f64")) {
            refuse(span, "floats have no order that all engines agree on: use Decimal or an integer in a key");
        }
        if is_counter(column) {
            refuse(span, "a counter changes and cannot be part of a key: use i64");
        }
    } else if words.counters.is_some() {
        if !is_counter(column) {
            refuse(
                span,
                "in a table of counters every column outside the key is a `Counter`: move this one to a table of its own",
            );
        }
    } else if is_counter(column) {
        refuse(span, "a counter needs a table of counters: add `counters` or move the counter to a table of its own");
    }
    if column.index_key.is_some() && (in_key || words.shared.is_none() || words.index.is_some()) {
        refuse(span, "`index_key` is for a column outside the key of a shared table that has indexes");
    }
    let Some(span) = column.is_static else { return };
    if words.shared.is_some() {
        refuse(span, "a shared table has rows and nothing beside them: remove `static`");
    }
    if in_key {
        refuse(span, "a column of the key cannot be static: remove `static`");
    } else if words.clustering.as_ref().is_none_or(Vec::is_empty) {
        refuse(span, "without clustering columns a partition has one row: remove `static` or add clustering(…)");
    }
    if words.counters.is_some() {
        refuse(span, "a table of counters has no static columns: remove `static`");
    }
    if words.index.is_some() {
        refuse(span, "an index has no static columns: remove `static`");
    }
}

fn position_of(columns: &[(&Column<'_>, Kind)], name: &LitStr) -> Option<usize> {
    columns.iter().position(|(column, _)| column.name == name.value())
}

fn is_counter(column: &Column<'_>) -> bool {
    last_word(column.column_type).as_deref() == Some("Counter")
}

fn generate(input: &DeriveInput, name: &LitStr, columns: &[(&Column<'_>, Kind)], words: &TableWords) -> TokenStream {
    let row = &input.ident;
    let in_partition = columns.iter().filter(|(_, kind)| *kind == Kind::Partition).count();
    let in_key = columns.iter().filter(|(_, kind)| *kind != Kind::Other).count();
    let partition = key_type(&columns[..in_partition]);
    let key = key_type(&columns[..in_key]);
    let key_assertions = columns[..in_key].iter().map(|(column, _)| {
        let column_type = column.column_type;
        // The span is the field's type, so that the compiler points there and not at the derive.
        quote_spanned! { column_type.span() =>
            const _: fn() = || {
                fn key<T: ::widerow::value::KeyCell>() {}
                key::<#column_type>();
            };
        }
    });
    let table = table(input, name, columns, words, in_partition, in_key);
    let to_values = columns.iter().map(|(column, _)| {
        let Column { field, column_type, .. } = column;
        quote_spanned! { column_type.span() => <#column_type as ::widerow::value::Cell>::to_value(&self.#field) }
    });
    // The fields of a struct expression are evaluated as written, which is the order of the values.
    let from_cells = columns.iter().map(|(column, _)| {
        let Column { field, column_type, name, .. } = column;
        quote_spanned! { column_type.span() =>
            #field: ::widerow::row::take_cell::<#column_type>(cells, #name)?
        }
    });
    let constants = columns.iter().map(|(column, _)| {
        let Column { field, visibility, column_type, name, .. } = column;
        let constant = format_ident!("{}", field.unraw().to_string().to_uppercase(), span = field.span());
        let doc = format!("The column `{name}`.");
        quote! {
            #[doc = #doc]
            #[allow(dead_code, reason = "every column has a constant, few are needed")]
            #visibility const #constant: ::widerow::row::ColumnOf<#row, #column_type> =
                ::widerow::row::ColumnOf::new(#name);
        }
    });
    quote! {
        #(#key_assertions)*

        impl #row {
            #(#constants)*
        }

        #[automatically_derived]
        impl ::widerow::row::Row for #row {
            type Partition = #partition;
            type Key = #key;

            fn table() -> &'static ::widerow::schema::Table {
                static TABLE: ::widerow::schema::LazyTable = ::widerow::schema::LazyTable::new(|| #table);
                &TABLE
            }

            fn to_values(&self) -> ::std::vec::Vec<::widerow::value::Value> {
                ::std::vec![#(#to_values),*]
            }

            fn from_cells(
                cells: &mut ::std::vec::IntoIter<::widerow::value::Value>,
            ) -> ::std::result::Result<Self, ::widerow::value::Mismatch> {
                ::std::result::Result::Ok(#row { #(#from_cells),* })
            }
        }
    }
}

/// One column is its own type, several are a flat tuple.
fn key_type(columns: &[(&Column<'_>, Kind)]) -> TokenStream {
    let types: Vec<&Type> = columns.iter().map(|(column, _)| column.column_type).collect();
    match types.as_slice() {
        [one] => quote! { #one },
        several => quote! { (#(#several),*) },
    }
}

fn table(
    input: &DeriveInput,
    name: &LitStr,
    columns: &[(&Column<'_>, Kind)],
    words: &TableWords,
    in_partition: usize,
    in_key: usize,
) -> TokenStream {
    let doc = attributes::doc(&input.attrs);
    let in_clustering = in_key - in_partition;
    let guarded = words.guarded.is_some();
    let shared = words.shared.is_some();
    let series = words.series.is_some();
    let counters = words.counters.is_some();
    let ttl = optional(words.ttl.map(|(_, seconds)| quote! { #seconds }));
    let ends = words.ends.as_ref().and_then(|name| position_of(columns, name));
    let ends = optional(ends.map(|position| quote! { #position }));
    let gc_grace = optional(words.gc_grace.map(|(_, seconds)| quote! { #seconds }));
    let level = Ident::new(if counters { "One" } else { "LocalQuorum" }, Span::call_site());
    let read = words.read.as_ref().unwrap_or(&level);
    let write = words.write.as_ref().unwrap_or(&level);
    let index = optional(words.index.as_ref().map(|index| {
        let name = &index.name;
        let sort_columns = match &index.sort_columns {
            Some(given) => quote! { #given },
            None => quote! { #in_clustering },
        };
        let projection = projection(&index.projection, columns);
        quote! {
            ::widerow::schema::Index {
                name: ::std::string::String::from(#name),
                sort_columns: #sort_columns,
                projection: ::widerow::schema::Projection::#projection,
            }
        }
    }));
    let columns = columns.iter().map(|(column, kind)| {
        let Column { column_type, name, label, is_static, index_key, .. } = column;
        let index_key = optional(index_key.as_ref().map(|name| quote! { ::std::string::String::from(#name) }));
        let kind = match kind {
            Kind::Partition => quote! { Partition },
            Kind::Ascending => quote! { Clustering(::widerow::schema::Direction::Ascending) },
            Kind::Descending => quote! { Clustering(::widerow::schema::Direction::Descending) },
            Kind::Other if is_static.is_some() => quote! { Static },
            Kind::Other => quote! { Regular },
        };
        quote_spanned! { column_type.span() =>
            ::widerow::schema::Column {
                name: ::std::string::String::from(#name),
                column_type: <#column_type as ::widerow::value::Cell>::column_type(),
                kind: ::widerow::schema::Kind::#kind,
                optional: <#column_type as ::widerow::value::Cell>::OPTIONAL,
                label: ::std::string::String::from(#label),
                index_key: #index_key,
            }
        }
    });
    quote! {
        ::widerow::schema::Table {
            name: ::std::string::String::from(#name),
            doc: ::std::string::String::from(#doc),
            columns: ::std::vec![#(#columns),*],
            partition_columns: #in_partition,
            clustering_columns: #in_clustering,
            guarded: #guarded,
            shared: #shared,
            series: #series,
            counters: #counters,
            ttl_seconds: #ttl,
            ends: #ends,
            gc_grace_seconds: #gc_grace,
            read: ::widerow::schema::Consistency::#read,
            write: ::widerow::schema::Consistency::#write,
            index: #index,
        }
    }
}

fn projection(word: &ProjectionWord, columns: &[(&Column<'_>, Kind)]) -> TokenStream {
    match word {
        ProjectionWord::All => quote! { All },
        ProjectionWord::KeysOnly => quote! { KeysOnly },
        ProjectionWord::Include(included) => {
            let names = included.iter().map(|one| match one {
                Included::Column(name) => name.value(),
                // A field of the base table that this row has as well is called the same in both.
                Included::Field(field) => {
                    let here = columns.iter().find(|(column, _)| column.field.unraw() == field.unraw());
                    here.map_or_else(|| field.unraw().to_string(), |(column, _)| column.name.clone())
                }
            });
            quote! { Include(::std::vec![#(::std::string::String::from(#names)),*]) }
        }
    }
}

fn optional(content: Option<TokenStream>) -> TokenStream {
    match content {
        Some(content) => quote! { ::std::option::Option::Some(#content) },
        None => quote! { ::std::option::Option::None },
    }
}
