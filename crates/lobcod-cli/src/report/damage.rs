//! The HTML report of `find-damage`: the image, and the image with the suspected damage marked.

use super::before_after::slider;
use super::document::{Document, section};
use super::images;
use anyhow::Result;
use lobcod::{Mask, Signal};
use maud::html;
use std::path::Path;

/// Writes the report; `known` excludes the suspected damage.
pub fn write_damage(
    path: &Path,
    title: &str,
    (image, white): (&Signal<f32>, f64),
    known: &Mask<f32>,
    found: &str,
) -> Result<()> {
    let range = [0.0, white];
    let (plain, marked) =
        (images::photo(image, range, None)?, images::photo(image, range, Some(known))?);
    let aspect = plain.width as f64 / plain.height as f64;
    let view = html! {
        div.panels style={ "--aspect: " (aspect) } {
            (slider(&[("image", &plain)], ("suspected damage", &marked), " Suspected damage is shown in pink."))
        }
    };
    let lead = format!(
        "Suspected: {found}. This is a proposal: remove from the mask what is not damage before \
         you fill it."
    );
    Document {
        title,
        ending: ("done", true),
        lead,
        sections: vec![section("Suspected damage", &view)],
    }
    .write(path)
}
