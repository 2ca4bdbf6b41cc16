//! Self-contained HTML reports.

mod atoms;
mod before_after;
mod chart;
mod compared;
mod damage;
mod demo;
mod denoised;
mod document;
mod facts;
mod filled;
mod images;
mod invocation;
mod learning;
mod pursuit;
mod streaming;

pub use before_after::{BeforeAfter, photograph};
pub use compared::write_comparison;
pub use damage::write_damage;
pub use demo::DemoPage;
pub use denoised::DenoisedPage;
pub use facts::Fact;
pub use filled::FilledPage;
pub use learning::{ImageRow, LearningPage};
pub use pursuit::{PursuitPage, percent};
pub use streaming::StreamPage;

use crate::output::summary;
use crate::output::table::{count, number};
use anyhow::Result;
use before_after::slider;
use chart::{Axis, Chart, Curve, outline};
use lobcod::{Certificate, Dictionary, Mask, Needles, Real, Signal};
use maud::{Markup, html};

/// Number of columns for drawing long curves.
const COLUMNS: usize = 1000;
/// Number of bins for the positions of a sequence.
const BARS: usize = 250;

/// A signal and its reconstruction.
pub struct View<'a, T> {
    /// Its name.
    pub name: &'a str,
    /// The original, including the base layer.
    pub original: &'a Signal<T>,
    /// The reconstruction, including the base layer.
    pub reconstruction: &'a Signal<T>,
    /// Which samples are known, if not all.
    pub known: Option<&'a Mask<T>>,
    /// The codes.
    pub needles: &'a Needles<T>,
    /// Their objective and certificate.
    pub certificate: &'a Certificate,
    /// The dictionary.
    pub dictionary: &'a Dictionary<T>,
    /// The white level, with black at 0; `None` maps the smallest and largest known sample to
    /// black and white.
    pub white: Option<f64>,
    /// Sample rate, if it is a sound.
    pub sample_rate: Option<u32>,
}

impl<T: Real> View<'_, T> {
    /// The section of this signal: images, or curves if it has one axis.
    pub fn section(&self) -> Result<Markup> {
        let (extent, channels) = (self.original.extent(), self.original.channels());
        let body = if extent.rank() == 1 { self.curves() } else { self.images()? };
        let gap = self.certificate.relative_gap();
        Ok(html! {
            section {
                h2 { (self.name) }
                p.muted {
                    (summary::shape(extent, channels)) " · objective " (number(self.certificate.objective))
                    " · relative gap " (number(gap)) " · " (count(self.certificate.nonzeros)) " non-zeros"
                }
                (body)
            }
        })
    }

    fn images(&self) -> Result<Markup> {
        let range = self.range();
        let original = images::photo(self.original, range, self.known)?;
        let reconstruction = images::photo(self.reconstruction, range, None)?;
        let (difference, white) =
            images::difference(self.original, self.reconstruction, self.known)?;
        let (sparsity, most) = images::sparsity(self.needles, self.dictionary)?;
        let note = self.note(range);
        let aspect = original.width as f64 / original.height as f64;
        Ok(html! {
            div.panels style={ "--aspect: " (aspect) } {
                (slider(&[("original", &original)], ("reconstruction", &reconstruction), &note))
                div {
                    figure {
                        (difference.markup("absolute difference"))
                        figcaption {
                            "Absolute difference: black is 0, white " (number(white)) " or more. Root mean square "
                            (number(self.root_mean_square())) "."
                        }
                    }
                    figure {
                        (sparsity.markup("non-zeros at each position"))
                        figcaption { "Non-zeros at each position, from 0 (dark) to " (most) " (bright)." }
                    }
                }
            }
        })
    }

    fn curves(&self) -> Markup {
        let samples = |signal: &Signal<T>| -> Vec<f64> {
            signal.channel(0).iter().map(|x| x.to_f64()).collect()
        };
        let is_known = |i: usize| self.known.is_none_or(|mask| mask.channel(0)[i] > T::ZERO);
        let (mut before, after) = (samples(self.original), samples(self.reconstruction));
        let mut difference: Vec<f64> = before.iter().zip(&after).map(|(a, b)| a - b).collect();
        for i in (0..before.len()).filter(|&i| !is_known(i)) {
            (before[i], difference[i]) = (0.0, 0.0);
        }
        let nonzeros = images::nonzeros_by_position(self.needles, self.dictionary);
        let (first, step) =
            (before.len() as f64 - nonzeros.len() as f64, nonzeros.len().div_ceil(BARS));
        let counts: Vec<f64> =
            nonzeros.chunks(step).map(|part| part.iter().sum::<usize>() as f64).collect();
        html! {
            figure {
                (self.curve("original and reconstruction", "value", [0.0, 1.0], &[("one", &before), ("two", &after)]))
                figcaption {
                    span.key.one { "original" } ", " span.key.two { "reconstruction" } "." (self.note(self.range()))
                }
            }
            figure {
                (self.curve("difference", "difference", [0.0, 1.0], &[("one", &difference)]))
                figcaption { "Original minus reconstruction. Root mean square " (number(self.root_mean_square())) "." }
            }
            figure {
                (self.curve("non-zeros", "non-zeros", [first, step as f64], &[("one", &counts)]))
                figcaption { "Non-zeros at each " @if step > 1 { (step) " positions" } @else { "position" } "." }
            }
        }
    }

    /// A chart of curves whose first point is sample `first` and whose points are `step` samples
    /// apart.
    fn curve(
        &self,
        title: &str,
        label: &'static str,
        [first, step]: [f64; 2],
        curves: &[(&'static str, &[f64])],
    ) -> Markup {
        let (rate, unit) =
            self.sample_rate.map_or((1.0, "sample"), |rate| (f64::from(rate), "seconds"));
        let place = |i: usize| (first + step * i as f64) / rate;
        let curve = |&(class, points): &(_, &[f64])| Curve {
            class,
            points: outline(points, COLUMNS, place),
            dots: false,
        };
        let chart = Chart {
            title: title.into(),
            wide: true,
            x: Axis::linear(unit, [place(0), place(curves[0].1.len())].into_iter()),
            y: Axis::linear(label, curves.iter().flat_map(|c| c.1.iter().copied())),
            curves: curves.iter().map(curve).collect(),
            level: None,
        };
        chart.markup()
    }

    /// Notes on how the images are displayed.
    fn note(&self, [low, high]: [f64; 2]) -> String {
        let [depth, ..] = self.original.extent().padded();
        let mut note = String::new();
        if depth > 1 {
            note += &format!(" Showing the middle slice, {} of {depth}.", depth / 2 + 1);
        }
        if ![1, 3].contains(&self.original.channels())
            || (self.original.extent().rank() == 1 && self.original.channels() > 1)
        {
            note += &format!(" Showing the first of {} channels.", self.original.channels());
        }
        if self.original.extent().rank() > 1 && self.white.is_none() {
            note += &format!(" Black is {}, white {}.", number(low), number(high));
        }
        if self.known.is_some() {
            note += if self.original.extent().rank() > 1 {
                " Missing pixels are shown in pink."
            } else {
                " Missing samples are drawn as 0."
            };
        }
        note
    }

    /// The values shown as black and white.
    fn range(&self) -> [f64; 2] {
        let values = self.known_pairs().map(|(original, _)| original);
        self.white.map_or_else(
            || values.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], v| [l.min(v), h.max(v)]),
            |white| [0.0, white],
        )
    }

    fn root_mean_square(&self) -> f64 {
        let (sum, samples) = self
            .known_pairs()
            .fold((0.0, 0.0), |(sum, n), (a, b)| (sum + (a - b) * (a - b), n + 1.0));
        f64::sqrt(sum / f64::max(samples, 1.0))
    }

    /// Pairs of known samples of the original and the reconstruction.
    fn known_pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        (0..self.original.channels()).flat_map(move |c| {
            let pairs =
                self.original.channel(c).iter().zip(self.reconstruction.channel(c)).enumerate();
            let is_known =
                move |i: usize| self.known.is_none_or(|mask| mask.channel(c)[i] > T::ZERO);
            pairs.filter(move |(i, _)| is_known(*i)).map(|(_, (a, b))| (a.to_f64(), b.to_f64()))
        })
    }
}
