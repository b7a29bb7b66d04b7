//! A provider that moves no money, behaves as it is told, and remembers all that was asked of it.
//!
//! The text of a payment's source says what becomes of it; a number behind a colon says how often or how long:
//! - `ok`: all goes well;
//! - `decline`, `decline_capture`: the bank says no, at once or when the money is to be taken;
//! - `timeout_before:2`: every authorisation, capture and refund is unknown two times, without effect, then goes well;
//! - `timeout_after:2`: each happens at once, but its answer is lost two times;
//! - `late:30`: the authorisation is unknown for thirty seconds by the clock, then good; `late`: until [`TestProvider::settle`].
//!
//! Over all of it, [`Chaos`] loses requests and answers by a seed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Timestamp, codec, time::Clock};

use super::{Authorise, Authorised, Captured, Error, Payment, PaymentProvider, PaymentState, Refunded, Result};

/// Calls of one operation under one key that may fail by chance: who asks again is answered in the end.
const CHAOS_CALLS_MAX: u32 = 6;

/// What the ids of payments begin with; the key of the authorisation follows.
const PREFIX: &str = "test_";

/// Failures by chance, the same for the same seed, key and number of the call, whatever else goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chaos {
    pub seed: u64,
    /// Of a thousand calls.
    pub failures: u64,
}

/// What was really done under the key of an authorisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    pub key: Uuid,
    pub payment_id: String,
    /// None where it was voided before it was asked for.
    pub request: Option<Authorise>,
    pub state: PaymentState,
    pub captured: Decimal,
    pub refunded: Decimal,
}

pub struct TestProvider {
    clock: Arc<dyn Clock>,
    chaos: Option<Chaos>,
    ledger: Mutex<Ledger>,
}

#[derive(Default)]
struct Ledger {
    /// By the keys of the authorisations.
    charges: BTreeMap<Uuid, Entry>,
    /// Captures and refunds, by their own keys.
    moves: HashMap<Uuid, Move>,
    calls: HashMap<(Operation, Uuid), u32>,
    settled: bool,
}

struct Entry {
    charge: Charge,
    asked_at: Timestamp,
}

#[derive(PartialEq)]
struct Move {
    operation: Operation,
    payment_id: String,
    amount: Decimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Authorise,
    Capture,
    Refund,
    Void,
    Status,
}

/// Where a call is lost.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Unavailable,
    Before,
    After,
}

impl TestProvider {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        TestProvider { clock, chaos: None, ledger: Mutex::default() }
    }

    pub fn with_chaos(clock: Arc<dyn Clock>, chaos: Chaos) -> Self {
        TestProvider { chaos: Some(chaos), ..TestProvider::new(clock) }
    }

    /// From now on every `late` authorisation is good.
    pub fn settle(&self) {
        self.ledger().settled = true;
    }

    /// All that was ever asked for, by key.
    pub fn charges(&self) -> Vec<Charge> {
        let ledger = self.ledger();
        let now = self.clock.now();
        let charge = |entry: &Entry| Charge { state: ledger.state(entry, now), ..entry.charge.clone() };
        ledger.charges.values().map(charge).collect()
    }

    /// Of one order.
    pub fn charges_of(&self, order_number: &str) -> Vec<Charge> {
        let of = |charge: &Charge| charge.request.as_ref().is_some_and(|request| request.order_number == order_number);
        self.charges().into_iter().filter(of).collect()
    }

    /// All money that was taken, whatever was given back.
    pub fn captured_total(&self) -> Decimal {
        self.ledger().charges.values().map(|entry| entry.charge.captured).sum()
    }

    pub fn refunded_total(&self) -> Decimal {
        self.ledger().charges.values().map(|entry| entry.charge.refunded).sum()
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // Every change of the ledger is whole before anything can fail.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call: counted, lost before or after its effect where chance or the source says so.
    fn call<T>(
        &self,
        operation: Operation,
        key: Uuid,
        source: impl FnOnce(&Ledger) -> Option<String>,
        effect: impl FnOnce(&mut Ledger, Timestamp) -> Result<T>,
    ) -> Result<T> {
        let mut ledger = self.ledger();
        let count = ledger.calls.entry((operation, key)).or_default();
        *count += 1;
        let count = *count;
        let told = source(&ledger).and_then(|source| told(&source, count));
        let fault = told.or_else(|| self.chaos.and_then(|chaos| chaos.fault(operation, key, count)));
        let unknown = || Error::Unknown { detail: format!("{operation:?} {count}: no answer") };
        match fault {
            Some(Fault::Unavailable) => return Err(Error::Unavailable),
            Some(Fault::Before) => return Err(unknown()),
            _ => {}
        }
        let answer = effect(&mut ledger, self.clock.now());
        if fault == Some(Fault::After) { Err(unknown()) } else { answer }
    }
}

/// What the source says of the n-th call.
fn told(source: &str, count: u32) -> Option<Fault> {
    let (word, times) = source.split_once(':').unwrap_or((source, "1"));
    let times: u32 = times.parse().unwrap_or(1);
    match word {
        "timeout_before" if count <= times => Some(Fault::Before),
        "timeout_after" if count <= times => Some(Fault::After),
        _ => None,
    }
}

impl Chaos {
    fn fault(self, operation: Operation, key: Uuid, count: u32) -> Option<Fault> {
        if count > CHAOS_CALLS_MAX {
            return None;
        }
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.push(operation as u8);
        bytes.extend(self.seed.to_be_bytes());
        bytes.extend(key.as_bytes());
        let chance = codec::fingerprint(&bytes) >> 20;
        let fails = chance % 1_000 < self.failures;
        fails.then_some(match chance / 1_000 % 3 {
            0 => Fault::Unavailable,
            1 => Fault::Before,
            _ => Fault::After,
        })
    }
}

impl Ledger {
    /// Where a charge stands by now: what was late becomes good by itself.
    fn state(&self, entry: &Entry, now: Timestamp) -> PaymentState {
        let source = entry.charge.request.as_ref().map_or("", |request| &request.source);
        match (entry.charge.state, source.split_once(':')) {
            (PaymentState::Pending, _) if self.settled => PaymentState::Authorised,
            (PaymentState::Pending, Some((_, seconds))) => {
                let good_at = entry.asked_at.plus_seconds(seconds.parse().unwrap_or(0));
                if now >= good_at { PaymentState::Authorised } else { PaymentState::Pending }
            }
            (state, _) => state,
        }
    }

    fn by_payment(&self, payment_id: &str) -> Option<&Entry> {
        self.charges.get(&key_of(payment_id)?)
    }

    fn source(&self, payment_id: &str) -> Option<String> {
        Some(self.by_payment(payment_id)?.charge.request.as_ref()?.source.clone())
    }

    fn authorise(&mut self, request: Authorise, now: Timestamp) -> Result<Authorised> {
        let key = request.key;
        if self.moves.contains_key(&key) {
            return Err(Error::Mismatch);
        }
        let entry = self.charges.entry(key).or_insert_with(|| {
            let state = match request.source.split_once(':').map_or(request.source.as_str(), |(word, _)| word) {
                "ok" | "decline_capture" | "timeout_before" | "timeout_after" => PaymentState::Authorised,
                "late" => PaymentState::Pending,
                _ => PaymentState::Declined,
            };
            Entry { charge: Charge::new(key, Some(request.clone()), state), asked_at: now }
        });
        match &entry.charge.request {
            Some(first) if *first != request => return Err(Error::Mismatch),
            Some(_) => {}
            // It was voided before it came; the ledger shows what it would have been.
            None => entry.charge.request = Some(request.clone()),
        }
        let entry = &self.charges[&key];
        match self.state(entry, now) {
            PaymentState::Declined => Err(Error::Declined { reason: format!("the source is {}", request.source) }),
            PaymentState::Voided => Err(Error::Voided),
            PaymentState::Pending => Err(Error::Unknown { detail: "it is not decided yet".into() }),
            _ => Ok(Authorised { payment_id: entry.charge.payment_id.clone(), amount: request.amount }),
        }
    }

    /// Whether the move was made before, under the same key.
    fn was_made(&self, key: Uuid, wanted: &Move) -> Result<bool> {
        match self.moves.get(&key) {
            Some(made) if made == wanted => Ok(true),
            None if !self.charges.contains_key(&key) => Ok(false),
            _ => Err(Error::Mismatch),
        }
    }

    fn capture(&mut self, key: Uuid, payment_id: &str, amount: Decimal, now: Timestamp) -> Result<Captured> {
        let wanted = Move { operation: Operation::Capture, payment_id: payment_id.to_owned(), amount };
        let captured = Captured { payment_id: payment_id.to_owned(), amount };
        if self.was_made(key, &wanted)? {
            return Ok(captured);
        }
        let none = || Error::PaymentNotFound { payment_id: payment_id.to_owned() };
        let entry = self.by_payment(payment_id).ok_or_else(none)?;
        let request = entry.charge.request.as_ref().ok_or_else(none)?;
        match self.state(entry, now) {
            PaymentState::Authorised => {}
            PaymentState::Voided => return Err(Error::Voided),
            PaymentState::Captured | PaymentState::Refunded => {
                let (payment_id, amount) = (payment_id.to_owned(), entry.charge.captured);
                return Err(Error::AlreadyCaptured { payment_id, amount });
            }
            _ => return Err(none()),
        }
        if request.source == "decline_capture" {
            return Err(Error::Declined { reason: format!("the source is {}", request.source) });
        }
        check_amount(amount, request.amount)?;
        let authorised_under = request.key;
        if let Some(entry) = self.charges.get_mut(&authorised_under) {
            entry.charge.captured = amount;
            entry.charge.state = PaymentState::Captured;
        }
        self.moves.insert(key, wanted);
        Ok(captured)
    }

    fn refund(&mut self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Refunded> {
        let wanted = Move { operation: Operation::Refund, payment_id: payment_id.to_owned(), amount };
        let refunded = Refunded { payment_id: payment_id.to_owned(), amount };
        if self.was_made(key, &wanted)? {
            return Ok(refunded);
        }
        let entry = key_of(payment_id).and_then(|key| self.charges.get_mut(&key));
        let charge = &mut entry.ok_or_else(|| Error::PaymentNotFound { payment_id: payment_id.to_owned() })?.charge;
        check_amount(amount, charge.captured - charge.refunded)?;
        charge.refunded += amount;
        charge.state = PaymentState::Refunded;
        self.moves.insert(key, wanted);
        Ok(refunded)
    }

    fn void(&mut self, key: Uuid, now: Timestamp) -> Result<()> {
        if self.moves.contains_key(&key) {
            return Err(Error::Mismatch);
        }
        let absent = || Entry { charge: Charge::new(key, None, PaymentState::Voided), asked_at: now };
        let charge = &mut self.charges.entry(key).or_insert_with(absent).charge;
        match charge.state {
            PaymentState::Captured | PaymentState::Refunded => {
                let (payment_id, amount) = (charge.payment_id.clone(), charge.captured);
                Err(Error::AlreadyCaptured { payment_id, amount })
            }
            PaymentState::Declined => Ok(()),
            _ => {
                charge.state = PaymentState::Voided;
                Ok(())
            }
        }
    }

    fn status(&self, key: Uuid, now: Timestamp) -> Payment {
        let Some(entry) = self.charges.get(&key) else {
            let zero = Decimal::ZERO;
            let state = PaymentState::Absent;
            return Payment { state, payment_id: None, authorised: zero, captured: zero, refunded: zero };
        };
        let (state, charge) = (self.state(entry, now), &entry.charge);
        let is_good = matches!(state, PaymentState::Authorised | PaymentState::Captured | PaymentState::Refunded);
        let authorised = charge.request.as_ref().filter(|_| is_good).map(|request| request.amount);
        Payment {
            state,
            payment_id: is_good.then(|| charge.payment_id.clone()),
            authorised: authorised.unwrap_or_default(),
            captured: charge.captured,
            refunded: charge.refunded,
        }
    }
}

impl Charge {
    fn new(key: Uuid, request: Option<Authorise>, state: PaymentState) -> Self {
        let payment_id = format!("{PREFIX}{}", key.simple());
        Charge { key, payment_id, request, state, captured: Decimal::ZERO, refunded: Decimal::ZERO }
    }
}

/// The key of the authorisation that a payment's id was made of.
fn key_of(payment_id: &str) -> Option<Uuid> {
    Uuid::parse_str(payment_id.strip_prefix(PREFIX)?).ok()
}

fn check_amount(wanted: Decimal, available: Decimal) -> Result<()> {
    if wanted <= Decimal::ZERO {
        return Err(Error::NoAmount { amount: wanted });
    }
    if wanted > available { Err(Error::OverAmount { wanted, available }) } else { Ok(()) }
}

#[async_trait]
impl PaymentProvider for TestProvider {
    async fn authorise(&self, request: Authorise) -> Result<Authorised> {
        if request.amount <= Decimal::ZERO {
            return Err(Error::NoAmount { amount: request.amount });
        }
        let source = request.source.clone();
        self.call(Operation::Authorise, request.key, |_| Some(source), |ledger, now| ledger.authorise(request, now))
    }

    async fn capture(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Captured> {
        let source = |ledger: &Ledger| ledger.source(payment_id);
        self.call(Operation::Capture, key, source, |ledger, now| ledger.capture(key, payment_id, amount, now))
    }

    async fn refund(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Refunded> {
        let source = |ledger: &Ledger| ledger.source(payment_id);
        self.call(Operation::Refund, key, source, |ledger, _| ledger.refund(key, payment_id, amount))
    }

    async fn void(&self, authorise_key: Uuid) -> Result<()> {
        self.call(Operation::Void, authorise_key, |_| None, |ledger, now| ledger.void(authorise_key, now))
    }

    async fn status(&self, authorise_key: Uuid) -> Result<Payment> {
        self.call(Operation::Status, authorise_key, |_| None, |ledger, now| Ok(ledger.status(authorise_key, now)))
    }
}
