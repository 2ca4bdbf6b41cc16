//! Who may use the server: pages that it served itself, and jobs with the token.

use anyhow::{Result, anyhow};
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};

/// The header that carries the token.
const TOKEN: &str = "x-lobcod-token";
/// Bytes of the token.
const LENGTH: usize = 16;

/// What a page of this server may do: run its own scripts and reach this server, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; \
                      worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action \
                      'none'; frame-ancestors 'none'";

/// Headers of every answer. Isolation allows the page to share memory with its workers.
pub const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
];

/// The port of the server and its token.
pub struct Guard {
    port: u16,
    token: String,
}

impl Guard {
    /// A guard with a new random token.
    pub fn new(port: u16) -> Result<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|e| anyhow!("this system gives no random numbers for a token ({e})"))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { port, token })
    }

    /// The address of the page with the token, which browsers do not send to any server.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.token)
    }

    /// Whether a request names this server, and comes from no other page. A foreign name that was
    /// pointed at the loopback (DNS rebinding) is refused by the first condition.
    pub fn is_local(&self, headers: &HeaderMap) -> bool {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let only = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            (values.next().map(HeaderValue::as_bytes), values.next().is_some())
        };
        let (Some(host), false) = only(HOST) else { return false };
        let origin_fits = match only(ORIGIN) {
            (None, _) => true,
            (Some(origin), several) => {
                !several && origin.strip_prefix(b"http://").is_some_and(|origin| origin == host)
            }
        };
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let site_fits = matches!(site, None | Some(b"same-origin" | b"none"));
        hosts.iter().any(|own| own.as_bytes() == host) && origin_fits && site_fits
    }

    /// Whether a request carries the token; the time does not depend on where it differs.
    pub fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(TOKEN).map_or(&b""[..], HeaderValue::as_bytes);
        let own = self.token.as_bytes();
        given.len() == own.len() && given.iter().zip(own).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}
