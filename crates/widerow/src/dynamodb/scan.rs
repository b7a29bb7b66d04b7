//! Whole tables, segment by segment.

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    DynamoDb,
    error::{Repeat, call},
    item::{self, Address, Item},
    key::BOOKKEEPING,
};
use crate::{
    codec::{self, Reader},
    engine::{RawRow, Scan, ScanPage},
    error::{Error, Result},
    key::Tenant,
    meter::{self, Cost},
    value::Value,
};

impl DynamoDb {
    pub(super) async fn scan_range(&self, scan: Scan<'_>) -> Result<ScanPage> {
        let (table, home) = (scan.table, self.home(scan.table)?);
        let segment = |n: usize| i32::try_from(n).map_err(|_| Error::invalid("ranges", "too many"));
        let mut start = scan.after.map(read_position).transpose()?;
        let mut statics = Statics { first: true, ..Statics::default() };
        let mut rows: Vec<(Tenant, RawRow)> = Vec::new();
        let (mut rows_read, mut bytes_read, mut partitions_read) = (0, 0, 0);
        loop {
            let wanted = scan.limit.saturating_sub(rows.len()).max(1);
            let request = self
                .client
                .scan()
                .table_name(&home.physical)
                .set_index_name(home.index.map(|i| i.name.clone()))
                .segment(segment(scan.range)?)
                .total_segments(segment(scan.ranges.max(1))?)
                .consistent_read(home.index.is_none())
                .limit(i32::try_from(wanted).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start.take());
            let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
            let answer = answer.map_err(|t| t.of_read(&table.name))?;
            for found in answer.items.unwrap_or_default() {
                rows_read += 1;
                bytes_read += item::bytes(&found);
                if let Some(index) = home.index {
                    rows.push(item::index_row(table, index, home.base, &found)?);
                    continue;
                }
                let address = Address::of(table, &found)?;
                if statics.pk.as_ref() != Some(&address.pk) {
                    partitions_read += 1;
                }
                if table.has_statics() {
                    self.follow(&mut statics, &address, &found, table).await?;
                } else {
                    statics.pk = Some(address.pk);
                }
                if let Some((tenant, mut row)) = item::row(table, &found)? {
                    item::merge_statics(&mut row, statics.values.as_deref());
                    rows.push((tenant, row));
                }
            }
            start = answer.last_evaluated_key;
            if start.is_none() || rows.len() >= scan.limit {
                break;
            }
        }
        meter::charge(Cost { partitions_read, rows_read, bytes_read, ..Cost::default() });
        let next = start.map(|position| put_position(&position)).transpose()?;
        Ok(ScanPage { rows, next })
    }

    /// Keeps the static columns of the partition that the scan is in. The bookkeeping item comes first in its partition;
    /// only where a page begins inside a partition does it have to be read.
    async fn follow(
        &self,
        statics: &mut Statics,
        address: &Address,
        found: &Item,
        table: &'static crate::schema::Table,
    ) -> Result<()> {
        if address.sk.as_deref() == Some(BOOKKEEPING) {
            statics.values = item::statics(table, Some(found))?;
        } else if statics.first {
            let book = Address { pk: address.pk.clone(), sk: Some(BOOKKEEPING.to_owned()) };
            let items = self.fetch(table, [book].into(), true).await?;
            statics.values = item::statics(table, items.values().next())?;
        } else if statics.pk.as_ref() != Some(&address.pk) {
            statics.values = None;
        }
        statics.first = false;
        statics.pk = Some(address.pk.clone());
        Ok(())
    }
}

#[derive(Default)]
struct Statics {
    /// No item was seen yet.
    first: bool,
    pk: Option<String>,
    values: Option<Vec<Value>>,
}

/// The position is the key that DynamoDB gave: text attributes, the index's among them.
fn put_position(position: &Item) -> Result<Vec<u8>> {
    let mut names: Vec<(&String, &AttributeValue)> = position.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    let mut out = Vec::new();
    for (name, attribute) in names {
        let text = attribute
            .as_s()
            .map_err(|other| Error::Engine { detail: format!("a key attribute is no text: {other:?}") })?;
        codec::put_bytes(&mut out, name.as_bytes());
        codec::put_bytes(&mut out, text.as_bytes());
    }
    Ok(out)
}

fn read_position(bytes: &[u8]) -> Result<Item> {
    let mut reader = Reader::new(bytes);
    let mut position = Item::new();
    let wrong = |_| Error::invalid("after", "it is not a position that a scan gave");
    while !reader.is_empty() {
        let name = reader.text().map_err(wrong)?.to_owned();
        position.insert(name, item::text(reader.text().map_err(wrong)?));
    }
    Ok(position)
}
