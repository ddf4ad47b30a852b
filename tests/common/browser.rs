//! A headless Chromium, driven by the WebDriver protocol (W3C) through `chromedriver`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{TIMEOUT, home, until};

/// Sizes of a window.
pub const WIDE: (u32, u32) = (1280, 900);
pub const NARROW: (u32, u32) = (400, 800);

/// Words of a page that would load something, or run what it says.
pub const FOREIGN: [&str; 8] =
    [" src=\"", "@import", "url(http", "<link", "fetch(", "XMLHttpRequest", "innerHTML", "eval("];

/// A browser window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _home: TempDir,
}

/// The script of axe-core, if `AXE` is its path.
pub fn axe() -> Option<String> {
    let Some(path) = std::env::var_os("AXE") else {
        eprintln!("skipped: AXE does not name the script of axe-core (npm install axe-core)");
        return None;
    };
    Some(std::fs::read_to_string(path).expect("the script of axe-core"))
}

/// The tests of the pages are skipped where there is no browser, unless `ENGRAM_BROWSER` asks for one.
fn skipped(why: &str) -> Option<Browser> {
    assert!(std::env::var_os("ENGRAM_BROWSER").is_none(), "{why}");
    eprintln!("skipped: {why}");
    None
}

impl Browser {
    /// What the rules of axe-core find wrong on the page.
    pub fn run_axe(&self, axe: &str) -> Value {
        self.run(&format!("{axe}; window.axe = axe"));
        self.run(
            "return axe.run(document).then((results) => results.violations.map((rule) => \
               [rule.id, rule.help, rule.nodes.map((node) => node.html)]))",
        )
    }

    /// Opens a window of this size; nothing, and a message, where chromedriver starts no browser.
    pub fn start(width: u32, height: u32) -> Option<Browser> {
        let home = home();
        let driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut driver) = driver else {
            return skipped("there is no chromedriver (apt-get install chromium chromium-driver)");
        };
        let output = BufReader::new(driver.stdout.take().expect("a pipe"));
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let mut browser =
            Browser { driver, port: port.unwrap_or_default(), session: String::new(), _home: home };
        if port.is_none() {
            return skipped("chromedriver does not start");
        }
        // As root, Chromium has no sandbox.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
        let options =
            json!({ "goog:chromeOptions": { "args": arguments }, "goog:loggingPrefs": { "browser": "ALL" } });
        let created =
            browser.request("POST", "/session", &json!({ "capabilities": { "alwaysMatch": options } }));
        let Some(session) = created["sessionId"].as_str() else {
            let why = created["message"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
            return skipped(&format!("chromedriver starts no browser: {why}"));
        };
        browser.session = session.to_owned();
        browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 }),
        );
        Some(browser)
    }

    /// Shows a file.
    pub fn open(&self, path: &Path, fragment: &str) {
        self.command("url", &json!({ "url": format!("file://{}{fragment}", path.display()) }));
    }

    /// Shows a game or position, and waits for its board.
    pub fn open_viewer(&self, path: &Path, fragment: &str) {
        self.open(path, fragment);
        self.wait_for("document.querySelector('.viewer .board use')");
    }

    /// The text of an element.
    pub fn text(&self, selector: &str) -> String {
        let text =
            self.run_with("return document.querySelector(arguments[0]).textContent", json!([selector]));
        text.as_str().expect("a text").to_owned()
    }

    /// An attribute of an element.
    pub fn attribute(&self, selector: &str, name: &str) -> Value {
        let script = "return document.querySelector(arguments[0]).getAttribute(arguments[1])";
        self.run_with(script, json!([selector, name]))
    }

    /// The number of elements.
    pub fn count(&self, selector: &str) -> Value {
        self.run_with("return document.querySelectorAll(arguments[0]).length", json!([selector]))
    }

    /// Presses, of these buttons, the one with this text.
    pub fn press_button(&self, buttons: &str, text: &str) {
        let script = "[...document.querySelectorAll(arguments[0])].find((b) => b.textContent === arguments[1]).click()";
        self.run_with(script, json!([buttons, text]));
    }

    /// Checks that nothing sticks out to the side of a screen of this width.
    pub fn assert_fits(&self, width: u32) {
        let found = self.run("return document.documentElement.scrollWidth").as_u64().expect("a width");
        assert!(found <= u64::from(width), "{found} pixels on a screen of {width}");
    }

    /// What is copied is `window.copied` from now on.
    pub fn catch_copies(&self) {
        self.run(
            "const clipboard = { writeText: async (text) => { window.copied = text; } }; \
             Object.defineProperty(navigator, 'clipboard', { value: clipboard })",
        );
    }

    /// Runs a function body in the page; its value.
    pub fn run(&self, script: &str) -> Value {
        self.run_with(script, json!([]))
    }

    /// The same with arguments.
    pub fn run_with(&self, script: &str, arguments: Value) -> Value {
        self.command("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Waits until an expression is true.
    pub fn wait_for(&self, expression: &str) {
        until(expression, || self.run(&format!("return Boolean({expression})")) == true);
    }

    /// Presses keys of these names (`ArrowLeft`, `f`) one after the other.
    pub fn press(&self, keys: &[&str]) {
        let code = |key: &str| match key {
            "ArrowLeft" => "\u{e012}".to_owned(),
            "ArrowRight" => "\u{e014}".to_owned(),
            "Home" => "\u{e011}".to_owned(),
            "End" => "\u{e010}".to_owned(),
            "Escape" => "\u{e00c}".to_owned(),
            "Enter" => "\u{e007}".to_owned(),
            "Tab" => "\u{e004}".to_owned(),
            letter => letter.to_owned(),
        };
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": code(key) })))
            .collect();
        self.command("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Turns the wheel over the middle of an element.
    pub fn wheel(&self, selector: &str, delta: i32) {
        let place = self.place(selector, 0.5);
        let action = json!({ "type": "scroll", "x": place[0], "y": place[1], "deltaX": 0, "deltaY": delta, "duration": 0 });
        self.command(
            "actions",
            &json!({ "actions": [{ "type": "wheel", "id": "wheel", "actions": [action] }] }),
        );
    }

    /// Clicks with the mouse at a share of an element's width, in the middle of its height.
    pub fn click(&self, selector: &str, share: f64) {
        let place = self.place(selector, share);
        self.pointer("mouse", &[place.clone(), place]);
    }

    /// Presses a `mouse` or a finger (`touch`) at the first of several places (pixels, from the left and from above),
    /// draws it over the others, and lets go at the last.
    pub fn pointer(&self, kind: &str, places: &[Value]) {
        let to =
            |place: &Value| json!({ "type": "pointerMove", "x": place[0], "y": place[1], "duration": 20 });
        let mut actions: Vec<Value> = places.iter().map(to).collect();
        actions.insert(1, json!({ "type": "pointerDown", "button": 0 }));
        actions.push(json!({ "type": "pointerUp", "button": 0 }));
        self.command(
            "actions",
            &json!({ "actions": [{ "type": "pointer", "id": kind, "parameters": { "pointerType": kind }, "actions": actions }] }),
        );
    }

    /// What the user prefers: a media feature, such as `prefers-color-scheme`, and its value.
    pub fn prefer(&self, feature: &str, value: &str) {
        let feature = json!({ "name": feature, "value": value });
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    /// Shows the page as it is printed.
    pub fn print(&self) {
        self.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        self.run("dispatchEvent(new Event('beforeprint'))");
    }

    /// What the console said since it was asked last.
    pub fn console(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({ "type": "browser" }));
        log.as_array()
            .map_or_else(Vec::new, |lines| lines.iter().map(|line| line["message"].to_string()).collect())
    }

    /// Scrolls to an element; the place at a share of its width and half its height.
    pub fn place(&self, selector: &str, share: f64) -> Value {
        self.run_with(
            "const element = document.querySelector(arguments[0]); element.scrollIntoView({ block: 'center' }); \
             const box = element.getBoundingClientRect(); \
             return [Math.round(box.left + arguments[1] * box.width), Math.round(box.top + box.height / 2)]",
            json!([selector, share]),
        )
    }

    fn devtools(&self, command: &str, parameters: Value) {
        self.command("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        let value = self.request("POST", &format!("/session/{}/{name}", self.session), body);
        assert!(value["error"].is_null(), "{name} {body}: {}", value["message"]);
        value
    }

    /// The `value` of an answer.
    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time limit");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .expect("chromedriver reads");
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).expect("chromedriver answers");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
        }
        let mut text = vec![0; length];
        answer.read_exact(&mut text).expect("a whole answer");
        let mut answer: Value = serde_json::from_slice(&text).expect("JSON");
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.request("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
