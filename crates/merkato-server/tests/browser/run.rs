//! Performs the cases: two at a time, each within a limit, each with a shop of its own. What fails leaves a picture and the source
//! of every page that was open in `failed`.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use futures::{FutureExt as _, future::LocalBoxFuture};
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::sync::OnceCell;
use widerow_testing::RUNTIME;

use crate::{
    driver::{Driver, Programs},
    world::World,
};

const CASES_AT_ONCE: usize = 2;
const CASE_TIME_MAX: Duration = Duration::from_secs(900);

pub type Case = (&'static str, Play);
type Play = for<'w> fn(&'w World) -> LocalBoxFuture<'w, ()>;

/// Names a list of cases, each `async fn(&World)`.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub const CASES: &[$crate::run::Case] =
            &[$((concat!(module_path!(), "::", stringify!($name)), |world| Box::pin($name(world)))),*];
    };
}
pub(crate) use cases;

/// What all cases share.
pub struct Stage {
    /// ORDER: before the folder, as fields are dropped from first to last: the browsers write into it as long as they run.
    pub driver: Driver,
    /// Everything that is written on the way.
    pub home: tempfile::TempDir,
    pub programs: Programs,
    pub axe: Option<Arc<str>>,
    /// The furnished shop that each case has a copy of.
    pub shop: OnceCell<PathBuf>,
}

/// As a test binary's `main`. The second list needs axe-core.
pub fn run(cases: &[&[Case]], with_axe: &[&[Case]]) -> ! {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(arguments.test_threads.unwrap_or(CASES_AT_ONCE).min(CASES_AT_ONCE));
    let required = wish().as_deref() == Some("required");
    let axe = std::env::var_os("MERKATO_TEST_AXE").filter(|path| !path.is_empty());
    let no_axe = axe.is_none().then(|| "MERKATO_TEST_AXE does not say where axe.min.js of axe-core is".to_owned());
    let programs =
        if wish().as_deref() == Some("off") { Err("MERKATO_TEST_BROWSER is off".into()) } else { Programs::find() };
    let no_browser = programs.clone().err();
    if let Some(reason) = no_browser.as_ref().or(no_axe.as_ref()).filter(|_| required) {
        panic!("nothing may be skipped, as MERKATO_TEST_BROWSER says, and {reason}");
    }
    for (what, reason) in [("every case in the browser", &no_browser), ("every case with axe-core", &no_axe)] {
        if let Some(reason) = reason {
            eprintln!("skipped: {what}, as {reason}");
        }
    }
    let stage = Arc::new(LazyLock::new(move || {
        let axe = axe.map(|path| std::fs::read_to_string(path).expect("what MERKATO_TEST_AXE names").into());
        set(programs.expect("its cases are skipped otherwise"), axe)
    }));
    let mut trials = Vec::new();
    for (cases, skipped) in [(cases, no_browser.is_some()), (with_axe, no_browser.is_some() || no_axe.is_some())] {
        for (name, case) in cases.iter().copied().flatten().copied() {
            let name = name.split_once("::").map_or(name, |(_, name)| name);
            let stage = stage.clone();
            trials.push(Trial::test(name, move || perform(&stage, name, case)).with_ignored_flag(skipped));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // ORDER: before the exit, which drops nothing: the browsers end here, and what they wrote goes.
    drop(stage);
    conclusion.exit()
}

/// `off` where these tests are run another time, and `required` where nothing of them may be skipped.
fn wish() -> Option<String> {
    std::env::var("MERKATO_TEST_BROWSER").ok()
}

fn set(programs: Programs, axe: Option<Arc<str>>) -> Stage {
    let _ = std::fs::remove_dir_all(folder("failed"));
    let home = tempfile::Builder::new().prefix("merkato-browser.").tempdir().expect("a folder");
    Stage { driver: Driver::start(&programs, home.path()), home, programs, axe, shop: OnceCell::new() }
}

/// A folder for people to look into, below Cargo's own.
pub fn folder(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("Cargo's folder");
    let folder = target.join("browser").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn perform(stage: &Stage, name: &str, case: Play) -> Result<(), Failed> {
    RUNTIME.block_on(async {
        let world = World::open(stage).await;
        let ended = tokio::time::timeout(CASE_TIME_MAX, AssertUnwindSafe(case(&world)).catch_unwind()).await;
        let mut problem = match ended {
            Ok(Ok(())) => None,
            Ok(Err(panic)) => Some(words(panic.as_ref())),
            Err(_) => Some(format!("took longer than {} s", CASE_TIME_MAX.as_secs())),
        };
        if problem.is_none() {
            let complaints = world.complaints().await;
            problem = (!complaints.is_empty()).then(|| format!("a page complained: {}", complaints.join("\n")));
        }
        if problem.is_some() {
            world.keep_evidence(&folder("failed").join(name.replace("::", "-"))).await;
        }
        world.close().await;
        problem.map_or(Ok(()), |problem| Err(problem.into()))
    })
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}
