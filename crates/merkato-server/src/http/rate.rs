//! How often a client may ask: so many requests a minute, as a bucket that fills up evenly. Kept in memory, per process, for
//! a bounded number of clients.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use http::{HeaderMap, HeaderValue};

const MINUTE_MILLIS: i128 = 60_000;

/// One limit over all clients.
pub struct Limiter {
    a_minute: u32,
    clients_max: usize,
    /// When each client's bucket will be full again, in shares of milliseconds.
    full_at: Mutex<HashMap<IpAddr, i128>>,
}

/// What a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// Until the bucket is full.
    pub reset_seconds: u64,
    /// None: the request may be made.
    pub wait_seconds: Option<u64>,
}

impl Limiter {
    pub fn new(a_minute: u32, clients_max: usize) -> Self {
        Limiter { a_minute, clients_max: clients_max.max(1), full_at: Mutex::default() }
    }

    /// Takes one request from the client's bucket; None where there is no limit.
    ///
    /// Time is reckoned in shares: a millisecond has as many as there are requests a minute, and a request takes as many as a
    /// minute has milliseconds. So whatever the limit, nothing is rounded.
    pub fn take(&self, client: IpAddr, now_millis: i64) -> Option<Allowance> {
        if self.a_minute == 0 {
            return None;
        }
        let a_milli = i128::from(self.a_minute);
        let (price, bucket, now) = (MINUTE_MILLIS, MINUTE_MILLIS * a_milli, i128::from(now_millis) * a_milli);
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() >= self.clients_max && !full_at.contains_key(&client) {
            full_at.retain(|_, at| *at > now);
            // More clients at once than can be remembered: they are let in rather than kept out.
            if full_at.len() >= self.clients_max {
                full_at.clear();
            }
        }
        let at = full_at.entry(client).or_insert(now);
        let next = (*at).max(now) + price;
        let over = next - now - bucket;
        let a_second = 1_000 * a_milli;
        let seconds = |shares: i128| u64::try_from((shares + a_second - 1) / a_second).unwrap_or(0);
        if over > 0 {
            let reset_seconds = seconds(*at - now);
            return Some(Allowance {
                limit: self.a_minute,
                remaining: 0,
                reset_seconds,
                wait_seconds: Some(seconds(over).max(1)),
            });
        }
        *at = next;
        let remaining = u32::try_from(-over / price).unwrap_or(0);
        Some(Allowance { limit: self.a_minute, remaining, reset_seconds: seconds(next - now), wait_seconds: None })
    }
}

impl Allowance {
    pub fn note(&self, headers: &mut HeaderMap) {
        headers.insert("ratelimit-limit", HeaderValue::from(self.limit));
        headers.insert("ratelimit-remaining", HeaderValue::from(self.remaining));
        headers.insert("ratelimit-reset", HeaderValue::from(self.reset_seconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_up_evenly() {
        let limiter = Limiter::new(60, 10);
        let client = IpAddr::from([127, 0, 0, 1]);
        for left in (0..60).rev() {
            let allowance = limiter.take(client, 0).expect("a limit");
            assert_eq!((allowance.remaining, allowance.wait_seconds), (left, None));
        }
        assert_eq!(limiter.take(client, 0).expect("a limit").wait_seconds, Some(1));
        assert_eq!(limiter.take(IpAddr::from([127, 0, 0, 2]), 0).expect("a limit").wait_seconds, None);
        assert_eq!(limiter.take(client, 1_000).expect("a limit").wait_seconds, None);
        assert_eq!(limiter.take(client, 1_000).expect("a limit").wait_seconds, Some(1));
    }

    #[test]
    fn as_many_are_taken_as_is_said() {
        let client = IpAddr::from([127, 0, 0, 1]);
        let now = 1_800_000_000_000;
        for a_minute in [1, 7, 45_000, 60_000, 100_000, 1_000_003] {
            let limiter = Limiter::new(a_minute, 1);
            let taken =
                (0..a_minute + 10).filter(|_| limiter.take(client, now).expect("a limit").wait_seconds.is_none());
            assert_eq!(taken.count(), a_minute as usize, "{a_minute} a minute");
            // A minute later all of them are there again, and no more.
            let taken = (0..a_minute + 10)
                .filter(|_| limiter.take(client, now + 60_000).expect("a limit").wait_seconds.is_none());
            assert_eq!(taken.count(), a_minute as usize, "{a_minute} in the next minute");
        }
    }

    #[test]
    fn no_more_clients_are_remembered_than_is_said() {
        let limiter = Limiter::new(60, 10);
        for last in 0..200 {
            assert_eq!(limiter.take(IpAddr::from([10, 0, 0, last]), 0).expect("a limit").wait_seconds, None);
        }
        assert!(limiter.full_at.lock().expect("no panic").len() <= 10);
    }
}
