//! The HTML document: title, sections and parameters, without external resources.

use super::invocation::{Setting, command_line, settings};
use anyhow::Result;
use lobcod_io::write_atomically;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::Path;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Content security policy that prevents the browser from fetching anything.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A self-contained HTML document.
pub struct Document<'a> {
    /// The title.
    pub title: &'a str,
    /// The status, and whether it is a success.
    pub ending: (&'a str, bool),
    /// The lead paragraph.
    pub lead: String,
    /// The sections.
    pub sections: Vec<Markup>,
}

impl Document<'_> {
    /// Writes the HTML report atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(write_atomically(path, self.markup().into_string().as_bytes())?)
    }

    fn markup(&self) -> Markup {
        let (ending, good) = self.ending;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { (self.title) }
                        p { span.status.good[good] { (ending) "." } (self.lead) }
                        pre { code { (command_line()) } }
                    }
                    main {
                        @for section in &self.sections { (section) }
                        (section("Parameters", &parameters(&settings())))
                    }
                    footer.muted { "lobcod " (env!("CARGO_PKG_VERSION")) ". This file is self-contained." }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }
}

/// A section with a heading.
pub fn section(heading: &str, body: &Markup) -> Markup {
    html! { section { h2 { (heading) } (body) } }
}

/// A collapsed section that opens when its heading is clicked.
pub fn folded(heading: &str, body: &Markup) -> Markup {
    html! { section { details { summary { h2 { (heading) } } (body) } } }
}

fn parameters(settings: &[Setting]) -> Markup {
    html! {
        p.muted { "Given options, and defaults for the rest." }
        table {
            @for setting in settings {
                tr .default[!setting.given] { th scope="row" { code { (setting.name) } } td { (setting.value) } }
            }
        }
    }
}
