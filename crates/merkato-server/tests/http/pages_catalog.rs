//! The catalog as pages.

use std::collections::BTreeMap;

use merkato::{
    Currency, analytics,
    catalog::{self, Featured, NewCategory, NewProduct, Product, ProductChange, ProductStatus},
    id::{CategoryId, MovementId},
    inventory::{self, Note},
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use crate::world::World;

cases![
    every_page_is_light_and_has_a_heading,
    what_was_typed_and_named_stays_text,
    a_category_has_orders_and_numbered_pages,
    what_is_not_on_sale_here_is_not_found,
    an_old_address_leads_to_the_new_one,
    the_stock_is_told_in_words,
    a_product_is_bought_with_its_choices,
    a_look_at_a_product_is_counted,
    pictures_come_from_here_or_from_where_the_settings_say,
    a_search_says_what_it_found,
    an_empty_shop_says_so,
    crawlers_find_their_way,
    a_wrong_way_is_a_page_of_the_shop
];

const PAGE_BYTES_MAX: usize = 100 * 1024;

/// A page, looked at as a browser does.
struct Seen {
    status: u16,
    headers: reqwest::header::HeaderMap,
    html: String,
}

impl Seen {
    async fn at(world: &World, path: &str) -> Seen {
        let answer = world.get(path).header("accept", "text/html").send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Seen { status, headers, html: answer.text().await.unwrap() }
    }

    fn has(&self, text: &str) -> bool {
        self.html.contains(text)
    }

    /// What stands between two marks, each time.
    fn between(&self, from: &str, to: &str) -> Vec<&str> {
        self.html.split(from).skip(1).filter_map(|rest| rest.split(to).next()).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.between("<span class=\"card-name\">", "<")
    }

    /// What every page keeps to.
    fn assert_good(&self, path: &str) {
        assert!(self.html.len() < PAGE_BYTES_MAX, "{path} has {} bytes", self.html.len());
        assert_eq!(self.between("<h1", "</h1>").len(), 1, "{path}");
        assert!(self.between("<title>", "</title>")[0].len() > 3, "{path}");
        for bad in [" style=", " onclick=", "<style", "javascript:", "<script>", "src=\"http"] {
            assert!(!self.has(bad), "{path} has {bad}");
        }
        let policy = self.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert!(self.headers["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
    }
}

async fn product(world: &World, category: CategoryId, name: &str, change: impl FnOnce(&mut NewProduct)) -> Product {
    let mut new = NewProduct::named(name, category, Decimal::new(19_90, 2), Currency::new("EUR"));
    new.status = ProductStatus::Active;
    change(&mut new);
    let product = catalog::create_product(&world.ctx, new).await.expect("a product");
    catalog::set_in_stock(&world.ctx, product.product_id, true).await.expect("in stock");
    product
}

async fn every_page_is_light_and_has_a_heading(target: &Target) {
    let world = World::with(target, |settings| settings.pages.tagline = "Good things".into()).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let below = NewCategory { category_id: None, name: "Desk lamps".into(), slug: None, parent_id: Some(category) };
    let below = catalog::create_category(&world.ctx, below).await.unwrap().category_id;
    let lamp = product(&world, below, "Walnut lamp", |new| {
        new.compare_at_price = Some(Decimal::new(29_90, 2));
        new.brand = Some("Lysverk".into());
        new.description = Some("An arm that stays.\n\nIt is made of walnut.".into());
        new.weight_grams = Some(1_250);
    })
    .await;
    product(&world, below, "Oak lamp", |_| {}).await;
    let featured = |badge: Option<&str>| Featured { product_id: lamp.product_id, badge: badge.map(str::to_owned) };
    catalog::set_featured(&world.ctx, "homepage", &[featured(None)]).await.unwrap();
    catalog::set_featured(&world.ctx, "deals", &[featured(Some("Sale"))]).await.unwrap();
    let tests: [(&str, &[&str]); 5] = [
        (
            "/",
            &["<h1>Good things</h1>", ">Featured<", ">Deals<", "New arrivals", "Sale", "/c/lamps", "rel=\"canonical\""],
        ),
        ("/c/lamps", &["<h1>Lamps</h1>", "2 products", "/c/desk-lamps", "?sort=price_asc", "BreadcrumbList"]),
        ("/c/desk-lamps", &["href=\"/c/lamps\"", "Lysverk", "€19.90", "€29.90", "33% off"]),
        ("/search?q=lamp", &["Results for “lamp”", "2 products", "Walnut lamp", "value=\"lamp\"", "noindex"]),
        (
            "/p/walnut-lamp",
            &[
                "<h1>Walnut lamp</h1>",
                "It is made of walnut.",
                "1.25 kg",
                "og:image",
                "application/ld+json",
                "name=\"csrf\" value=\"",
                "action=\"/cart/items\" method=\"post\"",
                "Add to cart",
                "You may also like",
                "Oak lamp",
            ],
        ),
    ];
    for (path, parts) in tests {
        let page = Seen::at(&world, path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.html);
        page.assert_good(path);
        for part in parts {
            assert!(page.has(part), "{path} has no {part}: {}", page.html);
        }
    }
    let data = Seen::at(&world, "/p/walnut-lamp").await;
    let data: serde_json::Value =
        serde_json::from_str(data.between("<script type=\"application/ld+json\">", "</script>")[0]).unwrap();
    assert_eq!((&data["name"], &data["offers"]["price"]), (&"Walnut lamp".into(), &"19.90".into()));
}

async fn what_was_typed_and_named_stays_text(target: &Target) {
    let world = World::new(target).await;
    let hostile = "Lamp \"x\" 'y' & 3 < 5 > 2";
    let category = world.category(&world.ctx, hostile).await;
    let lamp = product(&world, category, hostile, |new| {
        new.brand = Some(hostile.into());
        new.description = Some(hostile.into());
        new.attributes = BTreeMap::from([(hostile.into(), hostile.into()), ("Size".into(), format!("{hostile}, L"))]);
    })
    .await;
    let slug = catalog::get_category(&world.ctx, category).await.unwrap().slug;
    let typed = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E+lamp";
    for path in ["/".to_owned(), format!("/c/{slug}"), format!("/p/{}", lamp.slug), format!("/search?q={typed}")] {
        let page = Seen::at(&world, &path).await;
        assert_eq!(page.status, 200, "{path}");
        page.assert_good(&path);
        assert!(!page.has("3 < 5") && !page.has("\"x\"") && !page.has("<script>alert"), "{path}: {}", page.html);
    }
    // Nor does what is written into a link.
    let page = Seen::at(&world, "/?notice=%3Cb%3EYou+have+won%3C%2Fb%3E").await;
    assert!(!page.has("You have won") && !page.has("role=\"status\""), "{}", page.html);
}

async fn a_category_has_orders_and_numbered_pages(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    for i in 0..60_i64 {
        product(&world, category, &format!("Lamp {i:02}"), |new| {
            new.price = Decimal::new(60_00 - i, 2);
            new.created_at = Some(world.ctx.now().plus_seconds(i - 60));
        })
        .await;
    }
    let first = Seen::at(&world, "/c/lamps?sort=name_asc").await;
    assert_eq!((first.names().len(), first.names()[0]), (24, "Lamp 00"));
    assert!(first.has("60 products"), "{}", first.html);
    let next = first.between("<a class=\"button\" href=\"", "\" rel=\"next\"")[0].replace("&#38;", "&");
    assert!(next.starts_with("/c/lamps?sort=name_asc&page=2&cursor="), "{next}");
    let second = Seen::at(&world, &next).await;
    assert_eq!((second.names()[0], second.names()[23]), ("Lamp 24", "Lamp 47"));
    let cursor = next.split("cursor=").nth(1).unwrap();
    // The number alone leads there, too, and so does a cursor that holds no longer, with its number.
    for path in ["/c/lamps?sort=name_asc&page=2", "/c/lamps?sort=name_asc&page=2&cursor=nonsense"] {
        assert_eq!(Seen::at(&world, path).await.names(), second.names(), "{path}");
    }
    let third = Seen::at(&world, "/c/lamps?sort=name_asc&page=3").await;
    assert_eq!((third.names().len(), third.names()[0]), (12, "Lamp 48"));
    assert!(third.has("60 products") && !third.has("rel=\"next\"") && third.has("rel=\"prev\""), "{}", third.html);
    assert!(third.has("href=\"http") && third.has("sort=name_asc&#38;page=3\">"), "{}", third.html);
    for (path, status) in [("page=4", 404), ("page=41", 404), ("page=0", 200), ("page=x", 200), ("sort=luck", 200)] {
        assert_eq!(Seen::at(&world, &format!("/c/lamps?{path}")).await.status, status, "{path}");
    }
    // A cursor of another order says nothing here.
    let other = Seen::at(&world, &format!("/c/lamps?sort=newest&page=2&cursor={cursor}")).await;
    assert_eq!((other.status, other.names().len()), (200, 24));
    for (sort, best) in [("price_asc", "Lamp 59"), ("price_desc", "Lamp 00"), ("newest", "Lamp 59")] {
        assert_eq!(Seen::at(&world, &format!("/c/lamps?sort={sort}")).await.names()[0], best, "{sort}");
    }
}

async fn what_is_not_on_sale_here_is_not_found(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let draft = product(&world, category, "Secret lamp", |new| new.status = ProductStatus::Draft).await;
    let archived = product(&world, category, "Old lamp", |_| {}).await;
    catalog::archive_product(&world.ctx, archived.product_id, None).await.unwrap();
    let others = world.category(&world.other, "Others").await;
    let foreign = world.product(&world.other, others, "Their lamp", 10_00).await;
    for path in [
        format!("/p/{}", draft.product_id),
        "/p/secret-lamp".into(),
        "/p/old-lamp".into(),
        "/p/their-lamp".into(),
        format!("/p/{}", foreign.product_id),
        "/c/others".into(),
        format!("/c/{others}"),
        "/p/No%20Slug!".into(),
        "/c/%3Cscript%3E".into(),
    ] {
        let page = Seen::at(&world, &path).await;
        assert_eq!(page.status, 404, "{path}");
        page.assert_good(&path);
        assert!(page.has("There is nothing here") && !page.has("lamp</h1>"), "{path}: {}", page.html);
    }
}

async fn an_old_address_leads_to_the_new_one(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let lamp = product(&world, category, "Walnut lamp", |_| {}).await;
    let change = ProductChange { slug: Some("desk-lamp".into()), ..ProductChange::default() };
    catalog::change_product(&world.ctx, lamp.product_id, None, change).await.unwrap();
    for (path, now) in [
        ("/p/walnut-lamp".into(), "/p/desk-lamp"),
        (format!("/p/{}", lamp.product_id), "/p/desk-lamp"),
        (format!("/c/{category}?sort=newest"), "/c/lamps?sort=newest"),
    ] {
        let page = Seen::at(&world, &path).await;
        assert_eq!((page.status, page.headers["location"].to_str().unwrap()), (301, now), "{path}");
    }
}

async fn the_stock_is_told_in_words(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_90, 3).await;
    let page = Seen::at(&world, "/p/lamp").await;
    assert!(page.has("Only 3 left") && page.has("max=\"3\"") && page.has("Add to cart"), "{}", page.html);
    let restock = |units| {
        let movement = MovementId(world.ctx.new_id());
        inventory::restock(&world.ctx, movement, lamp.product_id, "vienna", units, Note::default())
    };
    restock(50).await.unwrap();
    let page = Seen::at(&world, "/p/lamp").await;
    assert!(page.has(">In stock<") && page.has("max=\"53\""), "{}", page.html);
    let gone = world.stocked(&world.ctx, "Vase", 19_90, 1).await;
    let movement = MovementId(world.ctx.new_id());
    let note = Note { actor: None, reason: Some("broken".into()) };
    inventory::adjust(&world.ctx, movement, gone.product_id, "vienna", -1, note).await.unwrap();
    let page = Seen::at(&world, "/p/vase").await;
    assert!(page.has(">Sold out<") && page.has("cannot be ordered") && !page.has("Add to cart"), "{}", page.html);
    inventory::set_policy(&world.ctx, gone.product_id, true, true).await.unwrap();
    let page = Seen::at(&world, "/p/vase").await;
    assert!(page.has("we send it when it comes") && page.has("Add to cart"), "{}", page.html);
}

async fn a_product_is_bought_with_its_choices(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Shirts").await;
    let attributes = [("Size", "S, M, L"), ("Material", "Linen, pearl"), ("Care", "Forty degrees")];
    let attributes: BTreeMap<String, String> =
        attributes.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let shirt = product(&world, category, "Shirt", |new| new.attributes = attributes).await;
    let page = Seen::at(&world, "/p/shirt").await;
    assert_eq!(page.between("type=\"radio\" name=\"option.Size\" value=\"", "\""), ["S", "M", "L"]);
    assert!(page.has("<dt>Material</dt><dd>Linen, pearl</dd>") && !page.has("<dt>Size</dt>"), "{}", page.html);
    assert!(page.has(&format!("name=\"product_id\" value=\"{}\"", shirt.product_id)), "{}", page.html);
}

async fn a_look_at_a_product_is_counted(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_90, 3).await;
    for _ in 0..2 {
        assert_eq!(Seen::at(&world, "/p/lamp").await.status, 200);
    }
    let ahead = world.get("/p/lamp").header("sec-purpose", "prefetch;prerender").send().await.unwrap();
    assert_eq!(ahead.status(), 200);
    let head = world.request("HEAD", "/p/lamp").send().await.unwrap();
    assert_eq!(head.status(), 200);
    analytics::flush_views(&world.ctx).await.unwrap();
    let today = world.ctx.now().date();
    let seen = analytics::list_product_views(&world.ctx, lamp.product_id, today, today).await.unwrap();
    assert_eq!((seen.len(), seen[0].view_count), (1, 2));
}

async fn pictures_come_from_here_or_from_where_the_settings_say(target: &Target) {
    let named = "https://pictures.example";
    let world = World::with(target, |settings| settings.pages.picture_origins = vec![named.into()]).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let tests = [("One", format!("{named}/a.jpg")), ("Two", "https://elsewhere.example/b.jpg".into())];
    for (name, url) in tests.clone() {
        product(&world, category, name, |new| {
            (new.thumbnail_url, new.image_urls) = (Some(url.clone()), vec![url]);
        })
        .await;
    }
    for path in ["/", "/c/lamps", "/p/one", "/p/two"] {
        let page = Seen::at(&world, path).await;
        assert!(!page.has("elsewhere.example"), "{path}: {}", page.html);
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains(&format!("img-src 'self' {named} data:")), "{policy}");
    }
    let page = Seen::at(&world, "/p/one").await;
    assert!(page.has(&format!("src=\"{named}/a.jpg\"")), "{}", page.html);
    let page = Seen::at(&world, "/p/two").await;
    let drawn = page.between("id=\"picture-1\" src=\"", "\"")[0];
    let answer = world.bare("GET", drawn).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), &answer.headers()["content-type"]), (200, &"image/svg+xml".parse().unwrap()));
    assert!(answer.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    assert!(answer.text().await.unwrap().starts_with("<svg"));
    for path in ["/pictures/no.svg", "/pictures/..%2Fsecret", "/pictures/%3Cscript%3E.svg"] {
        assert_eq!(Seen::at(&world, path).await.status, 404, "{path}");
    }
}

async fn a_search_says_what_it_found(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    for i in 0..30 {
        product(&world, category, &format!("Lamp {i:02}"), |_| {}).await;
    }
    let page = Seen::at(&world, "/search?q=lamp").await;
    assert_eq!(page.names().len(), 24);
    let next = page.between("<a class=\"button\" href=\"", "\" rel=\"next\"")[0].replace("&#38;", "&");
    let second = Seen::at(&world, &next).await;
    assert_eq!(second.names().len(), 6);
    assert!(second.has("Page 2") && second.has("First page"), "{}", second.html);
    for (path, words) in [
        ("/search", "Type a word of a product"),
        ("/search?q=", "Type a word of a product"),
        ("/search?q=x", "at least two letters"),
        ("/search?q=chair", "No product&#39;s name has this word"),
        ("/search?q=lamp&cursor=nonsense&page=7", "Lamp 00"),
    ] {
        let page = Seen::at(&world, path).await;
        assert_eq!(page.status, 200, "{path}");
        page.assert_good(path);
        assert!(page.has(words) || page.has(&words.replace("&#39;", "'")), "{path}: {}", page.html);
    }
}

async fn an_empty_shop_says_so(target: &Target) {
    let world = World::new(target).await;
    let page = Seen::at(&world, "/").await;
    page.assert_good("/");
    assert!(page.status == 200 && page.has("Nothing is on the shelves yet"), "{}", page.html);
    world.category(&world.ctx, "Lamps").await;
    let page = Seen::at(&world, "/c/lamps").await;
    page.assert_good("/c/lamps");
    assert!(page.status == 200 && page.has("Nothing here yet"), "{}", page.html);
}

async fn crawlers_find_their_way(target: &Target) {
    let world = World::with(target, |settings| settings.public_url = Some("https://shop.example/".into())).await;
    let category = world.category(&world.ctx, "Lamps").await;
    product(&world, category, "Walnut lamp", |_| {}).await;
    let text = Seen::at(&world, "/robots.txt").await.html;
    assert!(
        text.contains("Disallow: /cart\n") && text.ends_with("Sitemap: https://shop.example/sitemap.xml\n"),
        "{text}"
    );
    let index = Seen::at(&world, "/sitemap.xml").await;
    assert!(index.has("<loc>https://shop.example/sitemaps/lamps.xml</loc>"), "{}", index.html);
    let part = Seen::at(&world, "/sitemaps/lamps.xml").await;
    let pages = part.between("<loc>", "</loc>");
    assert_eq!(pages, ["https://shop.example/c/lamps", "https://shop.example/p/walnut-lamp"]);
    assert_eq!(part.headers["content-type"], "application/xml");
    assert_eq!(Seen::at(&world, "/sitemaps/lamps").await.status, 404);
    let page = Seen::at(&world, "/p/walnut-lamp").await;
    assert!(page.has("rel=\"canonical\" href=\"https://shop.example/p/walnut-lamp\""), "{}", page.html);
}

async fn a_wrong_way_is_a_page_of_the_shop(target: &Target) {
    let world = World::new(target).await;
    let page = Seen::at(&world, "/no-such-page").await;
    assert_eq!(page.status, 404);
    page.assert_good("/no-such-page");
    assert!(page.has("There is nothing here") && page.has("role=\"search\""), "{}", page.html);
    assert_eq!(page.headers["cache-control"], "no-store");
    // A program is told as a program.
    let answer = world.get("/v1/no-such-route").header("accept", "text/html").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
}
