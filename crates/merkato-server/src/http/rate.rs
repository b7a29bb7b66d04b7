//! How often a client may ask: so many requests a minute, as a bucket that fills up evenly. Kept in memory, per process, for
//! a bounded number of clients.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use http::{HeaderMap, HeaderValue};

const MINUTE_MILLIS: i64 = 60_000;

/// One limit over all clients.
pub struct Limiter {
    a_minute: u32,
    clients_max: usize,
    /// When each client's bucket will be full again, in milliseconds.
    full_at: Mutex<HashMap<IpAddr, i64>>,
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
    pub fn take(&self, client: IpAddr, now_millis: i64) -> Option<Allowance> {
        if self.a_minute == 0 {
            return None;
        }
        let price = (MINUTE_MILLIS / i64::from(self.a_minute)).max(1);
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() >= self.clients_max && !full_at.contains_key(&client) {
            full_at.retain(|_, at| *at > now_millis);
            // More clients at once than can be remembered: they are let in rather than kept out.
            if full_at.len() >= self.clients_max {
                full_at.clear();
            }
        }
        let at = full_at.entry(client).or_insert(now_millis);
        let next = (*at).max(now_millis) + price;
        let over = next - now_millis - MINUTE_MILLIS;
        let seconds = |millis: i64| u64::try_from((millis + 999) / 1_000).unwrap_or(0);
        if over > 0 {
            let reset_seconds = seconds(*at - now_millis);
            return Some(Allowance {
                limit: self.a_minute,
                remaining: 0,
                reset_seconds,
                wait_seconds: Some(seconds(over).max(1)),
            });
        }
        *at = next;
        let remaining = u32::try_from(-over / price).unwrap_or(0);
        Some(Allowance {
            limit: self.a_minute,
            remaining,
            reset_seconds: seconds(next - now_millis),
            wait_seconds: None,
        })
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
    fn no_more_clients_are_remembered_than_is_said() {
        let limiter = Limiter::new(60, 10);
        for last in 0..200 {
            assert_eq!(limiter.take(IpAddr::from([10, 0, 0, last]), 0).expect("a limit").wait_seconds, None);
        }
        assert!(limiter.full_at.lock().expect("no panic").len() <= 10);
    }
}
