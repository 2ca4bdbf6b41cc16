//! The dictionary, most used atoms first.

use super::pictures::data_uri;
use crate::mosaic::mosaic;
use crate::output::table::{count, plural};
use anyhow::Result;
use lobcod::{Dictionary, Needles, Real};
use lobcod_image::encode_png;
use maud::{Markup, html};

/// Pictures of all atoms, sorted by use; each tells how often it is used.
pub fn atoms<T: Real>(dictionary: &Dictionary<T>, needles: &[Needles<T>]) -> Result<Markup> {
    let mut uses = vec![0usize; dictionary.len()];
    needles.iter().flat_map(Needles::codes).for_each(|code| uses[code.atom as usize] += 1);
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by_key(|&k| (std::cmp::Reverse(uses[k]), k));
    let total = uses.iter().sum::<usize>().max(1);
    let mut tiles = Vec::with_capacity(order.len());
    for &k in &order {
        let words = match uses[k] {
            0 => format!("atom {k}: not used"),
            n => format!("atom {k}: used {}, {:.2} % of the non-zeros", plural(n, "time"), 100.0 * n as f64 / total as f64),
        };
        let (png, [width, height]) = atom_png(dictionary, k)?;
        tiles.push(html! {
            li .unused[uses[k] == 0] title=(words) { img src=(data_uri(&png)) width=(width) height=(height) alt=(words); }
        });
    }
    let used = uses.iter().filter(|n| **n > 0).count();
    Ok(html! {
        p.muted {
            (count(used)) " of " (plural(uses.len(), "atom")) " of " (dictionary.extent()) " are used. The most used come first, "
            "each at its own full contrast; hold the pointer over one to see how often it is used."
        }
        ul.atoms { @for tile in &tiles { (tile) } }
    })
}

/// A picture of one atom with a thin frame, and its width and height.
fn atom_png<T: Real>(dictionary: &Dictionary<T>, k: usize) -> Result<(Vec<u8>, [usize; 2])> {
    let one = Dictionary::new(dictionary.extent(), dictionary.channels(), dictionary.atom(k).to_vec())?;
    let picture = mosaic(&one, None, None)?;
    let [_, height, width] = picture.extent().padded();
    let samples: Vec<u8> = picture.to_interleaved().iter().map(|x| x.round() as u8).collect();
    Ok((encode_png(&samples, width, height)?, [width, height]))
}
