//! Orders of the past, each counted in the sales of its day.

use merkato::{
    flows,
    id::UserId,
    orders::{self, OrderDraft, OrderLine, OrderStatus, Past, PaymentStatus, PostalAddress, Purchase, Reduction},
};
use rust_decimal::Decimal;

use super::{MARK, Writing, people::adas_home};
use crate::demo::{
    CUSTOMER, DAY_SECONDS,
    furniture::{self, Buyer, Customer, Home, PastLine, PastOrder},
    people,
};

impl Writing {
    pub(super) async fn order(&self, n: usize) -> anyhow::Result<usize> {
        let past = &self.made.orders[n];
        let draft = self.draft(past)?;
        orders::insert(&self.ctx, &draft.import(history(past), self.ctx.now())?).await?;
        flows::sales::count_order(&self.ctx, past.order).await?;
        Ok(1)
    }

    fn draft(&self, past: &PastOrder) -> anyhow::Result<OrderDraft> {
        let lines: Vec<OrderLine> = past.lines.iter().map(|line| self.line(line)).collect();
        let settings = &self.ctx.settings.orders;
        let prices: Vec<(Decimal, u32)> = lines.iter().map(|line| (line.unit_price, line.quantity)).collect();
        let shipping = settings.shipping_methods.get(past.shipping).or(settings.shipping_methods.first());
        let (user_id, user_email, customer_name, home) = self.buyer(past.buyer);
        let reduction = past.discounted.then_some(Reduction::Percentage(Decimal::TEN));
        let purchase =
            Purchase { currency: &settings.currency, lines: &prices, reduction, shipping, country: home.country };
        let days = shipping.map_or(0, |method| i64::from(method.days));
        Ok(OrderDraft {
            order_id: past.order,
            order_number: past.number.clone(),
            checkout_id: None,
            cart_id: None,
            user_id,
            user_email: Some(user_email),
            customer_name: Some(customer_name),
            shipping_address: Some(postal(&home)),
            billing_address: None,
            payment_method: Some("card".into()),
            totals: orders::totals(&purchase, settings)?,
            lines,
            discount_code: past.discounted.then(|| MARK.to_lowercase()),
            shipping_method: shipping.map(|method| method.name.clone()),
            estimated_delivery: Some(past.placed_at().plus_seconds(days * DAY_SECONDS).date()),
            customer_notes: None,
            store_credit: None,
        })
    }

    fn line(&self, line: &PastLine) -> OrderLine {
        let product = &self.made.products[line.product];
        OrderLine {
            product_id: product.product_id,
            name: product.name.clone(),
            image: product.thumbnail_url.clone(),
            sku: product.sku.clone(),
            options: line.options.clone(),
            unit_price: product.price,
            quantity: line.units,
            category_id: Some(product.category_id),
        }
    }

    fn buyer(&self, buyer: Buyer) -> (Option<UserId>, String, String, Home) {
        match buyer {
            Buyer::Ada => (self.people.ada, CUSTOMER.0.to_owned(), "Ada Vogel".to_owned(), adas_home()),
            Buyer::Customer(n) => {
                let Customer { email, first_name, last_name, home, .. } = &self.made.customers[n];
                (
                    self.people.customers.get(n).copied(),
                    email.clone(),
                    format!("{first_name} {last_name}"),
                    home.clone(),
                )
            }
            Buyer::Guest { name, city, house } => {
                let (first, last) = people::NAMES[name % people::NAMES.len()];
                let email = format!("{}{house}@example.org", first.to_lowercase());
                (None, email, format!("{first} {last}"), furniture::home(city, house))
            }
        }
    }
}

fn postal(home: &Home) -> PostalAddress {
    PostalAddress {
        street: home.street.clone(),
        city: home.city.into(),
        postal_code: Some(home.postal_code.into()),
        country: home.country.into(),
        ..PostalAddress::default()
    }
}

fn history(past: &PastOrder) -> Past {
    use OrderStatus::{Cancelled, Delivered, Pending, Refunded, Shipped};
    let sent = matches!(past.status, Shipped | Delivered | Refunded);
    Past {
        steps: past.steps.clone(),
        payment_status: match past.status {
            Pending => PaymentStatus::Pending,
            Cancelled | Refunded => PaymentStatus::Refunded,
            _ => PaymentStatus::Captured,
        },
        payment_id: None,
        tracking_number: sent.then(|| format!("JD{:010}", past.parcel)),
        carrier: sent.then(|| ["DHL", "DPD", "GLS"][usize::try_from(past.parcel % 3).unwrap_or(0)].to_owned()),
        internal_notes: None,
    }
}
