//! The server of `lobcod studio`: the page, jobs, and requests that it must refuse.

use crate::common::Desk;
use lobcod_web::message::{Draft, Message};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

/// A running server.
struct Studio {
    child: Child,
    port: u16,
    token: String,
}

impl Studio {
    fn start(desk: &Desk) -> Self {
        let mut command = desk.command("studio --port 0 --threads 1");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let (place, token) = address.trim().split_once("/#token=").expect("an address");
        let port = place.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { child, port, token: token.into() }
    }

    /// Sends the start of a request, and more headers and a body.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that refuses a request may close before it has read all of it.
        let _ = stream.write_all(body);
        stream
    }

    /// Status, headers and body of an answer.
    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String, Vec<u8>) {
        let mut answer = Vec::new();
        let _ = self.send(line, headers, body).read_to_end(&mut answer);
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a complete head");
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), answer.split_off(end + 4))
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Runs a job and returns its events.
    fn job(&self, request: &[u8]) -> Vec<Vec<u8>> {
        let length = request.len().to_string();
        let headers = [
            ("Host", &self.host()[..]),
            ("X-Lobcod-Token", &self.token),
            ("Content-Length", &length),
        ];
        let (status, _, body) = self.ask("POST /api/v1/run", &headers, request);
        assert_eq!(status, 200);
        let mut stream = &unchunked(&body)[..];
        let mut events = Vec::new();
        while !stream.is_empty() {
            let (length, rest) = stream.split_first_chunk().unwrap();
            let (event, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
            events.push(event.to_vec());
            stream = rest;
        }
        events
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A body without the sizes of its chunks.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|w| w == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    whole
}

fn grey(side: usize) -> Vec<u8> {
    (0..side * side).map(|i| (100 + 60 * ((i / side / 4 + i % side / 4) % 2)) as u8).collect()
}

#[test]
fn the_page_and_its_status_are_served_with_strict_headers() {
    let studio = Studio::start(&Desk::new());
    for path in ["/", "/index.html"] {
        let (status, head, body) =
            studio.ask(&format!("GET {path}"), &[("Host", &studio.host())], b"");
        assert_eq!(status, 200);
        assert!(body.starts_with(b"<!doctype html>"));
        for header in [
            "content-type: text/html",
            "content-security-policy: default-src 'none'",
            "frame-ancestors 'none'",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-embedder-policy: require-corp",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(header), "{header} in {head}");
        }
        assert!(!head.contains("unsafe-inline") && !head.contains("'unsafe-eval'"));
    }
    let headers = [("Host", &studio.host()[..]), ("X-Lobcod-Token", &studio.token)];
    let (status, _, body) = studio.ask("GET /api/v1/status", &headers, b"");
    let report: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &report["protocol"], &report["threads"]), (200, &json!(1), &json!(1)));
}

#[test]
fn jobs_run_on_this_machine() {
    let studio = Studio::start(&Desk::new());
    let mask: Vec<u8> = (0..40 * 40).map(|i| u8::from(i % 40 == 20)).collect();
    let options = json!({"preset": "fast"});
    let job = Draft::new(json!({"protocol": 1, "task": "inpaint", "options": options}))
        .with_u8("image", &[40, 40], &grey(40))
        .with_u8("mask", &[40, 40], &mask);
    let events = studio.job(&job.to_bytes());
    let last = Message::read(events.last().unwrap()).unwrap();
    assert_eq!(last.head["event"], "result");
    assert_eq!(last.head["missing"], 40);
    assert_eq!(last.array("image").unwrap().shape, [40, 40, 4]);
    let wrong = studio.job(&Draft::new(json!({"protocol": 1, "task": "paint"})).to_bytes());
    let error = Message::read(&wrong[0]).unwrap();
    assert_eq!(error.head["event"], "error");
}

#[test]
fn strangers_are_refused() {
    let studio = Studio::start(&Desk::new());
    let (host, token) = (studio.host(), studio.token.clone());
    let own = format!("http://{host}");
    let (rebound, localhost) =
        (format!("evil.example:{}", studio.port), format!("localhost:{}", studio.port));
    let other_port = format!("http://127.0.0.1:{}", studio.port ^ 1);
    let wrong = token.replace(|c: char| c != '0', "0");
    let good = [("Host", &host[..]), ("X-Lobcod-Token", &token[..])];
    let get = "GET /api/v1/status";
    let with = |more: &[(&'static str, &str)]| {
        let headers: Vec<(&str, &str)> = good.iter().copied().chain(more.iter().copied()).collect();
        studio.ask(get, &headers, b"").0
    };
    // With the token from its own page, under either name of the loopback.
    assert_eq!(with(&[]), 200);
    assert_eq!(with(&[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]), 200);
    assert_eq!(studio.ask(get, &[("Host", &localhost), ("X-Lobcod-Token", &token)], b"").0, 200);
    // Another origin.
    for origin in [
        "https://evil.example",
        "null",
        &own.replace("http", "https"),
        &other_port,
        "http://127.0.0.1",
    ] {
        assert_eq!(with(&[("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(with(&[("Origin", &own), ("Origin", "https://evil.example")]), 403);
    assert_eq!(with(&[("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(with(&[("Sec-Fetch-Site", "same-site")]), 403);
    // A name that was pointed at the loopback, for files as well as for jobs.
    for name in [&rebound[..], "evil.example", "127.0.0.1", "", "127.0.0.1.evil.example"] {
        assert_eq!(
            studio.ask(get, &[("Host", name), ("X-Lobcod-Token", &token)], b"").0,
            403,
            "{name}"
        );
        assert_eq!(studio.ask("GET /", &[("Host", name)], b"").0, 403, "{name}");
    }
    assert_eq!(studio.ask("GET /", &[], b"").0, 403);
    // A missing or wrong token, also one in the address.
    for headers in [
        vec![("Host", &host[..])],
        vec![("Host", &host), ("X-Lobcod-Token", &wrong)],
        vec![("Host", &host), ("X-Lobcod-Token", &token[1..])],
        vec![("Host", &host), ("X-Lobcod-Token", "")],
    ] {
        assert_eq!(studio.ask(get, &headers, b"").0, 403);
        assert_eq!(studio.ask(&format!("{get}?token={token}"), &headers, b"").0, 403);
        assert_eq!(studio.ask("POST /api/v1/run", &headers, b"").0, 403);
    }
}

#[test]
fn nothing_but_the_page_is_served() {
    let studio = Studio::start(&Desk::new());
    let host = studio.host();
    for path in [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/%2e%2e/Cargo.toml",
        "/./index.html",
        "//index.html",
        "/..\\Cargo.toml",
        "/etc/passwd",
        "/index.html/",
        "/index.html%00",
        "/src/../index.html",
        "/file:///etc/passwd",
    ] {
        let (status, _, body) = studio.ask(&format!("GET {path}"), &[("Host", &host)], b"");
        assert_eq!(status, 404, "{path}: {}", String::from_utf8_lossy(&body));
    }
    for method in ["POST", "HEAD", "OPTIONS", "PUT", "TRACE"] {
        assert_eq!(studio.ask(&format!("{method} /"), &[("Host", &host)], b"").0, 405, "{method}");
    }
    let good = [("Host", &host[..]), ("X-Lobcod-Token", &studio.token)];
    assert_eq!(studio.ask("GET /api/v1/run", &good, b"").0, 405);
    assert_eq!(studio.ask("GET /api/v2/status", &good, b"").0, 404);
}

#[test]
fn oversized_and_damaged_bodies_are_refused() {
    let studio = Studio::start(&Desk::new());
    let host = studio.host();
    for length in ["1073741825", "99999999999999"] {
        let headers =
            [("Host", &host[..]), ("X-Lobcod-Token", &studio.token), ("Content-Length", length)];
        let (status, _, body) = studio.ask("POST /api/v1/run", &headers, b"");
        assert_eq!(status, 413, "{length}");
        let words: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            words["error"],
            "the request is larger than 1.0 GiB; use fewer or smaller images"
        );
    }
    for body in [&b""[..], b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x02\0\0\0{}"] {
        let events = studio.job(body);
        let error = Message::read(events.last().unwrap()).unwrap();
        assert_eq!(error.head["event"], "error", "{body:?}");
    }
}

#[test]
fn slow_clients_do_not_hold_the_server() {
    let studio = Studio::start(&Desk::new());
    let host = studio.host();
    let token = [("Host", &host[..]), ("X-Lobcod-Token", &studio.token)];
    // A body that never arrives, and as many unfinished heads as the server has connections.
    let length = [&token[..], &[("Content-Length", "1000000")]].concat();
    let mut body = studio.send("POST /api/v1/run", &length, b"\x10\0\0\0");
    let head = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, studio.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: 127").unwrap();
        stream
    };
    let heads: Vec<TcpStream> = (0..64).map(|_| head()).collect();
    // The next request waits until they are given up.
    assert_eq!(studio.ask("GET /api/v1/status", &token, b"").0, 200);
    for mut stream in heads {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("a closed connection");
    }
    let mut answer = String::new();
    body.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn a_port_in_use_is_an_error_with_a_cure() {
    let desk = Desk::new();
    let studio = Studio::start(&desk);
    let output = desk.command(&format!("studio --port {}", studio.port)).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("choose another one with --port"), "{words}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_server_and_its_jobs() {
    let desk = Desk::new();
    let mut studio = Studio::start(&desk);
    // A job that would take minutes.
    let job = Draft::new(json!({"protocol": 1, "task": "learn", "options": {"passes": 100_000}}))
        .with_u8("image", &[200, 200], &grey(200))
        .to_bytes();
    let length = job.len().to_string();
    let headers = [
        ("Host", &studio.host()[..]),
        ("X-Lobcod-Token", &studio.token),
        ("Content-Length", &length),
    ];
    let mut stream = studio.send("POST /api/v1/run", &headers, &job);
    stream.read_exact(&mut [0; 12]).unwrap();
    let process = studio.child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &process]).status();
    assert!(kill.unwrap().success());
    let began = std::time::Instant::now();
    let status = loop {
        if let Some(status) = studio.child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "the server does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
    assert_eq!(std::fs::read_dir(desk.path("")).unwrap().count(), 0, "files were left");
}

#[test]
fn a_job_stops_when_its_page_leaves() {
    let studio = Studio::start(&Desk::new());
    let job = Draft::new(json!({"protocol": 1, "task": "learn", "options": {"passes": 100_000}}))
        .with_u8("image", &[120, 120], &grey(120))
        .to_bytes();
    let length = job.len().to_string();
    let headers = [
        ("Host", &studio.host()[..]),
        ("X-Lobcod-Token", &studio.token),
        ("Content-Length", &length),
    ];
    let mut stream = studio.send("POST /api/v1/run", &headers, &job);
    stream.read_exact(&mut [0; 12]).unwrap();
    let wait_for = |due: &dyn Fn(usize) -> bool| {
        let began = std::time::Instant::now();
        while threads_named(studio.child.id(), "job").is_some_and(|jobs| !due(jobs)) {
            assert!(began.elapsed() < Duration::from_secs(60), "the job does not start or stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for(&|jobs| jobs == 1);
    drop(stream);
    wait_for(&|jobs| jobs == 0);
}

/// Number of threads of a process with this name; `None` where the system does not show it.
fn threads_named(process: u32, name: &str) -> Option<usize> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    Some(names.filter(|found| found.trim() == name).count())
}
