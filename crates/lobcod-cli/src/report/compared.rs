//! The HTML report of `compare`.

use super::document::{Document, section};
use super::facts::Fact;
use anyhow::Result;
use maud::Markup;
use std::path::Path;

/// Writes the HTML report: the images under a slider, and their scores.
pub fn write_comparison(path: &Path, title: &str, view: Markup, facts: &[Fact]) -> Result<()> {
    let sections = vec![view, section("Numbers", &Fact::table(facts))];
    Document { title, ending: ("done", true), lead: String::new(), sections }.write(path)
}
