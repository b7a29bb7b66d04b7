//! Accounts: people, their passwords and sessions.

pub mod addresses;
pub mod costs;
pub mod email;
pub mod erasure;
pub mod login;
pub mod passwords;
pub mod registration;
pub mod sessions;

use std::sync::Arc;

use futures::future::join_all;
use merkato::{
    Context, Settings,
    accounts::{self, Client, LoggedIn, NewUser, Profile, Registered, User},
    context::SystemChance,
};
use widerow::{
    Database, Engine, Options, Row,
    faulty::{Faults, Faulty},
    time::{Clock, ManualClock},
};
use widerow_testing::Target;

use crate::world::{World, raw_rows, schema};

const PASSWORD: &str = "correct horse";

/// Passwords that are quick to hash, and to guess.
pub fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.accounts.passwords.memory_kib = 8;
    settings.accounts.passwords.passes = 1;
    settings.accounts.passwords.wait_seconds_max = 60;
    settings
}

fn world(target: &Target) -> World {
    World::with(target, settings())
}

/// As `world`, on tables that no other case uses.
fn alone(target: &Target) -> World {
    World::alone_with(target, settings())
}

fn new_user(email: &str) -> NewUser {
    let profile = Profile { first_name: Some("Ada".into()), ..Profile::default() };
    NewUser { email: email.into(), password: PASSWORD.into(), profile }
}

async fn register(ctx: &Context, email: &str) -> Registered {
    accounts::register(ctx, new_user(email)).await.expect("the address is free")
}

/// A user who may log in.
async fn verified(ctx: &Context, email: &str) -> User {
    let registered = register(ctx, email).await;
    accounts::verify_email(ctx, registered.letter.token.as_str()).await.expect("a good token")
}

fn client(address: &str) -> Client {
    Client { address: address.into(), user_agent: Some("test".into()) }
}

async fn log_in(ctx: &Context, email: &str) -> LoggedIn {
    accounts::log_in(ctx, email, PASSWORD, &client("192.0.2.1")).await.expect("the password is right")
}

/// The code of a refusal.
fn code<T>(result: Result<T, accounts::Error>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "ok")
}

/// Runs the case with a process that dies after 0 steps, 1, 2 and so on, some side by side, until one lives to the end.
/// The case gets the number, which makes a good name, and says whether its process died.
async fn at_every_step(case: impl AsyncFn(u64) -> bool) {
    const AT_ONCE: u64 = 8;
    for first in (0..).step_by(AT_ONCE as usize) {
        let died = join_all((first..first + AT_ONCE).map(|steps| case(steps))).await;
        if died.contains(&false) {
            return;
        }
    }
}

/// The same shop as another process sees it, which dies after so many steps.
fn dying(world: &World, engine: &Arc<dyn Engine>, steps: u64) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(engine.clone(), faults));
    (beside(world, faulty.clone(), settings()), faulty)
}

/// The same shop as another process sees it.
fn beside(world: &World, engine: impl Engine, settings: Settings) -> Context {
    context(world.clock.clone(), engine, world.ctx.store.tenant().as_str(), settings)
}

fn context(clock: Arc<ManualClock>, engine: impl Engine, tenant: &str, settings: Settings) -> Context {
    let options = Options { clock: clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let store = Database::with_options(engine, schema(), options).tenant(tenant).expect("a good name");
    Context::new(store, settings, clock, Arc::new(SystemChance))
}

/// All rows of the shop in one table.
async fn rows<R: Row>(world: &World) -> Vec<R> {
    let raw = raw_rows(world, R::table()).await;
    raw.into_iter().map(|values| R::from_values(values).expect("a row")).collect()
}
