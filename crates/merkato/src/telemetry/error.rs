//! What telemetry refuses.

use widerow::Timestamp;

use super::figures;
use crate::{check::Invalid, error::Kind, id::SensorId};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Over a limit. Nothing of it was written.
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge { what: &'static str, size: usize, limit: usize },
    #[error("there is no sensor {sensor}")]
    SensorNotFound { sensor: SensorId },
    #[error("there is a sensor {sensor} already, and it is another")]
    SensorExists { sensor: SensorId },
    #[error("the sensor {sensor} was retired at {retired_at}")]
    SensorRetired { sensor: SensorId, retired_at: Timestamp },
    #[error("the sensor {sensor} was changed by somebody else meanwhile")]
    SensorChanged { sensor: SensorId },
    /// The sensor was not registered with it.
    #[error("the sensor {sensor} measures no {metric}")]
    UnknownMetric { sensor: SensorId, metric: String },
    #[error("{at} is before 1970")]
    BeforeTime { at: Timestamp },
    #[error("{at} is more than {seconds} seconds in the future")]
    InFuture { at: Timestamp, seconds: u32 },
    #[error(transparent)]
    Figures(figures::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

/// Bad input is bad input, whoever notices it.
impl From<figures::Error> for Error {
    fn from(error: figures::Error) -> Self {
        match error {
            figures::Error::Invalid(invalid) => Error::Invalid(invalid),
            error => Error::Figures(error),
        }
    }
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::TooLarge { .. } => "too_large",
            Error::SensorNotFound { .. } => "sensor_not_found",
            Error::SensorExists { .. } => "sensor_exists",
            Error::SensorRetired { .. } => "sensor_retired",
            Error::SensorChanged { .. } => "sensor_changed",
            Error::UnknownMetric { .. } => "unknown_metric",
            Error::BeforeTime { .. } => "before_time",
            Error::InFuture { .. } => "in_future",
            Error::Figures(error) => error.code(),
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) | Error::UnknownMetric { .. } | Error::BeforeTime { .. } | Error::InFuture { .. } => {
                Kind::Invalid
            }
            Error::TooLarge { .. } => Kind::Limit,
            Error::SensorNotFound { .. } => Kind::NotFound,
            Error::SensorExists { .. } => Kind::Exists,
            Error::SensorRetired { .. } => Kind::Refused,
            Error::SensorChanged { .. } => Kind::Conflict,
            Error::Figures(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }
}
