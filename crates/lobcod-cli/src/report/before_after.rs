//! An image before and after a task, and maps that explain it.

use super::images::{self, Image};
use crate::output::summary;
use crate::output::table::number;
use anyhow::Result;
use lobcod::Signal;
use maud::{Markup, html};

/// An image before and after processing.
pub struct BeforeAfter<'a> {
    /// Its name.
    pub name: &'a str,
    /// The image before, and its label.
    pub before: (&'a str, &'a Signal<f32>),
    /// More images before, one of which can be chosen in place of the first; see [`photograph`].
    pub more: Vec<(String, Image)>,
    /// The image after, and its label.
    pub after: (&'a str, &'a Signal<f32>),
    /// Colour maps, from dark to bright over the given range, each with its caption.
    pub maps: Vec<(&'a str, &'a Signal<f32>, [f64; 2])>,
    /// The white level; black is 0.
    pub white: f64,
}

impl BeforeAfter<'_> {
    /// The section of the report.
    pub fn section(&self) -> Result<Markup> {
        let range = [0.0, self.white];
        let (before, after) =
            (images::photo(self.before.1, range, None)?, images::photo(self.after.1, range, None)?);
        let (difference, white) = images::difference(self.before.1, self.after.1, None)?;
        let mut maps = Vec::new();
        for (caption, map, range) in &self.maps {
            maps.push((caption, images::map(*map, *range)?));
        }
        let aspect = before.width as f64 / before.height as f64;
        let more = self.more.iter().map(|(label, image)| (label.as_str(), image));
        let all: Vec<(&str, &Image)> =
            std::iter::once((self.before.0, &before)).chain(more).collect();
        Ok(html! {
            section {
                h2 { (self.name) }
                p.muted { (summary::shape(self.after.1.extent(), self.after.1.channels())) }
                div.panels style={ "--aspect: " (aspect) } {
                    (slider(&all, (self.after.0, &after), ""))
                    div {
                        figure {
                            (difference.markup("absolute difference"))
                            figcaption { "Absolute difference: black is 0, white " (number(white)) " or more." }
                        }
                        @for (caption, map) in &maps {
                            figure { (map.markup(caption)) figcaption { (caption) } }
                        }
                    }
                }
            }
        })
    }
}

/// An image as it is shown before a task.
pub fn photograph(signal: &Signal<f32>, white: f64) -> Result<Image> {
    images::photo(signal, [0.0, white], None)
}

/// Labelled images under a slider; if there are several on the left, one of them is chosen. The
/// note, if any, begins with a space.
pub(super) fn slider(before: &[(&str, &Image)], after: (&str, &Image), note: &str) -> Markup {
    html! {
        figure {
            @if before.len() > 1 {
                div.tools {
                    label {
                        "compare with "
                        select { @for (label, _) in before { option { (label) } } }
                    }
                }
            }
            div.compare {
                @for (i, (label, image)) in before.iter().enumerate() {
                    (image.markup_as("first", i > 0, label))
                }
                (after.1.markup_as("second", false, after.0))
                span.before { (before[0].0) }
                span.after { (after.0) }
                input type="range" min="0" max="100" value="50" aria-label={ "per cent of: " (before[0].0) };
            }
            figcaption {
                "Drag the slider or use the arrow keys to compare." (note)
                @if after.1.shrunk > 1 {
                    " The image is embedded at 1/" (after.1.shrunk) " of its size: at 1:1, a pixel is the mean of "
                    (after.1.shrunk) "x" (after.1.shrunk) " pixels of the file."
                }
            }
        }
    }
}
