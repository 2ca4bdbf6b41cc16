//! Dictionaries, most used atoms first.

use super::pictures::data_uri;
use crate::mosaic::mosaic;
use crate::output::table::{count, plural};
use crate::uses::Uses;
use anyhow::Result;
use lobcod::{Dictionary, Needles, Real};
use lobcod_image::encode_png;
use maud::{Markup, html};

/// A blank that takes the height of a line, so that lists with and without shares stand row beside row.
const BLANK: &str = "\u{a0}";

/// Pictures of all atoms, sorted by use; each tells how often it is used.
pub fn atoms<T: Real>(dictionary: &Dictionary<T>, needles: &[Needles<T>]) -> Result<Markup> {
    let uses = Uses::count(dictionary.len(), needles);
    Ok(html! {
        (words(&uses, dictionary))
        (list(dictionary, &uses.order(), |k| of(&uses, k), |k| Some(uses.share(k)))?)
    })
}

/// The same, beside the atoms that the learning began with, each of which has the place of what it became.
pub fn then_and_now<T: Real>(first: &Dictionary<T>, dictionary: &Dictionary<T>, needles: &[Needles<T>]) -> Result<Markup> {
    let uses = Uses::count(dictionary.len(), needles);
    let order = uses.order();
    let learnt = list(dictionary, &order, |k| of(&uses, k), |k| Some(uses.share(k)))?;
    Ok(html! { (words(&uses, dictionary)) (beside(&learnt, first, &order)?) })
}

/// The same in the order of the dictionary, where nobody counted how often each is used.
pub fn before_and_after<T: Real>(first: &Dictionary<T>, dictionary: &Dictionary<T>) -> Result<Markup> {
    let order: Vec<usize> = (0..dictionary.len()).collect();
    beside(&list(dictionary, &order, |k| format!("atom {k}"), |_| None)?, first, &order)
}

/// Learnt atoms beside the first ones in this order.
fn beside<T: Real>(learnt: &Markup, first: &Dictionary<T>, order: &[usize]) -> Result<Markup> {
    Ok(html! {
        div.side-by-side {
            figure {
                (learnt)
                figcaption { "The learnt atoms." }
            }
            figure {
                (list(first, order, |k| format!("first atom {k}"), |_| None)?)
                figcaption { "The first atoms, each in the place of the one that it became." }
            }
        }
    })
}

/// How often an atom is used, in words.
fn of(uses: &Uses, k: usize) -> String {
    match uses.counts[k] {
        0 => format!("atom {k}: not used"),
        n => format!("atom {k}: used {}, {:.2} % of the non-zeros", plural(n, "time"), uses.share(k)),
    }
}

fn words<T: Real>(uses: &Uses, dictionary: &Dictionary<T>) -> Markup {
    html! {
        p.muted {
            (count(uses.used())) " of " (plural(uses.counts.len(), "atom")) " of " (dictionary.extent()) " are used. The most used come first, "
            "each at its own full contrast, with its share of the non-zeros in per cent; hold the pointer over one to see more."
        }
    }
}

/// Pictures of atoms in this order; each has words to tell, and a share to show beneath if there is one.
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

/// A picture of one atom with a thin frame, and its width and height.
fn atom_png<T: Real>(dictionary: &Dictionary<T>, k: usize) -> Result<(Vec<u8>, [usize; 2])> {
    let one = Dictionary::new(dictionary.extent(), dictionary.channels(), dictionary.atom(k).to_vec())?;
    let picture = mosaic(&one, None, None)?;
    let [_, height, width] = picture.extent().padded();
    let samples: Vec<u8> = picture.to_interleaved().iter().map(|x| x.round() as u8).collect();
    Ok((encode_png(&samples, width, height)?, [width, height]))
}
