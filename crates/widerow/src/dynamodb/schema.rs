//! The tables as DynamoDB should have them: made where they are missing, compared where they are there.
//!
//! Invariants: nothing that exists is ever dropped or replaced; what differs in a way that only a new table could mend is a
//! problem in the report. A table that carries more than is declared (further indexes, wider projections) is accepted.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, CreateGlobalSecondaryIndexAction, GlobalSecondaryIndex,
    GlobalSecondaryIndexDescription, GlobalSecondaryIndexUpdate, IndexStatus, KeySchemaElement, KeyType,
    Projection as SdkProjection, ProjectionType, ScalarAttributeType, TableDescription, TableStatus,
    TimeToLiveSpecification, TimeToLiveStatus,
};

use super::{
    DynamoDb,
    error::{Repeat, Trouble, call},
    item::{EXPIRES_AT, PK, SK, TTL, index_keys},
    unbuilt,
};
use crate::{
    engine::SchemaReport,
    error::{Error, Result, SchemaError},
    schema::{Projection, Schema, Table},
};

/// How a DynamoDB table should be.
pub struct Shape {
    pub table: &'static Table,
    pub sorted: bool,
    pub indexes: Vec<IndexShape>,
}

pub struct IndexShape {
    /// The derived table that it stands for.
    pub derived: &'static Table,
    pub name: String,
    pub pk: String,
    pub sk: Option<String>,
    /// With `Include`, the columns and what tells that a row has expired.
    pub projection: Projection,
}

impl Shape {
    /// One for each table that is not itself an index.
    pub fn all(schema: &Schema) -> Vec<Shape> {
        let shape = |table: &'static Table| Shape {
            table,
            sorted: table.clustering_columns > 0,
            indexes: schema.derivations_of(table).filter_map(|d| IndexShape::of(d.derived)).collect(),
        };
        schema.tables().filter(|t| t.index.is_none()).map(shape).collect()
    }

    pub fn expires(&self) -> bool {
        !self.table.counters
    }

    /// The attributes that are in keys.
    pub fn attributes(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::from([PK]);
        names.extend(self.sorted.then_some(SK));
        for index in &self.indexes {
            names.insert(&index.pk);
            names.extend(index.sk.as_deref());
        }
        names
    }
}

impl IndexShape {
    fn of(derived: &'static Table) -> Option<IndexShape> {
        let index = derived.index.as_ref()?;
        let (pk, sk) = index_keys(index);
        let projection = match &index.projection {
            // What other tools share has the projection that they know.
            Projection::Include(columns) if !derived.shared => {
                let expiry = [EXPIRES_AT, TTL].map(str::to_owned);
                Projection::Include(columns.iter().cloned().chain(expiry).collect())
            }
            other => other.clone(),
        };
        Some(IndexShape { derived, name: index.name.clone(), pk, sk, projection })
    }

    /// What keeps an index that is there from serving as this one.
    fn problem(&self, found: &GlobalSecondaryIndexDescription) -> Option<String> {
        let keys = key_names(found.key_schema());
        if keys != (Some(self.pk.as_str()), self.sk.as_deref()) {
            return Some(format!("its keys are {keys:?}"));
        }
        let projection = found.projection();
        let kind = projection.and_then(|p| p.projection_type());
        let included = projection.map(|p| p.non_key_attributes()).unwrap_or_default();
        match (&self.projection, kind) {
            (_, Some(ProjectionType::All)) | (Projection::KeysOnly, Some(_)) => None,
            (Projection::Include(wanted), Some(ProjectionType::Include)) => {
                // An index that somebody else made may lack what tells expiry; its rows are then hidden by their base.
                let missing = wanted.iter().filter(|w| *w != EXPIRES_AT && *w != TTL).find(|w| !included.contains(w));
                missing.map(|column| format!("it does not project {column}"))
            }
            (_, kind) => Some(format!("its projection is {kind:?}")),
        }
    }

    fn projection(&self) -> SdkProjection {
        let projection = SdkProjection::builder();
        match &self.projection {
            Projection::KeysOnly => projection.projection_type(ProjectionType::KeysOnly),
            Projection::All => projection.projection_type(ProjectionType::All),
            Projection::Include(columns) => {
                projection.projection_type(ProjectionType::Include).set_non_key_attributes(Some(columns.clone()))
            }
        }
        .build()
    }
}

fn key_names(schema: &[KeySchemaElement]) -> (Option<&str>, Option<&str>) {
    let of = |kind: KeyType| schema.iter().find(|k| *k.key_type() == kind).map(KeySchemaElement::attribute_name);
    (of(KeyType::Hash), of(KeyType::Range))
}

fn key_schema(pk: &str, sk: Option<&str>) -> Result<Vec<KeySchemaElement>> {
    let element = |name: &str, kind: KeyType| {
        KeySchemaElement::builder().attribute_name(name).key_type(kind).build().map_err(unbuilt)
    };
    let mut schema = vec![element(pk, KeyType::Hash)?];
    if let Some(sk) = sk {
        schema.push(element(sk, KeyType::Range)?);
    }
    Ok(schema)
}

fn definitions<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<AttributeDefinition>> {
    let definition = |name: &str| {
        let text = ScalarAttributeType::S;
        AttributeDefinition::builder().attribute_name(name).attribute_type(text).build().map_err(unbuilt)
    };
    names.into_iter().map(definition).collect()
}

impl DynamoDb {
    pub(super) async fn migrate_schema(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        let mut report = SchemaReport::default();
        for shape in Shape::all(schema) {
            self.migrate_table(&shape, create, &mut report).await?;
        }
        Ok(report)
    }

    async fn migrate_table(&self, shape: &Shape, create: bool, report: &mut SchemaReport) -> Result<()> {
        let name = &shape.table.name;
        let Some(found) = self.describe(shape.table).await? else {
            if !create {
                report.problems.push(SchemaError::Missing { table: name.clone() });
                return Ok(());
            }
            self.create(shape).await?;
            report.created_tables.push(name.clone());
            return self.expire(shape, create, report).await;
        };
        let keys = key_names(found.key_schema());
        if keys != (Some(PK), shape.sorted.then_some(SK)) {
            let problem = format!("the key on DynamoDB is {keys:?}");
            report.problems.push(SchemaError::Lossy { table: name.clone(), column: PK.into(), problem });
            return Ok(());
        }
        for index in &shape.indexes {
            let called = self.called(index);
            let there = found.global_secondary_indexes().iter().find(|g| g.index_name() == Some(&called));
            match there {
                Some(there) => {
                    if let Some(problem) = index.problem(there) {
                        let (table, column) = (name.clone(), index.name.clone());
                        report.problems.push(SchemaError::Lossy { table, column, problem });
                    }
                }
                None if create => {
                    self.create_index(shape, index).await?;
                    report.created_tables.push(index.derived.name.clone());
                }
                None => report.problems.push(SchemaError::Missing { table: index.derived.name.clone() }),
            }
        }
        self.expire(shape, create, report).await
    }

    fn called(&self, index: &IndexShape) -> String {
        index.derived.index.as_ref().map_or_else(|| index.name.clone(), |i| self.index_name(index.derived, i))
    }

    async fn describe(&self, table: &'static Table) -> Result<Option<TableDescription>> {
        let request = self.client.describe_table().table_name(self.physical(table));
        match call(self.limit, Repeat::Always, || request.clone().send()).await {
            Ok(answer) => Ok(answer.table),
            Err(Trouble::Refused(e)) if e.is_resource_not_found_exception() => Ok(None),
            Err(trouble) => Err(trouble.of_read(&table.name)),
        }
    }

    async fn create(&self, shape: &Shape) -> Result<()> {
        let mut request = self
            .client
            .create_table()
            .table_name(self.physical(shape.table))
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(Some(definitions(shape.attributes())?))
            .set_key_schema(Some(key_schema(PK, shape.sorted.then_some(SK))?));
        for index in &shape.indexes {
            let keys = key_schema(&index.pk, index.sk.as_deref())?;
            let index = GlobalSecondaryIndex::builder().index_name(self.called(index)).projection(index.projection());
            request = request.global_secondary_indexes(index.set_key_schema(Some(keys)).build().map_err(unbuilt)?);
        }
        match call(self.limit, Repeat::IfNotExecuted, || request.clone().send()).await {
            Ok(_) => {}
            // Another process makes the same table at the same time, or the answer to the first request was lost.
            Err(Trouble::Refused(e)) if e.is_resource_in_use_exception() => {}
            Err(trouble) => return Err(trouble.of_add(&shape.table.name)),
        }
        self.until_active(shape.table).await
    }

    async fn create_index(&self, shape: &Shape, index: &IndexShape) -> Result<()> {
        let action = CreateGlobalSecondaryIndexAction::builder()
            .index_name(self.called(index))
            .set_key_schema(Some(key_schema(&index.pk, index.sk.as_deref())?))
            .projection(index.projection())
            .build()
            .map_err(unbuilt)?;
        let names = [Some(PK), shape.sorted.then_some(SK), Some(&index.pk), index.sk.as_deref()];
        let request = self
            .client
            .update_table()
            .table_name(self.physical(shape.table))
            .set_attribute_definitions(Some(definitions(names.into_iter().flatten())?))
            .global_secondary_index_updates(GlobalSecondaryIndexUpdate::builder().create(action).build());
        call(self.limit, Repeat::IfNotExecuted, || request.clone().send())
            .await
            .map_err(|t| t.of_add(&shape.table.name))?;
        // DynamoDB makes one index at a time.
        self.until_active(shape.table).await
    }

    async fn until_active(&self, table: &'static Table) -> Result<()> {
        let start = Instant::now();
        // Tables take seconds, indexes minutes: asking more and more seldom serves both.
        let mut pause = Duration::from_millis(250);
        loop {
            let active = self.describe(table).await?.is_some_and(|t| {
                let indexes = t.global_secondary_indexes().iter();
                t.table_status() == Some(&TableStatus::Active)
                    && indexes.map(|g| g.index_status()).all(|s| s == Some(&IndexStatus::Active))
            });
            if active {
                return Ok(());
            }
            if start.elapsed() >= self.migrate_limit {
                let detail = format!("table {} or one of its indexes is not active yet", table.name);
                return Err(Error::TimedOut { after: start.elapsed(), detail });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }

    /// Sees to it that DynamoDB sweeps what has expired.
    async fn expire(&self, shape: &Shape, create: bool, report: &mut SchemaReport) -> Result<()> {
        if !shape.expires() {
            return Ok(());
        }
        let (name, physical) = (&shape.table.name, self.physical(shape.table));
        let request = self.client.describe_time_to_live().table_name(&physical);
        let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
        let found = answer.map_err(|t| t.of_read(name))?.time_to_live_description;
        let status = found.as_ref().and_then(|d| d.time_to_live_status());
        let on = matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling));
        let attribute = found.as_ref().and_then(|d| d.attribute_name());
        if on && attribute == Some(TTL) {
            return Ok(());
        }
        if on || !create {
            let problem = match attribute.filter(|_| on) {
                Some(other) => format!("time to live goes by attribute {other}, not {TTL}"),
                None => format!("time to live is not switched on for attribute {TTL}"),
            };
            report.problems.push(SchemaError::Declaration { table: name.clone(), problem });
            return Ok(());
        }
        let specification =
            TimeToLiveSpecification::builder().attribute_name(TTL).enabled(true).build().map_err(unbuilt)?;
        let request = self.client.update_time_to_live().table_name(&physical).time_to_live_specification(specification);
        let answer = call(self.limit, Repeat::IfNotExecuted, || request.clone().send()).await;
        answer.map(drop).map_err(|t| t.of_add(name))
    }
}
