//! Requests that arrive together for one key, decided together: what they wait for (a conditional write of one partition) is
//! then made once for all of them.
//!
//! 1. Every request is decided once, or its caller is told that it was not: in the order of its coming among those of its group,
//!    and behind the groups before it, unless what those have sent is refused and decided again.
//! 2. A caller that goes away stops nobody: whoever decides is a task of its own, and its request is decided all the same.
//! 3. No more wait than is allowed; the next one is told to come later.
//!
//! 4. Answers are given in the order of the groups. A group may let the next one begin before it is answered itself.
//! 5. Where a large group took long, those who were just answered have a moment to ask again before the next one is made: on an
//!    engine where a round costs the same for one as for many, two halves that wait for each other in turns are half as fast.
//!
//! It combines what one process asks. Several processes must be kept apart by what the deciding itself rests on, as a guarded
//! commit is.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures::{StreamExt as _, stream::FuturesOrdered};
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use widerow::meter;

use crate::error::Kind;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request has no answer. Each of a group is told the same.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{waiting} requests for the same are waiting already, try again later")]
    Busy { waiting: usize },
    /// As after a time-out: ask again, in a way that changes nothing the second time.
    #[error("whoever decided it was stopped, it is not known what became of it")]
    Stopped,
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn kind(&self) -> Kind {
        match self {
            Error::Busy { .. } | Error::Stopped => Kind::Unavailable,
            Error::Data(error) => Kind::of(error),
        }
    }
}

/// Groups of one key that are decided or written at the same time, where one lets the next begin.
const GROUPS_UNDER_WAY_MAX: usize = 2;

/// The right of a group to be alone with its key. Whoever keeps it until the answer is.
#[derive(Debug)]
pub struct Turn(Arc<AtomicBool>);

impl Turn {
    /// Lets the next group begin, before this one is answered. Only while it is polled itself.
    pub fn pass(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A group behind which is waited is at least so large, and took at least so long; the wait is no more than this part of that.
const GATHERED_FROM: usize = 8;
const GATHERED_AFTER: Duration = Duration::from_millis(3);
const GATHERING_PART: u32 = 8;
const GATHERING_MAX: Duration = Duration::from_millis(50);

/// Keys whose last group is remembered for that moment.
const RECENT_MAX: usize = 64;

type Answer<A> = oneshot::Sender<Result<A>>;

struct Queues<K, Q, A> {
    /// A key is there as long as someone leads it.
    led: HashMap<K, Queue<Q, A>>,
    /// The last groups behind which nobody waited, the newest last.
    recent: VecDeque<(K, Gathering)>,
}

impl<K, Q, A> Default for Queues<K, Q, A> {
    fn default() -> Self {
        Queues { led: HashMap::new(), recent: VecDeque::new() }
    }
}

/// Whoever finds nobody at work leads, and may have to gather others first.
type Leads = Option<Gathering>;

impl<K: Clone + Eq + Hash, Q, A> Queues<K, Q, A> {
    /// Lets the request wait, unless too many do; whether its caller leads from now on.
    fn queue(&mut self, key: &K, request: (Q, Answer<A>), waiting_max: usize) -> Result<Option<Leads>> {
        let Some(queue) = self.led.get_mut(key) else {
            self.led.insert(key.clone(), Queue::of(request));
            return Ok(Some(self.gathering(key)));
        };
        let waiting = queue.waiting.len();
        if waiting >= waiting_max {
            return Err(Error::Busy { waiting });
        }
        queue.push(request);
        Ok(None)
    }

    /// Who comes while it is time for it gathers as many as were in the last group of the key.
    fn gathering(&mut self, key: &K) -> Leads {
        let now = Instant::now();
        self.recent.retain(|(_, gathering)| gathering.until > now);
        let place = self.recent.iter().position(|(known, _)| known == key)?;
        self.recent.remove(place).map(|(_, gathering)| gathering)
    }
}

/// So many requests are waited for, until then at most.
#[derive(Clone, Copy)]
struct Gathering {
    requests: usize,
    until: Instant,
}

/// The requests for a key that nobody has taken up yet.
struct Queue<Q, A> {
    waiting: VecDeque<(Q, Answer<A>)>,
    /// How many must wait for `enough` to be told.
    wanted: usize,
    enough: Arc<Notify>,
}

impl<Q, A> Queue<Q, A> {
    fn of(request: (Q, Answer<A>)) -> Self {
        Queue { waiting: VecDeque::from([request]), wanted: usize::MAX, enough: Arc::default() }
    }

    fn push(&mut self, request: (Q, Answer<A>)) {
        self.waiting.push_back(request);
        if self.waiting.len() == self.wanted {
            self.enough.notify_one();
        }
    }
}

/// Takes requests `Q` for keys `K` and gives back answers `A`.
///
/// ```
/// # use merkato::combine::{Combiner, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let combiner: Combiner<&str, u32, u32> = Combiner::new(90, 1_000);
/// let doubled = |_key, numbers: Vec<u32>, _turn| async move { Ok(numbers.into_iter().map(|n| 2 * n).collect()) };
/// assert_eq!(combiner.submit("numbers", 21, doubled).await?, 42);
/// # Ok(())
/// # }
/// ```
pub struct Combiner<K, Q, A> {
    queues: Arc<Mutex<Queues<K, Q, A>>>,
    group_max: usize,
    waiting_max: usize,
}

impl<K, Q, A> Combiner<K, Q, A>
where
    K: Clone + Eq + Hash + Send + 'static,
    Q: Send + 'static,
    A: Send + 'static,
{
    /// At most so many are decided together, and at most so many wait for one key; at least one each.
    pub fn new(group_max: usize, waiting_max: usize) -> Self {
        Combiner { queues: Arc::default(), group_max: group_max.max(1), waiting_max: waiting_max.max(1) }
    }

    /// Whether somebody decides for the key at this moment.
    pub fn is_busy(&self, key: &K) -> bool {
        lock(&self.queues).led.contains_key(key)
    }

    /// The answer to the request, decided together with those that came while the ones before were decided.
    ///
    /// `decide` gets the requests of a group in the order of their coming and must answer each, in that order. The one of
    /// the caller who found nobody at work is used until nobody waits, and all of it is charged to that caller's meter: for
    /// one key it must be the same for all callers.
    pub async fn submit<F>(
        &self,
        key: K,
        request: Q,
        decide: impl Fn(K, Vec<Q>, Turn) -> F + Send + Sync + 'static,
    ) -> Result<A>
    where
        F: Future<Output = Result<Vec<A>, widerow::Error>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        if let Some(leads) = lock(&self.queues).queue(&key, (request, answer), self.waiting_max)? {
            let leader = Leader { queues: self.queues.clone(), key, group_max: self.group_max, leads: true };
            tokio::spawn(meter::inherit(leader.lead(leads, decide)));
        }
        answered.await.unwrap_or(Err(Error::Stopped))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is done under the lock can fail half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who decides for one key. Dropped before its end, it leaves the key to the next, and those who wait are told.
struct Leader<K: Eq + Hash, Q, A> {
    queues: Arc<Mutex<Queues<K, Q, A>>>,
    key: K,
    group_max: usize,
    leads: bool,
}

impl<K: Clone + Eq + Hash, Q, A> Leader<K, Q, A> {
    async fn lead<F>(mut self, gathering: Leads, decide: impl Fn(K, Vec<Q>, Turn) -> F)
    where
        F: Future<Output = Result<Vec<A>, widerow::Error>>,
    {
        if let Some(gathering) = gathering {
            self.gather(gathering).await;
        }
        // Of the newest group: what one before it does with its own turn is nothing to the next.
        let mut passed = Arc::new(AtomicBool::new(false));
        let mut under_way = FuturesOrdered::new();
        let mut answered: Option<Decided<A>> = None;
        loop {
            let (alone, room) = (under_way.is_empty(), under_way.len() < GROUPS_UNDER_WAY_MAX);
            let mut looks = room && passed.load(Ordering::Relaxed);
            let gathering = answered.as_ref().filter(|_| alone).and_then(Decided::gathering);
            if let Some(gathering) = gathering
                && let behind @ 1.. = self.count_waiting()
                && let Some(last) = answered.take()
            {
                last.tell();
                self.gather(Gathering { requests: gathering.requests + behind, ..gathering }).await;
            }
            // ORDER: the next group, or the end of the leading, before the answers: whoever asks again after an answer finds
            // nobody at work if nobody waited, and is charged for its own request.
            let group = if alone || looks { self.take_group(alone, gathering) } else { None };
            let told = answered.take().map(Decided::tell).is_some();
            if let Some((requests, waiting)) = group {
                passed = Arc::default();
                looks = false;
                let decided = decide(self.key.clone(), requests, Turn(passed.clone()));
                let begun = Instant::now();
                under_way.push_back(async move {
                    let answers = decided.await;
                    Decided { waiting, took: begun.elapsed(), answers }
                });
            } else if alone {
                return;
            } else if looks && told {
                // Those who were just answered may ask again: together, before this looks once more.
                tokio::task::yield_now().await;
                continue;
            }
            let room = under_way.len() < GROUPS_UNDER_WAY_MAX;
            answered = poll_fn(|cx| match under_way.poll_next_unpin(cx) {
                Poll::Pending if room && !looks && passed.load(Ordering::Relaxed) => Poll::Ready(None),
                polled => polled,
            })
            .await;
        }
    }

    fn count_waiting(&mut self) -> usize {
        lock(&self.queues).led.get(&self.key).map_or(0, |queue| queue.waiting.len())
    }

    /// Waits until as many have asked, or as fit into a group, or the time is over.
    async fn gather(&mut self, gathering: Gathering) {
        if let Some(enough) = self.want(gathering.requests.min(self.group_max)) {
            // Too few is no failure: whoever is there is served.
            let _ = tokio::time::timeout_at(gathering.until, enough.notified()).await;
        }
        self.want(usize::MAX);
    }

    /// Who tells that so many wait; None where they do.
    fn want(&mut self, requests: usize) -> Option<Arc<Notify>> {
        let mut queues = lock(&self.queues);
        let queue = queues.led.get_mut(&self.key)?;
        queue.wanted = requests;
        // A new one: the last may have been told when nobody listened any more.
        queue.enough = Arc::default();
        (queue.waiting.len() < requests).then(|| queue.enough.clone())
    }

    /// The next requests. Where nobody waits and nobody is decided upon, the key is free.
    ///
    /// RACE: seeing that nobody waits and leaving are one step under the lock, so that no request comes in between.
    fn take_group(&mut self, alone: bool, next: Option<Gathering>) -> Option<(Vec<Q>, Vec<Answer<A>>)> {
        let mut queues = lock(&self.queues);
        let queue = queues.led.get_mut(&self.key).map(|queue| &mut queue.waiting).filter(|waiting| !waiting.is_empty());
        let Some(queue) = queue else {
            if alone {
                queues.led.remove(&self.key);
                self.leads = false;
                if let Some(next) = next {
                    let spare = (queues.recent.len() + 1).saturating_sub(RECENT_MAX);
                    queues.recent.drain(..spare);
                    queues.recent.push_back((self.key.clone(), next));
                }
            }
            return None;
        };
        let some = self.group_max.min(queue.len());
        Some(queue.drain(..some).unzip())
    }
}

impl<K: Eq + Hash, Q, A> Drop for Leader<K, Q, A> {
    fn drop(&mut self) {
        if self.leads {
            let left = lock(&self.queues).led.remove(&self.key);
            drop(left);
        }
    }
}

/// A group that was decided, and not yet told so.
struct Decided<A> {
    waiting: Vec<Answer<A>>,
    took: Duration,
    answers: Result<Vec<A>, widerow::Error>,
}

impl<A> Decided<A> {
    /// How the next group is waited for, if this one was large and took long.
    fn gathering(&self) -> Option<Gathering> {
        // One that failed says nothing about the next, and may have taken very long.
        let gathers = self.waiting.len() >= GATHERED_FROM && self.took >= GATHERED_AFTER && self.answers.is_ok();
        let until = Instant::now() + (self.took / GATHERING_PART).min(GATHERING_MAX);
        gathers.then_some(Gathering { requests: self.waiting.len(), until })
    }

    fn tell(self) {
        let failed = match self.answers {
            Ok(answers) if answers.len() == self.waiting.len() => {
                for (who, answer) in self.waiting.into_iter().zip(answers) {
                    // A caller that has gone away wants none.
                    let _ = who.send(Ok(answer));
                }
                return;
            }
            Ok(answers) => {
                let detail = format!("{} answers were given to {} requests", answers.len(), self.waiting.len());
                widerow::Error::Engine { detail }
            }
            Err(error) => error,
        };
        for who in self.waiting {
            let _ = who.send(Err(failed.clone().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    type Numbers = Combiner<&'static str, usize, usize>;

    /// Answers with the size of the group, after the gate was opened.
    fn sized(
        gate: &Arc<Semaphore>,
        groups: &Arc<AtomicUsize>,
    ) -> impl Fn(
        &'static str,
        Vec<usize>,
        Turn,
    ) -> futures::future::BoxFuture<'static, Result<Vec<usize>, widerow::Error>>
    + Clone
    + Send
    + Sync
    + 'static {
        let (gate, groups) = (gate.clone(), groups.clone());
        move |_, requests: Vec<usize>, _| {
            let (gate, groups) = (gate.clone(), groups.clone());
            Box::pin(async move {
                gate.acquire().await.expect("open").forget();
                groups.fetch_add(1, Ordering::SeqCst);
                Ok(vec![requests.len(); requests.len()])
            })
        }
    }

    #[tokio::test]
    async fn what_comes_while_one_is_decided_is_decided_together() {
        let (combiner, gate, groups) = (Numbers::new(90, 1_000), Arc::new(Semaphore::new(0)), Arc::default());
        let decide = sized(&gate, &groups);
        let opener = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            gate.add_permits(100);
        };
        let asked = (0..200).map(|n| combiner.submit("a", n, decide.clone()));
        let (answers, ()) = tokio::join!(join_all(asked), opener);
        let answers: Vec<usize> = answers.into_iter().map(|answer| answer.expect("decided")).collect();
        assert!(answers.iter().all(|size| *size <= 90));
        assert!(groups.load(Ordering::SeqCst) <= 4, "{groups:?}");
        assert!(lock(&combiner.queues).led.is_empty(), "nothing is left behind");
    }

    /// Clients that ask again as soon as they are answered: how large the groups were.
    async fn closed_loop(clients: usize, round: Duration) -> Vec<usize> {
        let (combiner, sizes) = (Arc::new(Numbers::new(90, 1_000)), Arc::new(Mutex::new(Vec::new())));
        let tasks = (0..clients).map(|client| {
            let (combiner, sizes) = (combiner.clone(), sizes.clone());
            tokio::spawn(async move {
                // Half of them come while the others are being decided.
                tokio::time::sleep(round / 2 * (client as u32 % 2)).await;
                for n in 0..20 {
                    let sizes = sizes.clone();
                    let decide = move |_, numbers: Vec<usize>, _| {
                        lock(&sizes).push(numbers.len());
                        async move {
                            tokio::time::sleep(round).await;
                            Ok(numbers)
                        }
                    };
                    combiner.submit("a", n, decide).await.expect("decided");
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("no panic");
        }
        let sizes = lock(&sizes).clone();
        tokio::time::sleep(round).await;
        assert!(lock(&combiner.queues).led.is_empty(), "nothing is left behind");
        sizes
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_were_answered_after_long_are_in_the_next_group() {
        let sizes = closed_loop(64, Duration::from_millis(20)).await;
        // Two halves at first; from then on all of them.
        assert_eq!(sizes.iter().filter(|size| **size == 64).count(), 19, "{sizes:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_where_groups_are_small_or_quick() {
        let start = Instant::now();
        assert_eq!(closed_loop(1, Duration::from_millis(20)).await, [1; 20]);
        assert_eq!(start.elapsed(), Duration::from_millis(20 * 21), "a single one waits for its own rounds alone");
        let start = Instant::now();
        let sizes = closed_loop(64, Duration::from_millis(2)).await;
        assert_eq!(start.elapsed(), Duration::from_millis(2) * (sizes.len() as u32 + 1));
    }

    #[tokio::test]
    async fn keys_do_not_wait_for_each_other() {
        let (combiner, gate, groups) = (Numbers::new(90, 1_000), Arc::new(Semaphore::new(0)), Arc::default());
        let (shut, open) = (sized(&gate, &groups), sized(&Arc::new(Semaphore::new(1)), &groups));
        let slow = combiner.submit("a", 1, shut);
        tokio::pin!(slow);
        assert!(futures::poll!(&mut slow).is_pending());
        assert_eq!(combiner.submit("b", 1, open).await.expect("decided"), 1);
        gate.add_permits(1);
        assert_eq!(slow.await.expect("decided"), 1);
    }

    #[tokio::test]
    async fn a_caller_who_goes_away_stalls_nobody() {
        let (combiner, gate, groups) = (Numbers::new(1, 1_000), Arc::new(Semaphore::new(0)), Arc::default());
        let decide = sized(&gate, &groups);
        {
            let first = combiner.submit("a", 1, decide.clone());
            tokio::pin!(first);
            assert!(futures::poll!(&mut first).is_pending());
        }
        gate.add_permits(2);
        assert_eq!(combiner.submit("a", 2, decide).await.expect("decided"), 1);
        assert_eq!(groups.load(Ordering::SeqCst), 2, "the first one was decided as well");
    }

    #[tokio::test]
    async fn too_many_are_told_to_come_later_and_the_others_are_served() {
        let (combiner, gate, groups) = (Numbers::new(90, 2), Arc::new(Semaphore::new(0)), Arc::default());
        let decide = sized(&gate, &groups);
        let mut waiting = vec![Box::pin(combiner.submit("a", 0, decide.clone()))];
        assert!(futures::poll!(&mut waiting[0]).is_pending());
        tokio::task::yield_now().await;
        for n in 1..=2 {
            waiting.push(Box::pin(combiner.submit("a", n, decide.clone())));
            assert!(futures::poll!(&mut waiting[n]).is_pending());
        }
        let refused = combiner.submit("a", 3, decide).await;
        assert!(matches!(refused, Err(Error::Busy { waiting: 2 })), "{refused:?}");
        gate.add_permits(2);
        assert!(join_all(waiting).await.into_iter().all(|answer| answer.is_ok()));
    }

    #[tokio::test]
    async fn an_error_is_told_to_all_of_the_group_and_the_next_group_is_tried_again() {
        let combiner = Numbers::new(90, 1_000);
        let failing = |_, _: Vec<usize>, _| async { Err(widerow::Error::unavailable("gone")) };
        let answers = join_all((0..5).map(|n| combiner.submit("a", n, failing))).await;
        assert!(answers.iter().all(|a| matches!(a, Err(Error::Data(widerow::Error::Unavailable { .. })))));
        let short = |_, _: Vec<usize>, _| async { Ok(Vec::new()) };
        assert!(matches!(combiner.submit("a", 1, short).await, Err(Error::Data(widerow::Error::Engine { .. }))));
        let good = |_, requests: Vec<usize>, _| async move { Ok(requests) };
        assert_eq!(combiner.submit("a", 7, good).await.expect("decided"), 7);
    }

    #[tokio::test]
    async fn whoever_waits_for_one_that_panics_is_told_and_the_key_is_free() {
        let combiner = Numbers::new(1, 1_000);
        let panicking = |_, requests: Vec<usize>, _| async move { panic!("{requests:?}") };
        let answers = join_all((0..3).map(|n| combiner.submit("a", n, panicking))).await;
        assert!(answers.iter().all(|answer| matches!(answer, Err(Error::Stopped))), "{answers:?}");
        let good = |_, requests: Vec<usize>, _| async move { Ok(requests) };
        assert_eq!(combiner.submit("a", 7, good).await.expect("decided"), 7);
    }

    /// Lets the next group begin at once, and answers when the gate was opened for it.
    fn passing(
        gate: &Arc<Semaphore>,
        begun: &Arc<AtomicUsize>,
    ) -> impl Fn(
        &'static str,
        Vec<usize>,
        Turn,
    ) -> futures::future::BoxFuture<'static, Result<Vec<usize>, widerow::Error>>
    + Clone
    + Send
    + Sync
    + 'static {
        let (gate, begun) = (gate.clone(), begun.clone());
        move |_, requests: Vec<usize>, turn| {
            let (gate, begun) = (gate.clone(), begun.clone());
            Box::pin(async move {
                begun.fetch_add(1, Ordering::SeqCst);
                turn.pass();
                gate.acquire().await.expect("open").forget();
                Ok(requests)
            })
        }
    }

    async fn until(begun: &AtomicUsize, groups: usize) {
        while begun.load(Ordering::SeqCst) < groups {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_group_that_passes_its_turn_lets_the_next_begin_and_no_more() {
        let (combiner, gate, begun) = (Numbers::new(1, 1_000), Arc::new(Semaphore::new(0)), Arc::default());
        let decide = passing(&gate, &begun);
        let mut waiting: Vec<_> = (0..5).map(|n| Box::pin(combiner.submit("a", n, decide.clone()))).collect();
        for asked in &mut waiting {
            assert!(futures::poll!(asked).is_pending());
        }
        until(&begun, GROUPS_UNDER_WAY_MAX).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(begun.load(Ordering::SeqCst), GROUPS_UNDER_WAY_MAX, "as many as are allowed");
        gate.add_permits(1);
        until(&begun, GROUPS_UNDER_WAY_MAX + 1).await;
        let mut waiting = waiting.into_iter();
        assert_eq!(waiting.next().expect("the first").await.expect("decided"), 0, "answered before the others are");
        gate.add_permits(100);
        let answers = join_all(waiting).await.into_iter().map(|answer| answer.expect("decided"));
        assert_eq!(answers.collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(lock(&combiner.queues).led.is_empty(), "nothing is left behind");
    }

    #[tokio::test]
    async fn whoever_comes_while_one_that_has_passed_its_turn_is_under_way_is_decided() {
        let (combiner, gate, begun) = (Numbers::new(90, 1_000), Arc::new(Semaphore::new(0)), Arc::default());
        let decide = passing(&gate, &begun);
        let mut first = Box::pin(combiner.submit("a", 1, decide.clone()));
        assert!(futures::poll!(&mut first).is_pending());
        until(&begun, 1).await;
        let mut second = Box::pin(combiner.submit("a", 2, decide));
        assert!(futures::poll!(&mut second).is_pending());
        gate.add_permits(2);
        assert_eq!((first.await.expect("decided"), second.await.expect("decided")), (1, 2));
        assert!(lock(&combiner.queues).led.is_empty(), "nothing is left behind");
    }
}
