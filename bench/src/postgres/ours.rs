//! The shop on the embedded engine.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use merkato::{
    Cursor,
    catalog::{CategoryEntry, Product, SortOrder},
    id::{CategoryId, ProductId},
};
use widerow::{Commit, Database, Store, embedded::Embedded};

use super::{PAGE, sample::Sample};

/// Commits on their way at once: they share their syncs.
const WRITERS: usize = 64;

#[derive(Clone)]
pub struct Shop {
    store: Store,
}

impl Shop {
    pub async fn load(folder: &Path, sample: Arc<Sample>) -> Self {
        let schema = || merkato::schema().expect("a schema");
        let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
        database.migrate().await.expect("tables");
        let shop = Shop { store: database.tenant("bench").expect("a good name") };
        let next = Arc::new(AtomicUsize::new(0));
        let writer = |_| {
            let (shop, sample, next) = (shop.clone(), sample.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= sample.len() {
                        break;
                    }
                    shop.store.commit(Commit::new().put(&sample.product(i))).await.expect("a commit");
                }
            })
        };
        for writer in (0..WRITERS).map(writer).collect::<Vec<_>>() {
            writer.await.expect("no panic");
        }
        shop
    }

    pub async fn product(&self, id: ProductId) -> Product {
        self.store.get::<Product>(id).await.expect("a read").expect("a product")
    }

    /// The cheapest first, from the beginning or after where another page ended.
    pub async fn page(&self, category: CategoryId, after: Option<Cursor>) -> (Vec<CategoryEntry>, Option<Cursor>) {
        let prefix = SortOrder::PriceAsc.prefix();
        let slice = self.store.slice::<CategoryEntry>(category).starts_with(&prefix).limit(PAGE).after(after);
        let page = slice.page().await.expect("a read");
        (page.rows, page.next)
    }
}
