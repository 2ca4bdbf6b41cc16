//! A picture before and after a task, and maps that explain it.

use super::pictures::{self, Image};
use crate::output::summary;
use crate::output::table::number;
use anyhow::Result;
use lobcod::Signal;
use maud::{Markup, html};

/// One picture and what became of it.
pub struct BeforeAfter<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The picture before, and what to call it.
    pub before: (&'a str, &'a Signal<f32>),
    /// The picture after, and what to call it.
    pub after: (&'a str, &'a Signal<f32>),
    /// Maps drawn in colours, dark to bright over the range given, each with what it shows.
    pub maps: Vec<(&'a str, &'a Signal<f32>, [f64; 2])>,
    /// What white stands for, black being 0.
    pub white: f64,
}

impl BeforeAfter<'_> {
    /// The part of the page that shows this.
    pub fn section(&self) -> Result<Markup> {
        let range = [0.0, self.white];
        let (before, after) = (pictures::photo(self.before.1, range, None)?, pictures::photo(self.after.1, range, None)?);
        let (difference, white) = pictures::difference(self.before.1, self.after.1, None)?;
        let mut maps = Vec::new();
        for (caption, map, range) in &self.maps {
            maps.push((caption, pictures::map(*map, *range)?));
        }
        let note = if before.shrunk > 1 { format!(" Shown at 1/{} of the size.", before.shrunk) } else { String::new() };
        let aspect = before.width as f64 / before.height as f64;
        Ok(html! {
            section {
                h2 { (self.name) }
                p.muted { (summary::shape(self.after.1.extent(), self.after.1.channels())) }
                div.panels style={ "--aspect: " (aspect) } {
                    (slider((self.before.0, &before), (self.after.0, &after), &note))
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

/// Two pictures, each with its name, under a slider that uncovers one or the other; the note, if any, begins with a space.
pub(super) fn slider(before: (&str, &Image), after: (&str, &Image), note: &str) -> Markup {
    html! {
        figure {
            div.compare {
                (before.1.markup(before.0))
                (after.1.markup(after.0))
                span.before { (before.0) }
                span.after { (after.0) }
                input type="range" min="0" max="100" value="50" aria-label={ "per cent of: " (before.0) };
            }
            figcaption { "Drag, or use the arrow keys, to compare." (note) }
        }
    }
}
