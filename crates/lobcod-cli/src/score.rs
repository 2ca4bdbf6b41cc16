//! Scores of reconstructions against reference images.

use crate::args::{InputArgs, RunArgs, ScoringArgs, USUAL_SCALE};
use crate::input::read_options;
use crate::output::summary;
use crate::output::table::plural;
use crate::slices::{read_image, read_shape};
use crate::white::White;
use anyhow::{Result, ensure};
use lobcod::{Code, Extent, Real, Signal};
use lobcod_io::ReadOptions;
use lobcod_tasks::metrics;
use std::path::{Path, PathBuf};

/// Scores of one image, or of several combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Peak signal-to-noise ratio in decibels.
    pub psnr_db: f64,
    /// Structural similarity; `None` if an axis is too short for the window.
    pub ssim: Option<f64>,
    samples: usize,
}

impl Score {
    /// Scores a reconstruction.
    pub fn of<T: Real>(
        reconstruction: &Signal<T>,
        truth: &Signal<T>,
        peak: f64,
    ) -> lobcod::Result<Self> {
        let psnr_db = metrics::psnr(reconstruction, truth, peak)?;
        Ok(Self {
            psnr_db,
            ssim: metrics::ssim(reconstruction, truth, peak).ok(),
            samples: truth.data().len(),
        })
    }

    /// Temporary memory for scoring an image of this shape, in bytes: the reconstruction, its
    /// codes, and five local moments (`f64`) of one channel.
    pub fn memory<T: Real>((extent, channels): (Extent, usize)) -> u64 {
        let codes = size_of::<Code<T>>() / 2;
        (extent.volume() * (5 * size_of::<f64>() + channels * (size_of::<T>() + codes))) as u64
    }

    /// Combined scores of several images: PSNR over all samples, mean SSIM.
    pub fn together(scores: &[Score]) -> Option<Self> {
        let samples = scores.iter().map(|s| s.samples).sum();
        let error: f64 =
            scores.iter().map(|s| s.samples as f64 * f64::powf(10.0, -s.psnr_db / 10.0)).sum();
        let ssim: Option<f64> = scores.iter().map(|s| s.ssim).sum();
        (!scores.is_empty()).then(|| Self {
            psnr_db: 10.0 * (samples as f64 / error).log10(),
            ssim: ssim.map(|sum| sum / scores.len() as f64),
            samples,
        })
    }

    /// `32.10 dB, SSIM 0.9123`.
    pub fn words(&self) -> String {
        format!(
            "{}{}",
            decibels(self.psnr_db),
            self.ssim.map_or(String::new(), |s| format!(", SSIM {s:.4}"))
        )
    }
}

/// `32.10 dB`; without any error, `infinite (exact)`.
pub fn decibels(psnr: f64) -> String {
    if psnr == f64::INFINITY { "infinite (exact)".into() } else { format!("{psnr:.2} dB") }
}

/// Error if a given peak is not a positive number.
pub fn check_peak(peak: Option<f64>) -> Result<()> {
    let good = peak.is_none_or(|peak| peak.is_finite() && peak > 0.0);
    ensure!(good, "the peak is {}, but must be a positive number", peak.unwrap_or_default());
    Ok(())
}

/// Reads the reference for an image of this shape and white level, if one is given.
pub fn read_reference<T: Real>(
    args: &ScoringArgs,
    options: &ReadOptions,
    shape: (Extent, usize),
    white: &White,
) -> Result<Option<Signal<T>>> {
    check_peak(args.score.peak)?;
    let read = |path: &PathBuf| read_truth(path, options, shape, white);
    args.reference.as_ref().map(read).transpose()
}

fn read_truth<T: Real>(
    path: &Path,
    options: &ReadOptions,
    (extent, channels): (Extent, usize),
    white: &White,
) -> Result<Signal<T>> {
    let check = |found: (Extent, usize)| {
        ensure!(
            found == (extent, channels),
            "the reference {} is {}, but the image is {}; they must have the same shape",
            path.display(),
            summary::shape(found.0, found.1),
            summary::shape(extent, channels)
        );
        Ok(())
    };
    // The reference of a time point is a file of its own.
    let axes = options.axes.map(|axes| axes.of_time_point().unwrap_or(axes));
    let options = &ReadOptions { axes, ..options.clone() };
    // A reference of another shape is refused before it is decoded.
    read_shape(path, options)?.map_or(Ok(()), check)?;
    let truth = read_image::<T>(path, options)?;
    ensure!(
        truth.known.is_none(),
        "{} has missing pixels and cannot be used as a reference",
        path.display()
    );
    check((truth.signal.extent(), truth.signal.channels()))?;
    let given = (options.scale != USUAL_SCALE).then_some(options.scale);
    white.warn_of_other_units(path, &White::of(&truth.signal, None, truth.depth, given));
    Ok(truth.signal)
}

/// The requested scores.
pub struct ScoreRequest<'a> {
    /// The reference images.
    pub files: &'a [PathBuf],
    /// Peak value, if it differs from the white level.
    pub peak: Option<f64>,
    /// Input options.
    pub input: &'a InputArgs,
    /// Run options.
    pub run: &'a RunArgs,
    /// White levels of the images.
    pub white: White,
}

/// The references, if any: one for each image, with its shape.
pub struct References<T> {
    images: Vec<Signal<T>>,
    peak: f64,
}

impl<T: Real> References<T> {
    /// Reads the references and checks that scores can be computed, before long work.
    pub fn read(request: &ScoreRequest, shapes: &[(Extent, usize)]) -> Result<Self> {
        let (references, images) = (request.files.len(), shapes.len());
        ensure!(
            references == 0 || references == images,
            "got {} for {}; give --reference once for each image, in the same order",
            plural(references, "reference"),
            plural(images, "image")
        );
        check_peak(request.peak)?;
        let peak = request.white.peak(request.peak);
        let mut images = Vec::new();
        for (path, &shape) in request.files.iter().zip(shapes) {
            images.push(read_truth(
                path,
                &read_options(request.input, request.run),
                shape,
                &request.white,
            )?);
        }
        Ok(Self { images, peak })
    }

    /// The reference of image `i`, if any, and the peak.
    pub fn truth(&self, i: usize) -> Option<(&Signal<T>, f64)> {
        self.images.get(i).map(|truth| (truth, self.peak))
    }

    /// Scores the reconstruction of image `i`; `None` without a reference.
    pub fn score(&self, i: usize, reconstruction: &Signal<T>) -> lobcod::Result<Option<Score>> {
        self.images.get(i).map(|truth| Score::of(reconstruction, truth, self.peak)).transpose()
    }
}
