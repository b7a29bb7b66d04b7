//! The typed side of a row: the trait that `#[derive(Row)]` implements, keys as tuples, columns as constants.

use std::marker::PhantomData;

use crate::{
    schema::Table,
    value::{Cell, KeyCell, Mismatch, Value},
};

/// A struct that is a row of a table.
pub trait Row: Sized + Clone + Send + Sync + 'static {
    /// The partition columns: one value, or a tuple.
    type Partition: KeyParts;
    /// Partition and clustering columns: one value, or a flat tuple.
    type Key: KeyParts;

    fn table() -> &'static Table;
    /// All cells, in the table's canonical order.
    fn to_values(&self) -> Vec<Value>;
    /// Takes the cells of one row, in the same order, from those of one or several.
    fn from_cells(cells: &mut std::vec::IntoIter<Value>) -> Result<Self, Mismatch>;

    fn from_values(values: Vec<Value>) -> Result<Self, Mismatch> {
        Self::from_cells(&mut values.into_iter())
    }
}

/// A column as a typed constant, as `Product::STATUS`: for guards and static columns.
#[derive(Debug)]
pub struct ColumnOf<R, T> {
    pub name: &'static str,
    of: PhantomData<fn() -> (R, T)>,
}

impl<R, T> ColumnOf<R, T> {
    pub const fn new(name: &'static str) -> Self {
        ColumnOf { name, of: PhantomData }
    }
}

impl<R, T> Clone for ColumnOf<R, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R, T> Copy for ColumnOf<R, T> {}

/// Values of the leading columns of a key.
pub trait KeyParts {
    fn into_values(self) -> Vec<Value>;
}

impl<T: KeyCell> KeyParts for T {
    fn into_values(self) -> Vec<Value> {
        vec![self.to_value()]
    }
}

impl KeyParts for () {
    fn into_values(self) -> Vec<Value> {
        Vec::new()
    }
}

impl KeyParts for &str {
    fn into_values(self) -> Vec<Value> {
        vec![Value::Text(self.to_owned())]
    }
}

/// Values that are already untyped, for code that works on any table.
impl KeyParts for Vec<Value> {
    fn into_values(self) -> Vec<Value> {
        self
    }
}

macro_rules! tuple_parts {
    ($($name:ident)+) => {
        impl<$($name: KeyCell),+> KeyParts for ($($name,)+) {
            fn into_values(self) -> Vec<Value> {
                #[allow(non_snake_case, reason = "the type's name is the variable's")]
                let ($($name,)+) = self;
                vec![$($name.to_value()),+]
            }
        }
    };
}

tuple_parts!(A);
tuple_parts!(A B);
tuple_parts!(A B C);
tuple_parts!(A B C D);
tuple_parts!(A B C D E);
tuple_parts!(A B C D E F);
tuple_parts!(A B C D E F G);
tuple_parts!(A B C D E F G H);

/// Used by the derive macro: one cell of a row, or an error that names the column.
#[inline]
pub fn take_cell<T: Cell>(cells: &mut std::vec::IntoIter<Value>, column: &str) -> Result<T, Mismatch> {
    T::from_value(cells.next().unwrap_or(Value::Null)).map_err(|m| m.in_column(column))
}
