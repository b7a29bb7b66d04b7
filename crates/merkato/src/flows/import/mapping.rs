//! Which column is what: as whoever imports says, otherwise by its name.

use std::{collections::BTreeMap, fmt::Debug, str::FromStr, sync::Arc};

use super::{amount::Unit, products::Field};
use crate::check::{Check, Invalid};

/// A field, what it is called in a mapping, and the names by which its columns are known, the best first.
pub type Named<F> = (F, &'static str, &'static [&'static str]);

/// What columns can be to one kind of thing. Columns are given by their names, folded to letters and digits.
pub trait Fields: Copy + Debug + Ord + Send + Sync + 'static {
    const NAMED: &'static [Named<Self>];
    /// The source's own id, by which records belong together.
    const ID: Self;
    /// Without these nothing can be made of a table.
    const NEEDED: &'static [Self];
    /// What a column is that is nothing else.
    const HOMELESS: Self;
    const LEFT_OUT: Self;

    /// Whether every column of one of its names is such a field, not only the best.
    fn takes_many(self) -> bool {
        false
    }

    /// What is known by the layout as a whole.
    fn of_layout(columns: &[String]) -> Vec<Option<Self>> {
        vec![None; columns.len()]
    }

    /// What may be meant where no name was known.
    fn guess(_columns: &[String], _fields: &mut [Option<Self>]) {}

    /// In which unit a column measures, where its name says so.
    fn unit(self, _column: &str) -> Option<Unit> {
        None
    }

    fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(field, ..)| *field == self).map_or("-", |(_, name, _)| name)
    }
}

/// Columns by name, as whoever imports has them: `name=Titel,price=Preis,-=Einkaufspreis`. A field may be given several
/// columns; `-` leaves one out, and of products `attribute` keeps one as an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping<F: Fields = Field> {
    columns: BTreeMap<String, F>,
}

impl<F: Fields> Default for Mapping<F> {
    fn default() -> Self {
        Mapping { columns: BTreeMap::new() }
    }
}

impl<F: Fields> Mapping<F> {
    pub fn new() -> Self {
        Mapping::default()
    }

    pub fn with(mut self, field: F, column: impl Into<String>) -> Self {
        self.columns.insert(column.into(), field);
        self
    }

    fn has(&self, field: F) -> bool {
        self.columns.values().any(|mapped| *mapped == field)
    }
}

impl<F: Fields> FromStr for Mapping<F> {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let mut mapping = Mapping::new();
        let mut check = Check::new();
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let Some((name, column)) = pair.split_once('=') else {
                check.refuse("mapping", format!("{} is not field=column", pair.trim()));
                continue;
            };
            let (name, column) = (name.trim(), column.trim());
            match named(name) {
                Some(field) if !column.is_empty() => mapping = mapping.with(field, column),
                Some(_) => check.refuse("mapping", format!("{name} has no column")),
                None => {
                    let known: Vec<&str> = F::NAMED.iter().map(|(_, name, _)| *name).collect();
                    check.refuse("mapping", format!("{name} is no field; there are {} and -", known.join(", ")));
                }
            }
        }
        check.end()?;
        Ok(mapping)
    }
}

fn named<F: Fields>(name: &str) -> Option<F> {
    match name {
        "-" => Some(F::LEFT_OUT),
        name => F::NAMED.iter().find(|(_, known, _)| *known == name).map(|(field, ..)| *field),
    }
}

/// What each column is, and in which unit it measures if its name says so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan<F: Fields> {
    pub columns: Vec<(F, Option<Unit>)>,
}

impl<F: Fields> Plan<F> {
    pub(super) fn new(columns: &[String], mapping: &Mapping<F>) -> Self {
        let folded: Vec<String> = columns.iter().map(|column| fold(column)).collect();
        let given = columns.iter().map(|name| mapping.columns.get(name).copied());
        let mut fields: Vec<Option<F>> =
            given.zip(F::of_layout(&folded)).map(|(given, known)| given.or(known)).collect();
        for (field, _, names) in F::NAMED {
            if mapping.has(*field) {
                continue;
            }
            // By its whole name, or by the last part of a path: `width` in `dimensions.width`.
            let called = |i: usize, name: &str| {
                folded[i] == name || columns[i].rsplit_once('.').is_some_and(|(_, last)| fold(last) == name)
            };
            let free: Vec<usize> = (0..columns.len()).filter(|i| fields[*i].is_none()).collect();
            let mut found = names.iter().flat_map(|name| free.iter().copied().filter(|i| called(*i, name)));
            if field.takes_many() {
                found.for_each(|i| fields[i] = Some(*field));
            } else if let Some(i) = found.next() {
                fields[i] = Some(*field);
            }
        }
        F::guess(&folded, &mut fields);
        let planned = fields.iter().zip(&folded).map(|(field, column)| {
            let field = field.unwrap_or(F::HOMELESS);
            (field, field.unit(column))
        });
        Plan { columns: planned.collect() }
    }

    pub(super) fn has(&self, field: F) -> bool {
        self.columns.iter().any(|(known, _)| *known == field)
    }

    pub(super) fn position(&self, field: F) -> Option<usize> {
        self.columns.iter().position(|(known, _)| *known == field)
    }
}

type SharedPlan<F> = Arc<Plan<F>>;

/// What the columns of a source's records are. The rows of a table share their columns, and one plan.
pub(super) struct Plans<F: Fields> {
    pub mapping: Mapping<F>,
    /// Of the columns that were met last.
    last: Option<(Arc<[String]>, SharedPlan<F>)>,
}

impl<F: Fields> Plans<F> {
    pub(super) fn new(mapping: Option<Mapping<F>>) -> Self {
        Plans { mapping: mapping.unwrap_or_default(), last: None }
    }

    pub(super) fn of(&mut self, columns: &Arc<[String]>) -> SharedPlan<F> {
        match &self.last {
            Some((known, plan)) if Arc::ptr_eq(known, columns) => plan.clone(),
            _ => {
                let plan = Arc::new(Plan::new(columns, &self.mapping));
                self.last = Some((columns.clone(), plan.clone()));
                plan
            }
        }
    }
}

/// Refuses a table that lacks what is needed of every record.
pub(super) fn check_columns<F: Fields>(columns: &[String], mapping: &Mapping<F>) -> Result<(), Invalid> {
    let mut check = Check::new();
    let plan = Plan::new(columns, mapping);
    let all = columns.join(", ");
    for column in mapping.columns.keys().filter(|column| !columns.contains(column)) {
        check.refuse("mapping", format!("there is no column {column}; there are: {all}"));
    }
    for field in F::NEEDED {
        let name = field.name();
        check.that(plan.has(*field), "mapping", format!("no column is known to be the {name}; there are: {all}"));
    }
    check.end()
}

/// The letters and digits of a name: "Compare At Price" and `compare_at_price` are one.
fn fold(name: &str) -> String {
    crate::text::fold(name).chars().filter(|c| c.is_alphanumeric()).collect()
}
