//! How good a fused picture is: beside the true one, and beside its sources.

use super::frames::Files;
use crate::args::FuseArgs;
use crate::score::Score;
use anyhow::Result;
use lobcod::metrics::{EdgeScore, mutual_information, psnr};
use lobcod::tasks::align::{Align, Crop, warp};
use lobcod::tasks::colour::lightness;
use lobcod::tasks::fuse::{Frames, Fused};
use lobcod::{Real, Signal};
use lobcod_image::read_picture;
use serde_json::{Map, Value, json};

/// Rows and columns that the authors leave out of their score: all before this one (counted from 1), and as many at the end.
const AUTHORS_FIRST: usize = 8;

/// Scores against the sources, and against the true picture where it is known.
#[derive(Default)]
pub struct Scores {
    /// Edges kept.
    pub q_abf: f64,
    /// Bits shared with the sources.
    pub mutual_information: f64,
    /// The picture before rounding.
    pub fitted: Option<Score>,
    written: Option<f64>,
    lightness: Option<f64>,
    authors: Option<f64>,
}

impl Scores {
    /// Measures all scores; the sources are read once more.
    pub fn measure(args: &FuseArgs, files: &mut Files, fused: &Fused, reference: Option<Signal<f32>>) -> Result<Self> {
        let threads = args.run.threads;
        let light = |picture: &Signal<f32>| lightness(picture, args.scale, threads);
        let shades = |picture: &Signal<f32>| -> lobcod::Result<Signal<f32>> {
            let mut grey = light(picture)?;
            grey.data_mut().iter_mut().for_each(|x| *x *= 2.55);
            Ok(grey)
        };
        let grey = shades(&fused.picture)?;
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
        let peak = args.scoring.peak.unwrap_or(args.scale);
        scores.fitted = Some(Score::of(&fused.picture, &truth, peak)?);
        scores.written = Some(psnr(&read_picture::<f32>(&args.output, &files.options)?.signal, &truth, peak)?);
        let (ours, theirs) = (light(&fused.picture)?, light(&truth)?);
        scores.lightness = Some(psnr(&ours, &theirs, 100.0)?);
        let [_, height, width] = ours.extent().padded();
        if height.min(width) > 2 * AUTHORS_FIRST {
            let first = AUTHORS_FIRST - 1;
            let inner =
                Crop { top: first, left: first, height: height - 2 * AUTHORS_FIRST + 1, width: width - 2 * AUTHORS_FIRST + 1 };
            scores.authors = Some(psnr(&inner.cut(&ours)?, &inner.cut(&theirs)?, 255.0)?);
        }
        Ok(scores)
    }

    /// Adds the scores to a report.
    pub fn tell(&self, report: &mut Map<String, Value>) {
        report.insert("q_abf".into(), json!(self.q_abf));
        report.insert("mutual_information".into(), json!(self.mutual_information));
        if let Some(score) = &self.fitted {
            score.tell(report);
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
