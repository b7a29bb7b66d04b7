//! The ids of the domain, one type each, so that none is taken for another.

use uuid::Uuid;

/// The id that follows from a digest and does not lead back.
pub(crate) fn of_digest(digest: &[u8; 32]) -> Uuid {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(widerow::Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
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
    /// What a stream of events is about.
    AggregateId,
    CartId,
    CategoryId,
    CheckoutId,
    EventId,
    /// A flow that outlives its process.
    FlowId,
    /// Stock that is kept for someone: one id for all products of a checkout.
    HoldId,
    /// A program's key.
    KeyId,
    /// A line of a cart. The same product with the same options has the same line id in every cart.
    LineId,
    MeasurementId,
    /// A change of stock that is no sale: a delivery, a count, a transfer.
    MovementId,
    /// A node of a tree.
    NodeId,
    OrderId,
    ProductId,
    SensorId,
    SessionId,
    /// A tree of nodes: the documents' `org_id`.
    TreeId,
    UserId,
}
