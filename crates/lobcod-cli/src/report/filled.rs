//! The HTML report of `inpaint`: before and after, difference, holes, penalty path and numbers.

use super::before_after::slider;
use super::chart::{Axis, Chart, Curve};
use super::document::{Document, section};
use super::facts::Fact;
use super::images;
use crate::output::summary;
use crate::output::table::number;
use anyhow::Result;
use lobcod::{Mask, Real, Signal, Status};
use lobcod_tasks::inpaint::{InpaintReport, PathPoint};
use maud::{Markup, html};
use std::path::Path;

/// The contents of the report.
pub struct FilledPage<'a, T> {
    /// Its name.
    pub name: String,
    /// The image with its holes.
    pub damaged: &'a Signal<T>,
    /// Which samples are known.
    pub known: &'a Mask<T>,
    /// The image as written.
    pub filled: &'a Signal<T>,
    /// The reference, if given.
    pub truth: Option<&'a Signal<T>>,
    /// The white level; `None` maps the smallest and largest known sample to black and white.
    pub white: Option<f64>,
    /// The report of the inpainting.
    pub report: &'a InpaintReport,
    /// The table of numbers.
    pub facts: Vec<Fact>,
}

impl<T: Real> FilledPage<'_, T> {
    /// Writes the HTML report atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        let status = self.report.status;
        let remark = match status {
            Status::Converged => "The values of missing pixels were not used.",
            _ => "The run ended early; the image is filled with the result so far.",
        };
        let ending = if status == Status::Converged { "done" } else { summary::ending(status) };
        let mut sections = Vec::new();
        if self.damaged.extent().rank() > 1 {
            sections.push(section(&self.name, &self.images()?));
        }
        sections.push(section("Penalty path", &self.path()));
        sections.push(section("Numbers", &Fact::table(&self.facts)));
        let title = format!("lobcod inpaint: {}", self.name);
        let ending = (ending, status == Status::Converged);
        Document { title: &title, ending, lead: remark.into(), sections }.write(path)
    }

    fn images(&self) -> Result<Markup> {
        let range = self.range();
        let damaged = images::photo(self.damaged, range, Some(self.known))?;
        let filled = images::photo(self.filled, range, None)?;
        let ones = Signal::from_planar(
            self.damaged.extent(),
            1,
            vec![T::ONE; self.damaged.extent().volume()],
        )?;
        let holes = images::photo(&ones, [0.0, 1.0], Some(self.known))?;
        let difference =
            self.truth.map(|truth| images::difference(truth, self.filled, None)).transpose()?;
        let truth = self.truth.map(|truth| images::photo(truth, range, None)).transpose()?;
        let aspect = damaged.width as f64 / damaged.height as f64;
        Ok(html! {
            div.panels style={ "--aspect: " (aspect) } {
                (slider(("with holes", &damaged), ("filled", &filled), " Missing pixels are shown in pink."))
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

    /// Held-out error against penalty, for the result with the largest weight.
    fn path(&self) -> Markup {
        let point = |p: &PathPoint| p.held_out_error.filter(|e| *e > 0.0).map(|e| [p.penalty, e]);
        let points: Vec<[f64; 2]> = self.report.path.iter().filter_map(point).collect();
        if points.is_empty() {
            return html! { p.muted { "No pixels were held out, so no penalty was selected." } };
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
                "Root mean square error at " (self.report.held_out) " held-out known samples as the penalty decreases: first while the "
                "base layer is estimated, then, from dense codes, for the result with the largest weight. The final penalty is "
                (number(self.report.penalty)) "."
            }
            figure { (chart.markup()) }
        }
    }

    /// The values shown as black and white.
    fn range(&self) -> [f64; 2] {
        let known = (0..self.damaged.channels())
            .flat_map(|c| self.damaged.channel(c).iter().zip(self.known.channel(c)));
        let values = known.filter(|(_, w)| **w > T::ZERO).map(|(x, _)| x.to_f64());
        self.white.map_or_else(
            || values.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], v| [l.min(v), h.max(v)]),
            |white| [0.0, white],
        )
    }
}
