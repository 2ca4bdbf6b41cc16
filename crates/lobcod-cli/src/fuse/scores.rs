//! Scores of a fused image, against a reference and against its sources.

use super::frames::Files;
use crate::args::FuseArgs;
use crate::json;
use crate::score::Score;
use anyhow::Result;
use lobcod::{Real, Signal};
use lobcod_io::read_image;
use lobcod_tasks::Rectangle;
use lobcod_tasks::align::warp;
use lobcod_tasks::colour::lightness;
use lobcod_tasks::fuse::{Frames, Fused};
use lobcod_tasks::metrics::{EdgeScore, mutual_information, psnr};

/// Border that the paper's authors exclude from their score: everything before this row and column
/// (counted from 1), and as many at the end.
const AUTHORS_FIRST: usize = 8;

/// Scores against the sources, and against the reference if given.
#[derive(Default)]
pub struct Scores {
    /// Fraction of edges preserved.
    pub q_abf: f64,
    /// Mutual information with the sources, in bits.
    pub mutual_information: f64,
    /// The image before rounding.
    pub fitted: Option<Score>,
    written: Option<f64>,
    lightness: Option<f64>,
    authors: Option<f64>,
}

impl Scores {
    /// Computes all scores; the sources are read again.
    pub fn measure(
        args: &FuseArgs,
        files: &mut Files,
        fused: &Fused,
        reference: Option<Signal<f32>>,
    ) -> Result<Self> {
        let threads = args.run.threads.count;
        let light = |image: &Signal<f32>| lightness(image, args.scale.value(), threads);
        let shades = |image: &Signal<f32>| -> lobcod::Result<Signal<f32>> {
            let mut grey = light(image)?;
            grey.data_mut().iter_mut().for_each(|x| *x *= 2.55);
            Ok(grey)
        };
        let grey = shades(&fused.image)?;
        let mut edges = EdgeScore::new(&grey, threads)?;
        let mut scores = Self::default();
        for i in 0..fused.reports.len() {
            let mut source = shades(&files.read(i)?)?;
            if !fused.motions[i].is_still() {
                source = warp(&source, &fused.motions[i], threads);
            }
            let source = fused.crop.crop(&source)?;
            edges.add(&source)?;
            scores.mutual_information += mutual_information(&source, &grey)?;
        }
        scores.q_abf = edges.value();
        let Some(truth) = reference else { return Ok(scores) };
        let truth = fused.crop.crop(&truth)?;
        let peak = files.white.peak(args.scoring.score.peak);
        files.white.warn(&args.images[0], args.scoring.score.peak.is_none(), None);
        scores.fitted = Some(Score::of(&fused.image, &truth, peak)?);
        scores.written =
            Some(psnr(&read_image::<f32>(&args.output, &files.options)?.signal, &truth, peak)?);
        let (ours, theirs) = (light(&fused.image)?, light(&truth)?);
        scores.lightness = Some(psnr(&ours, &theirs, 100.0)?);
        let [_, height, width] = ours.extent().padded();
        if height.min(width) > 2 * AUTHORS_FIRST {
            let first = AUTHORS_FIRST - 1;
            let inner = Rectangle {
                start: [first, first],
                size: [height, width].map(|n| n - 2 * AUTHORS_FIRST + 1),
            };
            scores.authors = Some(psnr(&inner.crop(&ours)?, &inner.crop(&theirs)?, 255.0)?);
        }
        Ok(scores)
    }

    /// The scores against the reference, for a JSON report.
    pub fn json(&self, peak: f64) -> Option<json::TaskScores> {
        Some(json::TaskScores {
            psnr_output_db: self.written.and_then(json::finite),
            psnr_l_db: self.lightness.and_then(json::finite),
            psnr_authors_db: self.authors.and_then(json::finite),
            ..json::TaskScores::new(peak, self.fitted.as_ref()?)
        })
    }
}

/// The largest sample.
pub fn largest<T: Real>(signal: &Signal<T>) -> f64 {
    signal.data().iter().fold(0.0, |most, x| f64::max(most, x.to_f64()))
}
