//! The HTML report of `learn --stream`.

use super::atoms::before_and_after;
use super::chart::Axis;
use super::document::{Document, section};
use super::facts::Fact;
use super::learning::{Kind, Points, curve};
use crate::output::table::{count, number, plural};
use anyhow::Result;
use lobcod::learn::LearnPoint;
use lobcod::{Dictionary, Real, Status};
use maud::{Markup, html};
use std::path::Path;

/// The contents of the report.
pub struct StreamPage<'a, T> {
    /// The title.
    pub title: String,
    /// The status, also as a description.
    pub status: (Status, &'static str),
    /// The initial dictionary.
    pub first: &'a Dictionary<T>,
    /// The learnt dictionary.
    pub dictionary: &'a Dictionary<T>,
    /// The images in order, and the cost of each after it was processed.
    pub images: Vec<(String, LearnPoint)>,
    /// The table of numbers.
    pub facts: Vec<Fact>,
}

impl<T: Real> StreamPage<'_, T> {
    /// Writes the HTML report atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        let (status, ending) = self.status;
        let document = Document {
            title: &self.title,
            ending: (ending, status == Status::Completed),
            lead: match self.images.len() {
                0 => "No image was processed: these are the initial atoms.".into(),
                n => format!("Learnt from {}, one at a time.", plural(n, "image")),
            },
            sections: vec![
                section("Atoms", &before_and_after(self.first, self.dictionary)?),
                section("Image by image", &self.history_chart()),
                section("Numbers", &Fact::table(&self.facts)),
            ],
        };
        document.write(path)
    }

    fn history_chart(&self) -> Markup {
        let image: Kind = (Axis::counting, "image");
        let points = |value: &dyn Fn(&LearnPoint) -> f64| -> Points {
            self.images.iter().map(|(_, point)| [point.pass as f64, value(point)]).collect()
        };
        let objective =
            points(&|point| point.objective).into_iter().filter(|p| p[1] > 0.0).collect();
        let nonzeros = points(&|point| point.nonzeros as f64);
        html! {
            p.muted { "Cost of each image after it was processed. Images differ, so the curve need not decrease." }
            div.side-by-side {
                (curve("objective against images", image, (Axis::logarithmic, "objective"), objective))
                (curve("non-zeros against images", image, (Axis::linear, "non-zeros"), nonzeros))
            }
            div.wide {
                table.images {
                    thead { tr { @for name in ["image", "seconds", "objective", "non-zeros", "replaced atoms"] { th { (name) } } } }
                    @for (name, point) in &self.images {
                        tr {
                            th scope="row" { (name) }
                            td { (number(point.seconds)) }
                            td { (number(point.objective)) }
                            td { (count(point.nonzeros)) }
                            td { (count(point.replaced_atoms)) }
                        }
                    }
                }
            }
        }
    }
}
