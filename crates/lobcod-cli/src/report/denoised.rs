//! The page of a picture that was denoised patch by patch: no pursuit of the whole picture, hence no certificate.

use super::atoms::before_and_after;
use super::document::{Document, section};
use super::facts::Fact;
use crate::output::summary;
use anyhow::Result;
use lobcod::{Dictionary, Status};
use maud::Markup;
use std::path::Path;

/// All that the page tells.
pub struct DenoisedPage<'a> {
    /// What was done to what.
    pub title: String,
    /// The pictures before and after.
    pub view: Markup,
    /// The atoms as they were given, and as fitted to the picture.
    pub atoms: [&'a Dictionary<f32>; 2],
    /// How it ended.
    pub status: Status,
    /// Numbers to tell.
    pub facts: Vec<Fact>,
}

impl DenoisedPage<'_> {
    /// Writes the page, whole or not at all.
    pub fn write(self, path: &Path) -> Result<()> {
        let good = self.status == Status::Converged;
        let document = Document {
            title: &self.title,
            ending: (if good { "done" } else { summary::ending(self.status) }, good),
            lead: "Every patch was coded by itself, so there is no certificate.".into(),
            sections: vec![
                self.view,
                section("Atoms", &before_and_after(self.atoms[0], self.atoms[1])?),
                section("Numbers", &Fact::table(&self.facts)),
            ],
        };
        document.write(path)
    }
}
