//! The HTML report of `inpaint`: before and after, difference, holes, penalty path and numbers.

use super::before_after::slider;
use super::chart::{Axis, Chart, Curve};
use super::document::{Document, folded, section};
use super::facts::Fact;
use super::images::{self, Image};
use super::pursuit::percent;
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
    /// Which pixels were copied from elsewhere in the image, if any.
    pub copied: Option<&'a [bool]>,
    /// The table of numbers.
    pub facts: Vec<Fact>,
}

impl<T: Real> FilledPage<'_, T> {
    /// Writes the HTML report atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        let status = self.report.status;
        let remark = match status {
            Status::Converged => "",
            _ => " The run ended early; the image is filled with the result so far.",
        };
        let ending = if status == Status::Converged { "done" } else { summary::ending(status) };
        let mut sections = Vec::new();
        if self.damaged.extent().rank() > 1 {
            sections.push(section(&self.name, &self.images()?));
        }
        if self.report.answers.iter().any(|answer| answer.dictionary.is_some()) {
            sections.push(folded("Choice of the penalty", &self.path()));
        }
        sections.push(section("Numbers", &Fact::table(&self.facts)));
        let title = format!("lobcod inpaint: {}", self.name);
        let ending = (ending, status == Status::Converged);
        Document { title: &title, ending, lead: self.lead() + remark, sections }.write(path)
    }

    /// How much was filled, and how well.
    fn lead(&self) -> String {
        let unit = summary::unit(self.damaged.extent());
        let volume = self.damaged.extent().volume();
        let is_hidden =
            |i: usize| (0..self.damaged.channels()).any(|c| self.known.channel(c)[i] == T::ZERO);
        let filled = (0..volume).filter(|&i| is_hidden(i)).count();
        let mut lead =
            format!("Filled {} % of the {unit}s.", percent(filled as f64 / volume as f64));
        let answers = self.report.answers.iter();
        let most = answers.max_by(|a, b| a.weight.total_cmp(&b.weight));
        let last = most.and_then(|answer| answer.held_out_error);
        if let Some(error) = last {
            let [low, high] = self.range();
            lead += &format!(
                " Expected error of a filled {unit}: {} on a scale from {} to {}, measured at \
                 known {unit}s that were hidden for this purpose.",
                number(error),
                number(low),
                number(high)
            );
        }
        lead + " The values under the holes were not used."
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
        let copied = self.copied_image(range)?;
        let difference =
            self.truth.map(|truth| images::difference(truth, self.filled, None)).transpose()?;
        let truth = self.truth.map(|truth| images::photo(truth, range, None)).transpose()?;
        let aspect = damaged.width as f64 / damaged.height as f64;
        Ok(html! {
            div.panels style={ "--aspect: " (aspect) } {
                (slider(&[("with holes", &damaged)], ("filled", &filled), " Missing pixels are shown in pink."))
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
                    @if let Some(copied) = &copied {
                        figure {
                            (copied.markup("copied content"))
                            figcaption {
                                "In pink: content copied from elsewhere in the image, because the holes are too large "
                                "for the atoms. It is plausible, not true."
                            }
                        }
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

    /// The filled image with copied content marked.
    fn copied_image(&self, range: [f64; 2]) -> Result<Option<Image>> {
        let Some(copied) = self.copied else { return Ok(None) };
        let own: Vec<bool> = copied.iter().map(|copied| !copied).collect();
        let own = Mask::<T>::from_known(self.filled.extent(), &own)?;
        Ok(Some(images::photo(self.filled, range, Some(&own))?))
    }

    /// Held-out error against penalty, for the result with the largest weight.
    fn path(&self) -> Markup {
        let point = |p: &PathPoint| p.held_out_error.filter(|e| *e > 0.0).map(|e| [p.penalty, e]);
        let points: Vec<[f64; 2]> = self.report.path.iter().filter_map(point).collect();
        if points.is_empty() {
            return html! { p.muted { "No pixels were held out, so no penalty was selected." } };
        }
        // The path starts again at a large penalty once the base layer is known.
        let falls: Vec<&[[f64; 2]]> = points.chunk_by(|a, b| b[0] <= a[0]).collect();
        let curve = |(i, part): (usize, &&[[f64; 2]])| Curve {
            class: if i + 1 == falls.len() { "one" } else { "two" },
            points: part.to_vec(),
            dots: true,
        };
        let curves = falls.iter().enumerate().map(curve).collect();
        let chart = Chart {
            title: "held-out error against penalty".into(),
            wide: false,
            x: Axis::logarithmic("penalty", points.iter().map(|p| p[0])),
            y: Axis::logarithmic("held-out error", points.iter().map(|p| p[1])),
            curves,
            level: None,
        };
        html! {
            p.muted {
                "Root mean square error at " (self.report.held_out) " held-out known samples as the penalty decreases, for the "
                "result with the largest weight. If there are two curves, the " span.key.two { "thin one" } " shows the estimation "
                "of the base layer. The final penalty is " (number(self.report.penalty)) "."
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
