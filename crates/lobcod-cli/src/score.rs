//! How close reconstructions are to the true pictures.

use crate::args::{PictureArgs, RunArgs, ScoringArgs};
use crate::input::read_options;
use crate::output::summary;
use crate::output::table::plural;
use anyhow::{Result, ensure};
use lobcod::{Code, Extent, Real, Signal, metrics};
use lobcod_image::{ReadOptions, read_picture};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Scores of one picture, or of several together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Peak signal-to-noise ratio in decibels.
    pub psnr_db: f64,
    /// Structural similarity; `None` where an axis is too short for its window.
    pub ssim: Option<f64>,
    samples: usize,
}

impl Score {
    /// Scores a reconstruction.
    pub fn of<T: Real>(reconstruction: &Signal<T>, truth: &Signal<T>, peak: f64) -> lobcod::Result<Self> {
        let psnr_db = metrics::psnr(reconstruction, truth, peak)?;
        Ok(Self { psnr_db, ssim: metrics::ssim(reconstruction, truth, peak).ok(), samples: truth.data().len() })
    }

    /// Bytes that scoring a picture of this shape takes for a moment: what is scored, the codes it is made of, and five moments (`f64`) of
    /// the samples of a channel.
    pub fn memory<T: Real>((extent, channels): (Extent, usize)) -> u64 {
        let codes = size_of::<Code<T>>() / 2;
        (extent.volume() * (5 * size_of::<f64>() + channels * (size_of::<T>() + codes))) as u64
    }

    /// All pictures as one: PSNR over all samples, the mean of SSIM.
    pub fn together(scores: &[Score]) -> Option<Self> {
        let samples = scores.iter().map(|s| s.samples).sum();
        let error: f64 = scores.iter().map(|s| s.samples as f64 * f64::powf(10.0, -s.psnr_db / 10.0)).sum();
        let ssim: Option<f64> = scores.iter().map(|s| s.ssim).sum();
        (!scores.is_empty()).then(|| Self {
            psnr_db: 10.0 * (samples as f64 / error).log10(),
            ssim: ssim.map(|sum| sum / scores.len() as f64),
            samples,
        })
    }

    /// Adds the scores to a report; an infinite PSNR (equal pictures) becomes null there.
    pub fn tell(&self, report: &mut Map<String, Value>) {
        report.insert("psnr_db".into(), json!(self.psnr_db));
        report.insert("ssim".into(), json!(self.ssim));
    }

    /// `32.10 dB, SSIM 0.9123`.
    pub fn words(&self) -> String {
        format!("{:.2} dB{}", self.psnr_db, self.ssim.map_or(String::new(), |s| format!(", SSIM {s:.4}")))
    }
}

/// The largest value of a picture: the one asked for, or the scale.
pub fn peak(asked: Option<f64>, scale: f64) -> Result<f64> {
    let peak = asked.unwrap_or(scale);
    ensure!(peak.is_finite() && peak > 0.0, "the peak is {peak}, but must be a number above 0");
    Ok(peak)
}

/// The true picture of one whose peak is checked, of this shape, if it was asked for.
pub fn read_reference<T: Real>(args: &ScoringArgs, options: &ReadOptions, shape: (Extent, usize)) -> Result<Option<Signal<T>>> {
    args.check_peak()?;
    let read = |path: &PathBuf| read_truth(path, options, shape);
    args.reference.as_ref().map(read).transpose()
}

fn read_truth<T: Real>(path: &Path, options: &ReadOptions, (extent, channels): (Extent, usize)) -> Result<Signal<T>> {
    let truth = read_picture::<T>(path, options)?;
    let found = (truth.signal.extent(), truth.signal.channels());
    ensure!(truth.known.is_none(), "{} has missing pixels and cannot serve as a reference", path.display());
    ensure!(
        found == (extent, channels),
        "the reference {} is {}, but its picture is {}; they must have the same shape",
        path.display(),
        summary::shape(found.0, found.1),
        summary::shape(extent, channels)
    );
    Ok(truth.signal)
}

/// What scores were asked for.
pub struct Asked<'a> {
    /// The true pictures.
    pub files: &'a [PathBuf],
    /// Largest value of a picture, if it is not the scale.
    pub peak: Option<f64>,
    /// How pictures are read.
    pub picture: &'a PictureArgs,
    /// How the work is run.
    pub run: &'a RunArgs,
}

/// The true pictures, if there are any: one for each picture that is coded, of its shape.
pub struct References<T> {
    pictures: Vec<Signal<T>>,
    peak: f64,
}

impl<T: Real> References<T> {
    /// Reads the pictures and makes sure that scores can be given, before long work.
    pub fn read(asked: &Asked, shapes: &[(Extent, usize)]) -> Result<Self> {
        let (references, images) = (asked.files.len(), shapes.len());
        ensure!(
            references == 0 || references == images,
            "{} for {} will not do; give --reference once for each picture, in the same order",
            plural(references, "reference"),
            plural(images, "picture")
        );
        let peak = peak(asked.peak, asked.picture.scale)?;
        let mut pictures = Vec::new();
        for (path, &shape) in asked.files.iter().zip(shapes) {
            pictures.push(read_truth(path, &read_options(asked.picture, asked.run), shape)?);
        }
        Ok(Self { pictures, peak })
    }

    /// The truth of picture `i`, if it is known, and the peak.
    pub fn truth(&self, i: usize) -> Option<(&Signal<T>, f64)> {
        self.pictures.get(i).map(|truth| (truth, self.peak))
    }

    /// Scores the reconstruction of picture `i`; `None` if its truth is not known.
    pub fn score(&self, i: usize, reconstruction: &Signal<T>) -> lobcod::Result<Option<Score>> {
        self.pictures.get(i).map(|truth| Score::of(reconstruction, truth, self.peak)).transpose()
    }
}
