//! The page of a filled picture: before and after, difference, holes, penalty path, numbers.

use super::before_after::slider;
use super::chart::{Axis, Chart, Curve};
use super::document::{Document, section};
use super::facts::Fact;
use super::pictures;
use crate::output::summary;
use crate::output::table::number;
use anyhow::Result;
use lobcod::tasks::inpaint::{InpaintReport, PathPoint};
use lobcod::{Mask, Real, Signal, Status};
use maud::{Markup, html};
use std::path::Path;

/// All that the page tells about a filled picture.
pub struct FilledPage<'a, T> {
    /// What it is called.
    pub name: String,
    /// The picture with its holes.
    pub damaged: &'a Signal<T>,
    /// Which samples are known.
    pub known: &'a Mask<T>,
    /// The picture as it was written.
    pub filled: &'a Signal<T>,
    /// The true picture, if it is known.
    pub truth: Option<&'a Signal<T>>,
    /// What white stands for; `None`: the largest known sample, black being the smallest.
    pub white: Option<f64>,
    /// What inpainting says of its work.
    pub report: &'a InpaintReport,
    /// Numbers to tell.
    pub facts: Vec<Fact>,
}

impl<T: Real> FilledPage<'_, T> {
    /// Writes the page, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let status = self.report.status;
        let remark = match status {
            Status::Converged => "Pixels that were missing have been read nowhere.",
            _ => "The picture is filled as far as the work had come.",
        };
        let ending = if status == Status::Converged { "done" } else { summary::ending(status) };
        let mut sections = Vec::new();
        if self.damaged.extent().rank() > 1 {
            sections.push(section(&self.name, &self.pictures()?));
        }
        sections.push(section("Penalty path", &self.path()));
        sections.push(section("Numbers", &Fact::table(&self.facts)));
        let title = format!("lobcod inpaint: {}", self.name);
        let ending = (ending, status == Status::Converged);
        Document { title: &title, ending, lead: remark.into(), sections }.write(path)
    }

    fn pictures(&self) -> Result<Markup> {
        let range = self.range();
        let damaged = pictures::photo(self.damaged, range, Some(self.known))?;
        let filled = pictures::photo(self.filled, range, None)?;
        let ones = Signal::from_planar(self.damaged.extent(), 1, vec![T::ONE; self.damaged.extent().volume()])?;
        let holes = pictures::photo(&ones, [0.0, 1.0], Some(self.known))?;
        let difference = self.truth.map(|truth| pictures::difference(truth, self.filled, None)).transpose()?;
        let truth = self.truth.map(|truth| pictures::photo(truth, range, None)).transpose()?;
        let aspect = damaged.width as f64 / damaged.height as f64;
        Ok(html! {
            div.panels style={ "--aspect: " (aspect) } {
                (slider(("with holes", &damaged), ("filled", &filled), " What is missing is drawn in pink."))
                div {
                    @if let Some((difference, white)) = &difference {
                        figure {
                            (difference.markup("absolute difference to the reference"))
                            figcaption { "Absolute difference to the reference: black is 0, white " (number(*white)) " or more." }
                        }
                    }
                    figure {
                        (holes.markup("holes"))
                        figcaption { "The holes, in pink." }
                    }
                    @if let Some(truth) = &truth {
                        figure {
                            (truth.markup("reference"))
                            figcaption { "The reference." }
                        }
                    }
                }
            }
        })
    }

    /// Held-out error against penalty for the answer with the largest share.
    fn path(&self) -> Markup {
        let point = |p: &PathPoint| p.held_out_error.filter(|e| *e > 0.0).map(|e| [p.penalty, e]);
        let points: Vec<[f64; 2]> = self.report.path.iter().filter_map(point).collect();
        if points.is_empty() {
            return html! { p.muted { "No pixels were held out, so no penalty was judged." } };
        }
        let chart = Chart {
            title: "held-out error against penalty".into(),
            width: 1120.0,
            x: Axis::logarithmic("penalty", points.iter().map(|p| p[0])),
            y: Axis::logarithmic("held-out error", points.iter().map(|p| p[1])),
            curves: vec![Curve { class: "one", points, dots: true }],
            level: None,
        };
        html! {
            p.muted {
                "Root mean square error at " (self.report.held_out) " known samples that were held out, as the penalty falls: first while the "
                "base layer is found, then, from dense codes, for the answer with the largest share. The codes end at "
                (number(self.report.penalty)) "."
            }
            figure { (chart.markup()) }
        }
    }

    /// Values that are drawn black and white.
    fn range(&self) -> [f64; 2] {
        let known = (0..self.damaged.channels()).flat_map(|c| self.damaged.channel(c).iter().zip(self.known.channel(c)));
        let values = known.filter(|(_, w)| **w > T::ZERO).map(|(x, _)| x.to_f64());
        self.white.map_or_else(
            || values.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], v| [l.min(v), h.max(v)]),
            |white| [0.0, white],
        )
    }
}
