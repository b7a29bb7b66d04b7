//! A guest's cart merged into a user's, at login.
//!
//! The guest's cart is closed first, and remembers where its lines go and by which policy. They are taken in by the order
//! of their rows, some in each commit; the same commit tells on the user's cart which merge it is (`merge_id`) and how many
//! lines were taken in (`merge_done`). Then they are deleted. A user's cart takes in one guest's cart at a time: who comes
//! second finishes what the first has begun, and then begins.
//!
//! RACE: a merge that slept through its own end, done by another, must not begin again. The mark of the user's cart moves on
//! to another merge only when the guest's cart of this one has no lines left. So who begins reads the mark, then the guest's
//! lines, and commits if the mark is still the same: if the merge was over by then, the lines were gone when they were read;
//! if it was begun since, the mark has moved. A mark never comes back, because every merge has an id of its own.

use widerow::Commit;

use super::{
    cart::{self, Contents, TRIES, contended, rewrite, set_head},
    list,
};
use crate::{
    carts::{
        error::{Error, Result},
        rules::{self, Access, DropReason, Outcome},
        shopper::GuestToken,
        tables::{CartLine, Head, Line, MergePolicy},
    },
    context::Context,
    id::{CartId, LineId, UserId},
    limits,
};

/// What became of a guest's lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// The user's cart that they went into; None where there was nothing to merge.
    pub cart_id: Option<CartId>,
    pub added: Vec<LineId>,
    /// Lines that both had, and that are not as the user's was.
    pub changed: Vec<LineId>,
    /// Lines that both had, and that are as the user's was.
    pub kept: Vec<LineId>,
    pub dropped: Vec<Dropped>,
    /// Lines that were dealt with before, by a merge that was stopped, and reported to nobody.
    pub earlier: u32,
}

/// A guest's line that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub line: Line,
    pub reason: DropReason,
}

/// Takes the guest's lines into the user's active cart and closes the guest's. A merge that was stopped goes on where it
/// stopped, into the cart and by the policy that it began with; one that is over has nothing to do.
///
/// From the first commit on the guest's token shows no lines; until the last one the user's cart shows some of them.
pub async fn merge_guest_cart(
    ctx: &Context,
    user: UserId,
    guest: &GuestToken,
    policy: MergePolicy,
) -> Result<MergeReport> {
    let source = guest.cart_id();
    let mut report = MergeReport::default();
    let found = cart::read(ctx, source).await?;
    if found.lines.is_empty() || found.has_ended(ctx.now()) {
        return Ok(report);
    }
    if !found.head.closed {
        let target = list::ensure_active(ctx, user).await?.cart_id;
        close_for(ctx, user, source, target, policy).await?;
    }
    take_all(ctx, user, source, &mut report).await?;
    Ok(report)
}

/// Whether the lines of a guest's cart are still to be taken in by this user.
fn is_pending(found: &Contents, ctx: &Context, user: UserId) -> bool {
    let head = &found.head;
    head.closed && head.user_id == Some(user) && !found.lines.is_empty() && !found.has_ended(ctx.now())
}

/// Closes the guest's cart, if it is open and has lines: from here on it changes no more.
async fn close_for(ctx: &Context, user: UserId, source: CartId, target: CartId, policy: MergePolicy) -> Result<()> {
    let merge = ctx.new_id();
    ctx.store
        .guarded::<CartLine, _, Error>(source, |view| {
            let found = Contents::of(view)?;
            let head = &found.head;
            if head.closed || head.user_id.is_some() || found.lines.is_empty() || found.has_ended(ctx.now()) {
                return Ok((Commit::new(), ()));
            }
            let closed = Head {
                closed: true,
                user_id: Some(user),
                merge_id: Some(merge),
                merge_target: Some(target),
                merge_policy: Some(policy),
                ..head.clone()
            };
            Ok((set_head(ctx, source, head, &closed, Commit::new()), ()))
        })
        .await
}

/// Takes in what is left of a closed guest's cart, whoever began.
async fn take_all(ctx: &Context, user: UserId, source: CartId, report: &mut MergeReport) -> Result<()> {
    let mut seen = 0;
    for _ in 0..TRIES {
        let mut guest = cart::read_settled(ctx, source).await?;
        let target = match guest.head.merge_target {
            Some(target) if is_pending(&guest, ctx, user) => target,
            _ => return Ok(()),
        };
        report.cart_id = Some(target);
        let Some(head) = look(ctx, user, target).await? else {
            // The user deleted it, and with it what had been taken in: all of it goes into the cart that is active now.
            redirect(ctx, user, source, target).await?;
            *report = MergeReport::default();
            seen = 0;
            continue;
        };
        if head.merge_id != guest.head.merge_id {
            // The one who has begun goes first. A cart that was closed anew since then is another merge, and this one is over.
            if let Some(other) = head.merge_source {
                let begun = cart::read_settled(ctx, other).await?;
                if begun.head.merge_id == head.merge_id && is_pending(&begun, ctx, user) {
                    Box::pin(take_all(ctx, user, other, &mut MergeReport::default())).await?;
                    continue;
                }
            }
            // ORDER: behind the look at the user's cart.
            guest = cart::read_settled(ctx, source).await?;
            if !is_pending(&guest, ctx, user) {
                return Ok(());
            }
        }
        loop {
            match take_some(ctx, user, source, &guest, &head).await? {
                Step::Took(from, outcomes) => {
                    report.earlier += count(from.saturating_sub(seen));
                    seen = from + outcomes.len();
                    for (line, outcome) in guest.lines[from..].iter().zip(outcomes) {
                        report.tell(line, outcome);
                    }
                }
                Step::Over(done) => {
                    report.earlier += count(done.saturating_sub(seen));
                    return cart::empty_closed(ctx, source).await;
                }
                Step::Ended => {
                    cart::purge(ctx, target).await?;
                    break;
                }
                Step::Moved => break,
            }
        }
    }
    Err(contended())
}

enum Step {
    /// So many had been taken in before, and these came now.
    Took(usize, Vec<Outcome>),
    /// All of them, so many, have been taken in.
    Over(usize),
    /// The user's cart ended: what was in it is gone, and the merge begins anew.
    Ended,
    /// It cannot begin, or go on, on what was read.
    Moved,
}

/// The next lines, in one commit with the mark behind them.
async fn take_some(ctx: &Context, user: UserId, source: CartId, guest: &Contents, seen: &Head) -> Result<Step> {
    let (Some(target), Some(policy)) = (guest.head.merge_target, guest.head.merge_policy) else {
        return Ok(Step::Moved);
    };
    ctx.store
        .guarded::<CartLine, _, Error>(target, |view| {
            let before = Contents::of(view)?;
            match rules::access(&before.head, Some(user), true, ctx.now()) {
                Access::Granted => {}
                Access::Ended => return Ok((Commit::new(), Step::Ended)),
                _ => return Ok((Commit::new(), Step::Moved)),
            }
            let from = match before.head.merge_id {
                begun if begun == guest.head.merge_id => before.head.merge_done as usize,
                other if other == seen.merge_id => 0,
                _ => return Ok((Commit::new(), Step::Moved)),
            };
            // Lines are deleted when all were taken in, so that fewer than the mark says are none to take.
            let Some(lines) = guest.lines.get(from..).filter(|lines| !lines.is_empty()) else {
                return Ok((Commit::new(), Step::Over(from)));
            };
            let lines = &lines[..lines.len().min(limits::LINES_AT_ONCE_MAX)];
            let mut draft = before.draft();
            let currency = guest.head.currency.as_ref();
            let outcomes: Vec<_> = lines.iter().map(|line| draft.take(line, currency, policy)).collect();
            let head = Head {
                user_id: Some(user),
                expires_at: cart::end_of(ctx, Some(user)),
                copying: false,
                merge_id: guest.head.merge_id,
                merge_source: Some(source),
                merge_done: count(from + lines.len()),
                ..before.head.clone()
            };
            Ok((rewrite(ctx, target, &before, &draft, head), Step::Took(from, outcomes)))
        })
        .await
}

/// What the user's cart says of merges; None where it was deleted.
async fn look(ctx: &Context, user: UserId, target: CartId) -> Result<Option<Head>> {
    let head = cart::read_settled(ctx, target).await?.head;
    let there = match rules::access(&head, Some(user), false, ctx.now()) {
        Access::Granted | Access::Ended => true,
        Access::IfListed => list::is_listed(ctx, user, target).await?,
        Access::Closed | Access::Refused => false,
    };
    Ok(there.then_some(head))
}

/// Another cart in place of one that was deleted.
async fn redirect(ctx: &Context, user: UserId, source: CartId, deleted: CartId) -> Result<()> {
    let active = list::unlist(ctx, user, deleted).await?;
    ctx.store
        .guarded::<CartLine, _, Error>(source, |view| {
            let found = Contents::of(view)?;
            if !is_pending(&found, ctx, user) || found.head.merge_target != Some(deleted) {
                return Ok((Commit::new(), ()));
            }
            let head = Head { merge_target: Some(active.cart_id), ..found.head.clone() };
            Ok((set_head(ctx, source, &found.head, &head, Commit::new()), ()))
        })
        .await
}

/// At most a thousand.
fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

impl MergeReport {
    fn tell(&mut self, line: &Line, outcome: Outcome) {
        match outcome {
            Outcome::Added => self.added.push(line.line_id),
            Outcome::Changed => self.changed.push(line.line_id),
            Outcome::Kept => self.kept.push(line.line_id),
            Outcome::Dropped(reason) => self.dropped.push(Dropped { line: line.clone(), reason }),
        }
    }
}
