//! The files of the page.

/// The WebAssembly module, which `cargo xtask studio` builds.
pub const MODULE: &str = "lobcod_web.wasm";

/// Every file of the folder `page`: its path, with `/` between folders, and its contents.
pub const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The contents of the file at a path below the address of the page; the empty path is the page
/// itself.
pub fn file(path: &str) -> Option<&'static [u8]> {
    let path = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|(name, _)| *name == path).map(|(_, contents)| *contents)
}

/// The type of a file, for browsers.
pub fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("html", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" => "image/jpeg",
        "wav" => "audio/wav",
        "wasm" => "application/wasm",
        "md" | "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_embedded_and_nothing_outside_it() {
        assert!(file("").unwrap().starts_with(b"<!doctype html>"));
        assert_eq!(file(""), file("index.html"));
        for path in ["../Cargo.toml", "/index.html", "index.html/", "nothing", "./index.html"] {
            assert!(file(path).is_none(), "{path}");
        }
        for (path, _) in FILES {
            assert_ne!(media_type(path), "application/octet-stream", "{path}");
        }
    }
}
