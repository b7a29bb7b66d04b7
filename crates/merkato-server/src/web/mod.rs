//! Pages for people: the shop at `/`, its office at `/admin`. They call the same operations as the API and hold no rule.
//!
//! To add a page: a template under `templates/`, a handler in `shop/` or `admin/`, a line in the `pages!` list of that module,
//! which says who may see it. A handler takes a [`Visit`](crate::http::Visit) and a [`Frame`] (what surrounds every page: the
//! shop's name, who is there, the cart's pieces, the token of forms) and answers with [`Html`] of a template.
//!
//! 1. Everything works without a script; scripts make it quicker. Nothing is inline and nothing comes from another host.
//! 2. A form is answered by a redirect, or by the same page with what was typed and what is wrong with it ([`Complaints`]).
//! 3. Every form carries the visitor's token; [`Form`] refuses one without it.
//! 4. What goes wrong is a [`Problem`](crate::http::Problem) as everywhere; [`failure`] shows it as a page.

pub mod admin;
pub mod assets;
pub mod charts;
pub mod failure;
pub mod form;
pub mod frame;
mod html;
pub mod next;
pub mod pages;
pub mod pictures;
pub mod shop;
pub mod words;

pub use form::{Complaints, Fields, Form};
pub use frame::Frame;
pub use html::Html;
pub use next::see_other;
