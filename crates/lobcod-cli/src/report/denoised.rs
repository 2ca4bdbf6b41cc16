//! The HTML report of patch-wise denoising, which has no pursuit of the whole image and hence no
//! certificate.

use super::atoms::before_and_after;
use super::document::{Document, section};
use super::facts::Fact;
use crate::output::summary;
use anyhow::Result;
use lobcod::{Dictionary, Status};
use maud::Markup;
use std::path::Path;

/// The contents of the report.
pub struct DenoisedPage<'a> {
    /// The title.
    pub title: String,
    /// The images before and after.
    pub view: Markup,
    /// The given atoms and those adapted to the image, if the method uses atoms.
    pub atoms: Option<[&'a Dictionary<f32>; 2]>,
    /// The status.
    pub status: Status,
    /// What was done, in the terms of the user.
    pub lead: String,
    /// The table of numbers.
    pub facts: Vec<Fact>,
}

impl DenoisedPage<'_> {
    /// Writes the HTML report atomically.
    pub fn write(self, path: &Path) -> Result<()> {
        let good = self.status == Status::Converged;
        let atoms = match self.atoms {
            Some([given, adapted]) => Some(section("Atoms", &before_and_after(given, adapted)?)),
            None => None,
        };
        let numbers = section("Numbers", &Fact::table(&self.facts));
        let sections = [Some(self.view), atoms, Some(numbers)];
        let document = Document {
            title: &self.title,
            ending: (if good { "done" } else { summary::ending(self.status) }, good),
            lead: self.lead,
            sections: sections.into_iter().flatten().collect(),
        };
        document.write(path)
    }
}
