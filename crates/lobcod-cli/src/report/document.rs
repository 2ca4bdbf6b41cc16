//! The page itself: heading, sections, parameters, and nothing from elsewhere.

use super::invocation::{Setting, command_line, settings};
use anyhow::Result;
use lobcod_image::write_atomically;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::Path;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Browsers that read this fetch nothing, whatever the page says.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A page that is complete in itself.
pub struct Document<'a> {
    /// What was done to what.
    pub title: &'a str,
    /// How it ended, and whether that is as it should be.
    pub ending: (&'a str, bool),
    /// What the reader should know first.
    pub lead: String,
    /// What there is to see.
    pub sections: Vec<Markup>,
}

impl Document<'_> {
    /// Writes the page, whole or not at all.
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
                    footer.muted { "lobcod " (env!("CARGO_PKG_VERSION")) ". This file is complete in itself." }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }
}

/// A part of the page under a heading.
pub fn section(heading: &str, body: &Markup) -> Markup {
    html! { section { h2 { (heading) } (body) } }
}

fn parameters(settings: &[Setting]) -> Markup {
    html! {
        p.muted { "What was given, and the defaults of the rest." }
        table {
            @for setting in settings {
                tr .default[!setting.given] { th scope="row" { code { (setting.name) } } td { (setting.value) } }
            }
        }
    }
}
