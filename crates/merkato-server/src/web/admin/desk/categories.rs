//! The tree of categories, and one of them: made, renamed, moved, deleted.

use askama::Template;
use axum::response::Response;
use merkato::{
    catalog::{self, Category, CategoryChange, NewCategory},
    id::CategoryId,
};

use super::{
    forms::{self, Forms},
    pager::{Pager, Turn},
    tree::{self, Branch},
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Fields, Form, Frame, Html, see_other},
};

const PATH: &str = "/admin/categories";

#[derive(Template)]
#[template(path = "admin/categories.html")]
pub struct Categories {
    frame: Frame,
    forms: Forms,
    branches: Vec<Branch>,
    pager: Pager,
}

#[derive(Template)]
#[template(path = "admin/category.html")]
pub struct Shown {
    frame: Frame,
    forms: Forms,
    id: String,
    name: String,
    above: Vec<(String, String)>,
    branches: Vec<Branch>,
    pager: Pager,
    /// Where it can be moved to, below its name where it stands now.
    places: Vec<Branch>,
    /// There are more than these.
    cut: bool,
}

pub async fn list(visit: Visit, frame: Frame, Query(turn): Query<Turn>) -> Result<Html<Categories>, Problem> {
    let forms = Forms::new(&visit);
    Ok(Html(top(&visit, frame, &turn, forms).await?))
}

async fn top(visit: &Visit, frame: Frame, turn: &Turn, forms: Forms) -> Result<Categories, Problem> {
    let (branches, pager) = branches(visit, turn, None, PATH).await?;
    Ok(Categories { frame, forms, branches, pager })
}

async fn branches(
    visit: &Visit,
    turn: &Turn,
    parent: Option<CategoryId>,
    path: &str,
) -> Result<(Vec<Branch>, Pager), Problem> {
    let found = catalog::list_subcategories(&visit.ctx, parent, turn.page(visit)?).await?;
    let branches = tree::below(&visit.ctx, found.rows).await?;
    Ok((branches, turn.pager(visit, path, &[], found.next)))
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(id): Path<CategoryId>,
    Query(turn): Query<Turn>,
) -> Result<Html<Shown>, Problem> {
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, id, &turn, forms).await?))
}

async fn page(visit: &Visit, frame: Frame, id: CategoryId, turn: &Turn, forms: Forms) -> Result<Shown, Problem> {
    let category = catalog::get_category(&visit.ctx, id).await?;
    let above = catalog::breadcrumbs(&visit.ctx, &category).await?;
    let above = above.into_iter().filter(|above| above.category_id != id);
    let (branches, pager) = branches(visit, turn, Some(id), &format!("{PATH}/{id}")).await?;
    let (places, all) = tree::whole(&visit.ctx).await?;
    Ok(Shown {
        places: tree::outside(places, id),
        cut: !all,
        above: above.map(|above| (above.category_id.to_string(), above.name)).collect(),
        id: id.to_string(),
        name: category.name.clone(),
        forms: forms
            .with("category", filled(&category))
            .with("move", place(&category))
            .with("delete", Fields::of([("revision", category.revision.to_string())])),
        branches,
        pager,
        frame,
    })
}

fn filled(category: &Category) -> Fields {
    Fields::of([
        ("name", category.name.clone()),
        ("slug", category.slug.clone()),
        ("revision", category.revision.to_string()),
    ])
}

fn place(category: &Category) -> Fields {
    Fields::of([
        ("parent_id", category.parent_id.map_or(String::new(), |id| id.to_string())),
        ("revision", category.revision.to_string()),
    ])
}

fn about_field(error: catalog::Error) -> Problem {
    match &error {
        catalog::Error::CategoryNameTaken { .. } => {
            Problem::field("invalid", "/name", "another category there has this name")
        }
        catalog::Error::SlugTaken { .. } => Problem::field("invalid", "/slug", error.to_string()),
        _ => error.into(),
    }
}

/// Makes a category at the top, or below the one whose page the form stands on.
pub async fn create(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let parent = match fields.optional("parent_id") {
        Some(_) => Some(fields.parse::<CategoryId>("parent_id", "a category")?),
        None => None,
    };
    let problem = match made(&visit, &fields, parent).await {
        Ok(id) => return Ok(see_other(&format!("{PATH}/{id}?notice=category-made"))),
        Err(problem) => problem,
    };
    let forms = Forms::new(&visit).refused("new", fields, problem)?;
    let turn = Turn::default();
    Ok(match parent {
        Some(parent) => forms::refused(page(&visit, frame, parent, &turn, forms).await?),
        None => forms::refused(top(&visit, frame, &turn, forms).await?),
    })
}

async fn made(visit: &Visit, fields: &Fields, parent_id: Option<CategoryId>) -> Result<CategoryId, Problem> {
    let id = CategoryId(forms::operation(fields)?);
    let name = fields.text("name").trim().to_owned();
    let new = NewCategory { category_id: Some(id), name, slug: fields.optional("slug"), parent_id };
    match catalog::create_category(&visit.ctx, new).await {
        // The same form was sent twice, and the first has made it.
        Ok(_) | Err(catalog::Error::CategoryExists { .. }) => Ok(id),
        Err(error) => Err(about_field(error)),
    }
}

pub async fn change(
    visit: Visit,
    frame: Frame,
    Path(id): Path<CategoryId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let problem = match changed(&visit, id, &fields).await {
        Ok(_) => return Ok(see_other(&format!("{PATH}/{id}?notice=changed"))),
        Err(problem) => problem,
    };
    let mut fields = fields;
    let edited = problem.code == "edited_meanwhile";
    let mut says = String::new();
    if edited {
        let category = catalog::get_category(&visit.ctx, id).await?;
        says = format!(
            "Somebody else has changed this category since you opened it: it is called {} by now, at {}. What you typed is kept below; save again to put it in place of theirs.",
            category.name, category.slug
        );
        let typed = [("name", fields.text("name").to_owned()), ("slug", fields.text("slug").to_owned())];
        fields = Fields::of(typed.into_iter().chain([("revision", category.revision.to_string())]));
    }
    let mut forms = Forms::new(&visit).refused("category", fields, problem)?;
    if edited {
        forms = forms.saying(says);
    }
    Ok(forms::refused(page(&visit, frame, id, &Turn::default(), forms).await?))
}

async fn changed(visit: &Visit, id: CategoryId, fields: &Fields) -> Result<Category, Problem> {
    let revision = fields.parse("revision", "a number")?;
    let change = CategoryChange { name: Some(fields.text("name").trim().to_owned()), slug: fields.optional("slug") };
    catalog::change_category(&visit.ctx, id, Some(revision), change).await.map_err(about_field)
}

/// Moves a category to where the form says: one of the list, or one whose address was typed.
pub async fn carry(
    visit: Visit,
    frame: Frame,
    Path(id): Path<CategoryId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let problem = match moved(&visit, id, &fields).await {
        Ok(_) => return Ok(see_other(&format!("{PATH}/{id}?notice=category-moved"))),
        Err(problem) => problem,
    };
    let edited = problem.code == "edited_meanwhile";
    let mut fields = fields;
    if edited {
        let category = catalog::get_category(&visit.ctx, id).await?;
        fields = fields.with("revision", category.revision.to_string());
    }
    let mut forms = Forms::new(&visit).refused("move", fields, problem)?;
    if edited {
        forms = forms.saying(
            "Somebody else has changed or moved this category since you opened it. Send it again to move it nevertheless.",
        );
    }
    Ok(forms::refused(page(&visit, frame, id, &Turn::default(), forms).await?))
}

async fn moved(visit: &Visit, id: CategoryId, fields: &Fields) -> Result<Category, Problem> {
    let revision = fields.parse("revision", "a number")?;
    let (parent, field) = match (fields.optional("address"), fields.optional("parent_id")) {
        (Some(address), _) => {
            let found = match catalog::find_category_by_slug(&visit.ctx, &address).await {
                Err(catalog::Error::Invalid(_)) => None,
                found => found?,
            };
            let nobody = || Problem::field("invalid", "/address", "there is no category at this address");
            (Some(found.ok_or_else(nobody)?.category_id), "/address")
        }
        (None, Some(_)) => (Some(fields.parse::<CategoryId>("parent_id", "a category")?), "/parent_id"),
        (None, None) => (None, "/parent_id"),
    };
    let moved = catalog::move_category(&visit.ctx, id, parent, Some(revision)).await;
    moved.map_err(|error| misplaced(error, id, field))
}

fn misplaced(error: catalog::Error, moved: CategoryId, field: &str) -> Problem {
    use catalog::Error;
    let why = match &error {
        Error::CategoryNotFound { category } if *category != moved => "there is no such category any more".to_owned(),
        Error::CategoryCycle { .. } => {
            "this is the category itself, or stands below it; choose one outside of it".to_owned()
        }
        Error::CategoryNameTaken { .. } => "another category there has this name".to_owned(),
        Error::TooDeep { .. } => error.to_string(),
        _ => return error.into(),
    };
    Problem::field("invalid", field, why)
}

/// Deletes a category that nothing is in; where it stood is where one goes on.
pub async fn delete(
    visit: Visit,
    frame: Frame,
    Path(id): Path<CategoryId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let category = catalog::get_category(&visit.ctx, id).await?;
    let revision = fields.parse("revision", "a number")?;
    let error = match catalog::delete_category(&visit.ctx, id, Some(revision)).await {
        Ok(()) => {
            let above = category.parent_id.map_or(PATH.to_owned(), |above| format!("{PATH}/{above}"));
            return Ok(see_other(&format!("{above}?notice=category-deleted")));
        }
        Err(error) => error,
    };
    let says = match &error {
        catalog::Error::CategoryHasProducts { name, status, .. } => Some(format!(
            "There are products in this category: {name} ({}) is one of them. Put them into another one first.",
            status.as_str()
        )),
        catalog::Error::CategoryHasSubcategories { .. } => {
            Some("Other categories stand below this one. Move or delete them first.".to_owned())
        }
        catalog::Error::CategoryEdited { .. } => Some(
            "Somebody else has changed or moved this category since you opened it. Send it again to delete it nevertheless."
                .to_owned(),
        ),
        _ => None,
    };
    let fields = fields.with("revision", catalog::get_category(&visit.ctx, id).await?.revision.to_string());
    let mut forms = Forms::new(&visit).refused("delete", fields, error.into())?;
    if let Some(says) = says {
        forms = forms.saying(says);
    }
    Ok(forms::refused(page(&visit, frame, id, &Turn::default(), forms).await?))
}
