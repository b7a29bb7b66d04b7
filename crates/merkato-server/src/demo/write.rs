//! Writes the furniture, each thing once.

use std::{collections::BTreeMap, future::Future};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    Context,
    accounts::{self, NewUser, Profile, Role},
    catalog::{self, Featured, NewProduct},
    flows,
    id::UserId,
    inventory::{self, Note},
    orders::{
        self, NewDiscount, OrderDraft, OrderLine, OrderStatus, Past, PastStep, PaymentStatus, PostalAddress, Purchase,
        Reduction,
    },
};
use rust_decimal::Decimal;

use super::{
    ADMIN, CUSTOMER,
    furniture::{Delivery, Furniture, PastOrder},
};

/// A discount code, which is the last thing that is written: where it is, everything is.
const MARK: &str = "WELCOME10";
const AT_ONCE: usize = 16;

pub async fn is_furnished(ctx: &Context) -> anyhow::Result<bool> {
    Ok(orders::find_discount(ctx, MARK).await?.is_some())
}

/// What was written before, by a start that was interrupted, is left as it is.
pub async fn write(ctx: &Context, furniture: &Furniture) -> anyhow::Result<()> {
    for new in &furniture.categories {
        match catalog::create_category(ctx, new.clone()).await {
            Ok(_) | Err(catalog::Error::CategoryExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    each(furniture.products.iter().map(|new| product(ctx, new))).await?;
    each(furniture.stock.iter().map(|delivery| deliver(ctx, delivery))).await?;
    each(furniture.products.iter().filter_map(|new| new.product_id).map(|product| async move {
        flows::stock::follow_stock(ctx, product).await?;
        Ok(())
    }))
    .await?;
    for (list, places) in &furniture.featured {
        let featured = |(product_id, badge): &(_, Option<&str>)| Featured {
            product_id: *product_id,
            badge: badge.map(str::to_owned),
        };
        catalog::set_featured(ctx, list, &places.iter().map(featured).collect::<Vec<_>>()).await?;
    }
    user(ctx, ADMIN, ("Robin", "Keller"), Role::Admin).await?;
    let customer = user(ctx, CUSTOMER, ("Ada", "Vogel"), Role::Customer).await?;
    each(furniture.orders.iter().map(|past| order(ctx, past, &furniture.products, customer))).await?;
    flows::sales::rank_products(ctx).await?;
    // ORDER: last, as it says that all else is there.
    let mark = NewDiscount {
        code: MARK.into(),
        reduction: Reduction::Percentage(Decimal::TEN),
        currency: None,
        minimal_subtotal: None,
        valid_from: None,
        valid_until: None,
        uses_max: None,
    };
    orders::create_discount(ctx, mark).await?;
    Ok(())
}

async fn each(made: impl Iterator<Item = impl Future<Output = anyhow::Result<()>>>) -> anyhow::Result<()> {
    stream::iter(made.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect().await
}

async fn product(ctx: &Context, new: &NewProduct) -> anyhow::Result<()> {
    match catalog::create_product(ctx, new.clone()).await {
        Ok(_) | Err(catalog::Error::ProductExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn deliver(ctx: &Context, delivery: &Delivery) -> anyhow::Result<()> {
    let note = Note { actor: Some("demo".into()), reason: None };
    let (movement, product) = (delivery.movement, delivery.product);
    inventory::restock(ctx, movement, product, delivery.warehouse, delivery.units, note).await?;
    Ok(())
}

async fn user(
    ctx: &Context,
    (email, password): (&str, &str),
    (first, last): (&str, &str),
    role: Role,
) -> anyhow::Result<UserId> {
    if let Some(known) = accounts::find_by_email(ctx, email).await? {
        return Ok(accounts::set_role(ctx, known.user_id, role).await?.user_id);
    }
    let profile = Profile { first_name: Some(first.into()), last_name: Some(last.into()), ..Profile::default() };
    let new = NewUser { email: email.into(), password: password.into(), profile };
    Ok(crate::cli::create_user(ctx, new, role).await?.user_id)
}

async fn order(ctx: &Context, past: &PastOrder, products: &[NewProduct], customer: UserId) -> anyhow::Result<()> {
    let line = |(position, quantity): &(usize, u32)| {
        let product = products.get(*position)?;
        Some(OrderLine {
            product_id: product.product_id?,
            name: product.name.clone(),
            image: None,
            sku: product.sku.clone(),
            options: BTreeMap::new(),
            unit_price: product.price,
            quantity: *quantity,
            category_id: Some(product.category_id),
        })
    };
    let lines: Vec<OrderLine> = past.lines.iter().filter_map(line).collect();
    let settings = &ctx.settings.orders;
    let prices: Vec<(Decimal, u32)> = lines.iter().map(|line| (line.unit_price, line.quantity)).collect();
    let (currency, shipping) = (&settings.currency, settings.shipping_methods.first());
    let purchase = Purchase { currency, lines: &prices, reduction: None, shipping, country: "DE" };
    let draft = OrderDraft {
        order_id: past.order,
        order_number: past.number.clone(),
        checkout_id: None,
        cart_id: None,
        user_id: past.of_customer.then_some(customer),
        user_email: past.of_customer.then(|| CUSTOMER.0.to_owned()),
        customer_name: Some(past.buyer.into()),
        shipping_address: Some(PostalAddress {
            street: "Marktplatz 1".into(),
            city: past.city.into(),
            postal_code: Some("10115".into()),
            country: "DE".into(),
            ..PostalAddress::default()
        }),
        billing_address: None,
        payment_method: Some("card".into()),
        totals: orders::totals(&purchase, settings)?,
        lines,
        discount_code: None,
        shipping_method: shipping.map(|method| method.name.clone()),
        estimated_delivery: None,
        customer_notes: None,
    };
    orders::insert(ctx, &draft.import(history(past), ctx.now())?).await?;
    flows::sales::count_order(ctx, past.order).await?;
    Ok(())
}

/// The way to where the order stands, some hours for each step.
fn history(past: &PastOrder) -> Past {
    use OrderStatus::{Cancelled, Delivered, Paid, Pending, Processing, Shipped};
    let way: &[(OrderStatus, i64)] = match past.status {
        Cancelled => &[(Pending, 0), (Cancelled, 1_200)],
        Paid => &[(Pending, 0), (Paid, 2)],
        Processing => &[(Pending, 0), (Paid, 2), (Processing, 36_000)],
        Shipped => &[(Pending, 0), (Paid, 2), (Processing, 36_000), (Shipped, 110_000)],
        _ => &[(Pending, 0), (Paid, 2), (Processing, 36_000), (Shipped, 110_000), (Delivered, 250_000)],
    };
    let step = |(status, seconds): &(OrderStatus, i64)| PastStep {
        status: *status,
        at: past.placed_at.plus_seconds(*seconds),
        actor: "demo".into(),
        notes: None,
    };
    Past {
        steps: way.iter().map(step).collect(),
        payment_status: if past.status == Cancelled { PaymentStatus::Voided } else { PaymentStatus::Captured },
        payment_id: None,
        tracking_number: None,
        carrier: None,
        internal_notes: None,
    }
}
