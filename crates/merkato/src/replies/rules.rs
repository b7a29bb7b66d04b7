//! What a key may be, and what becomes of a request under it. No reading, no writing, no clock.

use uuid::Uuid;
use widerow::Timestamp;

use super::tables::{ReplyHeader, ReplyRow, ReplyState};
use crate::{
    check::{Check, Invalid},
    limits,
};

/// An answer as it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub(super) fn check(key: &str, fingerprint: &str) -> Result<(), Invalid> {
    let mut check = Check::new();
    let (chars, most) = (key.chars().count(), limits::IDEMPOTENCY_KEY_BYTES_MAX);
    check.that(chars > 0, "key", "it is empty");
    check.that(chars <= most, "key", format!("it has {chars} characters, the limit is {most}"));
    check.line("fingerprint", fingerprint, 1..=limits::LINE_BYTES_MAX);
    check.end()
}

/// What is found under a key by one who comes with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nobody has it, or nobody has it any more.
    Free,
    /// It is the caller's own already: the answer to an earlier try was lost.
    Own,
    Running {
        until: Timestamp,
    },
    Other,
    Done(Reply),
    TooLarge,
}

pub(super) fn find(
    row: Option<&ReplyRow>,
    ticket_id: Uuid,
    fingerprint: &str,
    now: Timestamp,
) -> Result<Found, widerow::Error> {
    let Some(row) = row else { return Ok(Found::Free) };
    Ok(match row.state {
        _ if row.fingerprint != fingerprint => Found::Other,
        ReplyState::Running if row.ticket_id == ticket_id => Found::Own,
        ReplyState::Running if now < row.running_until => Found::Running { until: row.running_until },
        ReplyState::Running => Found::Free,
        ReplyState::Done => Found::Done(row.reply()?),
        ReplyState::TooLarge => Found::TooLarge,
    })
}

impl ReplyRow {
    pub(super) fn running(key_hash: String, fingerprint: &str, ticket_id: Uuid, running_until: Timestamp) -> Self {
        ReplyRow {
            key_hash,
            fingerprint: fingerprint.to_owned(),
            ticket_id,
            state: ReplyState::Running,
            running_until,
            status: None,
            headers: Vec::new(),
            body: None,
        }
    }

    /// Whether it is the ticket's to end.
    pub(super) fn is_run_by(&self, ticket_id: Uuid) -> bool {
        self.state == ReplyState::Running && self.ticket_id == ticket_id
    }

    pub(super) fn ended(&self, reply: &Reply) -> Self {
        if reply.bytes() > limits::REPLY_BYTES_MAX || reply.headers.len() > limits::REPLY_HEADERS_MAX {
            return ReplyRow { state: ReplyState::TooLarge, ..self.clone() };
        }
        let header = |(name, value): &(String, String)| ReplyHeader { name: name.clone(), value: value.clone() };
        ReplyRow {
            state: ReplyState::Done,
            status: Some(reply.status.into()),
            headers: reply.headers.iter().map(header).collect(),
            body: Some(reply.body.clone()).filter(|body| !body.is_empty()),
            ..self.clone()
        }
    }

    fn reply(&self) -> Result<Reply, widerow::Error> {
        let status = self.status.and_then(|status| u16::try_from(status).ok());
        let corrupt = || widerow::Error::corrupt("replies", format!("the status {:?} of an answer", self.status));
        Ok(Reply {
            status: status.ok_or_else(corrupt)?,
            headers: self.headers.iter().map(|header| (header.name.clone(), header.value.clone())).collect(),
            body: self.body.clone().unwrap_or_default(),
        })
    }
}

impl Reply {
    /// What it takes to keep it.
    fn bytes(&self) -> usize {
        self.body.len() + self.headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
    }
}
