//! Missing samples of an image, and the rules that determine them.

use crate::args::InputArgs;
use crate::budget::Budget;
use crate::input::about;
use crate::json;
use crate::output::summary;
use crate::output::table::plural;
use crate::painted::unpainted;
use anyhow::Result;
use lobcod::{Mask, Real, Signal};
use lobcod_io::{Depth, Image, MaskFile, MaskRule, Polarity, read_mask_file};
use std::path::Path;

/// The missing samples of an image, and the rules that determined them.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    /// Descriptions of the rules that were applied.
    rules: Vec<String>,
    /// Fraction of the samples that are missing.
    fraction: f64,
    /// Warnings if a mask or painted holes look wrong.
    pub warnings: Vec<String>,
}

impl Missing {
    /// Combines the masks from the options with what is missing in the file itself.
    pub fn find<T: Real>(
        path: &Path,
        image: &mut Image<T>,
        args: &InputArgs,
        budget: Budget,
    ) -> Result<Self> {
        let mut missing = Self::default();
        if image.known.is_some() {
            missing.rules.push(match image.depth {
                Depth::F32 | Depth::F64 => "NaN and transparent samples are missing".into(),
                _ => "pixels with an alpha below one half, and partly transparent ones next to \
                      them, are missing"
                    .into(),
            });
        }
        let named = [(&args.known, Polarity::Known), (&args.holes, Polarity::Holes)];
        for (file, polarity) in
            named.into_iter().filter_map(|(file, polarity)| Some((file.as_deref()?, polarity)))
        {
            let mask =
                read_mask_file(file, polarity, image.signal.extent(), budget.room_for_weights())
                    .map_err(budget.refuse_weights())?;
            missing.rules.push(format!("{}: {}", file.display(), words(&mask, polarity)));
            missing
                .warnings
                .extend(mask.may_be_inverted().then(|| inverted(file, &mask.mask, polarity)));
            image.known = both(image.known.take(), mask.mask).map_err(about(path))?;
        }
        if let Some(colour) = args.holes_colour {
            let unpainted = unpainted(path, image, colour, args.scale.value())?;
            missing.rules.push(unpainted.rule);
            missing.warnings.extend(unpainted.warning);
            image.known = both(image.known.take(), unpainted.mask).map_err(about(path))?;
        }
        missing.fraction = image.known.as_ref().map_or(0.0, |known| fraction(&image.signal, known));
        Ok(missing)
    }

    /// `12.3 % of the pixels (mask.png: pixels that are not black are missing)`; `None` if no rule
    /// applied.
    pub fn words(&self, extent: lobcod::Extent) -> Option<String> {
        let unit = summary::unit(extent);
        let what = if self.fraction > 0.0 && self.fraction < 0.0005 {
            plural((self.fraction * extent.volume() as f64).ceil() as usize, unit)
        } else {
            format!("{:.1} % of the {unit}s", 100.0 * self.fraction)
        };
        (!self.rules.is_empty()).then(|| format!("{what} ({})", self.rules.join("; ")))
    }

    /// The rules and the fraction, for a JSON report.
    pub fn json(&self) -> json::Missing {
        json::Missing { missing_fraction: self.fraction, mask_rules: self.rules.clone() }
    }
}

fn words<T>(file: &MaskFile<T>, polarity: Polarity) -> String {
    let meaning = if polarity == Polarity::Known { "known" } else { "missing" };
    let source =
        if file.from_alpha { "the colours are constant, so alpha is the mask; " } else { "" };
    let rule = match (file.rule, polarity) {
        (MaskRule::NonZero, _) => format!("non-zero pixels are {meaning}"),
        (MaskRule::Weights, _) => "values from 0 to 1 are weights".into(),
        (MaskRule::Soft, Polarity::Known) => {
            "antialiased mask: pixels above 239/255 are known".into()
        }
        (MaskRule::Soft, Polarity::Holes) => {
            "antialiased mask: pixels above 16/255 are missing".into()
        }
    };
    format!("{source}{rule}")
}

fn inverted<T: Real>(file: &Path, mask: &Mask<T>, polarity: Polarity) -> String {
    let (given, other) =
        if polarity == Polarity::Known { ("--known", "--holes") } else { ("--holes", "--known") };
    let missing = 100.0 * fraction(mask.weights(), mask);
    let file = file.display();
    format!(
        "{given} {file} leaves {missing:.0} % of the image missing, most of it far from any known \
         pixel; if the mask is inverted, use {other} {file}"
    )
}

fn fraction<T: Real>(signal: &Signal<T>, known: &Mask<T>) -> f64 {
    count(signal, known) as f64 / signal.data().len() as f64
}

/// Number of missing samples.
pub fn count<T: Real>(signal: &Signal<T>, known: &Mask<T>) -> usize {
    (0..signal.channels()).map(|c| known.channel(c).iter().filter(|w| **w == T::ZERO).count()).sum()
}

/// The samples that are known in both masks.
fn both<T: Real>(a: Option<Mask<T>>, b: Mask<T>) -> lobcod::Result<Option<Mask<T>>> {
    let Some(a) = a else { return Ok(Some(b)) };
    let channels = a.weights().channels().max(b.weights().channels());
    let product = (0..channels)
        .flat_map(|c| a.channel(c).iter().zip(b.channel(c)).map(|(x, y)| *x * *y))
        .collect();
    Mask::new(Signal::from_planar(a.weights().extent(), channels, product)?).map(Some)
}
