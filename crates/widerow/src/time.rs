//! Instants and dates as the engines keep them, and the clock they come from.
//!
//! Invariant: both lie in the years 0000 to 9999, so that their text is as sortable as they are.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::civil;

/// An instant in UTC, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A calendar day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

const EPOCH: civil::Date = civil::date(1970, 1, 1);

impl Timestamp {
    pub const MIN: Timestamp = Timestamp(-62_167_219_200_000);
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);

    pub const fn from_millis(millis: i64) -> Self {
        Timestamp(millis)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    pub fn plus_seconds(self, seconds: i64) -> Self {
        Timestamp(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    pub fn date(self) -> Date {
        Date(self.0.div_euclid(86_400_000) as i32)
    }

    pub fn in_range(self) -> bool {
        (Self::MIN..=Self::MAX).contains(&self)
    }
}

impl Date {
    pub const MIN: Date = Date(-719_528);
    pub const MAX: Date = Date(2_932_896);

    /// The day that many days after (or before) 1970-01-01.
    pub const fn from_days(days: i32) -> Self {
        Date(days)
    }

    pub const fn days(self) -> i32 {
        self.0
    }

    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        let date = Date::from(civil::Date::new(year, month, day).ok()?);
        date.in_range().then_some(date)
    }

    /// Midnight UTC.
    pub fn start(self) -> Timestamp {
        Timestamp(i64::from(self.0) * 86_400_000)
    }

    pub fn in_range(self) -> bool {
        (Self::MIN..=Self::MAX).contains(&self)
    }

    pub fn civil(self) -> Option<civil::Date> {
        EPOCH.checked_add(jiff::Span::new().try_days(self.0).ok()?).ok()
    }
}

impl From<civil::Date> for Date {
    fn from(date: civil::Date) -> Self {
        Date((date - EPOCH).get_days())
    }
}

impl std::fmt::Display for Timestamp {
    /// RFC 3339 with exactly three digits of fraction, so that text sorts as time does.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_day = self.0.rem_euclid(86_400_000);
        let (s, ms) = (of_day / 1000, of_day % 1000);
        write!(f, "{}T{:02}:{:02}:{:02}.{ms:03}Z", self.date(), s / 3600, s / 60 % 60, s % 60)
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.civil() {
            Some(d) => write!(f, "{:04}-{:02}-{:02}", d.year(), d.month(), d.day()),
            None => write!(f, "day {}", self.0),
        }
    }
}

impl std::fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Debug for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The text is not a date or an instant in the years 0000 to 9999.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {0} in the years 0000 to 9999")]
pub struct NotATime(&'static str);

impl std::str::FromStr for Date {
    type Err = NotATime;
    fn from_str(text: &str) -> Result<Self, NotATime> {
        let date: civil::Date = text.parse().map_err(|_| NotATime("date"))?;
        Some(Date::from(date)).filter(|d| d.in_range()).ok_or(NotATime("date"))
    }
}

impl std::str::FromStr for Timestamp {
    type Err = NotATime;
    fn from_str(text: &str) -> Result<Self, NotATime> {
        // The form that is written is read as civil time: jiff's instants end a day before the year 9999 does.
        let written =
            text.strip_suffix('Z').filter(|t| t.contains('T')).and_then(|t| t.parse::<civil::DateTime>().ok());
        let millis = match written {
            Some(civil) => {
                let of_day = civil.time().duration_since(civil::Time::midnight()).as_millis();
                Date::from(civil.date()).start().0 + i64::try_from(of_day).map_err(|_| NotATime("time"))?
            }
            None => text.parse::<jiff::Timestamp>().map_err(|_| NotATime("time"))?.as_millisecond(),
        };
        Some(Timestamp(millis)).filter(|t| t.in_range()).ok_or(NotATime("time"))
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Microseconds since 1970, for the order of writes.
    fn now_micros(&self) -> i64 {
        self.now().millis() * 1000
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now_micros() / 1000)
    }

    fn now_micros(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        since.as_micros() as i64
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        ManualClock(AtomicI64::new(now.millis()))
    }

    pub fn advance_millis(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}
