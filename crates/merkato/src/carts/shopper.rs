//! Whose cart, and which of them.

use sha2::{Digest, Sha256};

use crate::{
    check::Invalid,
    context::Context,
    id::{self, CartId, UserId},
    text::{hex, is_hex},
};

const TOKEN_BYTES: usize = 32;

/// Someone with a cart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shopper {
    User(UserId),
    Guest(GuestToken),
}

/// One of a shopper's carts. A guest has only one, which is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Active,
    Cart(CartId),
}

impl From<CartId> for Which {
    fn from(cart: CartId) -> Self {
        Which::Cart(cart)
    }
}

/// A cart that is to be edited, and the revision that the edit rests upon, if its maker said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CartAt {
    pub which: Which,
    pub revision: Option<i64>,
}

impl Which {
    pub fn at(self, revision: Option<i64>) -> CartAt {
        CartAt { which: self, revision }
    }
}

impl<W: Into<Which>> From<W> for CartAt {
    fn from(which: W) -> Self {
        which.into().at(None)
    }
}

/// The secret that a guest's cart is found by: whoever has it has the cart. It is given to the shopper and never stored;
/// the cart's id follows from it and does not lead back.
#[derive(Clone, PartialEq, Eq)]
pub struct GuestToken(String);

impl GuestToken {
    pub fn new(ctx: &Context) -> Self {
        GuestToken(hex(&ctx.random::<TOKEN_BYTES>()))
    }

    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if is_hex(text, TOKEN_BYTES) {
            return Ok(GuestToken(text.to_owned()));
        }
        Err(Invalid::new("guest_token", format!("not {} hexadecimal digits", 2 * TOKEN_BYTES)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the guest's cart is, without looking it up.
    pub fn cart_id(&self) -> CartId {
        let digest = Sha256::new().chain_update("merkato guest cart ").chain_update(&self.0).finalize();
        CartId(id::of_digest(&digest.into()))
    }
}

/// Without the secret, so that no log has it.
impl std::fmt::Debug for GuestToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GuestToken(of {})", self.cart_id())
    }
}
