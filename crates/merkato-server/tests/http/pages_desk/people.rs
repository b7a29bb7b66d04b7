//! Customers and discount codes before a clerk.

use merkato::{
    accounts::{self, Role, UserStatus},
    orders::{self, Reduction},
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use super::{Clerk, Typed};

cases![
    customers_are_listed_and_found,
    an_account_is_suspended_and_opened_again,
    colleagues_are_an_admin_s,
    codes_are_made_and_found,
    a_refused_code_keeps_what_was_typed,
    a_code_is_taken_out_of_use_after_asking,
];

async fn customers_are_listed_and_found(target: &Target) {
    let clerk = Clerk::come(target).await;
    let (id, email) = clerk.world().user(&clerk.world().ctx, Role::Customer).await;
    clerk.see("/admin/customers").await.says(&email).says(&format!("/admin/customers/{id}"));
    let upper = email.to_uppercase();
    clerk.see(&format!("/admin/customers?email={upper}")).await.leads_to(&format!("/admin/customers/{id}"));
    clerk.see("/admin/customers?email=nobody@example.com").await.says("Nobody has the e-mail address");
    clerk.see("/admin/customers?email=nobody").await.says("is not a whole e-mail address");
    clerk.see(&format!("/admin/customers/{id}")).await.says(&email).says("None yet.").says("Suspend account");
}

async fn an_account_is_suspended_and_opened_again(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let (id, _) = clerk.world().user(ctx, Role::Customer).await;
    let path = format!("/admin/customers/{id}");
    let page = clerk.see(&path).await;
    clerk.send(&page, &format!("{path}/suspend"), &[]).await.leads_to(&format!("{path}?notice=suspended"));
    clerk.see(&path).await.says("Suspended").says("Reinstate account");
    assert_eq!(accounts::get_user(ctx, id).await.expect("a user").status, UserStatus::Suspended);
    clerk.send(&page, &format!("{path}/reinstate"), &[]).await.leads_to(&format!("{path}?notice=reinstated"));
    assert_eq!(accounts::get_user(ctx, id).await.expect("a user").status, UserStatus::Active);
}

async fn colleagues_are_an_admin_s(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let (id, _) = clerk.world().user(ctx, Role::Staff).await;
    let path = format!("/admin/customers/{id}");
    let page = clerk.see("/admin/discounts").await;
    clerk.see(&path).await.says("Only an admin decides about the staff.").does_not_say("Suspend account");
    assert_eq!(clerk.send(&page, &format!("{path}/suspend"), &[]).await.status, 403);
    assert_eq!(accounts::get_user(ctx, id).await.expect("a user").status, UserStatus::Active);
    let admin = clerk.session(Role::Admin).await;
    clerk.see_as(&admin, &path).await.says("Suspend account");
}

async fn codes_are_made_and_found(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let page = clerk.see("/admin/discounts").await;
    let ten = [
        ("code", "SUMMER-10"),
        ("kind", "percentage"),
        ("off", "10"),
        ("valid_from", "2026-06-01"),
        ("valid_until", "2026-08-31"),
    ];
    for _ in 0..2 {
        clerk.send(&page, "/admin/discounts", &ten).await.leads_to("/admin/discounts/summer-10?notice=discount-made");
    }
    let made = orders::get_discount(ctx, "summer-10").await.expect("made");
    assert_eq!(made.reduction, Reduction::Percentage(Decimal::TEN));
    // The last day counts whole.
    assert_eq!(made.valid_until.expect("an end").to_string(), "2026-09-01T00:00:00.000Z");
    let five = [("code", "five"), ("kind", "amount"), ("off", "5.00"), ("minimal_subtotal", "20"), ("uses_max", "3")];
    clerk.send(&page, "/admin/discounts", &five).await.leads_to("/admin/discounts/five?notice=discount-made");
    clerk.see("/admin/discounts").await.says("summer-10").says("€5.00").says("€20.00").says("0 of 3");
    clerk.see("/admin/discounts?code=Five").await.leads_to("/admin/discounts/five");
    clerk.see("/admin/discounts?code=six").await.says("There is no code six.");
    clerk.see("/admin/discounts/five").await.is_a_page("Code five").says("€5.00").says("never");
}

async fn a_refused_code_keeps_what_was_typed(target: &Target) {
    let clerk = Clerk::come(target).await;
    let page = clerk.see("/admin/discounts").await;
    let refusals: [(Typed<'_>, &str); 5] = [
        (&[("code", "not a code"), ("off", "10")], "only letters, digits"),
        (&[("code", "ten"), ("off", "ten")], "write it as 12.50"),
        (&[("code", "ten"), ("off", "110")], "at most 100"),
        (&[("code", "ten"), ("off", "10"), ("uses_max", "0")], "not 1 to"),
        (
            &[("code", "ten"), ("off", "10"), ("valid_from", "2026-03-02"), ("valid_until", "2026-03-01")],
            "it is over before it begins",
        ),
    ];
    for (fields, says) in refusals {
        let refused = clerk.send(&page, "/admin/discounts", fields).await;
        refused.is_refused().says(says);
        for (name, value) in fields {
            refused.says(&format!("name=\"{name}\"")).says(&format!("value=\"{value}\""));
        }
    }
    let first = [("code", "ten"), ("off", "10")];
    clerk.send(&page, "/admin/discounts", &first).await.leads_to("/admin/discounts/ten?notice=discount-made");
    let other = [("code", "TEN"), ("off", "20")];
    clerk.send(&page, "/admin/discounts", &other).await.is_refused().says("there is a discount code ten already");
}

async fn a_code_is_taken_out_of_use_after_asking(target: &Target) {
    let clerk = Clerk::come(target).await;
    let page = clerk.see("/admin/discounts").await;
    clerk.send(&page, "/admin/discounts", &[("code", "ten"), ("off", "10")]).await;
    let page = clerk.see("/admin/discounts/ten").await;
    page.says("<details class=\"ask\">").says("cannot be put in use again");
    let done = clerk.send(&page, "/admin/discounts/ten/disable", &[]).await;
    done.leads_to("/admin/discounts/ten?notice=discount-disabled");
    clerk.see("/admin/discounts/ten").await.says("Out of use").does_not_say("<details");
    let missing = clerk.send(&page, "/admin/discounts/none/disable", &[]).await;
    assert_eq!(missing.status, 404);
    // Who works in the office stays there.
    missing.says("There is nothing here").says("<body class=\"admin\">").does_not_say("Log out");
}
