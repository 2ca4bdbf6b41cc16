//! Scores of a fused image, against a reference and against its sources.

use super::frames::Files;
use crate::args::FuseArgs;
use crate::score::Score;
use anyhow::Result;
use lobcod::{Real, Signal};
use lobcod_io::read_image;
use lobcod_tasks::align::{Align, Crop, warp};
use lobcod_tasks::colour::lightness;
use lobcod_tasks::fuse::{Frames, Fused};
use lobcod_tasks::metrics::{EdgeScore, mutual_information, psnr};
use serde_json::{Map, Value, json};

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
        let aligned = Align::from(args.align) != Align::None;
        for i in 0..fused.reports.len() {
            let mut source = shades(&files.read(i)?)?;
            if aligned && !fused.motions[i].is_still() {
                source = warp(&source, &fused.motions[i], threads);
            }
            let source = fused.crop.cut(&source)?;
            edges.add(&source)?;
            scores.mutual_information += mutual_information(&source, &grey)?;
        }
        scores.q_abf = edges.value();
        let Some(truth) = reference else { return Ok(scores) };
        let truth = fused.crop.cut(&truth)?;
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
            let inner = Crop {
                top: first,
                left: first,
                height: height - 2 * AUTHORS_FIRST + 1,
                width: width - 2 * AUTHORS_FIRST + 1,
            };
            scores.authors = Some(psnr(&inner.cut(&ours)?, &inner.cut(&theirs)?, 255.0)?);
        }
        Ok(scores)
    }

    /// Adds the scores to a JSON report.
    pub fn add_to(&self, report: &mut Map<String, Value>) {
        report.insert("q_abf".into(), json!(self.q_abf));
        report.insert("mutual_information".into(), json!(self.mutual_information));
        if let Some(score) = &self.fitted {
            score.add_to(report);
            report.insert("psnr_output_db".into(), json!(self.written));
            report.insert("psnr_l_db".into(), json!(self.lightness));
            report.insert("psnr_authors_db".into(), json!(self.authors));
        }
    }
}

/// The largest sample.
pub fn largest<T: Real>(signal: &Signal<T>) -> f64 {
    signal.data().iter().fold(0.0, |most, x| f64::max(most, x.to_f64()))
}
