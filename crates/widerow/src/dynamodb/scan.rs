//! Whole tables, segment by segment.
//!
//! DynamoDB scans a partition upward by sort key, whatever direction is asked for. Where the table goes down, the rows of
//! each partition are turned round; a partition that a page cuts through is read by a query, which can go down, and the
//! scan goes on behind it. So a page is never larger than its limit, however large a partition is.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    DynamoDb, Home,
    error::{Repeat, call},
    expression::Expression,
    item::{self, Address, Item, PK, SK},
    key::{self, BOOKKEEPING, SortRange},
};
use crate::{
    codec::{self, Reader},
    engine::{RawRow, Scan, ScanPage},
    error::{Error, Result},
    key::Tenant,
    meter::{self, Cost},
    schema::{Direction, Table},
    value::Value,
};

/// Where a scan goes on.
#[derive(Clone, Debug)]
enum Position {
    Start,
    /// Behind this key of the table or index.
    Behind(Item),
    /// Inside a partition, downward.
    Inside(Inside),
}

#[derive(Clone, Debug)]
struct Inside {
    pk: String,
    /// The highest sort key, behind which the scan goes on; and the last that was given. None before the first.
    given: Option<(String, String)>,
}

/// What a page has so far.
#[derive(Default)]
struct Page {
    rows: Vec<(Tenant, RawRow)>,
    /// Rows of the partition that the scan is in, upward, where they are to be turned round.
    upward: Vec<(Tenant, RawRow)>,
    bare: Vec<(Tenant, Vec<Value>)>,
    /// The partition that the scan is in and its static columns; None before the first item.
    partition: Option<(String, Option<Vec<Value>>)>,
    cost: Cost,
}

impl Page {
    fn len(&self) -> usize {
        self.rows.len() + self.upward.len() + self.bare.len()
    }

    fn turn(&mut self) {
        self.rows.extend(self.upward.drain(..).rev());
    }
}

impl DynamoDb {
    pub(super) async fn scan_range(&self, scan: Scan<'_>) -> Result<ScanPage> {
        let table = scan.table;
        let home = self.home(table)?;
        let down = home.index.is_none() && home.sorted > 0 && table.direction(0) == Direction::Descending;
        let mut position = scan.after.map_or(Ok(Position::Start), read_position)?;
        let mut page = Page::default();
        let limit = scan.limit.max(1);
        let next = loop {
            if page.len() >= limit {
                break Some(position);
            }
            let left = limit - page.len();
            let start = match position {
                Position::Inside(inside) => {
                    position = self.scan_down(table, &home, inside, left, &mut page).await?;
                    continue;
                }
                Position::Behind(key) => Some(key),
                Position::Start => None,
            };
            let Some(key) = self.scan_up(&scan, &home, down, start, left, &mut page).await? else {
                page.turn();
                break None;
            };
            position = Position::Behind(key);
            if down && page.len() >= limit {
                // The page cuts through this partition, or may: its rows are taken again, from the top.
                page.upward.clear();
                if let Some((pk, _)) = &page.partition {
                    position = Position::Inside(Inside { pk: pk.clone(), given: None });
                }
            }
        };
        meter::charge(page.cost);
        Ok(ScanPage {
            rows: page.rows,
            bare: page.bare,
            next: next.map(|position| put_position(&position)).transpose()?,
        })
    }

    /// One request of the scan; where it goes on, if anywhere.
    async fn scan_up(
        &self,
        scan: &Scan<'_>,
        home: &Home<'_>,
        down: bool,
        start: Option<Item>,
        limit: usize,
        page: &mut Page,
    ) -> Result<Option<Item>> {
        let table = scan.table;
        let segment = |n: usize| i32::try_from(n).map_err(|_| Error::invalid("ranges", "too many"));
        let request = self
            .client
            .scan()
            .table_name(&home.physical)
            .set_index_name(home.index_name.clone())
            .segment(segment(scan.range)?)
            .total_segments(segment(scan.ranges.max(1))?)
            .consistent_read(home.index.is_none())
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .set_exclusive_start_key(start);
        let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
        let answer = answer.map_err(|t| t.of_read(&table.name))?;
        for found in answer.items.unwrap_or_default() {
            page.cost.rows_read += 1;
            page.cost.bytes_read += item::bytes(&found);
            if let Some(index) = home.index {
                page.rows.extend(item::index_row(table, index, home.base, &found)?);
                continue;
            }
            self.follow(table, &found, page).await?;
            let statics = page.partition.as_ref().and_then(|(_, statics)| statics.as_deref());
            if let Some((tenant, mut row)) = item::row(table, &found)? {
                page.bare.pop_if(|(of, key)| *of == tenant && row.values.starts_with(key));
                item::merge_statics(&mut row, statics);
                if down { &mut page.upward } else { &mut page.rows }.push((tenant, row));
            }
        }
        Ok(answer.last_evaluated_key)
    }

    /// Keeps the partition that the scan is in, with its static columns. The bookkeeping item comes first in its
    /// partition; only where a page begins inside a partition does it have to be read.
    async fn follow(&self, table: &'static Table, found: &Item, page: &mut Page) -> Result<()> {
        let address = Address::of(table, found)?;
        let first = page.partition.is_none();
        if page.partition.as_ref().is_none_or(|(pk, _)| *pk != address.pk) {
            page.turn();
            page.cost.partitions_read += 1;
            page.partition = Some((address.pk.clone(), None));
        } else {
            return Ok(());
        }
        let statics = match address.sk.as_deref() {
            _ if !table.has_statics() => None,
            Some(BOOKKEEPING) => {
                let statics = item::statics(table, Some(found))?;
                // Whether it has rows is seen behind it.
                page.bare.extend(statics.is_some().then(|| key::parse_partition(table, &address.pk)).transpose()?);
                statics
            }
            _ if first => self.statics_of(table, &address.pk).await?,
            _ => None,
        };
        page.partition = Some((address.pk, statics));
        Ok(())
    }

    async fn statics_of(&self, table: &'static Table, pk: &str) -> Result<Option<Vec<Value>>> {
        if !table.has_statics() {
            return Ok(None);
        }
        let book = Address { pk: pk.to_owned(), sk: Some(BOOKKEEPING.to_owned()) };
        let items = self.fetch(table, BTreeSet::from([book]), true).await?;
        item::statics(table, items.values().next())
    }

    /// Rows of one partition, downward by sort key.
    async fn scan_down(
        &self,
        table: &'static Table,
        home: &Home<'_>,
        mut inside: Inside,
        limit: usize,
        page: &mut Page,
    ) -> Result<Position> {
        use std::ops::Bound::Unbounded;
        let statics = self.statics_of(table, &inside.pk).await?;
        let mut range = SortRange::new(table, home.sorted, &[], Unbounded, Unbounded)?;
        if let Some((_, last)) = &inside.given {
            range = range.behind(last.clone(), false);
        }
        let mut e = Expression::default();
        let condition = e.keys(PK, &inside.pk, Some((SK, &range)));
        let wanted = page.rows.len() + limit;
        let mut start = None;
        page.cost.partitions_read += 1;
        while let Some(condition) = &condition {
            let left = wanted - page.rows.len() + range.without.len();
            let request = self
                .client
                .query()
                .table_name(&home.physical)
                .key_condition_expression(condition)
                .set_expression_attribute_names(e.names())
                .set_expression_attribute_values(e.values())
                .scan_index_forward(false)
                .consistent_read(true)
                .limit(i32::try_from(left).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start);
            let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
            let answer = answer.map_err(|t| t.of_read(&table.name))?;
            for found in answer.items.unwrap_or_default() {
                page.cost.rows_read += 1;
                page.cost.bytes_read += item::bytes(&found);
                let sk = Address::of(table, &found)?.sk.unwrap_or_default();
                if page.rows.len() == wanted || range.without.contains(&sk) {
                    continue;
                }
                if let Some((tenant, mut row)) = item::row(table, &found)? {
                    item::merge_statics(&mut row, statics.as_deref());
                    page.rows.push((tenant, row));
                    let top = inside.given.take().map_or_else(|| sk.clone(), |(top, _)| top);
                    inside.given = Some((top, sk));
                }
            }
            start = answer.last_evaluated_key;
            if page.rows.len() == wanted {
                return Ok(Position::Inside(inside));
            }
            if start.is_none() {
                break;
            }
        }
        // A partition whose rows all went away meanwhile is left behind at its bookkeeping.
        let sk = inside.given.map_or_else(|| BOOKKEEPING.to_owned(), |(top, _)| top);
        Ok(Position::Behind(Address { pk: inside.pk, sk: Some(sk) }.key()))
    }
}

/// The kind of position, then names and texts.
fn put_position(position: &Position) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut put = |text: &str| codec::put_bytes(&mut out, text.as_bytes());
    match position {
        Position::Start => {}
        Position::Behind(key) => {
            put("behind");
            let mut names: Vec<(&String, &AttributeValue)> = key.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            for (name, attribute) in names {
                put(name);
                put(attribute
                    .as_s()
                    .map_err(|a| Error::Engine { detail: format!("a key attribute is no text: {a:?}") })?);
            }
        }
        Position::Inside(Inside { pk, given }) => {
            put("inside");
            put(pk);
            if let Some((top, last)) = given {
                put(top);
                put(last);
            }
        }
    }
    Ok(out)
}

fn read_position(bytes: &[u8]) -> Result<Position> {
    let wrong = || Error::invalid("after", "it is not a position that a scan gave");
    let mut reader = Reader::new(bytes);
    let mut texts = Vec::new();
    while !reader.is_empty() {
        texts.push(reader.text().map_err(|_| wrong())?);
    }
    let (kind, texts) = texts.split_first().ok_or_else(wrong)?;
    match (*kind, texts) {
        ("behind", texts) if texts.len() % 2 == 0 => {
            let pair = |pair: &[&str]| (pair[0].to_owned(), item::text(pair[1]));
            Ok(Position::Behind(texts.chunks_exact(2).map(pair).collect()))
        }
        ("inside", [pk]) => Ok(Position::Inside(Inside { pk: (*pk).to_owned(), given: None })),
        ("inside", [pk, top, last]) => {
            let given = Some(((*top).to_owned(), (*last).to_owned()));
            Ok(Position::Inside(Inside { pk: (*pk).to_owned(), given }))
        }
        _ => Err(wrong()),
    }
}
