//! The words of `#[row(…)]` and `#[cell(…)]`, as written. Whether they make sense together is decided where they are used.

use proc_macro2::Span;
use syn::{
    Attribute, Error, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, Result, Token, ext::IdentExt,
    meta::ParseNestedMeta, parenthesized, parse::ParseStream, punctuated::Punctuated, spanned::Spanned,
};

/// The longest time to live that Cassandra takes: twenty years.
const SECONDS_MAX: u64 = 20 * 365 * 86_400;

const CONSISTENCIES: [&str; 5] = ["One", "LocalOne", "LocalQuorum", "Quorum", "Serial"];

/// `#[row(…)]` on a struct.
#[derive(Default)]
pub struct TableWords {
    pub table: Option<LitStr>,
    pub partition: Option<(Span, Vec<Ident>)>,
    pub clustering: Option<Vec<ClusteringWord>>,
    pub guarded: Option<Span>,
    pub shared: Option<Span>,
    pub series: Option<Span>,
    pub counters: Option<Span>,
    pub ttl: Option<(Span, u32)>,
    pub ends: Option<LitStr>,
    pub gc_grace: Option<(Span, u32)>,
    pub read: Option<Ident>,
    pub write: Option<Ident>,
    pub index: Option<IndexWords>,
}

/// `added_at desc`.
pub struct ClusteringWord {
    pub column: Ident,
    pub descending: bool,
}

/// `index(name = "GSI1", sort_columns = 2, projection = include(price))`.
pub struct IndexWords {
    pub span: Span,
    pub name: LitStr,
    pub sort_columns: Option<LitInt>,
    pub projection: ProjectionWord,
}

pub enum ProjectionWord {
    All,
    KeysOnly,
    Include(Vec<Included>),
}

/// A projected column: a plain word is a field, a string is the name of a column.
pub enum Included {
    Field(Ident),
    Column(LitStr),
}

/// `#[row(…)]` on a field.
#[derive(Default)]
pub struct ColumnWords {
    pub is_static: Option<Span>,
    pub name: Option<LitStr>,
    pub label: Option<LitStr>,
    pub index_key: Option<LitStr>,
}

/// `#[cell(…)]` anywhere.
#[derive(Default)]
pub struct CellWords {
    pub name: Option<LitStr>,
}

impl TableWords {
    pub fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut words = TableWords::default();
        each(attributes, "row", |meta, word| match word {
            "table" => once(&meta, &mut words.table, string(&meta)?),
            "partition" => once(&meta, &mut words.partition, (meta.path.span(), columns(&meta)?)),
            "clustering" => once(&meta, &mut words.clustering, clustering(&meta)?),
            "guarded" => once(&meta, &mut words.guarded, meta.path.span()),
            "shared" => once(&meta, &mut words.shared, meta.path.span()),
            "series" => once(&meta, &mut words.series, meta.path.span()),
            "counters" => once(&meta, &mut words.counters, meta.path.span()),
            "ttl" => once(&meta, &mut words.ttl, seconds(&meta)?),
            "ends" => once(&meta, &mut words.ends, string(&meta)?),
            "gc_grace" => once(&meta, &mut words.gc_grace, seconds(&meta)?),
            "read" => once(&meta, &mut words.read, consistency(&meta)?),
            "write" => once(&meta, &mut words.write, consistency(&meta)?),
            "index" => once(&meta, &mut words.index, index(&meta)?),
            _ => Err(unknown(
                &meta,
                word,
                "#[row(…)] on a struct takes table, partition, clustering, guarded, shared, series, counters, \
                     ttl, ends, gc_grace, read, write and index",
            )),
        })?;
        Ok(words)
    }
}

impl ColumnWords {
    pub fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut words = ColumnWords::default();
        each(attributes, "row", |meta, word| match word {
            "static" => once(&meta, &mut words.is_static, meta.path.span()),
            "name" => once(&meta, &mut words.name, string(&meta)?),
            "label" => once(&meta, &mut words.label, string(&meta)?),
            "index_key" => once(&meta, &mut words.index_key, string(&meta)?),
            _ => Err(unknown(&meta, word, "#[row(…)] on a field takes static, name, label and index_key")),
        })?;
        Ok(words)
    }
}

impl CellWords {
    pub fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut words = CellWords::default();
        each(attributes, "cell", |meta, word| match word {
            "name" => once(&meta, &mut words.name, string(&meta)?),
            _ => Err(unknown(&meta, word, "#[cell(…)] takes name")),
        })?;
        Ok(words)
    }
}

/// The text of the doc comment: lines joined, paragraphs on lines of their own.
pub fn doc(attributes: &[Attribute]) -> String {
    let mut paragraphs = vec![String::new()];
    for attribute in attributes.iter().filter(|a| a.path().is_ident("doc")) {
        let Meta::NameValue(meta) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value else { continue };
        let text = text.value();
        // An empty comment line has no lines at all, and parts paragraphs nonetheless.
        let lines = if text.is_empty() { vec![""] } else { text.lines().collect() };
        for line in lines.into_iter().map(str::trim) {
            let last = paragraphs.last_mut().expect("there is always one");
            match (line.is_empty(), last.is_empty()) {
                (true, true) => {}
                (true, false) => paragraphs.push(String::new()),
                (false, true) => last.push_str(line),
                (false, false) => {
                    last.push(' ');
                    last.push_str(line);
                }
            }
        }
    }
    paragraphs.join("\n").trim().to_owned()
}

/// Calls `take` with every word of every attribute of that name.
fn each(
    attributes: &[Attribute],
    name: &str,
    mut take: impl FnMut(ParseNestedMeta<'_>, &str) -> Result<()>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|a| a.path().is_ident(name)) {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            take(meta, &word)
        })?;
    }
    Ok(())
}

fn once<T>(meta: &ParseNestedMeta<'_>, slot: &mut Option<T>, value: T) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("said twice: keep one of them")),
    }
}

fn unknown(meta: &ParseNestedMeta<'_>, word: &str, known: &str) -> Error {
    meta.error(format!("unknown word `{word}`: {known}"))
}

fn string(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

/// A field's name; keywords too, so that `partition(type)` names the field `r#type`.
fn word(input: ParseStream<'_>) -> Result<Ident> {
    input.call(Ident::parse_any)
}

fn columns(meta: &ParseNestedMeta<'_>) -> Result<Vec<Ident>> {
    let content;
    parenthesized!(content in meta.input);
    Ok(Punctuated::<Ident, Token![,]>::parse_terminated_with(&content, word)?.into_iter().collect())
}

fn clustering(meta: &ParseNestedMeta<'_>) -> Result<Vec<ClusteringWord>> {
    let content;
    parenthesized!(content in meta.input);
    let parsed = Punctuated::<ClusteringWord, Token![,]>::parse_terminated_with(&content, |input| {
        let column = word(input)?;
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(ClusteringWord { column, descending: false });
        }
        let direction = word(input)?;
        match direction.to_string().as_str() {
            "asc" => Ok(ClusteringWord { column, descending: false }),
            "desc" => Ok(ClusteringWord { column, descending: true }),
            other => Err(Error::new(direction.span(), format!("unknown direction `{other}`: write asc or desc"))),
        }
    })?;
    Ok(parsed.into_iter().collect())
}

fn consistency(meta: &ParseNestedMeta<'_>) -> Result<Ident> {
    let level: Ident = meta.value()?.parse()?;
    if CONSISTENCIES.iter().any(|known| level == known) {
        return Ok(level);
    }
    let known = CONSISTENCIES.join(", ");
    Err(Error::new(level.span(), format!("unknown consistency `{level}`: it is one of {known}")))
}

fn seconds(meta: &ParseNestedMeta<'_>) -> Result<(Span, u32)> {
    let (span, seconds) = match meta.value()?.parse::<Lit>()? {
        Lit::Int(number) => (number.span(), number.base10_parse::<u64>()?),
        Lit::Str(text) => (text.span(), duration(&text)?),
        other => return Err(not_a_time(other.span())),
    };
    match u32::try_from(seconds) {
        Ok(short) if seconds <= SECONDS_MAX => Ok((span, short)),
        _ => Err(Error::new(span, format!("at most twenty years, which are {SECONDS_MAX} seconds"))),
    }
}

fn duration(literal: &LitStr) -> Result<u64> {
    let text = literal.value();
    let wrong = || not_a_time(literal.span());
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 86_400,
        _ => return Err(wrong()),
    };
    let digits = &text[..text.len() - 1];
    // `parse` alone would take a sign.
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    Ok(number.saturating_mul(unit))
}

fn not_a_time(span: Span) -> Error {
    Error::new(span, "write a whole number and its unit, as \"30d\", \"12h\", \"45m\" or \"10s\", or plain seconds")
}

fn index(meta: &ParseNestedMeta<'_>) -> Result<IndexWords> {
    let (mut name, mut sort_columns, mut projection) = (None, None, None);
    meta.parse_nested_meta(|meta| {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match word.as_str() {
            "name" => once(&meta, &mut name, string(&meta)?),
            "sort_columns" => once(&meta, &mut sort_columns, meta.value()?.parse()?),
            "projection" => once(&meta, &mut projection, projected(meta.value()?)?),
            _ => Err(unknown(&meta, &word, "index(…) takes name, sort_columns and projection")),
        }
    })?;
    let span = meta.path.span();
    let name = name.ok_or_else(|| Error::new(span, "an index needs a name: index(name = \"GSI1\")"))?;
    Ok(IndexWords { span, name, sort_columns, projection: projection.unwrap_or(ProjectionWord::All) })
}

fn projected(input: ParseStream<'_>) -> Result<ProjectionWord> {
    let kind = word(input)?;
    match kind.to_string().as_str() {
        "all" => Ok(ProjectionWord::All),
        "keys_only" => Ok(ProjectionWord::KeysOnly),
        "include" => {
            let content;
            parenthesized!(content in input);
            let columns = Punctuated::<Included, Token![,]>::parse_terminated_with(&content, |input| {
                if input.peek(LitStr) { input.parse().map(Included::Column) } else { word(input).map(Included::Field) }
            })?;
            Ok(ProjectionWord::Include(columns.into_iter().collect()))
        }
        other => Err(Error::new(
            kind.span(),
            format!("unknown projection `{other}`: it is one of all, keys_only and include(…)"),
        )),
    }
}
