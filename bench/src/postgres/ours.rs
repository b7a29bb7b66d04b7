//! The shop on the embedded engine, through the operations of its catalog.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use merkato::{
    Context, Cursor, PageRequest, Settings,
    catalog::{self, CategoryEntry, NewCategory, Product, SortOrder},
    context::SystemChance,
    id::{CategoryId, ProductId},
};
use widerow::{Database, embedded::Embedded, time::ManualClock};

use super::{PAGE, sample::Sample};

/// Products on their way at once: their commits share syncs.
const WRITERS: usize = 64;

#[derive(Clone)]
pub struct Shop {
    ctx: Context,
}

impl Shop {
    pub async fn load(folder: &Path, sample: Arc<Sample>) -> Self {
        let schema = || merkato::schema().expect("a schema");
        let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
        database.migrate().await.expect("tables");
        let store = database.tenant("bench").expect("a good name");
        // A clock that stands still: both sides have the same times.
        let clock = Arc::new(ManualClock::at(sample.now()));
        let shop = Shop { ctx: Context::new(store, Settings::default(), clock, Arc::new(SystemChance)) };
        for (category_id, name, parent_id) in sample.categories() {
            let new = NewCategory { category_id: Some(category_id), name, slug: None, parent_id };
            catalog::create_category(&shop.ctx, new).await.expect("a category");
        }
        let next = Arc::new(AtomicUsize::new(0));
        let writer = |_| {
            let (shop, sample, next) = (shop.clone(), sample.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= sample.len() {
                        break;
                    }
                    catalog::create_product(&shop.ctx, sample.new_product(i)).await.expect("a product");
                }
            })
        };
        for writer in (0..WRITERS).map(writer).collect::<Vec<_>>() {
            writer.await.expect("no panic");
        }
        shop
    }

    pub async fn product(&self, id: ProductId) -> Product {
        catalog::get_product(&self.ctx, id).await.expect("a product")
    }

    /// The cheapest first, from the beginning or after where another page ended.
    pub async fn page(&self, category: CategoryId, after: Option<Cursor>) -> (Vec<CategoryEntry>, Option<Cursor>) {
        let request = PageRequest { limit: PAGE, cursor: after };
        let page = catalog::list_category(&self.ctx, category, SortOrder::PriceAsc, request).await.expect("a page");
        (page.rows, page.next)
    }
}
