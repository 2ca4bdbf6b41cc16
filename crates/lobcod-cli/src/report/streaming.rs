//! The page about learning from a stream.

use super::atoms::before_and_after;
use super::chart::Axis;
use super::document::{Document, section};
use super::facts::Fact;
use super::learning::{Kind, Points, curve};
use crate::output::table::{count, number, plural};
use anyhow::Result;
use lobcod::{Dictionary, LearnPoint, Real, Status};
use maud::{Markup, html};
use std::path::Path;

/// All that the page tells about learning from a stream.
pub struct StreamPage<'a, T> {
    /// What was learnt from what.
    pub title: String,
    /// How it ended, also in words.
    pub status: (Status, &'static str),
    /// The dictionary at the start.
    pub first: &'a Dictionary<T>,
    /// The learnt dictionary.
    pub dictionary: &'a Dictionary<T>,
    /// The pictures in the order they came, and what each cost when it had been learnt from.
    pub pictures: Vec<(String, LearnPoint)>,
    /// Numbers to tell.
    pub facts: Vec<Fact>,
}

impl<T: Real> StreamPage<'_, T> {
    /// Writes the page, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let (status, ending) = self.status;
        let document = Document {
            title: &self.title,
            ending: (ending, status == Status::MaxSweeps),
            lead: match self.pictures.len() {
                0 => "No picture was learnt from: these are the first atoms.".into(),
                n => format!("Learnt from {}, one at a time.", plural(n, "picture")),
            },
            sections: vec![
                section("Atoms", &before_and_after(self.first, self.dictionary)?),
                section("Picture by picture", &self.course()),
                section("Numbers", &Fact::table(&self.facts)),
            ],
        };
        document.write(path)
    }

    fn course(&self) -> Markup {
        let picture: Kind = (Axis::counting, "picture");
        let points = |value: &dyn Fn(&LearnPoint) -> f64| -> Points {
            self.pictures.iter().map(|(_, point)| [point.pass as f64, value(point)]).collect()
        };
        let objective = points(&|point| point.objective).into_iter().filter(|p| p[1] > 0.0).collect();
        let nonzeros = points(&|point| point.nonzeros as f64);
        html! {
            p.muted { "What every picture cost when it had been learnt from. Pictures differ, so the curve need not fall." }
            div.side-by-side {
                (curve("objective against pictures", picture, (Axis::logarithmic, "objective"), objective))
                (curve("non-zeros against pictures", picture, (Axis::linear, "non-zeros"), nonzeros))
            }
            div.wide {
                table.pictures {
                    thead { tr { @for name in ["picture", "seconds", "objective", "non-zeros", "replaced atoms"] { th { (name) } } } }
                    @for (name, point) in &self.pictures {
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
