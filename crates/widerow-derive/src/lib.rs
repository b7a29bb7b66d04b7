//! `#[derive(Row)]` and `#[derive(Cell)]`, re-exported by `widerow`: a table is declared once, and what makes no sense is
//! refused while it compiles, at the word that is wrong and with what to do about it.
//!
//! What the macros cannot see (types behind names, other tables) is left to trait bounds and to `Schema::build`.

mod attributes;
mod cell;
mod row;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// A struct as a row of a table.
///
/// On the struct, `#[row(…)]` with
///
/// | word | meaning |
/// |---|---|
/// | `table = "items_by_cart"` | the table's name; required |
/// | `partition(cart_id)` | the columns of the partition key; required |
/// | `clustering(added_at desc, line_id)` | the columns that order the rows of a partition |
/// | `guarded` | written only through the partition's version: needed for guards and by bases of derived tables |
/// | `series` | rows that come in by time, many at once, and are hardly ever changed: an engine may keep them packed |
/// | `counters` | a table of counters: every column outside the key is a `Counter` |
/// | `ttl = "30d"`, `gc_grace = "1d"` | a whole number of `s`, `m`, `h` or `d`, or plain seconds |
/// | `ends = "expires_at"` | in place of `ttl`: a row ends at the instant in this column, a `Timestamp`, or an `Option` of one; also on derived tables |
/// | `read = LocalQuorum`, `write = Quorum` | `One`, `LocalOne`, `LocalQuorum`, `Quorum` or `Serial`; without it `LocalQuorum`, for counters `One` |
/// | `index(name = "GSI1", sort_columns = 1, projection = include(price))` | on DynamoDB, kept as an index of the table it is derived from; projections are `all`, `keys_only` and `include(…)` |
///
/// and on a field, `#[row(…)]` with
///
/// | word | meaning |
/// |---|---|
/// | `static` | one value for the whole partition |
/// | `name = "unitPrice"` | the column's name where it is not the field's |
/// | `label = "PRICE"` | the word before the value in a DynamoDB key; otherwise the column's name in upper case |
///
/// Each field gets a constant (`CartLine::SUBTOTAL`), as visible as the field, that names its column in guards.
#[proc_macro_derive(Row, attributes(row))]
pub fn derive_row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// A type as the content of a column.
///
/// - A newtype (`struct ProductId(Uuid);`) is kept as what it wraps, and may be in a key or in an `Option` if that may.
/// - An enum without data is kept as text: the variant in snake case, or `#[cell(name = "…")]`. It gets `as_str`.
/// - A struct with named fields is a user-defined type: the struct in snake case, or `#[cell(name = "…")]`, on fields too.
///   New fields go last and are optional: a value that was stored before has none of them.
#[proc_macro_derive(Cell, attributes(cell))]
pub fn derive_cell(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    cell::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
