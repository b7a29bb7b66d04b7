//! The trees of the shop.

use askama::Template;
use axum::response::Response;
use merkato::hierarchy;

use super::{
    super::{
        forms::{self, Forms},
        pager::{Pager, Turn},
        said,
    },
    CATEGORIES, PATH, tree_path,
};
use crate::{
    http::{Problem, Query, Visit},
    web::{Form, Frame, Html, see_other},
};

struct TreeRow {
    path: String,
    name: String,
    created: String,
}

#[derive(Template)]
#[template(path = "admin/trees.html")]
pub struct Trees {
    frame: Frame,
    forms: Forms,
    trees: Vec<TreeRow>,
    pager: Pager,
}

pub async fn list(visit: Visit, frame: Frame, Query(turn): Query<Turn>) -> Result<Html<Trees>, Problem> {
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, &turn, forms).await?))
}

async fn page(visit: &Visit, frame: Frame, turn: &Turn, forms: Forms) -> Result<Trees, Problem> {
    let found = hierarchy::list_trees(&visit.ctx, turn.page(visit)?).await?;
    let row = |tree: hierarchy::Tree| TreeRow {
        path: if hierarchy::is_kept(tree.org_id) { CATEGORIES.to_owned() } else { tree_path(&tree.tree_name) },
        name: tree.tree_name,
        created: said::day(tree.created_at),
    };
    let trees = found.rows.into_iter().map(row).collect();
    Ok(Trees { frame, forms, trees, pager: turn.pager(visit, PATH, &[], found.next) })
}

pub async fn create(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    match hierarchy::create_tree(&visit.ctx, fields.text("name").trim()).await {
        Ok(tree) => Ok(see_other(&format!("{}?notice=tree-made", tree_path(&tree.tree_name)))),
        Err(error) => {
            let forms = Forms::new(&visit).refused("new", fields, error.into())?;
            Ok(forms::refused(page(&visit, frame, &Turn::default(), forms).await?))
        }
    }
}
