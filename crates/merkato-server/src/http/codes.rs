//! Every code that an error can have, with its status and what it means. Programs rely on codes; they do not change.

use http::StatusCode;

#[derive(Clone, Copy, Debug)]
pub struct Code {
    pub code: &'static str,
    pub status: StatusCode,
    pub title: &'static str,
}

const fn code(code: &'static str, status: StatusCode, title: &'static str) -> Code {
    Code { code, status, title }
}

const BAD: StatusCode = StatusCode::BAD_REQUEST;
const UNAUTHENTICATED: StatusCode = StatusCode::UNAUTHORIZED;
const FORBIDDEN: StatusCode = StatusCode::FORBIDDEN;
const NOT_FOUND: StatusCode = StatusCode::NOT_FOUND;
const CONFLICT: StatusCode = StatusCode::CONFLICT;
const REFUSED: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
const TOO_OFTEN: StatusCode = StatusCode::TOO_MANY_REQUESTS;
const LATER: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
const BROKEN: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;

/// In the order of their names.
pub const CODES: &[Code] = &[
    code("account_suspended", FORBIDDEN, "The account is suspended."),
    code("address_not_found", NOT_FOUND, "There is no such address."),
    code("amount_too_large", REFUSED, "An amount is over the limit."),
    code("bad_cursor", BAD, "The cursor is not one of this list. Begin without one."),
    code("bad_form", BAD, "The form makes no sense; the detail says where."),
    code("bad_header", BAD, "A header makes no sense."),
    code("bad_json", BAD, "The body is not JSON; the detail says where it ceases to be."),
    code("bad_path", BAD, "A part of the path is not what is wanted there."),
    code("bad_query", BAD, "The query is not what is wanted."),
    code("before_time", BAD, "The time is before 1970."),
    code("body_timeout", StatusCode::REQUEST_TIMEOUT, "The body did not come in time."),
    code("body_too_large", StatusCode::PAYLOAD_TOO_LARGE, "The body is over the limit."),
    code("busy", LATER, "Too much is going on. Try again later."),
    code("cart_changed", CONFLICT, "The cart was changed while it was checked out."),
    code("cart_empty", CONFLICT, "The cart is empty."),
    code("cart_not_found", NOT_FOUND, "There is no such cart."),
    code("category_cycle", CONFLICT, "A category does not stand below itself, nor below what stands below it."),
    code("category_exists", CONFLICT, "There is a category with this id already."),
    code("category_name_taken", CONFLICT, "Another category in the same place has the name."),
    code("category_not_found", NOT_FOUND, "There is no such category."),
    code("category_too_deep", REFUSED, "Categories are not nested so deep."),
    code("changed_meanwhile", CONFLICT, "It was changed meanwhile. Read it again and decide again."),
    code("checkout_not_found", NOT_FOUND, "There is no such checkout."),
    code("conflict", CONFLICT, "Someone else was quicker. Read again and decide again."),
    code("csrf", FORBIDDEN, "The request does not come from this site's own pages."),
    code("day_is_busy", LATER, "The sales of the day change while they are looked at. Try again later."),
    code("discount_disabled", CONFLICT, "The discount code is not in use."),
    code("discount_exists", CONFLICT, "There is a discount with this code already."),
    code("discount_given_back", CONFLICT, "The use of the discount was given back."),
    code("discount_minimum", CONFLICT, "The order is too small for the discount."),
    code("discount_not_found", NOT_FOUND, "There is no such discount code."),
    code("discount_not_yet", CONFLICT, "The discount has not begun."),
    code("discount_over", CONFLICT, "The discount has ended."),
    code("discount_refused", CONFLICT, "The discount was used up or ended between quote and order."),
    code("discount_used_up", CONFLICT, "The discount is used up."),
    code("edited_meanwhile", CONFLICT, "It was edited meanwhile. Read it again and decide again."),
    code("email_not_verified", FORBIDDEN, "The e-mail address has not been verified."),
    code("email_taken", CONFLICT, "Another one has the e-mail address."),
    code("embedding_not_found", NOT_FOUND, "There is no vector of the product."),
    code("expired", CONFLICT, "The checkout stood still for too long."),
    code("flow_taken", BROKEN, "Something went wrong here. The request id tells us what."),
    code("forbidden", FORBIDDEN, "You may not do this."),
    code("guest_cart_merged", CONFLICT, "The guest's cart has become a part of a user's."),
    code("hold_confirmed", CONFLICT, "The hold was confirmed."),
    code("hold_ended", CONFLICT, "The hold has ended."),
    code("hold_mismatch", CONFLICT, "There is another hold with this id."),
    code("hold_not_confirmed", CONFLICT, "The hold was not confirmed."),
    code("hold_not_found", NOT_FOUND, "There is no such hold."),
    code("hold_released", CONFLICT, "The hold was released."),
    code("hold_returned", CONFLICT, "The units of the hold were given back."),
    code("idempotency_key_in_use", CONFLICT, "A request with this key is still running. Ask again later."),
    code("idempotency_key_required", BAD, "This request needs an Idempotency-Key."),
    code("idempotency_key_reused", REFUSED, "The key was used for another request."),
    code("illegal_transition", CONFLICT, "An order does not go from its status to this one."),
    code("in_future", BAD, "The time is further ahead than clocks may differ."),
    code("in_progress", CONFLICT, "It is being done. Ask again for how it ended."),
    code("insufficient_stock", CONFLICT, "There is not enough of it."),
    code("internal", BROKEN, "Something went wrong here. The request id tells us what."),
    code("invalid", BAD, "The input is wrong; `errors` names each field."),
    code("key_not_found", NOT_FOUND, "There is no such API key."),
    code("line_not_found", NOT_FOUND, "There is no such line in the cart."),
    code("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED, "The method is not among those of `Allow`."),
    code("movement_mismatch", CONFLICT, "There is another movement with this id."),
    code("no_such_metric", NOT_FOUND, "The sensor has no such metric in this time."),
    code("no_such_shard", BROKEN, "Something went wrong here. The request id tells us what."),
    code("node_code_taken", CONFLICT, "Another node of the tree has the code."),
    code("node_cycle", CONFLICT, "A node does not stand below itself, nor below what stands below it."),
    code("node_exists", CONFLICT, "There is another node with this id already."),
    code("node_name_taken", CONFLICT, "Another node in the same place has the name."),
    code("node_not_found", NOT_FOUND, "There is no such node."),
    code("node_path_too_long", REFUSED, "The path of a node would be too long."),
    code("node_too_deep", REFUSED, "Nodes are not nested so deep."),
    code("not_a_leaf", CONFLICT, "Other nodes stand below it. Delete the subtree, or these first."),
    code("not_decimal", REFUSED, "A number has no room in a decimal."),
    code("not_finite", BAD, "A value is not a number that can be reckoned with."),
    code("not_found", NOT_FOUND, "There is nothing here."),
    code("not_logged_in", UNAUTHENTICATED, "It needs a session or an API key, and a good one."),
    code("not_on_sale", CONFLICT, "The product is not on sale."),
    code("order_cancelled", CONFLICT, "The order was cancelled before it was paid."),
    code("order_exists", CONFLICT, "There is an order with this id already."),
    code("order_not_found", NOT_FOUND, "There is no such order."),
    code("order_number_taken", CONFLICT, "Another order has the number."),
    code("other_currency", CONFLICT, "It is in another currency."),
    code("other_dimension", BAD, "The vector has not as many numbers as those it is compared with."),
    code("out_of_order", BAD, "Times are not in their order."),
    code("out_of_stock", CONFLICT, "There is not enough of it."),
    code("parent_not_found", NOT_FOUND, "There is no such node to stand below."),
    code("password", BROKEN, "Something went wrong here. The request id tells us what."),
    code("payment_captured", CONFLICT, "The payment was captured."),
    code("payment_declined", CONFLICT, "The payment was declined."),
    code("payment_mismatch", CONFLICT, "The key was used for another payment."),
    code("payment_no_amount", BAD, "The amount is not more than zero."),
    code("payment_not_found", NOT_FOUND, "There is no such payment."),
    code("payment_over_amount", CONFLICT, "It is more than there is to capture or to give back."),
    code("payment_unavailable", LATER, "The payment provider does not answer. Try again later."),
    code("payment_unknown", LATER, "It is not known what became of the payment. Ask again with the same key."),
    code("payment_voided", CONFLICT, "The payment was voided."),
    code("precondition_failed", StatusCode::PRECONDITION_FAILED, "It is not as `If-Match` says."),
    code("prices_changed", CONFLICT, "Prices have changed since they were put into the cart."),
    code("product_exists", CONFLICT, "There is a product with this id already."),
    code("product_not_found", NOT_FOUND, "There is no such product."),
    code("reply_not_kept", CONFLICT, "The request was done, and its answer was too large to be kept."),
    code("root_is_fixed", CONFLICT, "The root of a tree is neither moved nor renamed nor deleted."),
    code("sale_ended", CONFLICT, "The sale is older than sales are kept."),
    code("sale_not_found", NOT_FOUND, "There is no such sale."),
    code("scope_missing", FORBIDDEN, "The API key has not the scope for this."),
    code("sensor_changed", CONFLICT, "The sensor was changed meanwhile. Read it again and decide again."),
    code("sensor_exists", CONFLICT, "There is another sensor with this id already."),
    code("sensor_not_found", NOT_FOUND, "There is no such sensor."),
    code("sensor_retired", CONFLICT, "The sensor is retired, and its measurements are refused."),
    code("shipping_method_not_found", NOT_FOUND, "There is no such shipping method."),
    code("slug_taken", CONFLICT, "Another one has the slug."),
    code("source_unreadable", BAD, "What is to be imported cannot be read."),
    code("stock_busy", LATER, "Too many want this stock at once. Try again later."),
    code("stock_not_free", CONFLICT, "The units are held for someone."),
    code("stopped", LATER, "It was stopped. Ask again."),
    code("tenant_mismatch", FORBIDDEN, "The API key belongs to another shop than the one named."),
    code("timeout", LATER, "It took too long. It may have happened: ask again with the same Idempotency-Key."),
    code("token_invalid", REFUSED, "The link is not valid, or it has been used or has ended."),
    code("too_large", REFUSED, "It is over a limit, which the detail names."),
    code("too_long_ago", CONFLICT, "It was too long ago."),
    code("too_many", REFUSED, "It is over a limit, which the detail names."),
    code("too_many_addresses", REFUSED, "There are as many addresses as one may keep."),
    code("too_many_attempts", TOO_OFTEN, "Too many attempts. Wait as long as `Retry-After` says."),
    code("too_many_carts", REFUSED, "There are as many carts as one may have."),
    code("too_many_children", REFUSED, "As many nodes stand right below one as may."),
    code("too_many_groups", BAD, "There are more brands than are compared with each other. Ask for a shorter time."),
    code("too_many_keys", REFUSED, "There are as many API keys as a shop may have."),
    code("too_many_lines", REFUSED, "The cart has as many lines as it may have."),
    code("too_many_of_name", REFUSED, "As many products have the name as may."),
    code(
        "too_many_periods",
        BAD,
        "There are more periods than one answer has. Ask for a shorter time or for longer periods.",
    ),
    code("too_many_pieces", REFUSED, "There are more pieces of it than a line may have."),
    code("too_many_requests", TOO_OFTEN, "Too many requests. Wait as long as `Retry-After` says."),
    code("too_many_sales", BAD, "There are more sales than one answer is computed from. Ask for a shorter time."),
    code("too_many_units", REFUSED, "There are more units than can be counted."),
    code("too_many_warehouses", REFUSED, "As many warehouses have the product as may."),
    code("too_much", REFUSED, "It is over what can be counted."),
    code("total_changed", CONFLICT, "The total is another than was expected."),
    code("tree_busy", LATER, "Nodes of the tree are being moved. Try again later."),
    code("tree_is_kept", CONFLICT, "The tree is that of the catalog's categories, and changed there."),
    code("tree_not_found", NOT_FOUND, "There is no such tree."),
    code("unavailable", LATER, "It cannot be done at the moment. Try again later."),
    code("unknown_metric", BAD, "The sensor was not registered with the metric."),
    code("unknown_tenant", NOT_FOUND, "There is no such shop."),
    code("unpaid", CONFLICT, "No payment came in time."),
    code("unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body must be application/json."),
    code("user_not_found", NOT_FOUND, "There is no such user."),
    code("warehouse_not_found", NOT_FOUND, "There is no such warehouse for the product."),
    code("wrong_credentials", UNAUTHENTICATED, "The e-mail address or the password is wrong."),
];

pub fn find(name: &str) -> Option<&'static Code> {
    CODES.binary_search_by(|known| known.code.cmp(name)).ok().map(|i| &CODES[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_in_their_order_and_are_found() {
        assert!(CODES.is_sorted_by(|a, b| a.code < b.code));
        assert!(CODES.iter().all(|known| find(known.code).is_some_and(|found| found.status == known.status)));
    }
}
