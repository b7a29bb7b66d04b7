//! What columns are to connections.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to a connection. Those of a list without a heading are called `1`, `2` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GraphField {
    From,
    To,
    /// Friend, follow, colleague or block.
    Type,
    /// 0 to 1.
    Strength,
    /// A number between the least and the most that the options name: it becomes the strength, and is noted.
    Rating,
    /// Since when.
    Time,
    /// It is noted of the connection under its column's name.
    Metadata,
    /// It is not wanted.
    LeftOut,
}

impl Fields for GraphField {
    const NAMED: &'static [Named<Self>] = &[
        (GraphField::From, "from", &["userid", "from", "source", "user", "start", "1"]),
        (GraphField::To, "to", &["connecteduserid", "to", "target", "other", "end", "2"]),
        (GraphField::Type, "type", &["connectiontype", "type", "kind", "relation"]),
        (GraphField::Strength, "strength", &["connectionstrength", "strength"]),
        (GraphField::Rating, "rating", &["rating"]),
        (GraphField::Time, "time", &["createdat", "timestamp", "time", "date", "since"]),
        (GraphField::Metadata, "metadata", &[]),
    ];
    const ID: Self = GraphField::From;
    const NEEDED: &'static [Self] = &[GraphField::From, GraphField::To];
    const HOMELESS: Self = GraphField::Metadata;
    const LEFT_OUT: Self = GraphField::LeftOut;

    fn takes_many(self) -> bool {
        self == GraphField::Metadata
    }
}
