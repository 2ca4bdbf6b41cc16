//! The HTML report of `learn`.

use super::atoms::then_and_now;
use super::chart::{Axis, Chart, Curve};
use super::document::{Document, section};
use super::facts::Fact;
use crate::output::summary;
use crate::output::table::{count, number};
use anyhow::Result;
use lobcod::learn::LearnPoint;
use lobcod::{Certificate, Dictionary, Extent, Learnt, Real, Status};
use maud::{Markup, html};
use std::path::Path;

/// A training image.
pub struct ImageRow {
    /// Its name.
    pub name: String,
    /// Its size and number of channels.
    pub shape: (Extent, usize),
    /// The certificate of its codes from the final pursuit.
    pub certificate: Certificate,
    /// PSNR of its reconstruction.
    pub psnr_db: f64,
}

/// The contents of the report.
pub struct LearningPage<'a, T> {
    /// The title.
    pub title: String,
    /// The status, also as a description.
    pub status: (Status, &'static str),
    /// The initial dictionary.
    pub first: &'a Dictionary<T>,
    /// Dictionary, codes and report.
    pub learnt: &'a Learnt<T>,
    /// PSNR after each pass.
    pub psnr_db: Vec<f64>,
    /// The section of the first image.
    pub shown: Markup,
    /// All images.
    pub images: Vec<ImageRow>,
    /// Target relative gap of the final pursuit.
    pub tolerance: f64,
    /// Additional facts.
    pub facts: Vec<Fact>,
}

impl<T: Real> LearningPage<'_, T> {
    /// Writes the HTML report atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        let (report, (status, ending)) = (&self.learnt.report, self.status);
        let atoms = then_and_now(self.first, &self.learnt.dictionary, &self.learnt.needles)?;
        let document = Document {
            title: &self.title,
            ending: (ending, matches!(status, Status::Converged | Status::Completed)),
            lead: match report.history.first() {
                Some(first) => format!(
                    "The objective was {} after the first pass and is {} now.",
                    number(first.objective),
                    number(report.pursuit.total.objective)
                ),
                None => "No pass was completed: these are the initial atoms.".into(),
            },
            sections: vec![
                section("Atoms", &atoms),
                section("Pass by pass", &history_chart(&report.history, &self.psnr_db)),
                self.shown.clone(),
                section("Images", &table(&self.images)),
                section("Numbers", &Fact::table(&self.numbers())),
            ],
        };
        document.write(path)
    }

    fn numbers(&self) -> Vec<Fact> {
        let report = &self.learnt.report;
        let mut facts = vec![
            Fact::new("status", self.status.0, format!("final pursuit: {}", report.pursuit.status)),
            Fact::new("passes", count(report.passes), "over all images"),
            Fact::new("replaced atoms", count(report.replaced_atoms), "unused"),
            Fact::new("merged atoms", count(report.merged_atoms), "near-duplicates"),
        ];
        facts.extend(Fact::certificate(&report.pursuit, self.tolerance));
        facts.push(Fact::new(
            "time",
            format!("{:.2} s", report.seconds),
            "learning and final pursuit",
        ));
        facts.extend(Fact::means(&report.pursuit));
        facts.extend(self.facts.iter().cloned());
        facts
    }
}

/// Points of a curve.
pub(super) type Points = Vec<[f64; 2]>;

/// Curves over the passes.
fn history_chart(history: &[LearnPoint], psnr_db: &[f64]) -> Markup {
    let by_pass = |value: &dyn Fn(usize) -> f64| -> Points {
        let points = history.iter().enumerate().map(|(i, point)| [point.pass as f64, value(i)]);
        points.filter(|p| p[1].is_finite()).collect()
    };
    let objective = by_pass(&|i| history[i].objective);
    let in_time = history
        .iter()
        .map(|point| [point.seconds, point.objective])
        .filter(|p| p[0] > 0.0)
        .collect();
    html! {
        @if history.is_empty() { p.muted { "No pass was completed." } }
        @else {
            p.muted {
                "Measured after each pass. The objective and time axes are logarithmic."
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

/// An axis constructor and its label.
pub(super) type Kind = (fn(&'static str, std::vec::IntoIter<f64>) -> Axis, &'static str);
pub(super) const PASS: Kind = (Axis::counting, "pass");

/// One curve, or a sentence if there are no points.
pub(super) fn curve(title: &str, x: Kind, y: Kind, points: Points) -> Markup {
    let axis = |(make, label): Kind, i: usize| {
        make(label, points.iter().map(|p| p[i]).collect::<Vec<_>>().into_iter())
    };
    let (x, y) = (axis(x, 0), axis(y, 1));
    html! {
        figure {
            @if points.is_empty() { p.muted { "No data for " (title) "." } }
            @else { (chart(title, x, y, vec![Curve { class: "one", points, dots: true }])) }
        }
    }
}

/// Number of atoms replaced and merged in each pass.
fn renewal(replaced: Points, merged: Points) -> Markup {
    let most = replaced.iter().chain(&merged).map(|p| p[1]).fold(0.0, f64::max);
    let passes = Axis::counting("pass", replaced.iter().map(|p| p[0]));
    let curves = [("one", replaced), ("two", merged)].map(|(class, points)| Curve {
        class,
        points,
        dots: true,
    });
    html! {
        figure {
            @if most == 0.0 { p.muted { "No atom was replaced or merged." } }
            @else {
                (chart("replaced and merged atoms against passes", passes, Axis::counting("atoms", [0.0, most].into_iter()), curves.into()))
                figcaption { "Atoms " span.key.one { "replaced" } " and " span.key.two { "merged" } " per pass." }
            }
        }
    }
}

fn chart(title: &str, x: Axis, y: Axis, curves: Vec<Curve>) -> Markup {
    Chart { title: title.into(), wide: false, x, y, curves, level: None }.markup()
}

fn table(images: &[ImageRow]) -> Markup {
    html! {
        p.muted { "Certificate and PSNR of each image with the learnt atoms." }
        div.wide {
            table.images {
                thead {
                    tr { @for name in ["image", "size", "objective", "relative gap", "non-zeros", "per pixel", "PSNR in dB"] { th { (name) } } }
                }
                @for ImageRow { name, shape: (extent, channels), certificate: c, psnr_db } in images {
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
