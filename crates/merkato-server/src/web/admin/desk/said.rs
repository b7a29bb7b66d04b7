//! How the desk says where things stand: the word, and the class that colours it. The word alone is enough.

use merkato::{
    accounts::{Role, UserStatus},
    catalog::ProductStatus,
    inventory::MovementKind,
    orders::{OrderStatus, PaymentStatus},
};
use widerow::{Date, Timestamp};

use crate::web::words;

/// A state in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub word: &'static str,
    pub class: &'static str,
}

const fn state(word: &'static str, class: &'static str) -> State {
    State { word, class }
}

pub fn order(status: OrderStatus) -> State {
    match status {
        OrderStatus::Pending => state("Pending", "waiting"),
        OrderStatus::Paid => state("Paid", "doing"),
        OrderStatus::Processing => state("Processing", "doing"),
        OrderStatus::Shipped => state("Shipped", "done"),
        OrderStatus::Delivered => state("Delivered", "done"),
        OrderStatus::Cancelled => state("Cancelled", "off"),
        OrderStatus::Refunded => state("Refunded", "off"),
    }
}

pub fn payment(status: PaymentStatus) -> State {
    match status {
        PaymentStatus::Pending => state("Not paid yet", "waiting"),
        PaymentStatus::Authorised => state("Set aside", "waiting"),
        PaymentStatus::Captured => state("Paid", "done"),
        PaymentStatus::Declined => state("Declined", "bad"),
        PaymentStatus::Voided => state("Given up", "off"),
        PaymentStatus::Refunded => state("Given back", "off"),
    }
}

pub fn product(status: ProductStatus) -> State {
    match status {
        ProductStatus::Draft => state("Draft", "waiting"),
        ProductStatus::Active => state("On sale", "done"),
        ProductStatus::Archived => state("Archived", "off"),
    }
}

pub fn user(status: UserStatus) -> State {
    match status {
        UserStatus::Active => state("Active", "done"),
        UserStatus::Suspended => state("Suspended", "bad"),
        UserStatus::Deleted => state("Deleted", "off"),
    }
}

pub fn role(role: Role) -> &'static str {
    match role {
        Role::Customer => "Customer",
        Role::Staff => "Staff",
        Role::Admin => "Admin",
    }
}

pub fn movement(kind: MovementKind) -> &'static str {
    match kind {
        MovementKind::Restock => "Delivery",
        MovementKind::Adjust => "Adjustment",
        MovementKind::Transfer => "Transfer",
    }
}

/// Who did it: `admin:` and an id, as it is written down, in words.
pub fn actor(actor: &str) -> String {
    let (kind, _) = actor.split_once(':').unwrap_or((actor, ""));
    match kind {
        "system" => "the shop itself".to_owned(),
        "customer" => "the customer".to_owned(),
        "staff" => "a colleague".to_owned(),
        "admin" => "an admin".to_owned(),
        "key" => "a program".to_owned(),
        _ => actor.to_owned(),
    }
}

/// `15 Nov 2026, 21:05`, in UTC: for tables.
pub fn moment(at: Timestamp) -> String {
    let long = words::moment(at);
    let mut parts = long.splitn(3, ' ');
    let (day, month, rest) = (parts.next(), parts.next(), parts.next());
    let month = month.map(|month| month.get(..3).unwrap_or(month));
    [day, month, rest].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// `15 Nov 2026`.
pub fn day(at: Timestamp) -> String {
    moment(at).split(',').next().unwrap_or_default().to_owned()
}

/// `Sat 14 Nov`.
pub fn weekday(date: Date) -> String {
    let weekday: String = words::weekday(date).chars().take(3).collect();
    format!("{weekday} {}", words::short_day(date))
}

/// What is left of a time, as `4:32`.
pub fn left(until: Timestamp, now: Timestamp) -> String {
    words::left((until.millis() - now.millis()) / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_short_in_tables() {
        let at = Timestamp::from_millis(1_794_776_700_000);
        assert_eq!(moment(at), words::moment(at).replace("November", "Nov"));
        assert_eq!(day(at), words::day(at).replace("November", "Nov"));
        assert_eq!(left(at.plus_seconds(272), at), "4:32");
        assert_eq!(left(at, at.plus_seconds(5)), "0:00");
    }

    #[test]
    fn days_are_known_by_their_weekday() {
        assert_eq!(weekday(Date::new(2026, 11, 14).unwrap()), "Sat 14 Nov");
        assert_eq!(weekday(Date::new(1969, 12, 31).unwrap()), "Wed 31 Dec");
    }
}
