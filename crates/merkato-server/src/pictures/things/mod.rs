//! How each kind of thing is drawn: some flat shapes, with what may differ left to the dice of the pen.

pub(crate) mod desk;
pub(crate) mod furniture;
pub(crate) mod garden;
pub(crate) mod kitchen;
pub(crate) mod light;
pub(crate) mod pantry;
pub(crate) mod play;
pub(crate) mod textiles;
pub(crate) mod travel;
pub(crate) mod wear;
