//! The session with the server: statements prepared once, requests with a time limit, retries where they are harmless.
//!
//! Invariants: only requests that can be repeated without harm are repeated; a lightweight transaction and an add to a
//! counter are sent once; nothing waits longer than a few times the request's time limit.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use scylla::{
    client::session::Session,
    deserialize::{row::ColumnIterator, value::DeserializeValue},
    policies::retry::{FallthroughRetryPolicy, RetryPolicy},
    response::{
        PagingState, PagingStateResponse,
        query_result::{QueryResult, QueryRowsResult},
    },
    statement::{
        Consistency as Level, SerialConsistency,
        batch::{Batch, BatchType},
        prepared::PreparedStatement,
    },
    value::{CqlValue, Row},
};

use super::{
    convert,
    cql::{Cell, Cql, Texts},
    failure::Failure,
};
use crate::{
    error::{Error, Result},
    meter,
    schema::{Consistency, Table},
    value::{Type, Value},
};

/// Statements that are kept prepared. Their texts are bounded by tables and shapes; the limit is for the unforeseen.
const PREPARED_MAX: usize = 8_192;
/// How often a request that may be repeated is sent.
const TRIES_MAX: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(40);

pub(super) struct Link {
    pub session: Session,
    pub keyspace: String,
    pub request_timeout: Duration,
    pub texts: Texts,
    prepared: RwLock<HashMap<String, PreparedStatement>>,
    /// Held by whoever has a statement prepared.
    preparing: tokio::sync::Mutex<()>,
    /// Statements that were prepared in an earlier era are forgotten.
    era: AtomicU64,
    never_again: Arc<dyn RetryPolicy>,
}

pub(super) fn read_level(consistency: Consistency) -> Level {
    match consistency {
        Consistency::One => Level::One,
        Consistency::LocalOne => Level::LocalOne,
        Consistency::LocalQuorum => Level::LocalQuorum,
        Consistency::Quorum => Level::Quorum,
        Consistency::Serial => Level::Serial,
    }
}

/// The server takes no serial level for plain writes, for the commit of a transaction, and for reads of many partitions.
pub(super) fn plain_level(consistency: Consistency) -> Level {
    match consistency {
        Consistency::Serial => Level::Quorum,
        other => read_level(other),
    }
}

impl Link {
    pub fn new(session: Session, keyspace: String, request_timeout: Duration) -> Self {
        let never_again = Arc::new(FallthroughRetryPolicy::new());
        let (texts, prepared, era) = (Texts::default(), RwLock::default(), AtomicU64::new(0));
        let preparing = tokio::sync::Mutex::default();
        Link { session, keyspace, request_timeout, texts, prepared, preparing, era, never_again }
    }

    async fn prepare(&self, cql: &Cql<'_>) -> Result<PreparedStatement, Failure> {
        // RACE: read before the statement is looked for or prepared, so that one of an era that ends meanwhile is not kept
        // for the next.
        let era = self.era.load(Ordering::Acquire);
        if let Some(prepared) = cql.text.prepared(era) {
            return Ok(prepared);
        }
        let known = self.prepared.read().unwrap_or_else(PoisonError::into_inner).get(&cql.text.cql).cloned();
        if let Some(prepared) = known {
            cql.text.keep(era, prepared.clone());
            return Ok(prepared);
        }
        // The driver itself waits for ever here.
        let prepared = tokio::time::timeout(self.request_timeout, self.prepare_alone(&cql.text.cql)).await;
        let prepared = prepared.map_err(|_| Failure::not_prepared(self.request_timeout))??;
        cql.text.keep(era, prepared.clone());
        Ok(prepared)
    }

    /// RACE: of two who have the server prepare the same statement, which it does not know yet, the later may make it forget what
    /// the earlier has just been given, and is using. So one comes after the other, and finds what was prepared.
    async fn prepare_alone(&self, text: &str) -> Result<PreparedStatement, Failure> {
        let _alone = self.preparing.lock().await;
        if let Some(known) = self.prepared.read().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(known.clone());
        }
        let mut prepared = self.session.prepare(text).await.map_err(|e| Failure::of_prepare(&e))?;
        // Each answer would repeat the names and types of its columns. Every statement names its columns, so that they
        // stay the same when a table gets new ones.
        prepared.set_use_cached_result_metadata(true);
        let mut all = self.prepared.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= PREPARED_MAX {
            all.clear();
        }
        all.insert(text.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Whether a read may also be sent to a second node when the first is slow, which the driver does with what is
    /// idempotent: where there is a second node; and two serial reads at once would only stand in each other's way.
    fn may_hedge(&self, level: Level) -> bool {
        level != Level::Serial && self.session.get_cluster_state().get_nodes_info().len() > 1
    }

    /// A prepared statement remembers the types of its values, which a change of the schema may have extended.
    pub fn forget_prepared(&self) {
        self.era.fetch_add(1, Ordering::AcqRel);
        self.prepared.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// All rows of a read that has a limit of its own, or is of one partition's few rows.
    pub async fn read(&self, cql: &Cql<'_>, consistency: Consistency) -> Result<Answer> {
        let result = self.repeat(|tries| async move {
            let mut prepared = self.prepare(cql).await?;
            let level = read_level(consistency);
            prepared.set_consistency(level);
            prepared.set_is_idempotent(self.may_hedge(level));
            meter::charge_sending(tries);
            self.session.execute_unpaged(&prepared, &cql.values).await.map_err(|e| Failure::of(&e))
        });
        let result = result.await.map_err(|f| f.into_error(cql.table, self.request_timeout))?;
        Answer::new(cql, result)
    }

    /// One page of a read of a token range, and where the next begins.
    pub async fn read_page(
        &self,
        cql: &Cql<'_>,
        consistency: Consistency,
        rows_max: usize,
        from: PagingState,
    ) -> Result<(Answer, Option<PagingState>)> {
        let from = &from;
        let (result, next) = self
            .repeat(|tries| async move {
                let mut prepared = self.prepare(cql).await?;
                prepared.set_consistency(plain_level(consistency));
                prepared.set_is_idempotent(true);
                prepared.set_page_size(i32::try_from(rows_max).unwrap_or(i32::MAX).max(1));
                meter::charge_sending(tries);
                let page = self.session.execute_single_page(&prepared, &cql.values, from.clone()).await;
                page.map_err(|e| Failure::of(&e))
            })
            .await
            .map_err(|f| f.into_error(cql.table, self.request_timeout))?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok((Answer::new(cql, result)?, next))
    }

    /// Idempotent writes under one timestamp: one statement, or a batch. Repeated until they are known to be made; by
    /// us and not by the driver, which would not tell whether one of its tries may have been applied.
    pub async fn write(&self, cqls: &[Cql<'_>], kind: BatchType, level: Level, timestamp: i64) -> Result<(), Failure> {
        self.repeat(|tries| async move {
            meter::charge_sending(tries);
            if let [cql] = cqls {
                let mut prepared = self.prepare(cql).await?;
                prepared.set_consistency(level);
                prepared.set_retry_policy(Some(self.never_again.clone()));
                prepared.set_timestamp(Some(timestamp));
                self.session.execute_unpaged(&prepared, &cql.values).await.map_err(|e| Failure::of(&e))?;
            } else {
                let (mut batch, values) = self.batch(cqls, kind).await?;
                batch.set_consistency(level);
                batch.set_retry_policy(Some(self.never_again.clone()));
                batch.set_timestamp(Some(timestamp));
                self.session.batch(&batch, values).await.map_err(|e| Failure::of(&e))?;
            }
            Ok(())
        })
        .await
    }

    /// A lightweight transaction: sent once, unless the server did not know its statements. Whether its condition held.
    pub async fn transact(&self, cqls: &[Cql<'_>], level: Level) -> Result<bool, Failure> {
        for tries in 1..TRIES_MAX {
            match self.transact_once(cqls, level, tries).await {
                Err(failure) if failure.is_unprepared() => self.forget_prepared(),
                other => return other,
            }
        }
        self.transact_once(cqls, level, TRIES_MAX).await
    }

    async fn transact_once(&self, cqls: &[Cql<'_>], level: Level, tries: u32) -> Result<bool, Failure> {
        let (mut batch, values) = self.batch(cqls, BatchType::Unlogged).await?;
        batch.set_consistency(level);
        batch.set_serial_consistency(Some(SerialConsistency::Serial));
        batch.set_is_idempotent(false);
        batch.set_retry_policy(Some(self.never_again.clone()));
        meter::charge_sending(tries);
        let result = self.session.batch(&batch, values).await.map_err(|e| Failure::of_transaction(&e))?;
        let result = result.into_rows_result().map_err(Failure::unreadable)?;
        let row = result.first_row::<Row>().map_err(Failure::unreadable)?;
        match row.columns.into_iter().next().flatten() {
            Some(CqlValue::Boolean(applied)) => Ok(applied),
            _ => Err(Failure::unreadable("the answer to a transaction does not begin with [applied]")),
        }
    }

    /// A statement that is sent once, under the server's own timestamp, unless the server did not know it.
    pub async fn write_once(&self, cql: &Cql<'_>, level: Level) -> Result<(), Failure> {
        for tries in 1..TRIES_MAX {
            match self.try_write(cql, level, tries).await {
                Err(failure) if failure.is_unprepared() => self.forget_prepared(),
                other => return other,
            }
        }
        self.try_write(cql, level, TRIES_MAX).await
    }

    async fn try_write(&self, cql: &Cql<'_>, level: Level, tries: u32) -> Result<(), Failure> {
        let mut prepared = self.prepare(cql).await?;
        prepared.set_consistency(level);
        prepared.set_is_idempotent(false);
        prepared.set_retry_policy(Some(self.never_again.clone()));
        meter::charge_sending(tries);
        self.session.execute_unpaged(&prepared, &cql.values).await.map_err(|e| Failure::of(&e))?;
        Ok(())
    }

    async fn batch<'c>(&self, cqls: &'c [Cql<'c>], kind: BatchType) -> Result<(Batch, Vec<&'c [Cell<'c>]>), Failure> {
        let mut batch = Batch::new(kind);
        for cql in cqls {
            batch.append_statement(self.prepare(cql).await?);
        }
        Ok((batch, cqls.iter().map(|cql| cql.values.as_slice()).collect()))
    }

    /// Sends again what failed for a moment. The last failure counts as uncertain if any was.
    async fn repeat<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        mut send: impl FnMut(u32) -> F,
    ) -> Result<T, Failure> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut certain = true;
        for tries in 1.. {
            match send(tries).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => {
                    certain &= failure.is_certain();
                    if failure.is_unprepared() {
                        self.forget_prepared();
                    }
                    if tries == TRIES_MAX || !failure.is_transient() || started.elapsed() >= self.request_timeout {
                        return Err(failure.with_certainty(certain));
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause *= 3;
        }
        Err(Failure::unreadable("never sent"))
    }
}

/// A request for each item. In a vector, as the compiler cannot tell that a stream's closure over borrowed items may go
/// from thread to thread.
pub(super) fn gather<T, F>(items: impl IntoIterator<Item = T>, request: impl FnMut(T) -> F) -> Vec<F> {
    items.into_iter().map(request).collect()
}

/// The rows that came, decoded cell by cell as they are looked at.
pub(super) struct Answer {
    table: &'static Table,
    rows: QueryRowsResult,
}

impl Answer {
    fn new(cql: &Cql<'_>, result: QueryResult) -> Result<Self> {
        let rows = result.into_rows_result().map_err(|e| corrupt(cql.table, e))?;
        Ok(Answer { table: cql.table, rows })
    }

    pub fn len(&self) -> usize {
        self.rows.rows_num()
    }

    pub fn rows(&self) -> Result<impl Iterator<Item = Result<Cells<'_, '_>>>> {
        let rows = self.rows.rows::<ColumnIterator<'_, '_>>().map_err(|e| corrupt(self.table, e))?;
        Ok(rows.map(|row| {
            let columns = row.map_err(|e| corrupt(self.table, e))?;
            Ok(Cells { table: self.table, columns })
        }))
    }
}

/// The cells of one row.
pub(super) struct Cells<'f, 'm> {
    table: &'static Table,
    columns: ColumnIterator<'f, 'm>,
}

impl Cells<'_, '_> {
    /// The cell of a column of this type.
    pub fn value(&mut self, column_type: &Type) -> Result<Value, String> {
        let Some(column) = self.columns.next() else { return Ok(Value::Null) };
        let column = column.map_err(|e| e.to_string())?;
        convert::from_frame(column_type, column.spec.typ(), column.slice)
    }

    /// None is null, or behind the last.
    pub fn next(&mut self) -> Result<Option<CqlValue>> {
        let Some(column) = self.columns.next() else { return Ok(None) };
        let cell = column.and_then(|column| DeserializeValue::deserialize(column.spec.typ(), column.slice));
        cell.map_err(|e| corrupt(self.table, e))
    }
}

fn corrupt(table: &Table, e: impl ToString) -> Error {
    Error::corrupt(table.name.clone(), e.to_string())
}
