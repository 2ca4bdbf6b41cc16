//! The page about a learning.

use super::atoms::then_and_now;
use super::chart::{Axis, Chart, Curve};
use super::document::{Document, section};
use super::facts::Fact;
use crate::output::summary;
use crate::output::table::{count, number};
use anyhow::Result;
use lobcod::{Certificate, Dictionary, Extent, LearnPoint, Learnt, Real, Status};
use maud::{Markup, html};
use std::path::Path;

/// One picture that was learnt from.
pub struct PictureRow {
    /// What it is called.
    pub name: String,
    /// Its size and channels.
    pub shape: (Extent, usize),
    /// What the last pursuit proves of its codes.
    pub certificate: Certificate,
    /// How close its reconstruction is.
    pub psnr_db: f64,
}

/// All that the page tells about a learning.
pub struct LearningPage<'a, T> {
    /// What was learnt from what.
    pub title: String,
    /// How it ended, also in words.
    pub status: (Status, &'static str),
    /// The dictionary at the start.
    pub first: &'a Dictionary<T>,
    /// Dictionary, codes and report.
    pub learnt: &'a Learnt<T>,
    /// PSNR after every pass.
    pub psnr_db: Vec<f64>,
    /// The section of the first picture.
    pub shown: Markup,
    /// All pictures.
    pub pictures: Vec<PictureRow>,
    /// Relative gap of the pursuit that ends the learning.
    pub tolerance: f64,
    /// What else there is to tell.
    pub facts: Vec<Fact>,
}

impl<T: Real> LearningPage<'_, T> {
    /// Writes the page, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let (report, (status, ending)) = (&self.learnt.report, self.status);
        let atoms = then_and_now(self.first, &self.learnt.dictionary, &self.learnt.needles)?;
        let document = Document {
            title: &self.title,
            ending: (ending, matches!(status, Status::Converged | Status::MaxSweeps)),
            lead: match report.history.first() {
                Some(first) => format!(
                    "The objective was {} after the first pass and is {} now.",
                    number(first.objective),
                    number(report.pursuit.total.objective)
                ),
                None => "No pass came to its end: these are the first atoms.".into(),
            },
            sections: vec![
                section("Atoms", &atoms),
                section("Pass by pass", &course(&report.history, &self.psnr_db)),
                self.shown.clone(),
                section("Pictures", &table(&self.pictures)),
                section("Numbers", &Fact::table(&self.numbers())),
            ],
        };
        document.write(path)
    }

    fn numbers(&self) -> Vec<Fact> {
        let report = &self.learnt.report;
        let mut facts = vec![
            Fact::new("status", self.status.0, format!("the pursuit that ends the learning: {}", report.pursuit.status)),
            Fact::new("passes", count(report.passes), "over all pictures"),
            Fact::new("replaced atoms", count(report.replaced_atoms), "that nothing used"),
            Fact::new("merged atoms", count(report.merged_atoms), "whose codes went to a near-duplicate"),
        ];
        facts.extend(Fact::certificate(&report.pursuit, self.tolerance));
        facts.push(Fact::new("time", format!("{:.2} s", report.seconds), "learning and the pursuit that ends it"));
        facts.extend(Fact::means(&report.pursuit));
        facts.extend(self.facts.iter().cloned());
        facts
    }
}

/// Points of a curve.
pub(super) type Points = Vec<[f64; 2]>;

/// Curves of what changed from pass to pass.
fn course(history: &[LearnPoint], psnr_db: &[f64]) -> Markup {
    let by_pass = |value: &dyn Fn(usize) -> f64| -> Points {
        let points = history.iter().enumerate().map(|(i, point)| [point.pass as f64, value(i)]);
        points.filter(|p| p[1].is_finite()).collect()
    };
    let objective = by_pass(&|i| history[i].objective);
    let in_time = history.iter().map(|point| [point.seconds, point.objective]).filter(|p| p[0] > 0.0).collect();
    html! {
        @if history.is_empty() { p.muted { "No pass came to its end." } }
        @else {
            p.muted {
                "Measured after every pass, from dictionary and codes as they stood. The axes of objective and time are logarithmic."
            }
            div.side-by-side {
                (curve("objective against time", (Axis::logarithmic, "seconds"), (Axis::logarithmic, "objective"), in_time))
                (curve("objective against passes", PASS, (Axis::logarithmic, "objective"), objective))
                (curve("PSNR against passes", PASS, (Axis::linear, "PSNR in dB"), by_pass(&|i| psnr_db[i])))
                (curve("non-zeros against passes", PASS, (Axis::linear, "non-zeros"), by_pass(&|i| history[i].nonzeros as f64)))
                (renewal(by_pass(&|i| history[i].replaced_atoms as f64), by_pass(&|i| history[i].merged_atoms as f64)))
            }
        }
    }
}

/// A kind of axis, and what it shows.
pub(super) type Kind = (fn(&'static str, std::vec::IntoIter<f64>) -> Axis, &'static str);
pub(super) const PASS: Kind = (Axis::counting, "pass");

/// One curve; a sentence where there is nothing to draw.
pub(super) fn curve(title: &str, x: Kind, y: Kind, points: Points) -> Markup {
    let axis = |(make, label): Kind, i: usize| make(label, points.iter().map(|p| p[i]).collect::<Vec<_>>().into_iter());
    let (x, y) = (axis(x, 0), axis(y, 1));
    html! {
        figure {
            @if points.is_empty() { p.muted { "There is no " (title) " to draw." } }
            @else { (chart(title, x, y, vec![Curve { class: "one", points, dots: true }])) }
        }
    }
}

/// Atoms that were replaced and merged in every pass.
fn renewal(replaced: Points, merged: Points) -> Markup {
    let most = replaced.iter().chain(&merged).map(|p| p[1]).fold(0.0, f64::max);
    let passes = Axis::counting("pass", replaced.iter().map(|p| p[0]));
    let curves = [("one", replaced), ("two", merged)].map(|(class, points)| Curve { class, points, dots: true });
    html! {
        figure {
            @if most == 0.0 { p.muted { "No atom was replaced or merged." } }
            @else {
                (chart("replaced and merged atoms against passes", passes, Axis::counting("atoms", [0.0, most].into_iter()), curves.into()))
                figcaption { "Atoms " span.key.one { "replaced" } " and " span.key.two { "merged" } " in a pass." }
            }
        }
    }
}

fn chart(title: &str, x: Axis, y: Axis, curves: Vec<Curve>) -> Markup {
    Chart { title: title.into(), width: 560.0, x, y, curves, level: None }.markup()
}

fn table(pictures: &[PictureRow]) -> Markup {
    html! {
        p.muted { "What the pursuit with the learnt atoms says of every picture." }
        div.wide {
            table.pictures {
                thead {
                    tr { @for name in ["picture", "size", "objective", "relative gap", "non-zeros", "a pixel", "PSNR in dB"] { th { (name) } } }
                }
                @for PictureRow { name, shape: (extent, channels), certificate: c, psnr_db } in pictures {
                    tr {
                        th scope="row" { (name) }
                        td { (summary::shape(*extent, *channels)) }
                        td { (number(c.objective)) }
                        td { (number(c.relative_gap())) }
                        td { (count(c.nonzeros)) }
                        td { (number(c.nonzeros as f64 / c.pixels as f64)) }
                        td { (format!("{psnr_db:.2}")) }
                    }
                }
            }
        }
    }
}
