//! The office's pages about prices: what they show, what they say where there is nothing, what they refuse.

use merkato::{
    accounts::Role,
    sales::{self, NewSale},
};
use rust_decimal::Decimal;
use widerow::Date;
use widerow_testing::{Target, cases};

use crate::pages_desk::Clerk;

cases![
    an_office_without_sales_says_how_to_begin,
    prices_are_drawn_and_listed,
    sales_of_long_ago_are_shown_to_who_names_no_days,
    lists_have_pages,
    days_that_are_none_are_told,
    a_price_is_suggested,
    only_the_staff_sees_prices,
    names_are_never_markup_nor_paths,
];

/// So many sales, one a day up to today, of two brands.
async fn sold(clerk: &Clerk, category: &str, count: i32, last: Date) {
    let sale = |n: i32| NewSale {
        product_id: format!("p{}", n % 3),
        sale_id: format!("s{n}"),
        sale_date: Date::from_days(last.days() - n).to_string(),
        sale_price: Decimal::from(20 + n % 7),
        original_price: Some(Decimal::from(40)),
        category: category.into(),
        brand: Some(if n % 2 == 0 { "Nike" } else { "Puma" }.into()),
        ..NewSale::default()
    };
    let ctx = &clerk.world().ctx;
    for answer in sales::put_sales(ctx, (0..count).map(sale).collect()).await.unwrap() {
        answer.unwrap();
    }
}

fn today(clerk: &Clerk) -> Date {
    clerk.world().ctx.now().date()
}

async fn an_office_without_sales_says_how_to_begin(target: &Target) {
    let clerk = Clerk::come(target).await;
    clerk.see("/admin/sales").await.is_a_page("Prices").says("No sales are recorded");
    clerk.see("/admin/sales/categories").await.is_a_page("Categories").says("None yet");
    clerk.see("/admin/sales/brands").await.is_a_page("Brands").says("None yet");
    for path in ["categories/dress", "brands/Nike", "products/p1", "categories/dress/brands"] {
        clerk.see(&format!("/admin/sales/{path}")).await.says("<h2>No sales</h2>");
    }
    clerk
        .see("/admin/sales/suggestion")
        .await
        .is_a_page("Suggest a price")
        .says("<form action=\"/admin/sales/suggestion\"");
}

async fn prices_are_drawn_and_listed(target: &Target) {
    let clerk = Clerk::come(target).await;
    sold(&clerk, "dress", 80, today(&clerk)).await;
    let overview = clerk.see("/admin/sales").await;
    overview.is_a_page("Prices").says("/admin/sales/categories/dress").says("/admin/sales/brands/Puma");
    overview.says(">80<").says("aria-current=\"page\">Prices");
    let category = clerk.see("/admin/sales/categories/dress").await;
    category.is_a_page("Prices of dress").says("The median price of dress").says("class=\"band\"");
    category.says("class=\"column c1\"").says("80 sales between €20.00 and €26.00").says("Season by season");
    category.says("Brands side by side").says("/admin/sales/suggestion?category=dress");
    for by in ["week", "month", "season"] {
        clerk.see(&format!("/admin/sales/categories/dress?by={by}&span=90")).await.is_a_page("Prices of dress");
    }
    let week = clerk.see("/admin/sales/categories/dress?by=week&span=90").await;
    week.says("Prices by week, the last 90 days").says("by=day&amp;span=90".replace("&amp;", "&#38;").as_str());
    clerk.see("/admin/sales/brands/Nike").await.is_a_page("Prices of Nike").says("40 sales between");
    let product = clerk.see("/admin/sales/products/p1").await;
    product.is_a_page("Prices of p1").says("/admin/sales/categories/dress");
    let brands = clerk.see("/admin/sales/categories/dress/brands").await;
    brands.is_a_page("Brands of dress").says("class=\"bar c1\"").says(">50 %<").says("/admin/sales/brands/Puma");
}

async fn sales_of_long_ago_are_shown_to_who_names_no_days(target: &Target) {
    let clerk = Clerk::come(target).await;
    sold(&clerk, "boots", 20, Date::from_days(today(&clerk).days() - 500)).await;
    let boots = clerk.see("/admin/sales/categories/boots").await;
    boots.is_a_page("Prices of boots").says("all the years").says("20 sales");
    clerk.see("/admin/sales/categories/boots?span=365").await.says("<h2>No sales</h2>").says("the last year");
    clerk.see("/admin/sales/categories/boots/brands").await.says("Nike");
}

async fn lists_have_pages(target: &Target) {
    let clerk = Clerk::come(target).await;
    sold(&clerk, "dress", 60, today(&clerk)).await;
    for path in ["categories/dress", "brands/Nike"] {
        let first = clerk.see(&format!("/admin/sales/{path}?by=week")).await;
        let at = first.html.find("rel=\"next\"").unwrap_or_else(|| panic!("{path}: {}", first.html));
        let link = first.html[..at].rsplit("href=\"").next().unwrap().split('"').next().unwrap();
        let link = link.replace("&#38;", "&").replace("&amp;", "&");
        let second = clerk.see(&link).await;
        second.is_a_page("Prices of").says("Page 2").says("rel=\"prev\"");
        assert_ne!(first.html, second.html);
    }
    for n in 0..30 {
        sold(&clerk, &format!("kind {n:02}"), 1, today(&clerk)).await;
    }
    clerk.see("/admin/sales").await.says("All categories");
    clerk.see("/admin/sales/categories").await.says("rel=\"next\"").says("kind%2000");
}

async fn days_that_are_none_are_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    sold(&clerk, "dress", 120, today(&clerk)).await;
    for query in ["by=year", "span=7", "from=2026-02-30", "from=2026-03-01&to=2026-02-01"] {
        clerk.see(&format!("/admin/sales/categories/dress?{query}")).await.is_refused();
    }
    clerk.see("/admin/sales/categories/dress?by=day&span=90").await.is_a_page("Prices of dress");
    let many = clerk.see("/admin/sales/categories/dress?by=day&from=2020-01-01").await;
    many.is_refused().says("120 days, and at most 92 are drawn");
    let far = clerk.see("/admin/sales/categories/dress?by=day&from=1990-01-01&to=2026-01-01").await;
    far.is_refused().says("the limit is 1000");
}

async fn a_price_is_suggested(target: &Target) {
    let clerk = Clerk::come(target).await;
    let none = clerk.see("/admin/sales/suggestion?category=dress&brand=&season=").await;
    none.is_a_page("Suggest a price").says("No suggestion").says("0 comparable sales");
    sold(&clerk, "dress", 80, today(&clerk)).await;
    let told = clerk.see("/admin/sales/suggestion?category=dress&brand=Nike&season=WINTER&on=").await;
    told.is_a_page("Suggest a price").says("<h2 id=\"price\">€").says("Confidence is").says("of the same brand");
    told.says("value=\"Nike\"").says("<option value=\"WINTER\" selected>").says("/admin/sales/products/p");
    clerk.see("/admin/sales/suggestion?category=").await.is_refused();
    clerk.see("/admin/sales/suggestion?category=dress&season=AUTUMN").await.is_refused();
    clerk.see("/admin/sales/suggestion?category=dress&on=soon").await.is_refused();
}

async fn only_the_staff_sees_prices(target: &Target) {
    let clerk = Clerk::come(target).await;
    sold(&clerk, "dress", 5, today(&clerk)).await;
    let customer = clerk.session(Role::Customer).await;
    for path in ["", "/categories", "/categories/dress", "/categories/dress/brands", "/brands", "/suggestion"] {
        let seen = clerk.see_as(&customer, &format!("/admin/sales{path}")).await;
        assert_eq!(seen.status, 403, "{path}");
        let nobody = clerk.see_as("nobody", &format!("/admin/sales{path}")).await;
        assert_eq!((nobody.status, nobody.location.starts_with("/login")), (303, true), "{path}");
    }
}

async fn names_are_never_markup_nor_paths(target: &Target) {
    let clerk = Clerk::come(target).await;
    // What looks like HTML is refused; what does not may still be a sign of it, or of a path.
    let hostile = "5 < 6/../\"'& %2e";
    sold(&clerk, hostile, 10, today(&clerk)).await;
    let overview = clerk.see("/admin/sales").await;
    overview.is_a_page("Prices").does_not_say("5 < 6");
    let at = overview.html.find("/admin/sales/categories/5").expect("a link");
    let link = overview.html[at..].split('"').next().unwrap();
    clerk.see(link).await.is_a_page("Prices of").does_not_say("5 < 6").says("10 sales");
    clerk.see(&format!("{link}/brands")).await.is_a_page("Brands of").does_not_say("5 < 6");
}
