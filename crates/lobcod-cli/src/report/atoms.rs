//! Grids of atoms, most used first.

use super::images::data_uri;
use crate::mosaic::mosaic;
use crate::output::table::{count, plural};
use crate::uses::Uses;
use anyhow::Result;
use lobcod::{Dictionary, Needles, Real};
use lobcod_io::encode_png;
use maud::{Markup, html};

/// A non-breaking space, so that lists with and without usage numbers line up.
const BLANK: &str = "\u{a0}";

/// All atoms, sorted by usage, each with its usage.
pub fn atoms<T: Real>(dictionary: &Dictionary<T>, needles: &[Needles<T>]) -> Result<Markup> {
    let uses = Uses::count(dictionary.len(), needles);
    Ok(html! {
        (words(&uses, dictionary))
        (list(dictionary, &uses.order(), |k| of(&uses, k), |k| Some(uses.share(k)))?)
    })
}

/// The same, next to the initial atoms in the same order.
pub fn then_and_now<T: Real>(
    first: &Dictionary<T>,
    dictionary: &Dictionary<T>,
    needles: &[Needles<T>],
) -> Result<Markup> {
    let uses = Uses::count(dictionary.len(), needles);
    let order = uses.order();
    let learnt = list(dictionary, &order, |k| of(&uses, k), |k| Some(uses.share(k)))?;
    Ok(html! { (words(&uses, dictionary)) (side_by_side(&learnt, first, &order)?) })
}

/// The same in dictionary order, without usage.
pub fn before_and_after<T: Real>(
    first: &Dictionary<T>,
    dictionary: &Dictionary<T>,
) -> Result<Markup> {
    let order: Vec<usize> = (0..dictionary.len()).collect();
    side_by_side(&list(dictionary, &order, |k| format!("atom {k}"), |_| None)?, first, &order)
}

/// Learnt atoms next to the initial ones, in this order.
fn side_by_side<T: Real>(
    learnt: &Markup,
    first: &Dictionary<T>,
    order: &[usize],
) -> Result<Markup> {
    Ok(html! {
        div.side-by-side {
            figure {
                (learnt)
                figcaption { "The learnt atoms." }
            }
            figure {
                (list(first, order, |k| format!("initial atom {k}"), |_| None)?)
                figcaption { "The initial atoms, in the same order." }
            }
        }
    })
}

/// Describes how often an atom is used.
fn of(uses: &Uses, k: usize) -> String {
    match uses.counts[k] {
        0 => format!("atom {k}: not used"),
        n => {
            format!("atom {k}: used {}, {:.2} % of the non-zeros", plural(n, "time"), uses.share(k))
        }
    }
}

fn words<T: Real>(uses: &Uses, dictionary: &Dictionary<T>) -> Markup {
    html! {
        p.muted {
            (count(uses.used())) " of " (plural(uses.counts.len(), "atom")) " of " (dictionary.extent()) " are used. Atoms are sorted by usage; "
            "each is shown at full contrast with its percentage of the non-zeros. Hover over an atom for details."
        }
    }
}

/// Atoms in this order, each with a description and, if known, its usage.
fn list<T: Real>(
    dictionary: &Dictionary<T>,
    order: &[usize],
    words: impl Fn(usize) -> String,
    share: impl Fn(usize) -> Option<f64>,
) -> Result<Markup> {
    let mut tiles = Vec::with_capacity(order.len());
    for &k in order {
        let (words, share) = (words(k), share(k));
        let (png, [width, height]) = atom_png(dictionary, k)?;
        tiles.push(html! {
            li .unused[share == Some(0.0)] title=(words) {
                img src=(data_uri(&png)) width=(width) height=(height) alt=(words);
                small { (share.map_or(BLANK.into(), |share| format!("{share:.1}"))) }
            }
        });
    }
    Ok(html! { ul.atoms { @for tile in &tiles { (tile) } } })
}

/// A framed image of one atom, and its width and height.
fn atom_png<T: Real>(dictionary: &Dictionary<T>, k: usize) -> Result<(Vec<u8>, [usize; 2])> {
    let one =
        Dictionary::new(dictionary.extent(), dictionary.channels(), dictionary.atom(k).to_vec())?;
    let image = mosaic(&one, None, None)?;
    let [_, height, width] = image.extent().padded();
    let samples: Vec<u8> = image.to_interleaved().iter().map(|x| x.round() as u8).collect();
    Ok((encode_png(&samples, width, height)?, [width, height]))
}
