//! Everything that a tenant has, deleted, table by table. Bases take what is derived from them along.

use super::{Database, Store};
use crate::{commit::Commit, error::Result, key::Tenant, schema::Table, value::Value};

/// Rows of one partition that go in one commit. Each may take some derived rows along.
const ROWS_TOGETHER: usize = 20;

impl Database {
    /// The names of all tenants that have a row, in order. It walks over every table.
    pub async fn list_tenants(&self) -> Result<Vec<Tenant>> {
        let mut tenants = std::collections::BTreeSet::new();
        for table in self.bases() {
            for mut range in self.scan(table, 1).await? {
                while let Some(rows) = range.next().await? {
                    tenants.extend(rows.into_iter().map(|(tenant, _)| tenant));
                }
            }
        }
        tenants.remove(&Tenant::system());
        Ok(tenants.into_iter().collect())
    }

    fn bases(&self) -> Vec<&'static Table> {
        let schema = self.schema();
        schema.tables().filter(|table| schema.derivation_into(table).is_none()).collect()
    }
}

impl Store {
    /// Deletes every row of the tenant, and every static column; how many rows, derived ones aside. `on_progress` is told after each commit. Stopped
    /// half-way, the same call again goes on.
    ///
    /// The bookkeeping of guarded partitions stays: their versions, without which an old writer could come back. Rows that are
    /// written meanwhile may stay too; whoever erases a tenant lets nobody in first.
    pub async fn erase(&self, mut on_progress: impl FnMut(u64)) -> Result<u64> {
        let mut erased = 0;
        for table in self.database().bases() {
            for mut range in self.scan(table, 1).await? {
                // Also those that have ended: their partitions may have static columns.
                while let Some(rows) = range.next_with_ended().await? {
                    let keys: Vec<Vec<Value>> =
                        rows.into_iter().map(|(_, row)| row.values[..table.key_columns()].to_vec()).collect();
                    let of = table.partition_columns;
                    for partition in keys.chunk_by(|a, b| a[..of] == b[..of]) {
                        erased += self.erase_rows(table, partition, &mut |rows| on_progress(erased + rows)).await?;
                    }
                    // The rows of others are gone already, one by one or by their time.
                    for partition in range.take_bare() {
                        self.commit(Commit::new().clear_statics(table, partition)).await?;
                    }
                }
            }
        }
        Ok(erased)
    }

    async fn erase_rows(&self, table: &'static Table, keys: &[Vec<Value>], told: &mut impl FnMut(u64)) -> Result<u64> {
        let mut rows = 0;
        for some in keys.chunks(ROWS_TOGETHER) {
            if table.shared {
                self.delete_many_values(table, some.to_vec()).await.into_iter().collect::<Result<()>>()?;
                rows += some.len() as u64;
                told(rows);
                continue;
            }
            let commit = Commit::new().clear_statics(table, some[0][..table.partition_columns].to_vec());
            let commit = some.iter().fold(commit, |commit, key| commit.delete_values(table, key.clone()));
            self.commit(commit).await?;
            rows += some.len() as u64;
            told(rows);
        }
        Ok(rows)
    }
}
