//! A real browser, driven through its debugging pipe with zero-terminated JSON messages.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A browser with one page open.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    session: Option<String>,
    events: Vec<Value>,
}

impl Browser {
    /// Starts a browser; prints a message and returns `None` if there is none.
    pub fn start(profile: &Path) -> Option<Self> {
        let runs = |browser: &&str| {
            Command::new(browser)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        };
        let Some(browser) =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
        else {
            lobcod_conformance::skipped("skipped: Chromium or Chrome is not installed");
            return None;
        };
        // The browser reads messages from descriptor 3 and replies on 4; here they are its standard
        // input and output.
        let line = format!(
            "exec {browser} --headless --no-sandbox --disable-gpu --no-first-run \
             --disable-background-networking --disable-component-update --disable-sync \
             --window-size=1100,900 --user-data-dir='{}' --remote-debugging-pipe 3<&0 4>&1 \
             1>/dev/null 2>/dev/null",
            profile.display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, input, output, last: 0, session: None, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = Some(attached["sessionId"].as_str().unwrap().into());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.receive();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self) -> Value {
        let mut message = Vec::new();
        self.output.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser went away");
        serde_json::from_slice(&message).unwrap()
    }

    /// Opens a page in light or dark mode, and waits until it is loaded.
    pub fn open(&mut self, page: &Path, scheme: &str) {
        self.events.clear();
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        self.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push(event);
        }
        // On a busy machine images may be decoded a little later.
        let drawn = "document.readyState == 'complete' && [...document.images].every(i => \
                     i.complete && i.naturalWidth > 0)";
        for _ in 0..200 {
            if self.evaluate(drawn) == true {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let result = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses the mouse at a position, moves it and releases it.
    pub fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        for (kind, [x, y]) in [("mousePressed", from), ("mouseMoved", to), ("mouseReleased", to)] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Gives the window a width in pixels.
    pub fn resize(&mut self, width: u32) {
        let size =
            json!({ "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Presses a key, given by name and code.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Console errors of the page, and resources it fetched.
    pub fn faults(&self) -> Vec<String> {
        let is_fault = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Network.requestWillBeSent") => {
                let address = event["params"]["request"]["url"].as_str().unwrap_or_default();
                !address.starts_with("data:") && event["params"]["type"] != "Document"
            }
            _ => false,
        };
        self.events.iter().filter(is_fault).map(Value::to_string).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks a page in light and dark mode: images are drawn, sliders respond to mouse and keys, text
/// is readable, and nothing is fetched or logged as an error.
pub fn look(browser: &mut Browser, page: &Path, images: usize, sliders: usize) {
    for scheme in ["light", "dark"] {
        browser.open(page, scheme);
        let drawn = browser
            .evaluate("[...document.images].filter(i => i.complete && i.naturalWidth > 0).length");
        assert_eq!(drawn, images, "{}", page.display());
        assert_eq!(
            browser.evaluate("document.querySelectorAll('.compare').length"),
            sliders,
            "{}",
            page.display()
        );
        for number in 0..sliders {
            move_slider(browser, number);
        }
        if sliders > 0 {
            zoom(browser);
        }
        for width in [400, 1400, 2560] {
            browser.resize(width);
            let fits = browser.evaluate("document.documentElement.scrollWidth <= innerWidth");
            assert_eq!(fits, true, "{} is wider than {width} pixels", page.display());
        }
        let contrast = browser.evaluate(CONTRAST);
        assert!(contrast["ratio"].as_f64().unwrap() > 4.5, "{contrast} in {scheme}");
        assert_eq!(contrast["dark"], scheme == "dark");
        assert_eq!(browser.faults(), Vec::<String>::new(), "{}", page.display());
    }
}

/// Enlarges the images of the first group: all of them follow, dragging moves them, and the slider
/// still cuts at its own place. Then they fit again.
fn zoom(browser: &mut Browser) {
    let press = |browser: &mut Browser, title: &str| {
        browser.evaluate(&format!(
            "document.querySelector(\".tools button[title='{title}']\").click()"
        ))
    };
    let state = "(() => { const g = document.querySelector('.panels'), c = \
                 g.querySelector('.compare');
        const b = c.getBoundingClientRect(), m = \
                 [...g.querySelectorAll('img:not([hidden])')].map(i => \
                 getComputedStyle(i).transform.split(',').map(parseFloat));
        return { zoom: +g.style.getPropertyValue('--zoom'), x: +g.style.getPropertyValue('--x'),
                 same: m.every(t => Math.abs(t[3] - m[0][3]) < 1e-6),
                 cut: parseFloat(getComputedStyle(c).getPropertyValue('--cut-within')), value: \
                 +c.querySelector('input').value,
                 left: b.left, top: Math.max(b.top, 0), width: b.width }; })()";
    // Sliders further down were moved before.
    browser.evaluate("document.querySelector('.panels .compare').scrollIntoView()");
    press(browser, "enlarge");
    let enlarged = browser.evaluate(state);
    assert_eq!((&enlarged["zoom"], &enlarged["same"]), (&1.5.into(), &true.into()));
    let number = |state: &Value, name: &str| state[name].as_f64().unwrap();
    let expected = (number(&enlarged, "value") - 100.0 * number(&enlarged, "x")) / 1.5;
    assert!((number(&enlarged, "cut") - expected).abs() < 1e-6, "{enlarged}");
    let left = number(&enlarged, "left");
    let top = number(&enlarged, "top");
    let width = number(&enlarged, "width");
    browser.drag([left + 0.3 * width, top + 9.0], [left + 0.35 * width, top + 9.0]);
    let moved = browser.evaluate(state);
    assert!(
        (number(&moved, "x") - number(&enlarged, "x") - 0.05).abs() < 0.01,
        "{enlarged} {moved}"
    );
    press(browser, "the whole image");
    assert_eq!(browser.evaluate(state)["zoom"], 1);
}

/// WCAG contrast of text and background, and whether the background is dark.
const CONTRAST: &str = "(() => {
    const light = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(c => (c /= 255) <= 0.04045 ? \
                        c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const style = getComputedStyle(document.body);
    const [a, b] = [light(style.color), light(style.backgroundColor)];
    return { ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), dark: b < 0.2 };
})()";

fn move_slider(browser: &mut Browser, number: usize) {
    let slider = format!("document.querySelectorAll('.compare')[{number}]");
    let state = format!(
        "(() => {{ const c = {slider}, b = c.getBoundingClientRect();
           return {{ value: +c.querySelector('input').value, cut: \
         getComputedStyle(c.querySelector('.second')).clipPath,
                     left: b.left, width: b.width, middle: Math.min(b.top + b.height / 2, \
         innerHeight - 5) }}; }})()"
    );
    let cut = |state: &Value| format!("inset(0px 0px 0px {}%)", state["value"]);
    browser.evaluate(&format!("{slider}.scrollIntoView({{ block: 'center' }})"));
    let before = browser.evaluate(&state);
    assert_eq!(
        (&before["value"], before["cut"].as_str().unwrap()),
        (&50.into(), cut(&before).as_str())
    );
    let at = |share: f64| {
        let place = |name: &str| before[name].as_f64().unwrap();
        [place("left") + share * place("width"), place("middle")]
    };
    browser.drag(at(0.5), at(0.2));
    let dragged = browser.evaluate(&state);
    assert!((dragged["value"].as_f64().unwrap() - 20.0).abs() < 4.0, "{dragged}");
    assert_eq!(dragged["cut"], cut(&dragged));
    browser.evaluate(&format!("{slider}.querySelector('input').focus()"));
    (0..3).for_each(|_| browser.press("ArrowRight", 39));
    let pressed = browser.evaluate(&state);
    assert_eq!(pressed["value"].as_f64().unwrap(), dragged["value"].as_f64().unwrap() + 3.0);
    assert_eq!(pressed["cut"], cut(&pressed));
}
