//! Parts of several reports.

use crate::machine;
use crate::output::warnings;
use lobcod::{Extent, Report, pursuit};
use serde::Serialize;
use std::path::Path;

/// A number, or `None` (null) if it is infinite, such as the PSNR of equal images.
pub fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// An image.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Image {
    /// The file.
    file: String,
    /// Number of samples along each axis.
    shape: Vec<usize>,
    /// Number of channels.
    channels: usize,
    /// Number of pixels: samples of one channel.
    pixels: usize,
}

impl Image {
    /// The image in a file.
    pub fn new(file: &Path, (extent, channels): (Extent, usize)) -> Self {
        let shape = extent.axes().to_vec();
        Self { file: super::file(file), shape, channels, pixels: extent.volume() }
    }
}

/// Objective and certificate of one image, or of all together.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Certificate {
    /// The objective.
    objective: Option<f64>,
    /// Half of the squared error.
    data_term: Option<f64>,
    /// Upper bound on the distance of the objective to the optimum.
    gap: Option<f64>,
    /// The gap as a fraction of the objective.
    relative_gap: Option<f64>,
    /// Number of non-zero codes.
    nonzeros: usize,
    /// Smallest penalty for which all codes are zero; null if the run ended before it was computed.
    penalty_max: Option<f64>,
}

impl From<&lobcod::Certificate> for Certificate {
    fn from(certificate: &lobcod::Certificate) -> Self {
        Self {
            objective: finite(certificate.objective),
            data_term: finite(certificate.data_term),
            gap: finite(certificate.gap),
            relative_gap: finite(certificate.relative_gap()),
            nonzeros: certificate.nonzeros,
            penalty_max: finite(certificate.penalty_max),
        }
    }
}

/// Numbers of sweeps.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sweeps {
    /// Sweeps over all needles.
    pub discovery_sweeps: usize,
    /// Sweeps over the non-zeros.
    pub support_sweeps: usize,
}

/// Time and resources of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// Wall time of the solver, certificate included; reading and writing excluded.
    pub seconds: f64,
    /// Memory of the solver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_memory_bytes: Option<u64>,
    /// Largest memory of the process so far.
    pub peak_memory_bytes: Option<u64>,
    /// Number of threads.
    pub threads: usize,
    /// The engine.
    pub engine: String,
    /// Floating-point precision.
    pub precision: &'static str,
    /// Warnings about results that are correct but probably not intended.
    pub warnings: Vec<String>,
}

impl From<&Report> for Run {
    fn from(report: &Report) -> Self {
        Self {
            seconds: report.seconds,
            working_memory_bytes: Some(report.working_memory_bytes),
            peak_memory_bytes: machine::peak_memory(),
            threads: report.threads,
            engine: report.engine.to_string(),
            precision: report.precision,
            warnings: warnings::of(report),
        }
    }
}

/// A pursuit: the certificate over all images, and the history of the run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pursuit {
    /// How the run ended.
    status: String,
    #[serde(flatten)]
    certificate: Certificate,
    /// Number of pixels of all images.
    pixels: usize,
    /// The penalty, in signal units.
    penalty: f64,
    #[serde(flatten)]
    sweeps: Sweeps,
    #[serde(flatten)]
    run: Run,
    /// The history of the run.
    history: Vec<HistoryPoint>,
}

impl From<&Report> for Pursuit {
    fn from(report: &Report) -> Self {
        Self {
            status: report.status.to_string(),
            certificate: (&report.total).into(),
            pixels: report.total.pixels,
            penalty: report.penalty,
            sweeps: report.into(),
            run: report.into(),
            history: report.history.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Report> for Sweeps {
    fn from(report: &Report) -> Self {
        Self { discovery_sweeps: report.discovery_sweeps, support_sweeps: report.support_sweeps }
    }
}

/// A point in the history of a pursuit.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryPoint {
    /// Seconds since the start.
    seconds: f64,
    /// The exact objective at the requested penalty.
    objective: Option<f64>,
    /// Number of non-zero codes.
    nonzeros: usize,
    /// The gap as a fraction of the objective; null where it was not computed.
    relative_gap: Option<f64>,
}

impl From<&pursuit::HistoryPoint> for HistoryPoint {
    fn from(point: &pursuit::HistoryPoint) -> Self {
        Self {
            seconds: point.seconds,
            objective: finite(point.objective),
            nonzeros: point.nonzeros,
            relative_gap: point.relative_gap.and_then(finite),
        }
    }
}

/// Missing samples of an image, and the rules that determined them.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Missing {
    /// Fraction of the samples that are missing.
    pub missing_fraction: f64,
    /// The rules that were applied.
    pub mask_rules: Vec<String>,
}

/// Scores against a reference.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Score {
    /// PSNR in decibels; null for equal images.
    pub psnr_db: Option<f64>,
    /// Structural similarity; null if an axis is too short for the window.
    pub ssim: Option<f64>,
}

impl From<&crate::score::Score> for Score {
    fn from(score: &crate::score::Score) -> Self {
        Self { psnr_db: finite(score.psnr_db), ssim: score.ssim }
    }
}
