//! A person in front of a page: what one reads, presses and fills in is named as it is called on the page.
//!
//! Nothing is asked for twice by a test: whatever is looked for is waited for, up to `PATIENCE`.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use fantoccini::{
    Client,
    actions::{InputSource as _, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction},
    elements::Element,
    error::{CmdError, ErrorStatus},
    key::Key,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{axe, devtools::devtools};

pub const DESK: u32 = 1280;
pub const PHONE: u32 = 375;

const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// Narrower than this, the browser is a phone's: it looks at the page's viewport, as phones do.
const PHONES_WIDTH_MAX: u32 = 600;
/// A page that is longer is cut off on its picture.
const PICTURE_HEIGHT_MAX: u64 = 6_000;
/// How often somebody presses Tab before giving up.
const TABS_MAX: usize = 200;

#[derive(Clone)]
pub struct Browser {
    pub(crate) client: Client,
    /// Where the shop is, as `http://127.0.0.1:1234`.
    pub(crate) origin: String,
    width: Arc<AtomicU32>,
    /// Text of the part of the page that is meant.
    within: Option<String>,
    axe: Option<Arc<str>>,
}

/// What has the focus.
#[derive(Debug, Deserialize)]
pub struct Focus {
    pub name: String,
    pub tag: String,
    /// Whether one sees it.
    pub visible: bool,
}

/// Bytes of a page, without its pictures.
#[derive(Debug, Deserialize)]
pub struct Weight {
    pub sent: u64,
    pub unpacked: u64,
}

impl Browser {
    pub async fn new(client: Client, origin: String, axe: Option<Arc<str>>) -> Self {
        let browser = Browser { client, origin, width: Arc::default(), within: None, axe };
        browser.resize(DESK).await;
        browser
    }

    /// The smallest part of the page with this text, as a line of a cart: what follows is about that part.
    pub fn within(&self, text: &str) -> Self {
        Browser { within: Some(text.to_owned()), ..self.clone() }
    }

    /// Opens a page by its path in the shop, or by a whole address.
    pub async fn visit(&self, path: &str) {
        let url = if path.starts_with('/') { format!("{}{path}", self.origin) } else { path.to_owned() };
        self.client.goto(&url).await.unwrap_or_else(|error| panic!("visit {path}: {error}"));
    }

    /// Where one is, with the query.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.expect("an address").to_string();
        url.strip_prefix(&self.origin).unwrap_or(&url).to_owned()
    }

    pub async fn title(&self) -> String {
        self.client.title().await.expect("a title")
    }

    pub async fn back(&self) {
        self.client.back().await.expect("back");
    }

    pub async fn reload(&self) {
        self.client.refresh().await.expect("reloaded");
    }

    /// Presses a button or follows a link.
    pub async fn click(&self, name: &str) {
        self.until(&format!("click {name:?}"), async || {
            let element = self.find("press", name, None).await?;
            element.click().await.map_err(not_yet)
        })
        .await;
    }

    /// Presses twice, as quickly as impatient people do.
    pub async fn double_click(&self, name: &str) {
        let element = self.until(&format!("find {name:?}"), async || self.find("press", name, None).await).await;
        let (down, up) =
            (PointerAction::Down { button: MOUSE_BUTTON_LEFT }, PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.run::<Value>("arguments[0].scrollIntoView({ block: 'center' })", vec![json!(element)]).await;
        let mut mouse = MouseActions::new("mouse".into()).then(PointerAction::MoveToElement {
            element,
            duration: None,
            x: 0.,
            y: 0.,
        });
        for action in [down.clone(), up.clone(), down, up] {
            mouse = mouse.then(action);
        }
        self.client.perform_actions(mouse).await.unwrap_or_else(|error| panic!("double click {name:?}: {error}"));
    }

    /// Replaces what a field has.
    pub async fn fill(&self, name: &str, text: &str) {
        self.until(&format!("fill {name:?}"), async || {
            let field = self.find("type", name, None).await?;
            field.clear().await.map_err(not_yet)?;
            field.send_keys(text).await.map_err(not_yet)
        })
        .await;
    }

    /// What a field has.
    pub async fn value(&self, name: &str) -> String {
        let field = self.until(&format!("read {name:?}"), async || self.find("type", name, None).await).await;
        field.prop("value").await.expect("a field").unwrap_or_default()
    }

    /// Takes one of a list, or of a group of radio buttons or boxes.
    pub async fn choose(&self, group: &str, option: &str) {
        self.until(&format!("choose {option:?} of {group:?}"), async || {
            let element = self.find("choose", group, Some(option)).await?;
            element.click().await.map_err(not_yet)
        })
        .await;
    }

    /// Waits until the text is there.
    pub async fn see(&self, text: &str) {
        self.see_within(PATIENCE, text).await;
    }

    /// The same of what takes so long that nobody waits for it in front of the page.
    pub async fn see_within(&self, patience: Duration, text: &str) {
        self.until_or(patience, &format!("see {text:?}"), async || {
            let seen = self.try_text().await?;
            if seen.contains(text) { Ok(()) } else { Err(format!("one sees: {}", excerpt(&seen))) }
        })
        .await;
    }

    /// Waits until the text is no longer there.
    pub async fn see_no_more(&self, text: &str) {
        self.until(&format!("see no more {text:?}"), async || {
            let seen = self.try_text().await?;
            if seen.contains(text) { Err(format!("one sees: {}", excerpt(&seen))) } else { Ok(()) }
        })
        .await;
    }

    /// All that is seen, on one line.
    pub async fn text(&self) -> String {
        self.until("read", async || self.try_text().await).await
    }

    async fn try_text(&self) -> Result<String, String> {
        let text = self.client.execute(include_str!("scripts/text.js"), vec![json!(self.within)]).await;
        Ok(text.map_err(|error| error.to_string())?.as_str().unwrap_or_default().to_owned())
    }

    /// Presses a key, wherever the focus is.
    pub async fn press(&self, key: Key) {
        let value = char::from(key);
        let keys = KeyActions::new("keyboard".into()).then(KeyAction::Down { value }).then(KeyAction::Up { value });
        self.client.perform_actions(keys).await.unwrap_or_else(|error| panic!("press {key:?}: {error}"));
    }

    /// Types, wherever the focus is.
    pub async fn write(&self, text: &str) {
        let element = self.client.active_element().await.expect("a focus");
        element.send_keys(text).await.unwrap_or_else(|error| panic!("write {text:?}: {error}"));
    }

    pub async fn focus(&self) -> Focus {
        self.run(include_str!("scripts/focus.js"), Vec::new()).await
    }

    /// Presses Tab until the focus is on what is called so. On the way one always sees where it is.
    pub async fn tab_to(&self, name: &str) {
        let mut met = Vec::new();
        for _ in 0..TABS_MAX {
            self.press(Key::Tab).await;
            let focus = self.focus().await;
            // After the last control the browser's own come, which are the page's body from here.
            assert!(focus.visible || focus.tag == "body", "the focus on {focus:?} is not seen");
            if focus.name.starts_with(name) {
                return;
            }
            met.push(focus.name);
        }
        panic!("Tab does not lead to {name:?}, but to: {}", met.join(" | "));
    }

    pub async fn resize(&self, width: u32) {
        let phone = width < PHONES_WIDTH_MAX;
        let height = if phone { 812 } else { 900 };
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        devtools(&self.client, "Emulation.setDeviceMetricsOverride", size).await.expect("resized");
        self.width.store(width, Ordering::SeqCst);
    }

    /// What a person prefers whose screen is dark, or light. Nothing moves, so that no colour is seen on its way to another.
    pub async fn darken(&self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [
            { "name": "prefers-color-scheme", "value": scheme }, { "name": "prefers-reduced-motion", "value": "reduce" },
        ] });
        devtools(&self.client, "Emulation.setEmulatedMedia", media).await.expect("a scheme");
    }

    /// What makes the page wider than the screen. Not `innerWidth`: on a phone that grows with what sticks out.
    pub async fn overflow(&self) -> Vec<String> {
        let width = self.width.load(Ordering::SeqCst);
        self.run(include_str!("scripts/overflow.js"), vec![json!(width)]).await
    }

    pub async fn weight(&self) -> Weight {
        self.run(include_str!("scripts/weigh.js"), Vec::new()).await
    }

    /// What axe-core finds serious or critical, each with the elements it found it on.
    pub async fn barriers(&self) -> Vec<String> {
        let source = self.axe.as_deref().expect("a case that needs axe stands among those that do");
        axe::barriers(&self.client, source).await
    }

    /// Loads all pictures of the page, also those out of sight; what cannot be shown is told.
    pub async fn load_pictures(&self) -> Vec<String> {
        let told = self.client.execute_async(include_str!("scripts/load.js"), Vec::new()).await;
        serde_json::from_value(told.expect("a script")).expect("what is told")
    }

    /// A picture of the whole page, for people: `pages/<name>-<width>.png` beside what Cargo builds.
    pub async fn screenshot(&self, name: &str) -> PathBuf {
        let width = self.width.load(Ordering::SeqCst);
        let height: u64 = self.run("return document.documentElement.scrollHeight", Vec::new()).await;
        let height = height.min(PICTURE_HEIGHT_MAX);
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let taken = devtools(&self.client, "Page.captureScreenshot", wanted).await.expect("a picture");
        let png = BASE64_STANDARD.decode(taken["data"].as_str().unwrap_or_default()).expect("base64");
        let file = crate::run::folder("pages").join(format!("{name}-{width}.png"));
        std::fs::write(&file, png).expect("written");
        file
    }

    /// Runs a script in the page. Neither the page's policy nor a browser without JavaScript hinders it.
    pub async fn run<T: DeserializeOwned>(&self, script: &str, arguments: Vec<Value>) -> T {
        let value = self.client.execute(script, arguments).await.unwrap_or_else(|error| panic!("a script: {error}"));
        serde_json::from_value(value).expect("what the script should answer")
    }

    async fn find(&self, deed: &str, name: &str, option: Option<&str>) -> Result<Element, String> {
        let arguments = vec![json!(deed), json!(name), json!(self.within), json!(option)];
        // A page that is just being left has no answer, and can be asked again: nothing was done.
        let answer = self.client.execute(include_str!("scripts/find.js"), arguments).await;
        let answer = answer.map_err(|error| error.to_string())?;
        if let Some(problem) = answer["problem"].as_str() {
            return Err(problem.to_owned());
        }
        let id = answer["element"].as_object().and_then(|element| element.values().next()?.as_str());
        let id = id.ok_or_else(|| format!("no element: {answer}"))?.to_owned();
        Ok(Element::from_element_id(self.client.clone(), id.into()))
    }

    async fn until<T>(&self, what: &str, attempt: impl AsyncFnMut() -> Result<T, String>) -> T {
        self.until_or(PATIENCE, what, attempt).await
    }

    async fn until_or<T>(
        &self,
        patience: Duration,
        what: &str,
        mut attempt: impl AsyncFnMut() -> Result<T, String>,
    ) -> T {
        let end = Instant::now() + patience;
        loop {
            let problem = match attempt().await {
                Ok(done) => return done,
                Err(problem) => problem,
            };
            if Instant::now() >= end {
                panic!("{what}, on {}: {problem}", self.path().await);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// An error that the same again can mend: it was not done, as the page was on the move.
///
/// RACE: only what is sure not to have been done is tried again, or one click would become two.
fn not_yet(error: CmdError) -> String {
    let undone = match &error {
        CmdError::Standard(told) => matches!(
            told.error,
            ErrorStatus::StaleElementReference
                | ErrorStatus::ElementNotInteractable
                | ErrorStatus::ElementClickIntercepted
                | ErrorStatus::NoSuchElement
                | ErrorStatus::JavascriptError
        ),
        _ => false,
    };
    assert!(undone, "{error}");
    error.to_string()
}

fn excerpt(text: &str) -> String {
    text.chars().take(600).collect()
}
