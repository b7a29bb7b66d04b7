//! Products, categories and featured lists before a clerk.

use merkato::{
    PageRequest,
    catalog::{self, NewCategory, Product, ProductStatus},
    id::{CategoryId, ProductId},
};
use widerow_testing::{Target, cases};

use super::{Clerk, Seen, Typed};

cases![
    a_product_is_made_once,
    a_product_is_edited,
    a_refused_product_keeps_what_was_typed,
    of_two_editors_the_second_is_told,
    a_product_is_archived_after_asking,
    hostile_names_are_text,
    products_are_paged_there_and_back,
    products_are_searched,
    categories_grow_and_are_renamed,
    categories_are_moved,
    a_category_is_deleted_after_asking,
    featured_lists_are_put_in_order,
];

async fn get(clerk: &Clerk, id: ProductId) -> Product {
    catalog::get_product(&clerk.world().ctx, id).await.expect("a product")
}

fn fields<'f>(category: &'f str, more: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let least =
        [("name", "Lamp"), ("category_id", category), ("price", "19.90"), ("currency", "EUR"), ("status", "active")];
    let own = |name: &str| more.iter().any(|(other, _)| *other == name);
    least.into_iter().filter(|(name, _)| !own(name)).chain(more.iter().copied()).collect()
}

async fn a_product_is_made_once(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let category = clerk.world().category(ctx, "Lamps").await.to_string();
    let page = clerk.see(&format!("/admin/products/new?category={category}")).await;
    page.says(&format!("value=\"{category}\" selected")).says("value=\"EUR\"");
    let id = page.hidden("operation");
    let all = fields(
        &category,
        &[
            ("operation", &id),
            ("description", "Warm.\r\nDimmable."),
            ("compare_at_price", "24.90"),
            ("weight_grams", "800"),
            ("attribute_name", "Material"),
            ("attribute_value", "Walnut"),
            ("dimension_name", "height"),
            ("dimension_mm", "420"),
            ("image_urls", "/pictures/a.svg\r\n/pictures/b.svg\r\n"),
            ("thumbnail_url", "/pictures/a.svg"),
            ("tags", "warm"),
        ],
    );
    for _ in 0..2 {
        let made = clerk.send(&page, "/admin/products", &all).await;
        made.leads_to(&format!("/admin/products/{id}?notice=product-made"));
    }
    let product = get(&clerk, id.parse().expect("an id")).await;
    assert_eq!((product.name.as_str(), product.slug.as_str(), product.revision), ("Lamp", "lamp", 1));
    assert_eq!(product.description.as_deref(), Some("Warm.\nDimmable."));
    assert_eq!((product.attributes["Material"].as_str(), product.dimensions["height"]), ("Walnut", 420));
    assert_eq!((product.image_urls.len(), product.status), (2, ProductStatus::Active));
    let seen = clerk.see(&format!("/admin/products/{id}")).await;
    seen.is_a_page("Lamp").says("src=\"/pictures/a.svg\"").says("value=\"24.90\"").says("value=\"Material\"");
}

async fn a_product_is_edited(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let lamp = clerk.world().stocked(ctx, "Lamp", 19_90, 5).await;
    let (path, category) = (format!("/admin/products/{}", lamp.product_id), lamp.category_id.to_string());
    let page = clerk.see(&path).await;
    page.says("vienna").says("Save product");
    let revision = page.hidden("revision");
    let all =
        fields(&category, &[("name", "Tall lamp"), ("price", "29"), ("status", "draft"), ("revision", &revision)]);
    clerk.send(&page, &path, &all).await.leads_to(&format!("{path}?notice=changed"));
    let changed = get(&clerk, lamp.product_id).await;
    assert_eq!((changed.name.as_str(), changed.price.to_string().as_str()), ("Tall lamp", "29"));
    assert_eq!((changed.status, changed.slug), (ProductStatus::Draft, lamp.slug));
    clerk.see(&path).await.says("value=\"29.00\"").does_not_say("See it in the shop");
}

async fn a_refused_product_keeps_what_was_typed(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let lamp = clerk.world().stocked(ctx, "Lamp", 19_90, 5).await;
    let (path, category) = (format!("/admin/products/{}", lamp.product_id), lamp.category_id.to_string());
    let page = clerk.see(&path).await;
    let revision = page.hidden("revision");
    let bad: [(Typed<'_>, &str); 6] = [
        (&[("price", "19,90")], "write it as 12.50"),
        (&[("price", "-1")], "write it as 12.50"),
        (&[("name", "")], "Fill this in"),
        (&[("slug", "Not A Slug")], "only the letters a to z"),
        (&[("image_urls", "/good.svg\r\njavascript:alert(1)")], "Line 2: not an http"),
        (&[("attribute_name", "Care"), ("attribute_value", "")], "Care says nothing"),
    ];
    for (wrong, says) in bad {
        let with: Vec<_> = [("revision", revision.as_str()), ("brand", "Typed \"brand\"")]
            .into_iter()
            .chain(wrong.iter().copied())
            .collect();
        let refused = clerk.send(&page, &path, &fields(&category, &with)).await;
        assert_eq!(refused.status, 422);
        refused.says(says).says("Typed &#34;brand&#34;").says("<title>Error: ");
        assert_eq!(refused.hidden("revision"), revision);
        for (name, value) in wrong.iter().filter(|(name, _)| *name == "price" || *name == "slug") {
            refused.says(&format!("name=\"{name}\" type=\"text\" value=\"{value}\""));
        }
    }
    let nowhere = CategoryId(ctx.new_id()).to_string();
    let all = fields(&nowhere, &[("revision", revision.as_str())]);
    clerk.send(&page, &path, &all).await.is_refused().says("there is no category");
    let other = clerk.world().stocked(ctx, "Chair", 19_90, 5).await;
    let all = fields(&category, &[("revision", revision.as_str()), ("slug", &other.slug)]);
    clerk.send(&page, &path, &all).await.is_refused().says("another one has the slug");
    assert_eq!(get(&clerk, lamp.product_id).await.revision, lamp.revision);
}

async fn of_two_editors_the_second_is_told(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let lamp = clerk.world().stocked(ctx, "Lamp", 19_90, 5).await;
    let (path, category) = (format!("/admin/products/{}", lamp.product_id), lamp.category_id.to_string());
    let page = clerk.see(&path).await;
    let revision = page.hidden("revision");
    let theirs = fields(&category, &[("name", "Theirs"), ("revision", revision.as_str())]);
    clerk.send(&page, &path, &theirs).await.leads_to(&format!("{path}?notice=changed"));
    // A refusal of another kind does not let the second editor save over what the first has done.
    let wrong = fields(&category, &[("name", "Mine"), ("price", "dear"), ("revision", revision.as_str())]);
    assert_eq!(clerk.send(&page, &path, &wrong).await.is_refused().hidden("revision"), revision);
    let mine = fields(&category, &[("name", "Mine"), ("revision", revision.as_str())]);
    let told = clerk.send(&page, &path, &mine).await;
    told.is_refused()
        .says("Somebody else has changed this product")
        .says("value=\"Mine\"")
        .says("differs from yours in: name");
    assert_eq!(get(&clerk, lamp.product_id).await.name, "Theirs");
    // Who was told may decide.
    let newer = told.hidden("revision");
    assert_ne!(newer, revision);
    let mine = fields(&category, &[("name", "Mine"), ("revision", newer.as_str())]);
    clerk.send(&page, &path, &mine).await.leads_to(&format!("{path}?notice=changed"));
    assert_eq!(get(&clerk, lamp.product_id).await.name, "Mine");
}

async fn a_product_is_archived_after_asking(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let lamp = clerk.world().stocked(ctx, "Lamp", 19_90, 5).await;
    let path = format!("/admin/products/{}", lamp.product_id);
    let page = clerk.see(&path).await;
    page.says("<details class=\"ask\" id=\"archive\">");
    let old = (lamp.revision - 1).to_string();
    clerk.send(&page, &format!("{path}/archive"), &[("revision", &old)]).await.is_refused();
    let now = lamp.revision.to_string();
    let done = clerk.send(&page, &format!("{path}/archive"), &[("revision", &now)]).await;
    done.leads_to(&format!("{path}?notice=archived"));
    clerk.see(&path).await.says("Archived").does_not_say("Archive product");
    assert_eq!(get(&clerk, lamp.product_id).await.status, ProductStatus::Archived);
}

async fn hostile_names_are_text(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let name = "\"Lamp\" & 'shade' <3 > 2 {{ 7*7 }}";
    let lamp = clerk.world().stocked(ctx, name, 19_90, 5).await;
    let (id, category) = (lamp.product_id, lamp.category_id);
    let placed = catalog::Featured { product_id: id, badge: Some(name.into()) };
    catalog::set_featured(ctx, "deals", &[placed]).await.expect("placed");
    for path in [
        "/admin/products".to_owned(),
        format!("/admin/products/{id}"),
        format!("/admin/products?category={category}"),
        format!("/admin/inventory/{id}"),
        "/admin/inventory?q=lamp".to_owned(),
        "/admin/categories".to_owned(),
        format!("/admin/categories/{category}"),
        "/admin/featured/deals".to_owned(),
    ] {
        let seen = clerk.see(&path).await;
        seen.says("&#34;Lamp&#34; &#38; &#39;shade&#39; &#60;3 &#62; 2 {{ 7*7 }}")
            .does_not_say("\"Lamp\" &")
            .does_not_say("<3");
    }
}

fn link(seen: &Seen, words: &str) -> String {
    let before = seen.html.split(&format!(">{words}</a>")).next().expect("a page");
    let at = before.rfind("<a href=\"").unwrap_or_else(|| panic!("no link {words}: {}", seen.html)) + 9;
    before[at..].split('"').next().expect("an address").replace("&#38;", "&")
}

async fn products_are_paged_there_and_back(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let category = clerk.world().category(ctx, "Lamps").await;
    for n in 0..60 {
        clerk.world().product(ctx, category, &format!("Lamp {n:02}"), 10_00).await;
    }
    for list in ["/admin/products".to_owned(), format!("/admin/products?category={category}")] {
        let rows = |seen: &Seen| seen.html.matches("class=\"row\"").count();
        let first = clerk.see(&list).await;
        first.says("Page 1").does_not_say("Previous").is_a_page("Products");
        let second = clerk.see(&link(&first, "Next")).await;
        second.says("Page 2").does_not_say("First page");
        let third = clerk.see(&link(&second, "Next")).await;
        third.says("Page 3").says("First page").does_not_say(">Next</a>");
        assert_eq!([rows(&first), rows(&second), rows(&third)], [25, 25, 10]);
        let back = clerk.see(&link(&third, "Previous")).await;
        assert_eq!(back.html.split("<tbody>").nth(1), second.html.split("<tbody>").nth(1));
        let back = clerk.see(&link(&back, "Previous")).await;
        assert_eq!(back.html.split("<tbody>").nth(1), first.html.split("<tbody>").nth(1));
    }
    assert_eq!(clerk.see("/admin/products?cursor=made-up").await.status, 400);
}

async fn products_are_searched(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let lamp = clerk.world().stocked(ctx, "Walnut desk lamp", 19_90, 5).await;
    clerk.see("/admin/products?q=desk%20wal").await.says("Walnut desk lamp");
    clerk.see("/admin/products?q=chair").await.says("Nothing is called that.");
    clerk.see("/admin/products?q=%F0%9F%AA%91").await.says("role=\"status\"");
    let path = format!("/admin/products/{}", lamp.product_id);
    clerk.see(&format!("/admin/products?q={}", lamp.slug)).await.leads_to(&path);
    clerk.see(&format!("/admin/products?q={}", lamp.product_id)).await.leads_to(&path);
    clerk
        .see(&format!("/admin/inventory?q={}", lamp.slug))
        .await
        .leads_to(&format!("/admin/inventory/{}", lamp.product_id));
}

async fn categories_grow_and_are_renamed(target: &Target) {
    let clerk = Clerk::come(target).await;
    let page = clerk.see("/admin/categories").await;
    let id = page.hidden("operation");
    let top = [("operation", id.as_str()), ("name", "Kitchen & table")];
    for _ in 0..2 {
        clerk
            .send(&page, "/admin/categories", &top)
            .await
            .leads_to(&format!("/admin/categories/{id}?notice=category-made"));
    }
    let path = format!("/admin/categories/{id}");
    let page = clerk.see(&path).await;
    let below = page.hidden("operation");
    let new = [("operation", below.as_str()), ("name", "Pans"), ("slug", "pans"), ("parent_id", id.as_str())];
    clerk
        .send(&page, "/admin/categories", &new)
        .await
        .leads_to(&format!("/admin/categories/{below}?notice=category-made"));
    clerk.see("/admin/categories").await.says("Kitchen &#38; table").says("depth-1");
    clerk.see(&format!("/admin/categories/{below}")).await.says("Kitchen &#38; table");
    // A name is needed, a slug is one's own, and what was typed stays.
    let operation = clerk.see(&path).await.hidden("operation");
    let taken = [("operation", operation.as_str()), ("name", "Pots"), ("slug", "pans"), ("parent_id", id.as_str())];
    clerk
        .send(&page, "/admin/categories", &taken)
        .await
        .is_refused()
        .says("another one has the slug")
        .says("value=\"Pots\"");
    let empty = [("operation", operation.as_str()), ("name", " ")];
    clerk.send(&page, "/admin/categories", &empty).await.is_refused().says("Fill this in");
    let revision = page.hidden("revision");
    let named = [("name", "Kitchen"), ("revision", revision.as_str())];
    clerk.send(&page, &path, &named).await.leads_to(&format!("{path}?notice=changed"));
    let late = [("name", "Table"), ("slug", "table"), ("revision", revision.as_str())];
    let told = clerk.send(&page, &path, &late).await;
    told.is_refused().says("it is called Kitchen by now").says("value=\"Table\"");
    assert_ne!(told.hidden("revision"), revision);
}

async fn categories_are_moved(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let [home, garden] = ["Home", "Garden"].map(|name| clerk.world().category(ctx, name));
    let (home, garden) = (home.await, garden.await);
    let new = NewCategory { category_id: None, name: "Lamps".into(), slug: None, parent_id: Some(home) };
    let lamps = catalog::create_category(ctx, new).await.expect("a category").category_id;
    let (path, home, garden) = (format!("/admin/categories/{lamps}"), home.to_string(), garden.to_string());
    let page = clerk.see(&path).await;
    page.says(&format!("<option value=\"{home}\" selected>Home</option>")).says("Nothing: at the top");
    assert!(!page.html.contains(&format!("<option value=\"{lamps}\"")), "not below itself");
    let revision = page.hidden("revision");
    let to = |parent: &str| [("parent_id", parent.to_owned()), ("revision", revision.clone())];
    let send = async |fields: [(&str, String); 2]| {
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        clerk.send(&page, &format!("{path}/move"), &fields).await
    };
    send(to(&lamps.to_string())).await.is_refused().says("this is the category itself");
    send(to(&garden)).await.leads_to(&format!("{path}?notice=category-moved"));
    clerk.see(&format!("{path}?notice=category-moved")).await.says("Its products follow").says("Garden");
    assert_eq!(
        catalog::get_category(ctx, lamps).await.expect("found").parent_id.map(|id| id.to_string()),
        Some(garden)
    );
    send(to(&home)).await.is_refused().says("Somebody else has changed or moved this category");
    let page = clerk.see(&path).await;
    let now = page.hidden("revision");
    let astray = [("parent_id", ""), ("address", "nowhere"), ("revision", now.as_str())];
    clerk.send(&page, &format!("{path}/move"), &astray).await.is_refused();
    let there = [("parent_id", ""), ("address", "home"), ("revision", now.as_str())];
    clerk.send(&page, &format!("{path}/move"), &there).await.leads_to(&format!("{path}?notice=category-moved"));
    assert_eq!(catalog::get_category(ctx, lamps).await.expect("found").parent_id.map(|id| id.to_string()), Some(home));
    // The page of trees leads here.
    clerk.see("/admin/trees").await.says("href=\"/admin/categories\"");
    clerk.see("/admin/trees/categories").await.leads_to("/admin/categories");
    clerk.see(&format!("/admin/trees/categories/nodes/{lamps}")).await.leads_to(&path);
}

async fn a_category_is_deleted_after_asking(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let lamp = clerk.world().stocked(ctx, "Red lamp", 19_90, 5).await;
    let full = format!("/admin/categories/{}", lamp.category_id);
    let page = clerk.see(&full).await;
    page.says("Delete category");
    let fields = [("revision", page.hidden("revision"))];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    clerk.send(&page, &format!("{full}/delete"), &fields).await.is_refused().says("Red lamp (active) is one of them");
    let new = NewCategory { category_id: None, name: "Pots".into(), slug: None, parent_id: Some(lamp.category_id) };
    let pots = catalog::create_category(ctx, new).await.expect("a category").category_id;
    assert!(!clerk.see(&full).await.html.contains("Delete category"), "others stand below it");
    clerk.send(&page, &format!("{full}/delete"), &fields).await.is_refused();
    let path = format!("/admin/categories/{pots}");
    let page = clerk.see(&path).await;
    let stale = clerk.send(&page, &format!("{path}/delete"), &[("revision", "99")]).await;
    stale.is_refused().says("Somebody else has changed or moved this category");
    let revision = stale.hidden("revision");
    let gone = clerk.send(&page, &format!("{path}/delete"), &[("revision", revision.as_str())]).await;
    gone.leads_to(&format!("{full}?notice=category-deleted"));
    clerk.see(&format!("{full}?notice=category-deleted")).await.says("The category is deleted");
    assert!(catalog::find_category(ctx, pots).await.expect("read").is_none());
}

async fn featured_lists_are_put_in_order(target: &Target) {
    let clerk = Clerk::come(target).await;
    let ctx = &clerk.world().ctx;
    let [a, b, c] = ["Red lamp", "Green lamp", "Blue lamp"].map(|name| clerk.world().stocked(ctx, name, 19_90, 5));
    let (a, b, c) = (a.await, b.await, c.await);
    let path = "/admin/featured/homepage";
    let page = clerk.see(path).await;
    for name in [a.slug.as_str(), "Green lamp", &c.product_id.to_string()] {
        let placed = catalog::list_placed(ctx, "homepage").await.expect("a list");
        let kept: Vec<_> = placed
            .iter()
            .enumerate()
            .map(|(i, p)| (format!("position.{}", p.product_id), (i + 1).to_string()))
            .collect();
        let all: Vec<_> = kept
            .iter()
            .map(|(name, place)| (name.as_str(), place.as_str()))
            .chain([("add", name), ("add_badge", "New")])
            .collect();
        clerk.send(&page, path, &all).await.leads_to(&format!("{path}?notice=featured-saved"));
    }
    let names = || async {
        let list = catalog::list_featured(ctx, "homepage", PageRequest::default()).await.expect("a list");
        list.rows.into_iter().map(|row| (row.name, row.badge)).collect::<Vec<_>>()
    };
    let new = Some("New".to_owned());
    assert_eq!(names().await, [("Red lamp".into(), None), ("Green lamp".into(), None), ("Blue lamp".into(), new)]);
    let position = |id: ProductId| format!("position.{id}");
    let (pa, pb, pc) = (position(a.product_id), position(b.product_id), position(c.product_id));
    let (ba, rb) = (format!("badge.{}", a.product_id), format!("remove.{}", b.product_id));
    let bad = [(pa.as_str(), "2"), (&pb, "first"), (&pc, "1"), (&ba, "Typed")];
    clerk
        .send(&page, path, &bad)
        .await
        .is_refused()
        .says("a number is wanted")
        .says("value=\"first\"")
        .says("value=\"Typed\"");
    let good = [(pa.as_str(), "2"), (&pb, "3"), (&pc, "1"), (&ba, "Sale"), (&rb, "yes")];
    clerk.send(&page, path, &good).await.leads_to(&format!("{path}?notice=featured-saved"));
    assert_eq!(names().await, [("Blue lamp".into(), None), ("Red lamp".into(), Some("Sale".into()))]);
    for (add, says) in [("Nothing like it", "there is no such product"), (c.slug.as_str(), "it is in the list already")]
    {
        let all = [(pa.as_str(), "2"), (&pc, "1"), ("add", add)];
        clerk.send(&page, path, &all).await.is_refused().says(says).says(&format!("value=\"{add}\""));
    }
}
