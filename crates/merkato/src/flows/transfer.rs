//! Money goes from one wallet to another: it has left the one and come to the other, or neither.
//!
//! Each of the two wallets decides its own part, once and for good: the sender's whether the money left, the receiver's whether
//! it came. A part that is refused is fenced before anything follows from the refusal, so that no slower run of the same
//! transfer makes it after all. No wallet is held while the other is asked: transfers that cross never wait for each other.
//!
//! The steps, in order: debit, credit. Refused by the sender: fence. Refused by the receiver: fence, return.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    error::{Error, Result},
    run::{self, Begun, Flow, FlowKind, Progress, Run},
};
use crate::{
    check::{Check, Invalid},
    context::Context,
    id::{FlowId, UserId},
    money::Currency,
    wallets::{self, Fenced, Operation},
};

/// What a wallet says of a part that was given up, or given back.
const VOIDED: &str = "operation_voided";

/// Money to be moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferRequest {
    /// The sender's, new for every transfer and the same for every try.
    pub transfer_id: Uuid,
    pub from: UserId,
    pub to: UserId,
    pub amount: Decimal,
    pub currency: Currency,
    pub reason: Option<String>,
}

/// A transfer and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    #[serde(flatten)]
    pub request: TransferRequest,
    pub stage: Stage,
}

/// Where a transfer stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    Going,
    /// One of the two does not take part; what the other did is undone.
    Refusing(Refusal),
    Done,
    /// The money is where it was.
    Refused(Refusal),
}

/// Which of the two wallets said no, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    Sender { code: String, reason: String },
    Receiver { code: String, reason: String },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Sender { reason, .. } => write!(f, "the sender: {reason}"),
            Refusal::Receiver { reason, .. } => write!(f, "the receiver: {reason}"),
        }
    }
}

impl TransferRequest {
    fn operation(&self, part: &str) -> Operation {
        let operation = Operation::new(self.part(part), self.amount, self.currency.clone());
        Operation { reason: self.reason.clone(), ..operation }
    }

    fn part(&self, part: &str) -> Uuid {
        Uuid::new_v5(&self.flow().0, part.as_bytes())
    }

    /// Whose and under which id: what others call their transfers is no matter.
    fn flow(&self) -> FlowId {
        FlowId(Uuid::new_v5(&self.from.0, &[b"transfer ", &self.transfer_id.as_bytes()[..]].concat()))
    }

    fn fingerprint(&self) -> String {
        format!("{} {} {}", self.to, self.amount.normalize(), self.currency)
    }

    fn check(&self, ctx: &Context) -> Result<(), Invalid> {
        let mut check = Check::new();
        check.that(self.from != self.to, "to", "it is where the money comes from");
        check.end()?;
        self.operation("sent").check(ctx.now())
    }
}

/// Moves money from one wallet to another. Under one id there is one transfer: the same request again has the same answer,
/// another one is refused; one that is still running is `FlowRunning`.
pub async fn transfer(ctx: &Context, request: TransferRequest) -> Result<Transfer> {
    request.check(ctx)?;
    let (id, fingerprint) = (request.flow(), request.fingerprint());
    let new = Transfer { request, stage: Stage::Going };
    let known = match run::begin(ctx, id, &fingerprint, &new).await? {
        Begun::New(run) => return answer(run.drive(new).await?),
        Begun::Known(known) if known.finished => return answer(known.state),
        Begun::Known(known) => known,
    };
    let (state, run) = known.resume(ctx).await?;
    answer(run.drive(state).await?)
}

fn answer(transfer: Transfer) -> Result<Transfer> {
    match &transfer.stage {
        Stage::Refused(refusal) | Stage::Refusing(refusal) => {
            Err(Error::TransferRefused { transfer: transfer.request.transfer_id, refusal: refusal.clone() })
        }
        Stage::Going | Stage::Done => Ok(transfer),
    }
}

/// What a wallet said, if it is a refusal; anything else is an error.
fn refused(error: wallets::Error, refusal: impl Fn(String, String) -> Refusal) -> Result<Refusal> {
    if error.is_refusal() { Ok(refusal(error.code().to_owned(), error.to_string())) } else { Err(error.into()) }
}

impl Transfer {
    /// Both parts, one after the other; or which was refused.
    async fn go(&self, run: &Run<'_>) -> Result<Option<Refusal>> {
        let (ctx, request) = (run.ctx, &self.request);
        let debited = run.step("debit", async {
            match wallets::send(ctx, request.from, request.operation("sent"), request.to).await {
                Ok(_) => Ok(None),
                Err(error) => refused(error, |code, reason| Refusal::Sender { code, reason }).map(Some),
            }
        });
        if let Some(refusal) = debited.await? {
            return Ok(Some(refusal));
        }
        run.step("credit", async {
            match wallets::receive(ctx, request.to, request.operation("received"), request.from).await {
                Ok(_) => Ok(None),
                Err(error) => refused(error, |code, reason| Refusal::Receiver { code, reason }).map(Some),
            }
        })
        .await
    }

    /// Where it stands after a refusal, for good.
    ///
    /// RACE: a slower run may have found the wallet in another mood meanwhile, and made the part: then the transfer goes on.
    async fn refuse(&self, run: &Run<'_>, refusal: Refusal) -> Result<Stage> {
        let (ctx, request) = (run.ctx, &self.request);
        let (user, part) = match &refusal {
            Refusal::Sender { .. } => (request.from, request.part("sent")),
            Refusal::Receiver { .. } => (request.to, request.part("received")),
        };
        let fenced = run.step("fence", async { Ok(wallets::fence(ctx, user, part).await?) }).await?;
        Ok(match (fenced, &refusal) {
            (Fenced::Voided, Refusal::Sender { .. }) => Stage::Refused(refusal),
            (Fenced::Voided, Refusal::Receiver { .. }) => {
                let sent = request.part("sent");
                run.step("return", async { Ok(wallets::give_back(ctx, request.from, sent).await?) }).await?;
                Stage::Refused(refusal)
            }
            // It was sent and has come back, under this id, before: whoever begins it anew finds it over.
            (Fenced::Made, Refusal::Sender { code, .. }) if code == VOIDED => Stage::Refused(refusal),
            (Fenced::Made, Refusal::Sender { .. }) => Stage::Going,
            (Fenced::Made, Refusal::Receiver { .. }) => Stage::Done,
        })
    }
}

impl Flow for Transfer {
    const KIND: FlowKind = FlowKind::Transfer;

    /// What a wallet did, or refused for good, it knows by the transfer's id for ever.
    fn memory(&self) -> Option<u32> {
        None
    }

    async fn advance(&mut self, run: &mut Run<'_>) -> Result<Progress> {
        loop {
            self.stage = match self.stage.clone() {
                Stage::Going => match self.go(run).await? {
                    None => Stage::Done,
                    Some(refusal) => {
                        // ORDER: remembered before it is made good, so that whoever goes on says the same.
                        self.stage = Stage::Refusing(refusal.clone());
                        run.save(self).await?;
                        self.refuse(run, refusal).await?
                    }
                },
                Stage::Refusing(refusal) => self.refuse(run, refusal).await?,
                Stage::Done | Stage::Refused(_) => {
                    // It may tell of the people. It stands in their statements.
                    self.request.reason = None;
                    return Ok(Progress::Finished);
                }
            };
        }
    }
}
