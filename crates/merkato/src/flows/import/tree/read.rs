//! Records and lines as nodes.

use std::{
    collections::{BTreeMap, HashMap},
    io::{Read, Seek},
    ops::ControlFlow,
};

use super::{fields::TreeField, ops::TreeOptions, order::Drafted};
use crate::{
    flows::import::{
        clean,
        error::{Error, Result},
        ids,
        mapping::{self, Plan, Plans},
        record::{Item, Place, Record},
        report::Report,
        source,
    },
    hierarchy::NewNode,
    id::NodeId,
    limits,
};

/// All nodes of a source, in its order. What makes none is in the report.
pub(super) fn read(input: &mut (impl Read + Seek), options: &TreeOptions, report: &mut Report) -> Result<Vec<Drafted>> {
    if options.has_paths(&source::beginning(input)?) {
        read_paths(input, options, report)
    } else {
        read_table(input, options, report)
    }
}

fn too_many() -> Error {
    Error::unreadable(format!("it has more than {} nodes", limits::IMPORT_NODES_MAX))
}

fn read_table(input: &mut (impl Read + Seek), options: &TreeOptions, report: &mut Report) -> Result<Vec<Drafted>> {
    let mut plans = Plans::new(options.mapping.clone());
    let (mut drafts, mut refused) = (Vec::new(), None);
    source::read(input, options.format, &mut |item| {
        match item {
            Item::Columns(columns) => refused = mapping::check_columns(&columns, &plans.mapping).err().map(Error::from),
            Item::Record(record) => {
                let plan = plans.of(&record.columns);
                match draft(&record, &plan, options) {
                    Ok(draft) => drafts.push(draft),
                    Err(reason) => {
                        report.count(1);
                        report.reject(record.place, None, reason.into());
                    }
                }
            }
            Item::Bad(place, reason) => {
                report.count(1);
                report.reject(place, None, reason);
            }
        }
        if drafts.len() > limits::IMPORT_NODES_MAX {
            refused = Some(too_many());
        }
        if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    refused.map_or(Ok(drafts), Err)
}

fn draft(record: &Record, plan: &Plan<TreeField>, options: &TreeOptions) -> Result<Drafted, &'static str> {
    let line = |field: TreeField| {
        let value = plan.position(field).and_then(|i| record.values.get(i)).filter(|value| !value.is_empty());
        value.map(|value| clean::line(&value.text())).filter(|text| !text.is_empty())
    };
    let id = line(TreeField::Id).ok_or("it has no id")?;
    let name = line(TreeField::Name).ok_or("it has no name")?;
    let parent = line(TreeField::Parent);
    let node = |id: &str| ids::node(&options.source, &options.tree, &["id", id]);
    let mut metadata = BTreeMap::new();
    for ((column, value), (field, _)) in record.columns.iter().zip(&record.values).zip(&plan.columns) {
        if *field == TreeField::Metadata && !value.is_empty() {
            metadata.insert(clean::line(column), clean::lines(&value.text()));
        }
    }
    Ok(Drafted {
        place: record.place,
        node: NewNode {
            node_id: Some(node(&id)),
            parent_id: parent.as_deref().map(node),
            name,
            node_type: line(TreeField::Type).or_else(|| options.node_type.clone()),
            metadata,
        },
        id,
        is_record: true,
    })
}

/// Lines such as `id : A > B > C`, or without an id. Nodes that stand in paths only are made with the first line below them.
fn read_paths(input: &mut (impl Read + Seek), options: &TreeOptions, report: &mut Report) -> Result<Vec<Drafted>> {
    let mut lines: Vec<(Place, String, Vec<String>)> = Vec::new();
    let mut known: HashMap<Vec<String>, NodeId> = HashMap::new();
    let mut refused = None;
    let mut record = 0;
    source::lines(input, &mut |number, line| {
        let place = |record| Place { record, line: Some(number) };
        let Some(line) = line else {
            record += 1;
            report.count(1);
            report.reject(place(record), None, "it is not UTF-8".into());
            return ControlFlow::Continue(());
        };
        if line.is_empty() || line.starts_with('#') {
            return ControlFlow::Continue(());
        }
        record += 1;
        let (id, path) = match line.split_once(" : ") {
            Some((id, path)) if !id.trim().contains(char::is_whitespace) => (Some(id.trim()), path),
            _ => (None, line),
        };
        let names: Vec<String> = path.split(&options.separator).map(clean::line).collect();
        if names.iter().any(String::is_empty) {
            report.count(1);
            report.reject(place(record), id.map(str::to_owned), "a name in its path is empty".into());
            return ControlFlow::Continue(());
        }
        let node = match id {
            Some(id) => ids::node(&options.source, &options.tree, &["id", id]),
            None => by_path(options, &names),
        };
        // Of two lines with one path the first has it.
        known.entry(names.clone()).or_insert(node);
        lines.push((place(record), id.map_or_else(|| path.to_owned(), str::to_owned), names));
        if lines.len() > limits::IMPORT_NODES_MAX {
            refused = Some(too_many());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if let Some(refused) = refused {
        return Err(refused);
    }
    let mut drafts = Vec::with_capacity(lines.len());
    let mut seen: HashMap<NodeId, ()> = HashMap::with_capacity(lines.len());
    for (place, id, names) in lines {
        for above in 1..names.len() {
            if !known.contains_key(&names[..above]) {
                let some = names[..above].to_vec();
                let node = by_path(options, &some);
                drafts.push(drafted(place, some.join(&options.separator), node, &some, &known, options, false));
                known.insert(some, node);
            }
        }
        let own = known.get(&names).copied().unwrap_or_else(|| by_path(options, &names));
        if seen.insert(own, ()).is_some() {
            report.count(1);
            report.reject(place, Some(id), "its path stands in an earlier line".into());
            continue;
        }
        drafts.push(drafted(place, id, own, &names, &known, options, true));
    }
    Ok(drafts)
}

fn by_path(options: &TreeOptions, names: &[String]) -> NodeId {
    let parts: Vec<&str> = ["path"].into_iter().chain(names.iter().map(String::as_str)).collect();
    ids::node(&options.source, &options.tree, &parts)
}

fn drafted(
    place: Place,
    id: String,
    node: NodeId,
    names: &[String],
    known: &HashMap<Vec<String>, NodeId>,
    options: &TreeOptions,
    is_record: bool,
) -> Drafted {
    let (name, above) = names.split_last().map(|(name, above)| (name.clone(), above)).unwrap_or_default();
    let parent_id = known.get(above).copied();
    let metadata = if is_record && !id.is_empty() && options.keep_ids {
        BTreeMap::from([("source_id".to_owned(), id.clone())])
    } else {
        BTreeMap::new()
    };
    let new = NewNode { node_id: Some(node), parent_id, name, node_type: options.node_type.clone(), metadata };
    Drafted { place, id, node: new, is_record }
}
