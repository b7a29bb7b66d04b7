//! What readings of a sensor say: their summary, outliers, gaps and quality, windows and charts, what is unusual about a day,
//! and whether somebody should go and look.
//!
//! Pure functions: nothing is read, written or waited for, and neither the clock nor chance is asked.
//!
//! 1. A value is a finite number within `limits::VALUE_MAX`. Infinities and what is not a number are refused where they come in,
//!    so that nothing after it has to ask again.
//! 2. What there is nothing of stays nothing (`None`), and never becomes a zero.
//! 3. Summaries merge in any order and any grouping to the same figures (`summary`), so that a day is made of its hours.
//! 4. Every input has a limit (`limits`), and what is over it is refused by name.

mod chart;
mod day;
mod decimal;
mod detector;
mod error;
mod gaps;
pub mod limits;
mod maintenance;
mod outliers;
mod quality;
mod reading;
mod robust;
mod stuck;
mod summary;
#[cfg(test)]
mod tests;
mod windows;
mod words;

pub use chart::{Line, chart};
pub use day::{Anomaly, AnomalyKind, Day, DaySettings, EMPTY_DAY, Hour, anomalies, summary_of_day};
pub use decimal::{from_decimal, to_decimal};
pub use detector::{Detector, DetectorSettings, Mark, MarkKind, Watch, alarms, detect};
pub use error::{Error, Result};
pub use gaps::{Expected, Gap, gaps};
pub use maintenance::{Maintenance, MaintenanceSettings, maintenance};
pub use outliers::{Outlier, OutlierReason, OutlierSettings, Plausible, outliers};
pub use quality::{Norm, Quality, quality};
pub use reading::{Reading, Span};
pub use robust::{MAD_SCALE, Middle, median};
pub use stuck::{StuckRun, StuckSettings, changes, stuck};
pub use summary::Summary;
pub use windows::{Window, Windows, windows, windows_of_summaries};
