//! How things are said to people: amounts, days, what has just been done.

use merkato::{Currency, accounts::User, orders::OrderStatus};
use rust_decimal::Decimal;
use widerow::{Date, Timestamp};

/// What has just been done, by its name in the address of the page that one is sent to.
const NOTICES: &[(&str, &str)] = &[
    ("added", "It is in your cart."),
    ("changed", "Your changes are saved."),
    ("removed", "It is removed."),
    ("logged-in", "You are logged in."),
    ("logged-out", "You are logged out."),
    ("projection-anew", "It is made anew. The rows that there are serve until it is done."),
    // Of the cart, the checkout and the account.
    ("cart-saved", "Your cart is saved. Here is an empty one to go on with."),
    ("cart-switched", "This is your cart now."),
    ("cart-copied", "The copy is saved."),
    ("cart-deleted", "The cart is deleted."),
    ("ordered-before", "This cart was ordered already. Here is the order; nothing was ordered twice."),
    ("cancelled", "The order is cancelled."),
    ("verified", "Your e-mail address is verified. You can log in now."),
    ("letter-sent", "A letter is on its way."),
    ("password-set", "Your password is changed. Log in with the new one."),
    ("password-changed", "Your password is changed. Every other session has ended."),
    ("email-changed", "Your e-mail address is changed."),
    ("logged-out-everywhere", "You are logged out everywhere."),
    ("session-ended", "The session has ended."),
    // Of the office.
    ("key-revoked", "The key is revoked. Nobody gets in with it any more."),
    ("role-changed", "The role is changed, in open sessions, too."),
    ("checks-begun", "The checks have begun. This page shows how far they are."),
    ("archived", "The product is archived: it is in no list any more."),
    ("category-deleted", "The category is deleted."),
    ("category-made", "The category is made."),
    ("connected", "They are connected."),
    ("connection-ended", "The connection has ended."),
    ("interests-saved", "What they like is saved."),
    ("suggestions-made", "The suggestions are made anew."),
    ("discount-disabled", "The code is not taken any more."),
    ("discount-made", "The code is made."),
    ("featured-saved", "The list is saved."),
    ("note-saved", "The note is saved."),
    ("node-added", "The node is added."),
    ("node-deleted", "It is deleted."),
    ("category-moved", "It is moved, with all that stands below it. Its products follow."),
    ("node-moved", "It is moved, with all that stands below it."),
    ("order-cancelled", "The order is cancelled: its payment is given up and its stock is free."),
    ("order-moved", "The order is moved on."),
    ("order-refunded", "The money is given back."),
    ("product-made", "The product is made."),
    ("reinstated", "The account is open again."),
    ("stock-moved", "The stock is changed."),
    ("stock-policy", "The settings of the stock are saved."),
    ("stock-released", "The units are given back: they can be sold."),
    ("tree-made", "The tree is made. Add what stands at its top."),
    ("suspended", "The account is suspended, and every session of it has ended."),
];

/// The notice that a path's query names. Nothing else is shown, whatever somebody writes into a link.
pub fn notice(path: &str) -> Option<&'static str> {
    let (_, query) = path.split_once('?')?;
    let name = query.split('&').find_map(|pair| pair.strip_prefix("notice="))?;
    NOTICES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// What somebody is called; empty where nothing is known.
pub fn full_name(first: Option<String>, last: Option<String>) -> String {
    [first, last].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// As staff speaks of somebody: by name, or else by the e-mail address.
pub fn name_or_email(user: User) -> Option<String> {
    Some(full_name(user.first_name, user.last_name)).filter(|name| !name.is_empty()).or(user.email)
}

/// `€1,234.50`; a currency without a sign of its own as `1,234.50 CHF`.
pub fn money(amount: Decimal, currency: &Currency) -> String {
    let mut rounded = merkato::money::round(amount, currency).unwrap_or(amount);
    rounded.rescale(currency.decimals().unwrap_or(2));
    let text = rounded.abs().to_string();
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let sign = if rounded.is_sign_negative() && !rounded.is_zero() { "−" } else { "" };
    let number = format!("{}{rest}", thousands(whole));
    match currency.code() {
        "EUR" => format!("{sign}€{number}"),
        "USD" => format!("{sign}${number}"),
        "GBP" => format!("{sign}£{number}"),
        "JPY" => format!("{sign}¥{number}"),
        code => format!("{sign}{number} {code}"),
    }
}

/// `€1,235`: without the small change, for figures that are glanced at.
pub fn money_glanced(amount: Decimal, currency: &Currency) -> String {
    let text = money(amount.round(), currency);
    let rest = currency
        .decimals()
        .filter(|decimals| *decimals > 0)
        .map(|decimals| ".".to_owned() + &"0".repeat(decimals as usize));
    rest.map_or(text.clone(), |rest| text.replacen(&rest, "", 1))
}

/// `1,234,567`.
pub fn thousands(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `15 November 2026`.
pub fn day(at: Timestamp) -> String {
    let text = at.to_string();
    let part = |range| text.get(range).and_then(|part: &str| part.parse::<usize>().ok()).unwrap_or_default();
    let month = MONTHS.get(part(5..7).wrapping_sub(1)).unwrap_or(&"");
    format!("{} {month} {}", part(8..10), part(0..4))
}

/// `15 Nov`.
pub fn short_day(date: Date) -> String {
    let text = day(date.start());
    let mut parts = text.split(' ');
    let number = parts.next().unwrap_or_default();
    format!("{number} {}", parts.next().unwrap_or_default().chars().take(3).collect::<String>())
}

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// `Sunday`.
pub fn weekday(date: Date) -> &'static str {
    // The first of January 1970 was a Thursday.
    WEEKDAYS[(date.days() + 3).rem_euclid(7) as usize]
}

/// `3.4 KiB`.
pub fn bytes(count: u64) -> String {
    let (unit, name) = match count {
        0..1_024 => return format!("{count} B"),
        1_024..1_048_576 => (1_024, "KiB"),
        1_048_576..1_073_741_824 => (1_048_576, "MiB"),
        _ => (1_073_741_824, "GiB"),
    };
    format!("{}.{} {name}", thousands(&(count / unit).to_string()), count % unit * 10 / unit)
}

/// `850 µs`, `12 ms`, `3.4 s`.
pub fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        10_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

/// `15 November 2026, 21:05`, in UTC.
pub fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{}, {}", day(at), text.get(11..16).unwrap_or_default())
}

/// `1 piece`, `3 pieces`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(&number.to_string()), if number == 1 { one } else { many })
}

/// `35 cm`, `4.5 cm`, `1.2 m`, of millimetres.
pub fn length(millimetres: i32) -> String {
    let (number, unit) = match millimetres {
        ..10 => (Decimal::from(millimetres), "mm"),
        10..1_000 => (Decimal::new(millimetres.into(), 1), "cm"),
        _ => (Decimal::new(millimetres.into(), 3), "m"),
    };
    format!("{} {unit}", number.normalize())
}

/// `350 g`, `1.2 kg`.
pub fn weight(grams: i32) -> String {
    if grams < 1_000 { format!("{grams} g") } else { format!("{} kg", Decimal::new(grams.into(), 3).normalize()) }
}

/// What stands for an order's status, to whoever placed it.
pub fn order_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Pending => "Waiting for payment",
        OrderStatus::Paid => "Paid",
        OrderStatus::Processing => "Being packed",
        OrderStatus::Shipped => "On its way",
        OrderStatus::Delivered => "Delivered",
        OrderStatus::Cancelled => "Cancelled",
        OrderStatus::Refunded => "Refunded",
    }
}

/// `14:32`: minutes and seconds until an instant; nothing is left of one that is past.
pub fn left(seconds: i64) -> String {
    let seconds = seconds.max(0);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_write_them() {
        let money = |text: &str, code: &str| money(Decimal::from_str_exact(text).unwrap(), &Currency::new(code));
        assert_eq!(money("1234567.5", "EUR"), "€1,234,567.50");
        assert_eq!(money("-3", "USD"), "−$3.00");
        assert_eq!(money("999", "JPY"), "¥999");
        assert_eq!(money("0.005", "CHF"), "0.01 CHF");
    }

    #[test]
    fn figures_that_are_glanced_at_have_no_small_change() {
        let money =
            |text: &str, code: &str| money_glanced(Decimal::from_str_exact(text).unwrap(), &Currency::new(code));
        assert_eq!(money("12430.49", "EUR"), "€12,430");
        assert_eq!(money("1000.00", "CHF"), "1,000 CHF");
        assert_eq!(money("-3.2", "JPY"), "−¥3");
    }

    #[test]
    fn days_sizes_and_times_are_short() {
        let date: Date = "2026-03-15".parse().unwrap();
        assert_eq!((weekday(date), short_day(date).as_str()), ("Sunday", "15 Mar"));
        assert_eq!(weekday(Date::from_days(-1)), "Wednesday");
        assert_eq!([0, 2_000, 5 << 20].map(bytes), ["0 B", "1.9 KiB", "5.0 MiB"]);
        assert_eq!([850, 1_250, 42_000, 3_400_000].map(duration), ["850 µs", "1.2 ms", "42 ms", "3.4 s"]);
    }

    #[test]
    fn a_moment_is_told_with_its_day() {
        let at = Timestamp::from_millis(1_794_776_700_000);
        assert_eq!(moment(at), format!("{}, {}", day(at), &at.to_string()[11..16]));
        assert!(day(at).ends_with("November 2026"), "{}", day(at));
    }

    #[test]
    fn what_is_measured_is_told_in_the_unit_one_would_use() {
        assert_eq!([length(4), length(45), length(350), length(1_200)], ["4 mm", "4.5 cm", "35 cm", "1.2 m"]);
        assert_eq!([weight(350), weight(1_000), weight(1_250)], ["350 g", "1 kg", "1.25 kg"]);
    }

    #[test]
    fn only_known_notices_are_shown() {
        assert_eq!(notice("/cart?notice=added"), Some("It is in your cart."));
        assert_eq!(notice("/cart?notice=You+have+won"), None);
        assert_eq!(notice("/cart"), None);
    }
}
