//! The page of two pictures that were compared.

use super::document::{Document, section};
use super::facts::Fact;
use anyhow::Result;
use maud::Markup;
use std::path::Path;

/// Writes the page: the pictures under a slider, and how far they are apart.
pub fn write_comparison(path: &Path, title: &str, view: Markup, facts: &[Fact]) -> Result<()> {
    let sections = vec![view, section("Numbers", &Fact::table(facts))];
    Document { title, ending: ("done", true), lead: String::new(), sections }.write(path)
}
