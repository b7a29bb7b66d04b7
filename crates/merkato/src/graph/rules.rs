//! What two people may be to each other, and what follows for how many each has: decided without reading or writing.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Neg,
};

use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    error::{Error, Result},
    tables::{Connection, ConnectionType, Degree, Pair, Says, Tie, Uncounted},
};
use crate::{check::Check, id::UserId, limits};

/// What is known of a connection when it is made. Made again, it takes over what is given and keeps the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewConnection {
    /// 0 to 1; None: as its type has it.
    pub strength: Option<Decimal>,
    pub metadata: Option<BTreeMap<String, String>>,
    /// For one that is older than its record. None: now.
    pub created_at: Option<Timestamp>,
}

/// Decimals of a strength.
const STRENGTH_DECIMALS: u32 = 6;

/// Interests that a reason names.
const REASON_INTERESTS_MAX: usize = 3;

/// What an interaction adds of what is missing to 1.
const RAISE: Decimal = Decimal::from_parts(1, 0, 0, false, 1);

impl ConnectionType {
    pub const ALL: [ConnectionType; 4] =
        [ConnectionType::Block, ConnectionType::Colleague, ConnectionType::Follow, ConnectionType::Friend];

    /// How strong a connection is when nobody says so.
    pub const fn default_strength(self) -> Decimal {
        let tenths = match self {
            ConnectionType::Friend => 7,
            ConnectionType::Colleague => 5,
            ConnectionType::Follow => 3,
            ConnectionType::Block => 0,
        };
        Decimal::from_parts(tenths, 0, 0, false, 1)
    }

    /// Of the text that stands for it.
    pub fn parse(text: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == text);
        let names = || Self::ALL.map(|known| known.as_str()).join(", ");
        known.ok_or_else(|| crate::check::Invalid::new("type", format!("{text:?} is none of {}", names())).into())
    }
}

/// The two in the order of their pair.
pub(super) fn pair_key(one: UserId, other: UserId) -> (UserId, UserId) {
    if one < other { (one, other) } else { (other, one) }
}

/// A strength as links have it.
pub(super) fn millionths(strength: Decimal) -> u32 {
    (strength * Decimal::from(1_000_000)).to_u32().unwrap_or(0)
}

pub(super) fn check_two(user: UserId, other: UserId) -> Result<()> {
    if user == other { Err(Error::OneSelf { user }) } else { Ok(()) }
}

impl NewConnection {
    pub(super) fn check(&self) -> Result<()> {
        let mut check = Check::new();
        if let Some(strength) = self.strength {
            check.that(
                (Decimal::ZERO..=Decimal::ONE).contains(&strength),
                "strength",
                format!("{strength} is not 0 to 1"),
            );
        }
        if let Some(metadata) = &self.metadata {
            check.count("metadata", metadata.len(), limits::CONNECTION_METADATA_MAX);
            for (name, value) in metadata {
                check.line(format_args!("metadata/{name}"), name, 1..=limits::CONNECTION_METADATA_BYTES_MAX);
                check.lines(format_args!("metadata/{name}"), value, limits::CONNECTION_METADATA_BYTES_MAX);
            }
        }
        Ok(check.end()?)
    }
}

impl Pair {
    /// Two who are nothing to each other yet.
    pub(super) fn new((low, high): (UserId, UserId), (low_bucket, high_bucket): (u32, u32)) -> Self {
        Pair { low_user_id: low, high_user_id: high, ties: Vec::new(), low_bucket, high_bucket, uncounted: None }
    }

    fn saying(&self, user: UserId, connection_type: ConnectionType) -> Says {
        match connection_type {
            ConnectionType::Friend => Says::Both,
            _ if user == self.low_user_id => Says::Low,
            _ => Says::High,
        }
    }

    pub(super) fn other(&self, user: UserId) -> UserId {
        if user == self.low_user_id { self.high_user_id } else { self.low_user_id }
    }

    fn place(&self, user: UserId, connection_type: ConnectionType) -> Option<usize> {
        let says = self.saying(user, connection_type);
        self.ties.iter().position(|tie| tie.connection_type == connection_type && tie.says == says)
    }

    /// What one says of the other, hidden or not.
    pub(super) fn tie(&self, user: UserId, connection_type: ConnectionType) -> Option<&Tie> {
        self.place(user, connection_type).map(|place| &self.ties[place])
    }

    /// The strongest that one says of the other and that can be seen.
    pub(super) fn strongest(&self, user: UserId) -> Option<&Tie> {
        let said = self.visible().filter(|tie| tie.connection_type != ConnectionType::Block);
        let said = said.filter(|tie| tie.says == self.saying(user, tie.connection_type));
        said.max_by_key(|tie| (tie.strength, tie.connection_type))
    }

    pub(super) fn connect(
        &self,
        user: UserId,
        connection_type: ConnectionType,
        new: &NewConnection,
        now: Timestamp,
    ) -> Result<Pair> {
        if connection_type != ConnectionType::Block && self.is_hidden() {
            return Err(Error::Blocked { user, other: self.other(user) });
        }
        let mut pair = self.clone();
        let strength = new.strength.map(rounded);
        match self.place(user, connection_type) {
            Some(place) => {
                let tie = &mut pair.ties[place];
                tie.strength = strength.unwrap_or(tie.strength);
                if let Some(metadata) = &new.metadata {
                    tie.metadata.clone_from(metadata);
                }
            }
            None => {
                let created_at = new.created_at.unwrap_or(now);
                pair.ties.push(Tie {
                    connection_type,
                    says: self.saying(user, connection_type),
                    strength: strength.unwrap_or(connection_type.default_strength()),
                    metadata: new.metadata.clone().unwrap_or_default(),
                    created_at,
                    last_interaction: created_at,
                });
            }
        }
        Ok(pair)
    }

    /// None where there was no such connection.
    pub(super) fn disconnect(&self, user: UserId, connection_type: ConnectionType) -> Option<Pair> {
        let place = self.place(user, connection_type)?;
        let mut pair = self.clone();
        pair.ties.remove(place);
        Some(pair)
    }

    /// None where there is no such connection, or it is hidden.
    pub(super) fn interact(&self, user: UserId, connection_type: ConnectionType, now: Timestamp) -> Option<Pair> {
        let place = self.place(user, connection_type)?;
        if self.is_hidden() {
            return None;
        }
        let mut pair = self.clone();
        let tie = &mut pair.ties[place];
        tie.strength = rounded(tie.strength + (Decimal::ONE - tie.strength) * RAISE);
        tie.last_interaction = tie.last_interaction.max(now);
        Some(pair)
    }

    /// How many connections the pair is to each of its two, as the lists show them.
    pub(super) fn degrees(&self) -> (Degree, Degree) {
        let (mut low, mut high) = (Degree::default(), Degree::default());
        for tie in self.visible() {
            let (from, to) = if tie.says == Says::High { (&mut high, &mut low) } else { (&mut low, &mut high) };
            match tie.connection_type {
                ConnectionType::Friend => (from.friends, to.friends) = (1, 1),
                ConnectionType::Follow => (from.following, to.followers) = (1, 1),
                ConnectionType::Colleague => (from.colleagues, to.colleague_of) = (1, 1),
                ConnectionType::Block => from.blocked = 1,
            }
        }
        (low, high)
    }

    /// The pair as it is to be written in place of `old`, with what its two have to count. None: nothing has changed.
    pub(super) fn instead_of(mut self, old: &Pair, token: Uuid) -> Option<Pair> {
        if self.ties == old.ties {
            return None;
        }
        let ((low, high), (old_low, old_high)) = (self.degrees(), old.degrees());
        let (low, high) = (low.plus(-old_low), high.plus(-old_high));
        let places = i32::from(!self.ties.is_empty()) - i32::from(!old.ties.is_empty());
        if places != 0 || low != Degree::default() || high != Degree::default() {
            self.uncounted = Some(Uncounted { token, low, high, places });
        }
        Some(self)
    }

    /// A connection as the lists show it, hidden or not.
    pub(super) fn connection(&self, user: UserId, connection_type: ConnectionType) -> Option<Connection> {
        let tie = self.tie(user, connection_type)?;
        let low = user == self.low_user_id;
        Some(Connection {
            user_id: user,
            bucket: if low { self.low_bucket } else { self.high_bucket },
            connection_type,
            connected_user_id: self.other(user),
            connection_strength: tie.strength,
            connection_metadata: tie.metadata.clone(),
            created_at: tie.created_at,
            last_interaction: tie.last_interaction,
        })
    }
}

impl Degree {
    pub fn plus(self, other: Degree) -> Degree {
        Degree {
            friends: self.friends + other.friends,
            following: self.following + other.following,
            followers: self.followers + other.followers,
            colleagues: self.colleagues + other.colleagues,
            colleague_of: self.colleague_of + other.colleague_of,
            blocked: self.blocked + other.blocked,
        }
    }

    /// Those whom somebody is connected to by the type.
    pub fn of(&self, connection_type: ConnectionType) -> i64 {
        match connection_type {
            ConnectionType::Friend => self.friends,
            ConnectionType::Follow => self.following,
            ConnectionType::Colleague => self.colleagues,
            ConnectionType::Block => self.blocked,
        }
    }
}

impl Neg for Degree {
    type Output = Degree;

    fn neg(self) -> Degree {
        Degree {
            friends: -self.friends,
            following: -self.following,
            followers: -self.followers,
            colleagues: -self.colleagues,
            colleague_of: -self.colleague_of,
            blocked: -self.blocked,
        }
    }
}

fn rounded(strength: Decimal) -> Decimal {
    strength.round_dp(STRENGTH_DECIMALS).normalize()
}

/// Why somebody is suggested, in words.
pub(super) fn reason(friends: u32, interests: &BTreeSet<String>) -> String {
    let mut reason = match friends {
        1 => "1 mutual friend".to_owned(),
        many => format!("{many} mutual friends"),
    };
    let named: Vec<&str> = interests.iter().map(String::as_str).take(REASON_INTERESTS_MAX).collect();
    match (named.split_last(), interests.len() - named.len()) {
        (None, _) => {}
        (Some((one, [])), _) => reason.push_str(&format!(", both like {one}")),
        (Some((last, others)), 0) => reason.push_str(&format!(", both like {} and {last}", others.join(", "))),
        (Some(_), more) => reason.push_str(&format!(", both like {} and {more} more", named.join(", "))),
    }
    reason
}
