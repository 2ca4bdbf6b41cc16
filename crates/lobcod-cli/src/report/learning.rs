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

/// Curves of what changed from pass to pass.
fn course(history: &[LearnPoint], psnr_db: &[f64]) -> Markup {
    let places = |place: fn(&LearnPoint) -> f64, value: fn(&LearnPoint) -> f64| -> Vec<[f64; 2]> {
        history.iter().map(|point| [place(point), value(point)]).collect()
    };
    let (time, pass) = (|p: &LearnPoint| p.seconds, |p: &LearnPoint| p.pass as f64);
    let closeness = history.iter().zip(psnr_db).map(|(point, db)| [pass(point), *db]).filter(|p| p[1].is_finite()).collect();
    let by_pass = || Axis::counting("pass", history.iter().map(pass));
    let positive = |points: Vec<[f64; 2]>| -> Vec<[f64; 2]> { points.into_iter().filter(|p| p[0] > 0.0 && p[1] > 0.0).collect() };
    let (in_time, in_passes) = (positive(places(time, |p| p.objective)), positive(places(pass, |p| p.objective)));
    let objective = |points: &[[f64; 2]]| Axis::logarithmic("objective", points.iter().map(|p| p[1]));
    let (time_axis, time_height, pass_height) =
        (Axis::logarithmic("seconds", in_time.iter().map(|p| p[0])), objective(&in_time), objective(&in_passes));
    let renewed = [places(pass, |p| p.replaced_atoms as f64), places(pass, |p| p.merged_atoms as f64)];
    let most = renewed.iter().flatten().map(|p| p[1]).fold(1.0, f64::max);
    let [replaced, merged] = renewed;
    html! {
        @if history.is_empty() { p.muted { "No pass came to its end." } }
        @else {
            p.muted {
                "Measured after every pass, from dictionary and codes as they stood. The axes of objective and time are logarithmic."
            }
            div.side-by-side {
                (figure("objective against time", time_axis, time_height, vec![("one", in_time)], &html! {}))
                (figure("objective against passes", by_pass(), pass_height, vec![("one", in_passes)], &html! {}))
                (linear("PSNR against passes", "PSNR in dB", by_pass(), closeness))
                (linear("non-zeros against passes", "non-zeros", by_pass(), places(pass, |p| p.nonzeros as f64)))
                (figure(
                    "replaced and merged atoms against passes",
                    by_pass(),
                    Axis::counting("atoms", [0.0, most].into_iter()),
                    vec![("one", replaced), ("two", merged)],
                    &html! { figcaption { "Atoms " span.key.one { "replaced" } " and " span.key.two { "merged" } " in a pass." } },
                ))
            }
        }
    }
}

fn linear(title: &str, label: &'static str, x: Axis, points: Vec<[f64; 2]>) -> Markup {
    let y = Axis::linear(label, points.iter().map(|p| p[1]));
    figure(title, x, y, vec![("one", points)], &html! {})
}

fn figure(title: &str, x: Axis, y: Axis, curves: Vec<(&'static str, Vec<[f64; 2]>)>, caption: &Markup) -> Markup {
    if curves.iter().all(|(_, points)| points.is_empty()) {
        return html! { figure { p.muted { "There is no " (title) " to draw." } } };
    }
    let curves = curves.into_iter().map(|(class, points)| Curve { class, points, dots: true }).collect();
    html! { figure { (Chart { title: title.into(), width: 560.0, x, y, curves, level: None }.markup()) (caption) } }
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
