//! What columns are to orders.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to a line of an order, or to the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderField {
    /// The source's own: lines with one id are one order. Also the order's number, behind the prefix of the options.
    Id,
    /// The source's own id of the product.
    Product,
    Name,
    /// One where there is no such column.
    Quantity,
    /// Of one piece.
    Price,
    /// Of the line; the order's is the sum of its lines'.
    Shipping,
    Currency,
    Category,
    Status,
    CreatedAt,
    PaidAt,
    ShippedAt,
    DeliveredAt,
    CancelledAt,
    EstimatedDelivery,
    CustomerName,
    PaymentMethod,
    /// Kept in the internal notes under its name: who the customer is, and where.
    Note,
    /// It has no home, which is told once.
    Homeless,
    /// It is not wanted.
    LeftOut,
}

impl Fields for OrderField {
    const NAMED: &'static [Named<Self>] = &[
        (
            OrderField::Id,
            "id",
            &["orderid", "invoiceno", "invoice", "invoicenumber", "ordernumber", "orderno", "order"],
        ),
        (
            OrderField::Product,
            "product",
            &["productid", "stockcode", "sku", "itemid", "productcode", "articlenumber", "product"],
        ),
        (OrderField::Name, "name", &["productname", "description", "itemname", "name", "title"]),
        (OrderField::Quantity, "quantity", &["quantity", "qty", "units", "pieces"]),
        (OrderField::Price, "price", &["unitprice", "price", "itemprice"]),
        (OrderField::Shipping, "shipping", &["freightvalue", "shipping", "shippingamount", "freight"]),
        (OrderField::Currency, "currency", &["currency", "currencycode"]),
        (
            OrderField::Category,
            "category",
            &["productcategorynameenglish", "category", "productcategory", "productcategoryname", "categoryname"],
        ),
        (OrderField::Status, "status", &["orderstatus", "status"]),
        (
            OrderField::CreatedAt,
            "created_at",
            &["orderpurchasetimestamp", "createdat", "orderdate", "invoicedate", "orderedat", "date"],
        ),
        (OrderField::PaidAt, "paid_at", &["paidat", "orderapprovedat", "approvedat", "paymentdate"]),
        (OrderField::ShippedAt, "shipped_at", &["shippedat", "orderdeliveredcarrierdate", "shippingdate", "shipdate"]),
        (OrderField::DeliveredAt, "delivered_at", &["deliveredat", "orderdeliveredcustomerdate", "deliverydate"]),
        (OrderField::CancelledAt, "cancelled_at", &["cancelledat", "canceledat"]),
        (
            OrderField::EstimatedDelivery,
            "estimated_delivery",
            &["estimateddelivery", "orderestimateddeliverydate", "estimateddeliverydate"],
        ),
        (OrderField::CustomerName, "customer_name", &["customername", "customer"]),
        (OrderField::PaymentMethod, "payment_method", &["paymentmethod", "paymenttype"]),
        (
            OrderField::Note,
            "note",
            &[
                "customerid",
                "customeruniqueid",
                "country",
                "customercity",
                "customerstate",
                "customerzipcodeprefix",
                "customercountry",
            ],
        ),
    ];
    const ID: Self = OrderField::Id;
    const NEEDED: &'static [Self] = &[OrderField::Id, OrderField::Product, OrderField::Price, OrderField::CreatedAt];
    const HOMELESS: Self = OrderField::Homeless;
    const LEFT_OUT: Self = OrderField::LeftOut;

    fn takes_many(self) -> bool {
        self == OrderField::Note
    }
}
