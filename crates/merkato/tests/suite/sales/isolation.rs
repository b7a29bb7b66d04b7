//! No input reaches another tenant's sales.

use merkato::{
    Context, Cursor, Kind, PageRequest,
    sales::{self, Days, NewSale},
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use widerow_testing::{Target, cases};

use super::{put_all, sale};
use crate::world::{World, seed};

cases![no_input_reaches_another_tenant, tenants_are_named_by_plain_letters];

/// What keys are made of, and what looks like it.
const PIECES: &[&str] = &[
    "#",
    "＃",
    "﹟",
    "TENANT#",
    "TENANT",
    "ＴＥＮＡＮＴ＃",
    "PRODUCT#",
    "CATEGORY#",
    "SHARD#0",
    "SALE#",
    "BRAND#",
    "\0",
    "$23",
    "%23",
    "\u{200b}",
    "\u{202e}",
    "é",
    "e\u{301}",
    "dress",
    "Nike",
    "p1",
    "'",
    "\"",
    "..",
    "/",
    "~",
    "!",
    " ",
    "ß",
    "😀",
    "K",
];

fn hostile(chance: &mut SmallRng, other: &str) -> String {
    let pieces = chance.random_range(1..5);
    let mut text = String::new();
    for _ in 0..pieces {
        match chance.random_range(0..6) {
            0 => text.push_str(other),
            _ => text.push_str(PIECES[chance.random_range(0..PIECES.len())]),
        }
    }
    text
}

/// Everything that can be asked with a text and a cursor; the tenants that are told in the answers, by their marks.
async fn ask_all(ctx: &Context, text: &str, cursor: Option<Cursor>) -> Vec<String> {
    let (all, mut told) = (Days::default(), Vec::new());
    let page = || PageRequest { limit: 50, cursor: cursor.clone() };
    let mut answer = |records: sales::Result<Vec<sales::SaleRecord>>| match records {
        Ok(records) => told.extend(records.into_iter().filter_map(|sale| sale.embedding_id)),
        Err(error) => assert_eq!(error.kind(), Kind::Invalid, "{error}"),
    };
    answer(sales::list_product_sales(ctx, text, all, page()).await.map(|page| page.rows));
    answer(sales::list_category_sales(ctx, text, None, all, page()).await.map(|page| page.rows));
    answer(sales::list_brand_sales(ctx, text, all, page()).await.map(|page| page.rows));
    answer(sales::find_sale(ctx, text, ctx.now().date(), text).await.map(|sale| sale.into_iter().collect()));
    match sales::list_embeddings(ctx, text, all, page()).await {
        Ok(page) => told.extend(page.rows.into_iter().map(|row| row.embedding_s3_key)),
        Err(error) => assert_eq!(error.kind(), Kind::Invalid, "{error}"),
    }
    told
}

async fn no_input_reaches_another_tenant(target: &Target) {
    let world = World::new(target);
    let mine = &world.ctx;
    // A name that begins as the other's does.
    let name = format!("{}1", mine.store.tenant());
    let theirs = mine.with_store(world.database.tenant(&name).expect("a tenant"));
    let mut chance = SmallRng::seed_from_u64(seed());
    let marked = |ctx: &Context, text: &str, mark: &str| NewSale {
        product_id: text.into(),
        sale_id: text.into(),
        category: text.into(),
        brand: Some(text.into()),
        embedding_id: Some(mark.into()),
        embedding_s3_key: Some(mark.into()),
        ..sale(ctx, "", "")
    };
    let mut texts = vec!["dress".to_owned(), "Nike".into(), "p1".into()];
    texts.extend((0..60).map(|_| hostile(&mut chance, mine.store.tenant().as_str())));
    texts.extend((0..60).map(|_| hostile(&mut chance, theirs.store.tenant().as_str())));
    let mut cursors: Vec<Option<Cursor>> = vec![None, Some(Cursor::from("TENANT#other".to_owned()))];
    for (ctx, mark) in [(mine, "mine"), (&theirs, "theirs")] {
        let batch = texts.iter().map(|text| marked(ctx, text, mark)).collect();
        let answers = sales::put_sales(ctx, batch).await.expect("a batch");
        for (text, answer) in texts.iter().zip(answers) {
            let refused = text.contains('#') || text.chars().any(char::is_control) || text.trim() != text;
            assert_eq!(answer.is_err(), refused, "{text:?}: {answer:?}");
        }
        put_all(ctx, vec![marked(ctx, "p1", mark)]).await;
        for _ in 0..2 {
            let page = sales::list_category_sales(ctx, "p1", None, Days::default(), PageRequest::first(1)).await;
            cursors.push(page.expect("a page").next);
        }
    }
    for text in &texts {
        for (ctx, mark) in [(mine, "mine"), (&theirs, "theirs")] {
            let cursor = cursors[chance.random_range(0..cursors.len())].clone();
            let told = ask_all(ctx, text, cursor).await;
            assert!(told.iter().all(|told| told == mark), "{text:?} told {told:?} to {mark}");
            let told = ask_all(ctx, text, None).await;
            assert!(told.iter().all(|told| told == mark), "{text:?} told {told:?} to {mark}");
            let found = sales::find_sale(ctx, text, ctx.now().date(), text).await;
            assert!(found.is_err() || found.is_ok_and(|sale| sale.is_some()), "{text:?}");
        }
    }
    // What one of them takes back, the other keeps.
    for text in &texts {
        let _ = sales::delete_sale(mine, text, mine.now().date(), text).await;
    }
    let mut kept = 0;
    for text in &texts {
        kept += usize::from(matches!(sales::find_sale(&theirs, text, mine.now().date(), text).await, Ok(Some(_))));
        assert!(!matches!(sales::find_sale(mine, text, mine.now().date(), text).await, Ok(Some(_))), "{text:?}");
    }
    assert!(kept >= 3, "{kept}");
}

async fn tenants_are_named_by_plain_letters(target: &Target) {
    let world = World::new(target);
    let own = world.ctx.store.tenant().to_string();
    for name in [
        String::new(),
        format!("{own}#PRODUCT"),
        "TENANT#other".into(),
        format!("{own}\0"),
        "tеnant".into(),
        "ａ".into(),
        "Tenant".into(),
        "x".repeat(65),
        "_system".into(),
    ] {
        assert!(world.database.tenant(&name).is_err(), "{name:?}");
    }
}
