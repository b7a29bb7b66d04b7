//! An id for what a request does, so that it is done once also where its answer could not be kept.

use axum::extract::FromRequestParts;
use http::request::Parts;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{body::Gathered, idempotency, problem::Problem, who::Visit};

/// The id of a movement, a hold, a change or a thing that a request makes. With an `Idempotency-Key` it follows from the
/// principal, the key and the request, the same for every try; without one it is new.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub id: Uuid,
    /// Whether an earlier try may have had the same id.
    pub may_be_known: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Operation {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(visit) = parts.extensions.get::<Visit>() else {
            return Err(Problem::internal("a route of no shop has no visit"));
        };
        let Some(key) = parts.headers.get(idempotency::KEY) else {
            return Ok(Operation { id: visit.ctx.new_id(), may_be_known: false });
        };
        let body = parts.extensions.get::<Gathered>().map_or(&[] as &[u8], |Gathered(bytes)| bytes);
        let (principal, path) = (visit.principal(), parts.uri.path());
        let mut hasher = Sha256::new_with_prefix("merkato operation ");
        for part in [principal.as_bytes(), parts.method.as_str().as_bytes(), path.as_bytes(), key.as_bytes(), body] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize()[..16]);
        Ok(Operation { id: uuid::Builder::from_custom_bytes(bytes).into_uuid(), may_be_known: true })
    }
}
