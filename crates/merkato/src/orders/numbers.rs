//! Order numbers: `ORD-2026-000123`. Unique without a counter that every order waits for.
//!
//! A process takes a block of a year's numbers by one guarded write and gives them out from memory. What is left of a block
//! when the process ends, or the year, is lost: numbers have gaps and rise in each process, not over all of them. A year that
//! comes beyond 999,999 has longer numbers.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use widerow::Commit;

use super::{
    error::{Error, Result},
    tables::{NumberBlocks, NumberedOrder},
};
use crate::{context::Context, limits};

/// No shop counts as far; a number beyond is none of the count.
const NUMBERS_A_YEAR_MAX: i64 = 1_000_000_000_000;

/// The numbers that this process has taken, by tenant.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    blocks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Block>>>>,
}

#[derive(Debug, Default)]
struct Block {
    year: i32,
    free: VecDeque<i64>,
}

impl Numbers {
    fn of(&self, tenant: &str) -> Arc<tokio::sync::Mutex<Block>> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.entry(tenant.to_owned()).or_default().clone()
    }
}

/// A number that no other order has, of this year.
pub async fn take_number(ctx: &Context) -> Result<String> {
    let date = ctx.now().date();
    let year = date.civil().map_or(0, |date| i32::from(date.year()));
    let block = ctx.numbers.of(ctx.store.tenant().as_str());
    // Whoever comes while a block is being taken waits for that block.
    let mut block = block.lock().await;
    let mut size = i64::from(ctx.settings.orders.number_block.clamp(1, limits::NUMBER_BLOCK_MAX));
    loop {
        if block.year == year
            && let Some(number) = block.free.pop_front()
        {
            return Ok(format(&ctx.settings.orders.number_prefix, year, number));
        }
        let free = take_block(ctx, year, size).await?;
        *block = Block { year, free };
        // Where all of them were taken, many may be.
        size = (2 * size).min(limits::NUMBER_BLOCK_MAX.into());
    }
}

/// The next block of a year: the numbers in it that no order has. An order that came in while the shop had another prefix may have
/// one of them.
///
/// RACE: a write whose outcome is unknown may have taken the block; then nobody has it, and its numbers are a gap.
async fn take_block(ctx: &Context, year: i32, size: i64) -> Result<VecDeque<i64>> {
    let (first, end) = ctx
        .store
        .guarded::<NumberBlocks, _, Error>(year, |found| {
            let mut row = found.rows.first().cloned().unwrap_or_else(|| none_taken(year));
            let (first, end) = (row.next, row.next + size);
            row.next = end;
            // A block right behind another is one with it, so that there are as many as there are jumps.
            match row.blocks.iter_mut().next_back() {
                Some((_, last_end)) if *last_end == first => *last_end = end,
                _ => {
                    row.blocks.insert(first, end);
                }
            }
            Ok((Commit::new().put(&row), (first, end)))
        })
        .await?;
    // ORDER: after the block is taken, from which on nobody brings in a number that is in it.
    let mut free = VecDeque::new();
    let numbers: Vec<i64> = (first..end).collect();
    for some in numbers.chunks(widerow::limits::GET_KEYS_MAX) {
        let texts = some.iter().map(|number| format(&ctx.settings.orders.number_prefix, year, *number));
        let known = ctx.store.get_many::<NumberedOrder>(texts).await?;
        free.extend(some.iter().zip(known).filter(|(_, known)| known.is_none()).map(|(number, _)| *number));
    }
    Ok(free)
}

/// Sees to it that no block will have this number, if it has the form of the shop's own; refuses one that a block has.
///
/// ORDER: before the order is written that is imported under the number.
pub(super) async fn keep_from_blocks(ctx: &Context, number: &str) -> Result<()> {
    let Some((year, n)) = parse(&ctx.settings.orders.number_prefix, number) else { return Ok(()) };
    ctx.store
        .guarded::<NumberBlocks, _, Error>(year, |found| {
            let mut row = found.rows.first().cloned().unwrap_or_else(|| none_taken(year));
            if row.blocks.range(..=n).next_back().is_some_and(|(_, end)| n < *end) {
                return Err(Error::NumberTaken { number: number.to_owned() });
            }
            if n < row.next {
                return Ok((Commit::new(), ()));
            }
            row.next = n + 1;
            Ok((Commit::new().put(&row), ()))
        })
        .await
}

fn none_taken(year: i32) -> NumberBlocks {
    NumberBlocks { year, next: 1, blocks: Default::default() }
}

pub(super) fn format(prefix: &str, year: i32, number: i64) -> String {
    format!("{prefix}-{year:04}-{number:06}")
}

/// Year and number, if the text is what `format` makes of them.
pub(super) fn parse(prefix: &str, text: &str) -> Option<(i32, i64)> {
    let (year, number) = text.strip_prefix(prefix)?.strip_prefix('-')?.split_once('-')?;
    let (year, number) = (year.parse().ok()?, number.parse().ok()?);
    let is_one = (0..=9999).contains(&year) && (1..NUMBERS_A_YEAR_MAX).contains(&number);
    (is_one && format(prefix, year, number) == text).then_some((year, number))
}
