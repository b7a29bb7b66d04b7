//! The ids of the domain, one type each, so that none is taken for another.

use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(widerow::Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map($name)
            }
        }
    )*};
}

ids! {
    AddressId,
    CartId,
    CategoryId,
    /// A line of a cart. The same product with the same options has the same line id in every cart.
    LineId,
    OrderId,
    ProductId,
    SessionId,
    UserId,
}
