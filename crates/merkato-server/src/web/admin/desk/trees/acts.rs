//! What is done with nodes.

use std::collections::BTreeMap;

use axum::response::Response;
use merkato::{
    hierarchy::{self, NewNode, NodeFacts},
    id::NodeId,
};

use super::{
    super::{
        forms::{self, Forms},
        pager::Turn,
    },
    node_path,
    page::{NodeQuery, back, page},
};
use crate::{
    http::{Path, Problem, Visit},
    web::{Fields, Form, Frame, see_other},
};

/// The page of the node that a form is about, with the form as it was sent.
async fn refused(
    visit: &Visit,
    frame: Frame,
    tree: &str,
    id: NodeId,
    form: (&'static str, Fields),
    problem: Problem,
) -> Result<Response, Problem> {
    let (form, mut fields) = form;
    let problem = in_words(problem);
    let edited = problem.code == "edited_meanwhile";
    // What is wrong with no field of the form is said of the whole.
    let shown = |pointer: &str| !matches!((form, pointer), ("new", "/parent_id" | "/id"));
    let says = problem.errors.iter().find(|error| !shown(&error.pointer)).map(|error| error.detail.clone());
    if edited {
        let node = hierarchy::get_node(&visit.ctx, hierarchy::tree_id(tree), id).await?;
        fields = fields.with("revision", node.revision.to_string());
    }
    let mut forms = Forms::new(visit).refused(form, fields, problem)?;
    if edited {
        forms = forms.saying(
            "Somebody else has changed or moved this node since you opened it. What you entered is kept below; send it again to do it nevertheless.",
        );
    } else if let Some(says) = says {
        forms = forms.saying(says);
    }
    Ok(forms::refused(page(visit, frame, tree, id, (&NodeQuery::default(), &Turn::default()), forms).await?))
}

/// The same without ids, which nobody knows a node by.
fn in_words(mut problem: Problem) -> Problem {
    let words = match problem.code {
        "node_cycle" => "this is the node itself, or stands below it; choose a place outside of it",
        "node_name_taken" => "another node there has this name",
        "parent_not_found" => "there is no such node any more",
        "not_a_leaf" => "Others stand below it by now. Look at them first, then delete it with all below.",
        _ => return problem,
    };
    problem.detail = words.to_owned();
    for error in &mut problem.errors {
        error.detail = words.to_owned();
    }
    problem
}

/// Which revision of a node the form was made of.
fn revision(fields: &Fields) -> Result<Option<i64>, Problem> {
    // What is dragged is moved as it is.
    if fields.text("revision").is_empty() { Ok(None) } else { fields.parse("revision", "a number").map(Some) }
}

pub async fn add(
    visit: Visit,
    frame: Frame,
    Path(tree): Path<String>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let id = hierarchy::tree_id(&tree);
    let parent: NodeId = fields.parse("parent_id", "a node")?;
    let new = NewNode {
        node_id: Some(NodeId(forms::operation(&fields)?)),
        parent_id: Some(parent),
        name: fields.text("name").trim().to_owned(),
        node_type: fields.optional("node_type"),
        metadata: BTreeMap::new(),
    };
    match hierarchy::insert_node(&visit.ctx, id, new).await {
        Ok(_) => Ok(see_other(&back(&fields, &node_path(&tree, id, parent), "node-added"))),
        Err(error) => refused(&visit, frame, &tree, parent, ("new", fields), error.into()).await,
    }
}

pub async fn rename(
    visit: Visit,
    frame: Frame,
    Path((tree, id)): Path<(String, NodeId)>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let (of, expected) = (hierarchy::tree_id(&tree), revision(&fields)?);
    match hierarchy::rename_node(&visit.ctx, of, id, fields.text("name").trim(), expected).await {
        Ok(_) => Ok(see_other(&format!("{}?notice=changed", node_path(&tree, of, id)))),
        Err(error) => refused(&visit, frame, &tree, id, ("rename", fields), error.into()).await,
    }
}

pub async fn describe(
    visit: Visit,
    frame: Frame,
    Path((tree, id)): Path<(String, NodeId)>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let of = hierarchy::tree_id(&tree);
    let pairs = fields.all("key").zip(fields.all("value"));
    let pairs = pairs.map(|(key, value)| (key.trim().to_owned(), forms::lines(value)));
    let metadata: BTreeMap<_, _> = pairs.filter(|(key, value)| !key.is_empty() || !value.is_empty()).collect();
    let facts = NodeFacts { node_type: Some(fields.optional("node_type")), metadata: Some(metadata) };
    match hierarchy::describe_node(&visit.ctx, of, id, facts, revision(&fields)?).await {
        Ok(_) => Ok(see_other(&format!("{}?notice=changed", node_path(&tree, of, id)))),
        Err(error) => refused(&visit, frame, &tree, id, ("facts", fields), error.into()).await,
    }
}

/// By the path that somebody wrote, or by the node that something was dropped on.
pub async fn carry(
    visit: Visit,
    frame: Frame,
    Path((tree, id)): Path<(String, NodeId)>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let of = hierarchy::tree_id(&tree);
    let moved = async {
        let parent = match fields.text("parent_id") {
            "" => at_path(&visit, &tree, fields.text("path").trim()).await?,
            _ => fields.parse::<NodeId>("parent_id", "a node")?,
        };
        Ok(hierarchy::move_node(&visit.ctx, of, id, Some(parent), revision(&fields)?).await?)
    };
    match moved.await {
        Ok(_) => Ok(see_other(&back(&fields, &node_path(&tree, of, id), "node-moved"))),
        Err(problem) => {
            let fields = about_path(&visit, &tree, fields).await?;
            refused(&visit, frame, &tree, id, ("move", fields), of_path(problem)).await
        }
    }
}

async fn at_path(visit: &Visit, tree: &str, path: &str) -> Result<NodeId, Problem> {
    let found = hierarchy::find_by_path(&visit.ctx, hierarchy::tree_id(tree), path).await?;
    let nobody = || Problem::field("invalid", "/path", "there is no node at this path");
    found.map(|entry| entry.node_id).ok_or_else(nobody)
}

/// A node that was dropped somewhere gets a form with the path of that place.
async fn about_path(visit: &Visit, tree: &str, fields: Fields) -> Result<Fields, Problem> {
    let Ok(parent) = fields.parse::<NodeId>("parent_id", "a node") else { return Ok(fields) };
    let node = hierarchy::find_node(&visit.ctx, hierarchy::tree_id(tree), parent).await?;
    Ok(Fields::of([("path", node.map_or(String::new(), |node| node.node_path))]))
}

/// The form asks for a path, whatever is wrong with the place that it leads to.
fn of_path(mut problem: Problem) -> Problem {
    for error in problem.errors.iter_mut().filter(|error| matches!(error.pointer.as_str(), "/parent_id" | "/name")) {
        error.pointer = "/path".into();
    }
    problem
}

pub async fn delete(
    visit: Visit,
    frame: Frame,
    Path((tree, id)): Path<(String, NodeId)>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let of = hierarchy::tree_id(&tree);
    let expected = revision(&fields)?;
    // Where it stood is where one goes on.
    let above = hierarchy::get_node(&visit.ctx, of, id).await?.parent_id.unwrap_or(id);
    let gone = match fields.is_on("subtree") {
        true => hierarchy::delete_subtree(&visit.ctx, of, id, expected).await,
        false => hierarchy::delete_leaf(&visit.ctx, of, id, expected).await,
    };
    match gone {
        Ok(()) => Ok(see_other(&format!("{}?notice=node-deleted", node_path(&tree, of, above)))),
        Err(error) => refused(&visit, frame, &tree, id, ("delete", fields), error.into()).await,
    }
}
