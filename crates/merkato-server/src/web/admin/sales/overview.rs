//! The categories and brands of which sales are known.

use askama::Template;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    Context, PageRequest,
    sales::{self, Days, NameKind, SaleName, Subject, figures::By},
};
use widerow::Date;

use super::{
    brand_path, category_path,
    figures::{self, FiguresRow},
};
use crate::{
    http::{Problem, Query, Visit},
    web::{
        Frame, Html,
        admin::desk::pager::{Pager, Turn},
    },
};

/// Days whose sales are counted, and names of each kind on the first page.
const DAYS: i32 = 90;
const NAMES: usize = 12;
/// Names whose sales are counted at once.
const AT_ONCE: usize = 4;

/// A category or a brand.
struct NameRow {
    path: String,
    figures: FiguresRow,
}

#[derive(Template)]
#[template(path = "admin/sales.html")]
pub struct Overview {
    frame: Frame,
    categories: Vec<NameRow>,
    brands: Vec<NameRow>,
    more_categories: bool,
    more_brands: bool,
}

#[derive(Template)]
#[template(path = "admin/sales_names.html")]
pub struct Names {
    frame: Frame,
    title: &'static str,
    one: &'static str,
    rows: Vec<NameRow>,
    pager: Pager,
}

pub async fn show(frame: Frame, visit: Visit) -> Result<Html<Overview>, Problem> {
    let ctx = &visit.ctx;
    let page = || PageRequest::first(NAMES);
    let (categories, brands) = futures::try_join!(
        sales::list_names(ctx, NameKind::Category, page()),
        sales::list_names(ctx, NameKind::Brand, page()),
    )?;
    Ok(Html(Overview {
        frame,
        more_categories: categories.next.is_some(),
        more_brands: brands.next.is_some(),
        categories: rows(ctx, NameKind::Category, categories.rows).await?,
        brands: rows(ctx, NameKind::Brand, brands.rows).await?,
    }))
}

pub async fn categories(frame: Frame, visit: Visit, Query(turn): Query<Turn>) -> Result<Html<Names>, Problem> {
    let found = sales::list_names(&visit.ctx, NameKind::Category, turn.page(&visit)?).await?;
    let pager = turn.pager(&visit, "/admin/sales/categories", &[], found.next);
    let rows = rows(&visit.ctx, NameKind::Category, found.rows).await?;
    Ok(Html(Names { frame, title: "Categories with sales", one: "Category", rows, pager }))
}

pub async fn brands(frame: Frame, visit: Visit, Query(turn): Query<Turn>) -> Result<Html<Names>, Problem> {
    let found = sales::list_names(&visit.ctx, NameKind::Brand, turn.page(&visit)?).await?;
    let pager = turn.pager(&visit, "/admin/sales/brands", &[], found.next);
    let rows = rows(&visit.ctx, NameKind::Brand, found.rows).await?;
    Ok(Html(Names { frame, title: "Brands with sales", one: "Brand", rows, pager }))
}

async fn rows(ctx: &Context, kind: NameKind, names: Vec<SaleName>) -> Result<Vec<NameRow>, Problem> {
    let today = ctx.now().date();
    let days = Days::between(Date::from_days(today.days() - DAYS + 1), today);
    let currency = &ctx.settings.orders.currency;
    let each = names.into_iter().map(|SaleName { name, .. }| async move {
        let (path, summary) = match kind {
            NameKind::Category => (category_path(&name), sales::get_category_summary(ctx, &name, days).await?),
            NameKind::Brand => {
                let trend = sales::get_trend(ctx, &Subject::Brand(name.clone()), By::Month, days).await?;
                (brand_path(&name), trend.whole)
            }
        };
        Ok::<_, Problem>(NameRow { path, figures: figures::row(name, summary.as_ref(), None, currency) })
    });
    stream::iter(each).buffered(AT_ONCE).try_collect().await
}
