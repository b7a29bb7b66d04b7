//! Discount codes: what they take off, for whom, and how often. The redemptions are rows beside the code, so that the count
//! and the checkout that is counted are one guarded write.

use futures::future::try_join_all;
use rust_decimal::Decimal;
use widerow::{Commit, Partition, Timestamp, store::Statics};

use super::{
    error::{Error, Result},
    tables::{DiscountEntry, Redemption, RedemptionState},
    totals::Reduction,
};
use crate::{
    check::Check, context::Context, id::CheckoutId, limits, money::Currency, pattern::PageRequest, shards::Merged, text,
};

/// A code that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDiscount {
    /// Letters, digits, hyphens and underscores; case does not matter.
    pub code: String,
    pub reduction: Reduction,
    /// Of an amount, and of the minimal subtotal.
    pub currency: Option<Currency>,
    pub minimal_subtotal: Option<Decimal>,
    pub valid_from: Option<Timestamp>,
    /// From here on it is over.
    pub valid_until: Option<Timestamp>,
    pub uses_max: Option<i64>,
}

/// A code as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discount {
    /// Folded.
    pub code: String,
    pub reduction: Reduction,
    pub currency: Option<Currency>,
    pub minimal_subtotal: Option<Decimal>,
    pub valid_from: Option<Timestamp>,
    pub valid_until: Option<Timestamp>,
    pub uses_max: Option<i64>,
    pub uses: i64,
    pub disabled: bool,
    pub created_at: Timestamp,
}

impl NewDiscount {
    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check_code(&mut check, &fold(&self.code));
        let currency = self.currency.as_ref();
        if let Some(currency) = currency {
            check.currency("currency", currency);
        }
        match self.reduction {
            Reduction::Amount(amount) => {
                check.that(amount > Decimal::ZERO, "amount", "it is not more than zero");
                check.that(currency.is_some(), "currency", "an amount is in a currency");
                currency.into_iter().for_each(|currency| check.price("amount", amount, currency));
            }
            Reduction::Percentage(percentage) => {
                let good = percentage > Decimal::ZERO && percentage <= Decimal::ONE_HUNDRED;
                check.that(good, "percentage", "it is not more than 0 and at most 100");
                let decimals = percentage.normalize().scale();
                let most = limits::RATE_DECIMALS_MAX;
                check.that(decimals <= most, "percentage", format!("it has more than {most} decimals"));
            }
        }
        if let Some(least) = self.minimal_subtotal {
            check.that(currency.is_some(), "currency", "a minimal subtotal is in a currency");
            currency.into_iter().for_each(|currency| check.price("minimal_subtotal", least, currency));
        }
        for (field, time) in [("valid_from", self.valid_from), ("valid_until", self.valid_until)] {
            check.that(time.is_none_or(Timestamp::in_range), field, "no such time");
        }
        if let (Some(from), Some(until)) = (self.valid_from, self.valid_until) {
            check.that(from < until, "valid_until", "it is over before it begins");
        }
        let uses = 1..=limits::DISCOUNT_USES_MAX;
        check.that(
            self.uses_max.is_none_or(|most| uses.contains(&most)),
            "uses_max",
            format!("not 1 to {}", uses.end()),
        );
        Ok(check.end()?)
    }
}

impl Discount {
    fn of(code: &str, statics: &Statics<Redemption>) -> widerow::Result<Option<Self>> {
        let Some(created_at) = statics.get(Redemption::CREATED_AT)?.flatten() else { return Ok(None) };
        let amount = statics.get(Redemption::AMOUNT)?.flatten().map(Reduction::Amount);
        let percentage = statics.get(Redemption::PERCENTAGE)?.flatten().map(Reduction::Percentage);
        let nothing = || widerow::Error::corrupt("discounts", format!("{code} takes nothing off"));
        Ok(Some(Discount {
            code: code.to_owned(),
            reduction: amount.or(percentage).ok_or_else(nothing)?,
            currency: statics.get(Redemption::CURRENCY)?.flatten(),
            minimal_subtotal: statics.get(Redemption::MINIMAL_SUBTOTAL)?.flatten(),
            valid_from: statics.get(Redemption::VALID_FROM)?.flatten(),
            valid_until: statics.get(Redemption::VALID_UNTIL)?.flatten(),
            uses_max: statics.get(Redemption::USES_MAX)?.flatten(),
            uses: statics.get(Redemption::USES)?.flatten().unwrap_or_default(),
            disabled: statics.get(Redemption::DISABLED)?.flatten().unwrap_or_default(),
            created_at,
        }))
    }

    /// Whether one more may redeem it now.
    pub fn usable(&self, now: Timestamp) -> Result<()> {
        let code = self.code.clone();
        if self.disabled {
            return Err(Error::DiscountDisabled { code });
        }
        if let Some(from) = self.valid_from.filter(|from| now < *from) {
            return Err(Error::DiscountNotYet { code, from });
        }
        if let Some(until) = self.valid_until.filter(|until| now >= *until) {
            return Err(Error::DiscountOver { code, until });
        }
        match self.uses_max {
            Some(limit) if self.uses >= limit => Err(Error::DiscountUsedUp { code, limit }),
            _ => Ok(()),
        }
    }

    /// What it takes off a subtotal, if it is for such a one.
    pub fn reduction(&self, subtotal: Decimal, currency: &Currency) -> Result<Reduction> {
        if let Some(wanted) = self.currency.as_ref().filter(|wanted| *wanted != currency) {
            return Err(Error::OtherCurrency { wanted: wanted.clone(), found: currency.clone() });
        }
        match self.minimal_subtotal {
            Some(minimum) if subtotal < minimum => Err(Error::DiscountMinimum { code: self.code.clone(), minimum }),
            _ => Ok(self.reduction),
        }
    }
}

fn fold(code: &str) -> String {
    text::fold(code.trim())
}

fn check_code(check: &mut Check, code: &str) {
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    check.line("code", code, 1..=limits::DISCOUNT_CODE_BYTES_MAX);
    check.that(code.bytes().all(good), "code", "only letters, digits, hyphens and underscores");
}

/// The form in which a code is kept.
fn folded(code: &str) -> Result<String> {
    let mut check = Check::new();
    let code = fold(code);
    check_code(&mut check, &code);
    check.end()?;
    Ok(code)
}

/// Makes a code that is not there yet.
pub async fn create_discount(ctx: &Context, new: NewDiscount) -> Result<Discount> {
    new.check()?;
    let code = fold(&new.code);
    let (amount, percentage) = match new.reduction {
        Reduction::Amount(amount) => (Some(amount), None),
        Reduction::Percentage(percentage) => (None, Some(percentage)),
    };
    let discount = Discount {
        code: code.clone(),
        reduction: new.reduction,
        currency: new.currency,
        minimal_subtotal: new.minimal_subtotal,
        valid_from: new.valid_from,
        valid_until: new.valid_until,
        uses_max: new.uses_max,
        uses: 0,
        disabled: false,
        created_at: ctx.now(),
    };
    decide(ctx, &code, None, |found, _| {
        if found.is_some() {
            return Err(Error::DiscountExists { code: code.clone() });
        }
        let commit = Commit::new()
            .set_static(code.clone(), Redemption::AMOUNT, &amount)
            .set_static(code.clone(), Redemption::PERCENTAGE, &percentage)
            .set_static(code.clone(), Redemption::CURRENCY, &discount.currency)
            .set_static(code.clone(), Redemption::MINIMAL_SUBTOTAL, &discount.minimal_subtotal)
            .set_static(code.clone(), Redemption::VALID_FROM, &discount.valid_from)
            .set_static(code.clone(), Redemption::VALID_UNTIL, &discount.valid_until)
            .set_static(code.clone(), Redemption::USES_MAX, &discount.uses_max)
            .set_static(code.clone(), Redemption::USES, &Some(0))
            .set_static(code.clone(), Redemption::DISABLED, &Some(false))
            .set_static(code.clone(), Redemption::CREATED_AT, &Some(discount.created_at))
            .put(&DiscountEntry { shelf: DiscountEntry::ALL, created_at: discount.created_at, code: code.clone() });
        Ok((commit, discount.clone()))
    })
    .await
}

pub async fn find_discount(ctx: &Context, code: &str) -> Result<Option<Discount>> {
    let code = folded(code)?;
    let page = ctx.store.slice::<Redemption>(code.clone()).limit(1).page().await?;
    Ok(Discount::of(&code, &page.statics)?)
}

pub async fn get_discount(ctx: &Context, code: &str) -> Result<Discount> {
    find_discount(ctx, code).await?.ok_or_else(|| Error::DiscountNotFound { code: fold(code) })
}

/// The codes, newest first, as they are now.
pub async fn list_discounts(ctx: &Context, page: PageRequest) -> Result<Merged<Discount>> {
    page.check()?;
    let slice = ctx.store.slice::<DiscountEntry>(DiscountEntry::ALL);
    let listed = slice.limit(page.limit).after(page.cursor).page().await?;
    let found = try_join_all(listed.rows.iter().map(|entry| find_discount(ctx, &entry.code))).await?;
    Ok(Merged { rows: found.into_iter().flatten().collect(), next: listed.next })
}

/// Nobody redeems it any more; who has done so keeps it.
pub async fn disable_discount(ctx: &Context, code: &str) -> Result<Discount> {
    let code = folded(code)?;
    decide(ctx, &code, None, |found, _| {
        let discount = found.ok_or_else(|| Error::DiscountNotFound { code: code.clone() })?;
        let commit = match discount.disabled {
            true => Commit::new(),
            false => Commit::new().set_static(code.clone(), Redemption::DISABLED, &Some(true)),
        };
        Ok((commit, Discount { disabled: true, ..discount }))
    })
    .await
}

/// Counts one use for the checkout, once, however often it is asked.
///
/// RACE: two checkouts and one use that is left. The count stands in the partition that both write.
pub async fn redeem(ctx: &Context, code: &str, checkout: CheckoutId) -> Result<Discount> {
    let code = folded(code)?;
    decide(ctx, &code, Some(checkout), |found, redemption| {
        let discount = found.ok_or_else(|| Error::DiscountNotFound { code: code.clone() })?;
        match redemption {
            Some(RedemptionState::Redeemed) => return Ok((Commit::new(), discount)),
            Some(RedemptionState::GivenBack) => return Err(Error::DiscountGivenBack { code: code.clone() }),
            None => discount.usable(ctx.now())?,
        }
        let uses = discount.uses + 1;
        let row = redemption_row(&code, checkout, RedemptionState::Redeemed, ctx.now());
        let commit = Commit::new().put(&row).set_static(code.clone(), Redemption::USES, &Some(uses));
        Ok((commit, Discount { uses, ..discount }))
    })
    .await
}

/// Gives the checkout's use back, once. A code that is not there has nothing to give back.
///
/// RACE: the checkout's own redemption may still be on its way; the row that is left refuses it when it comes.
pub async fn unredeem(ctx: &Context, code: &str, checkout: CheckoutId) -> Result<()> {
    let code = folded(code)?;
    decide(ctx, &code, Some(checkout), |found, redemption| {
        let Some(discount) = found.filter(|_| redemption != Some(RedemptionState::GivenBack)) else {
            return Ok((Commit::new(), ()));
        };
        let row = redemption_row(&code, checkout, RedemptionState::GivenBack, ctx.now());
        let commit = Commit::new().put(&row);
        let commit = match redemption {
            Some(_) => commit.set_static(code.clone(), Redemption::USES, &Some((discount.uses - 1).max(0))),
            None => commit,
        };
        Ok((commit, ()))
    })
    .await
}

/// Decides on the code and on one checkout's redemption; other redemptions are not read.
async fn decide<T>(
    ctx: &Context,
    code: &str,
    checkout: Option<CheckoutId>,
    mut decide: impl FnMut(Option<Discount>, Option<RedemptionState>) -> Result<(Commit, T)>,
) -> Result<T> {
    // No checkout has the nil id.
    let prefix = checkout.unwrap_or(CheckoutId(uuid::Uuid::nil()));
    ctx.store
        .guarded_prefix::<Redemption, _, Error>(code.to_owned(), prefix, |view: &Partition<Redemption>| {
            decide(Discount::of(code, &view.statics)?, view.rows.first().map(|row| row.state))
        })
        .await
}

fn redemption_row(code: &str, checkout_id: CheckoutId, state: RedemptionState, now: Timestamp) -> Redemption {
    Redemption {
        code: code.to_owned(),
        checkout_id,
        amount: None,
        currency: None,
        percentage: None,
        minimal_subtotal: None,
        valid_from: None,
        valid_until: None,
        uses_max: None,
        uses: None,
        disabled: None,
        created_at: None,
        state,
        changed_at: now,
    }
}
