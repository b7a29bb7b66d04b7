//! One cart's partition: read whole, changed whole, ended.
//!
//! Invariant: lines are written with the totals of all lines beside them, in one guarded commit.

use rust_decimal::Decimal;
use widerow::{Commit, Partition, Timestamp, store::Statics};

use super::list;
use crate::{
    carts::{
        error::{Error, Result},
        rules::{self, Access, Draft},
        tables::{CartEnd, CartLine, Head, Line},
    },
    context::Context,
    id::{CartId, UserId},
    limits,
    money::Currency,
};

/// Rows that are written to a cart in one commit, at the most: the data layer takes 99 writes, static columns are one.
pub const ROWS_AT_ONCE: usize = 90;
/// How often an operation that finds the ground moved begins again.
pub(super) const TRIES: u32 = 20;
/// How often a cart is read again whose totals are not those of its lines.
const READS: u32 = 6;
pub(super) const DAY_SECONDS: i64 = 24 * 60 * 60;

/// A cart as its owner sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cart {
    /// None where a user has no cart yet.
    pub cart_id: Option<CartId>,
    /// Newest first.
    pub lines: Vec<Line>,
    pub subtotal: Decimal,
    /// None where there are no lines.
    pub currency: Option<Currency>,
    /// Pieces, over all lines.
    pub item_count: u32,
    /// When its lines are gone, if it is not changed before.
    pub expires_at: Option<Timestamp>,
    /// None where it was never changed. Later with every change, also within a millisecond.
    pub updated_at: Option<Timestamp>,
}

impl Cart {
    /// What an edit may rest upon.
    pub fn revision(&self) -> i64 {
        revision(self.updated_at)
    }
}

pub(super) fn revision(updated_at: Option<Timestamp>) -> i64 {
    updated_at.map_or(0, Timestamp::millis)
}

/// The time of a change: later than that of the change before it, so that it tells the two apart.
pub(super) fn change_time(ctx: &Context, before: &Head) -> Timestamp {
    before.updated_at.map_or(ctx.now(), |before| ctx.now().max(rules::just_after(before)))
}

/// What a cart's partition holds, whoever may see it.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub head: Head,
    pub lines: Vec<Line>,
    /// Rows of lines that were ordered and could not be deleted in the same write.
    pub ordered: Vec<Line>,
}

impl Contents {
    pub fn new(statics: &Statics<CartLine>, rows: Vec<CartLine>) -> Result<Self> {
        let head = Head::of(statics)?;
        let lines = rows.into_iter().map(Line::from);
        let (ordered, lines) = lines.partition(|line| head.ordered_until.is_some_and(|until| line.added_at <= until));
        Ok(Contents { head, lines, ordered })
    }

    pub fn of(view: &Partition<CartLine>) -> Result<Self> {
        Contents::new(&view.statics, view.rows.clone())
    }

    pub fn draft(&self) -> Draft {
        Draft {
            lines: self.lines.clone(),
            currency: self.head.currency.clone(),
            ordered_until: self.head.ordered_until,
        }
    }

    pub fn has_ended(&self, now: Timestamp) -> bool {
        self.head.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether the totals are those of the lines. Carts that are gone are taken apart without them.
    pub fn agrees(&self, now: Timestamp) -> bool {
        let gone = self.head.closed || self.has_ended(now);
        gone || self.head.subtotal == rules::subtotal(&self.lines) && self.head.item_count == rules::pieces(&self.lines)
    }

    pub fn into_cart(self, cart: CartId) -> Cart {
        Cart {
            cart_id: Some(cart),
            subtotal: self.head.subtotal,
            currency: self.head.currency,
            item_count: self.head.item_count,
            expires_at: self.head.expires_at,
            updated_at: self.head.updated_at,
            lines: self.lines,
        }
    }
}

/// The cart's partition, in one read.
///
/// RACE: DynamoDB reads the rows of a partition one after the other while they are being written, and its static columns
/// beside them. Totals that are not those of the lines tell, and the read is made again.
pub(super) async fn read(ctx: &Context, cart: CartId) -> Result<Contents> {
    let mut tries = 0;
    loop {
        let page = ctx.store.slice::<CartLine>(cart).limit(limits::LINES_A_CART_MAX).page().await?;
        let mut found = Contents::new(&page.statics, page.rows)?;
        if found.agrees(ctx.now()) {
            return Ok(found);
        }
        tries += 1;
        if tries >= READS {
            // The lines are what the shopper chose; totals that drifted from them are not shown.
            tracing::warn!(%cart, "the totals of the cart are not those of its lines");
            (found.head.subtotal, found.head.item_count) = (rules::subtotal(&found.lines), rules::pieces(&found.lines));
            return Ok(found);
        }
        tokio::time::sleep(std::time::Duration::from_millis(2 << tries)).await;
    }
}

/// The cart's partition, with every commit that was acknowledged.
pub(super) async fn read_settled(ctx: &Context, cart: CartId) -> Result<Contents> {
    ctx.store.guarded::<CartLine, _, Error>(cart, |view| Ok((Commit::new(), Contents::of(view)?))).await
}

/// When a cart ends that is changed now.
pub(super) fn end_of(ctx: &Context, owner: Option<UserId>) -> Option<Timestamp> {
    let carts = &ctx.settings.carts;
    let days = if owner.is_some() { carts.saved_cart_days } else { Some(carts.guest_cart_days) };
    days.map(|days| ctx.now().plus_seconds(i64::from(days.max(1)) * DAY_SECONDS))
}

/// The commit that makes of the cart what the draft and the head say; the totals follow from the draft.
pub(super) fn rewrite(ctx: &Context, cart: CartId, before: &Contents, draft: &Draft, head: Head) -> Commit {
    let head = Head {
        subtotal: draft.subtotal(),
        currency: draft.currency.clone(),
        item_count: draft.pieces(),
        updated_at: Some(change_time(ctx, &before.head)),
        ..head
    };
    let (deletes, puts) = rules::changes(&before.lines, &draft.lines);
    let commit = deletes.into_iter().fold(Commit::new(), |c, (at, line)| c.delete::<CartLine>((cart, at, line)));
    let commit = puts.into_iter().fold(commit, |c, line| c.put(&line.row(cart)));
    set_head(ctx, cart, &before.head, &head, commit)
}

/// Static columns alone, and the day of the cart's end where it is a new one.
pub(super) fn set_head(ctx: &Context, cart: CartId, before: &Head, head: &Head, commit: Commit) -> Commit {
    let commit = head.set(before, cart, commit);
    match head.expires_at {
        Some(end) if before.expires_at.map(Timestamp::date) != Some(end.date()) => {
            let row = CartEnd { day: end.date(), cart_id: cart, ends_at: end };
            let seconds =
                (end.millis() - ctx.now().millis()) / 1000 + i64::from(limits::CART_SWEEP_DAYS + 2) * DAY_SECONDS;
            let most = widerow::limits::TTL_SECONDS_MAX;
            commit.put_for(&row, u32::try_from(seconds).unwrap_or(most).clamp(1, most))
        }
        _ => commit,
    }
}

/// Changes the lines of a cart and answers with the cart as it then is; None where it was closed.
///
/// RACE: the decision is made on one version of the partition and made again on the next if another edit was quicker, so
/// that both survive. `decide` may be called several times.
pub(super) async fn edit(
    ctx: &Context,
    owner: Option<UserId>,
    cart: CartId,
    mut listed: bool,
    expected: Option<i64>,
    decide: &mut (impl FnMut(&mut Draft) -> Result<()> + Send),
) -> Result<Option<Cart>> {
    for _ in 0..TRIES {
        let found = ctx
            .store
            .guarded::<CartLine, _, Error>(cart, |view| {
                let before = Contents::of(view)?;
                let access = rules::access(&before.head, owner, listed, ctx.now());
                if access != Access::Granted {
                    return Ok((Commit::new(), Err(access)));
                }
                if expected.is_some_and(|expected| expected != revision(before.head.updated_at)) {
                    return Err(Error::Changed { cart });
                }
                let mut draft = before.draft();
                decide(&mut draft)?;
                if draft == before.draft() && !before.head.copying {
                    return Ok((Commit::new(), Ok(before.into_cart(cart))));
                }
                let expires_at = end_of(ctx, owner);
                let head = Head { user_id: owner, expires_at, copying: false, ..before.head.clone() };
                let commit = rewrite(ctx, cart, &before, &draft, head);
                let after = Cart {
                    cart_id: Some(cart),
                    subtotal: draft.subtotal(),
                    item_count: draft.pieces(),
                    currency: draft.currency,
                    lines: draft.lines,
                    expires_at,
                    updated_at: Some(change_time(ctx, &before.head)),
                };
                Ok((commit, Ok(after)))
            })
            .await?;
        match found {
            Ok(after) => return Ok(Some(after)),
            Err(Access::Closed) => return Ok(None),
            Err(Access::Refused) => return Err(Error::CartNotFound { cart }),
            Err(Access::Ended) => {
                purge(ctx, cart).await?;
            }
            Err(Access::IfListed | Access::Granted) => {
                // RACE: a cart that is deleted after this look is closed before it leaves the list, and stays so for a
                // day: the write finds it closed.
                list::require(ctx, owner, cart).await?;
                listed = true;
            }
        }
    }
    Err(contended())
}

/// The ground moved too often.
pub(super) fn contended() -> Error {
    Error::Data(widerow::Error::Contended { table: "items_by_cart".into(), tries: TRIES })
}

/// Deletes all that is left of a cart whose time is over; whether it was.
///
/// A reader sees no lines all the while. RACE: an edit that comes in between finds the cart ended too, and goes the same
/// way before it writes its first line; what it wrote has a new end, which is looked at before each piece is deleted.
pub(super) async fn purge(ctx: &Context, cart: CartId) -> Result<bool> {
    loop {
        let more = ctx
            .store
            .guarded::<CartLine, _, Error>(cart, |view| {
                let found = Contents::of(view)?;
                if found.head.copying || !found.has_ended(ctx.now()) {
                    return Ok((Commit::new(), None));
                }
                let rows: Vec<&Line> = found.lines.iter().chain(&found.ordered).collect();
                Ok(match rows.get(..ROWS_AT_ONCE) {
                    Some(some) if rows.len() > ROWS_AT_ONCE => (delete_rows(cart, some), Some(true)),
                    _ => (Commit::new().delete_partition::<CartLine>(cart), Some(false)),
                })
            })
            .await?;
        match more {
            Some(true) => {}
            Some(false) => return Ok(true),
            None => return Ok(false),
        }
    }
}

/// Deletes the lines of a closed cart, which nobody sees; that it is closed stays known until it ends.
pub(super) async fn empty_closed(ctx: &Context, cart: CartId) -> Result<()> {
    loop {
        let left = ctx
            .store
            .guarded::<CartLine, _, Error>(cart, |view| {
                let found = Contents::of(view)?;
                let rows: Vec<&Line> = found.lines.iter().chain(&found.ordered).collect();
                let some = rows.len().min(if found.head.closed { ROWS_AT_ONCE } else { 0 });
                Ok((delete_rows(cart, &rows[..some]), some))
            })
            .await?;
        if left < ROWS_AT_ONCE {
            return Ok(());
        }
    }
}

pub(super) fn delete_rows(cart: CartId, lines: &[&Line]) -> Commit {
    lines.iter().fold(Commit::new(), |c, line| c.delete::<CartLine>((cart, line.added_at, line.line_id)))
}

/// Closes a cart, if the condition holds for it: from here on it has no lines and takes none. Its first lines go at once.
/// A day later, when no write that began before can still be under way, the sweep takes the rest.
pub(super) async fn close(
    ctx: &Context,
    owner: UserId,
    cart: CartId,
    expected: Option<i64>,
    condition: impl Fn(&Head) -> bool + Send,
) -> Result<()> {
    ctx.store
        .guarded::<CartLine, _, Error>(cart, |view| {
            let before = Contents::of(view)?;
            if before.head.closed || !condition(&before.head) {
                return Ok((Commit::new(), ()));
            }
            if expected.is_some_and(|expected| expected != revision(before.head.updated_at)) {
                return Err(Error::Changed { cart });
            }
            let mut draft = before.draft();
            draft.drop_first(ROWS_AT_ONCE);
            let expires_at = Some(ctx.now().plus_seconds(DAY_SECONDS));
            let head = Head { user_id: Some(owner), closed: true, copying: false, expires_at, ..before.head.clone() };
            Ok((rewrite(ctx, cart, &before, &draft, head), ()))
        })
        .await
}
