//! A request's body, gathered before the handler's turn: within its bytes and its time, and within the memory that all
//! bodies together may take.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;

/// The body, as an extension of its request.
#[derive(Clone, Debug)]
pub struct Gathered(pub Bytes);

/// Bytes of a body that count for nothing: so many every connection may take.
const FREE_BYTES: usize = 16 * 1024;
const KIB: usize = 1024;

/// What all bodies together may take.
#[derive(Clone)]
pub struct Room {
    kibs: Arc<Semaphore>,
    body_bytes_max: usize,
}

/// A body and the room that it takes until it is dropped.
pub struct Held {
    pub bytes: Bytes,
    _room: Vec<OwnedSemaphorePermit>,
}

impl Room {
    pub fn new(total_bytes: usize, body_bytes_max: usize) -> Self {
        Room { kibs: Arc::new(Semaphore::new((total_bytes / KIB).min(Semaphore::MAX_PERMITS))), body_bytes_max }
    }

    pub async fn gather(&self, headers: &HeaderMap, body: Body, within: Duration) -> Result<Held, Problem> {
        let most = self.body_bytes_max;
        let too_large = || Problem::new("body_too_large", format!("the limit is {most} bytes"));
        let announced = headers.get(http::header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > most as u64) {
            return Err(too_large());
        }
        let gathering = async {
            let (mut body, mut bytes, mut room) = (body, BytesMut::new(), Vec::new());
            let mut paid = FREE_BYTES;
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Problem::new("bad_header", "the body broke off"))?;
                let Ok(data) = frame.into_data() else { continue };
                if bytes.len() + data.len() > most {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&data);
                while bytes.len() > paid {
                    let kibs = (bytes.len() - paid).div_ceil(KIB);
                    let permit = self.kibs.clone().try_acquire_many_owned(kibs as u32);
                    room.push(permit.map_err(|_| Problem::new("busy", "").retry_after(1))?);
                    paid += kibs * KIB;
                }
            }
            Ok(Held { bytes: bytes.freeze(), _room: room })
        };
        match tokio::time::timeout(within, gathering).await {
            Ok(gathered) => gathered,
            Err(_) => {
                let seconds = within.as_secs();
                Err(Problem::new("body_timeout", format!("the body did not come within {seconds} s")))
            }
        }
    }
}
