//! Denoising by patches: each needle by itself, and the mean of what they say.

use super::linear::solve_positive;
use super::omp::{Atoms, Pursuer};
use super::params::DenoiseParams;
use crate::dictionary::Dictionary;
use crate::error::Result;
use crate::extent::Extent;
use crate::observe::{Control, Observer, Progress, Stop};
use crate::parallel;
use crate::report::Status;
use crate::signal::Signal;
use std::time::Instant;

/// What a patch may keep, in units of the noise level: a little above 1, so that noise is not coded.
const KEPT: f64 = 1.1;
/// Rounds in which the atoms are fitted, and most patches a round looks at.
const ROUNDS: usize = 8;
const MOST: usize = 60_000;
/// Rows of patches that are worked on together; fixed, so that sums do not depend on threads.
const BAND: usize = 16;

/// The clean picture and the atoms it was coded with, channel by channel; the atoms are fitted to the first channel.
pub(super) fn denoise(
    params: &DenoiseParams,
    picture: &Signal<f32>,
    sigma: f64,
    dictionary: &Dictionary<f32>,
    observer: &mut dyn Observer,
) -> Result<(Signal<f32>, Dictionary<f32>, Status)> {
    let clock = Instant::now();
    let mut status = Status::Converged;
    let stop = observer.stop();
    let mut patches = Patches::new(dictionary, picture, sigma, params.threads, stop.clone());
    let rounds = if params.fit_atoms { ROUNDS } else { 0 };
    for round in 0..rounds {
        // Whatever stops the fitting, the picture is denoised with the atoms as they are, as far as there is time.
        if params.time_limit.is_some_and(|limit| clock.elapsed() >= limit) {
            status = Status::TimeLimit;
        } else if observer.progress(&progress(round, params, &clock)) == Control::Stop || stop.is_due() {
            status = Status::Interrupted;
        }
        if status != Status::Converged {
            break;
        }
        patches.fit(picture.channel(0));
    }
    let mut data = Vec::with_capacity(picture.data().len());
    for c in 0..picture.channels() {
        data.extend(patches.average(picture.channel(c)));
    }
    if stop.is_due() {
        status = Status::Interrupted;
    }
    let dictionary = Dictionary::new(dictionary.extent(), 1, patches.atoms.data)?;
    Ok((Signal::from_planar(picture.extent(), picture.channels(), data)?, dictionary, status))
}

/// Bytes held at once beside the picture: the sums of all bands, of the picture or of the fit, and a pursuit for each thread.
pub(super) fn memory(extent: Extent, dictionary: &Dictionary<f32>, threads: usize) -> u64 {
    let ([_, height, width], [_, h, w]) = (extent.padded(), dictionary.extent().padded());
    let (n, m, bands) = (h * w, dictionary.len(), (height + 1 - h.min(height)).div_ceil(BAND));
    let picture = (bands * (BAND + h - 1) + height) * width * 2 * size_of::<f32>();
    let fit = (bands + 1) * (m * m + m * n) * size_of::<f64>();
    let pursuits = parallel::count(threads) * (n * n / 8 + 2 * m + n) * size_of::<f32>();
    (picture.max(fit) + pursuits + (m * m + m * n) * size_of::<f32>()) as u64
}

/// What there is to tell of a round.
fn progress(round: usize, params: &DenoiseParams, clock: &Instant) -> Progress {
    Progress {
        seconds: clock.elapsed().as_secs_f64(),
        objective: 0.0,
        relative_gap: None,
        tolerance: params.tolerance,
        nonzeros: 0,
        discovery_sweeps: round,
        support_sweeps: 0,
        stage_penalty: 0.0,
        pass: None,
    }
}

/// The patches of a picture that lie wholly in it.
struct Patches {
    atoms: Atoms,
    /// Height and width of the picture and of a patch.
    size: [usize; 2],
    side: [usize; 2],
    allowed: f32,
    threads: usize,
    stop: Stop,
}

/// Sums of a band: the patches it adds to the picture, or the products that atoms are fitted by.
#[derive(Default)]
struct Band {
    sums: Vec<f32>,
    weights: Vec<f32>,
    codes_by_codes: Vec<f64>,
    codes_by_samples: Vec<f64>,
}

impl Patches {
    fn new(dictionary: &Dictionary<f32>, picture: &Signal<f32>, sigma: f64, threads: usize, stop: Stop) -> Self {
        let ([_, height, width], [_, h, w]) = (picture.extent().padded(), dictionary.extent().padded());
        let allowed = ((h * w) as f64 * (KEPT * sigma).powi(2)) as f32;
        let atoms = Atoms::new(dictionary.data(), h * w);
        Self { atoms, size: [height, width], side: [h, w], allowed, threads, stop }
    }

    /// Codes every `step`th patch, band by band, and hands each with its mean and place in the band to `take`.
    fn each(
        &self,
        samples: &[f32],
        step: usize,
        take: impl Fn(&mut Band, [usize; 2], f32, &[f32], &Pursuer) + Sync,
    ) -> Vec<Band> {
        let ([height, width], [h, w]) = (self.size, self.side);
        let rows = height - h + 1;
        let mut bands: Vec<Band> = Vec::new();
        bands.resize_with(rows.div_ceil(BAND), Band::default);
        let open = || (Pursuer::new(&self.atoms), vec![0.0f32; h * w]);
        parallel::chunks(&mut bands, 1, self.threads, open, |b, band, (pursuer, patch)| {
            for y in BAND * b..(BAND * (b + 1)).min(rows) {
                if self.stop.is_due() {
                    return;
                }
                for x in (0..width - w + 1).filter(|x| (y * width + x).is_multiple_of(step)) {
                    for (row, line) in patch.chunks_exact_mut(w).enumerate() {
                        line.copy_from_slice(&samples[(y + row) * width + x..][..w]);
                    }
                    let mean = patch.iter().sum::<f32>() / patch.len() as f32;
                    patch.iter_mut().for_each(|v| *v -= mean);
                    pursuer.code(patch, &self.atoms, self.allowed);
                    take(&mut band[0], [y - BAND * b, x], mean, patch, pursuer);
                }
            }
        });
        bands
    }

    /// Fits the atoms to the patches, codes held still: least squares, then unit norm. An atom that nothing uses stays.
    fn fit(&mut self, samples: &[f32]) {
        let (m, n) = (self.atoms.len(), self.atoms.n);
        let step = (self.size[0] * self.size[1]).div_ceil(MOST);
        let bands = self.each(samples, step, |band, _, _, patch, pursuer| {
            if band.codes_by_codes.is_empty() {
                (band.codes_by_codes, band.codes_by_samples) = (vec![0.0; m * m], vec![0.0; m * n]);
            }
            for (&i, &a) in pursuer.chosen.iter().zip(&pursuer.codes) {
                for (&j, &b) in pursuer.chosen.iter().zip(&pursuer.codes) {
                    band.codes_by_codes[i * m + j] += f64::from(a * b);
                }
                band.codes_by_samples[i * n..][..n].iter_mut().zip(patch).for_each(|(s, x)| *s += f64::from(a * x));
            }
        });
        let (mut square, mut right) = (vec![0.0; m * m], vec![0.0; m * n]);
        for band in bands {
            square.iter_mut().zip(band.codes_by_codes).for_each(|(s, x)| *s += x);
            right.iter_mut().zip(band.codes_by_samples).for_each(|(s, x)| *s += x);
        }
        let most = (0..m).map(|i| square[i * m + i]).fold(0.0, f64::max);
        let used: Vec<bool> = (0..m).map(|i| square[i * m + i] > 1e-9 * most).collect();
        for i in 0..m {
            square[i * m + i] = if used[i] { square[i * m + i] + 1e-6 * most } else { 1.0 };
        }
        solve_positive(square, m, &mut right);
        let mut atoms = Vec::with_capacity(m * n);
        for i in 0..m {
            let fitted: Vec<f32> = right[i * n..][..n].iter().map(|&x| x as f32).collect();
            let norm = fitted.iter().map(|x| x * x).sum::<f32>().sqrt();
            if used[i] && norm > 1e-6 {
                atoms.extend(fitted.iter().map(|x| x / norm));
            } else {
                atoms.extend_from_slice(&self.atoms.data[i * n..][..n]);
            }
        }
        self.atoms = Atoms::new(&atoms, n);
    }

    /// The weighted mean of all patches that cover a sample; a patch of few codes has less noise left and counts more. Samples that no
    /// patch came to before it was time to stop are as they were.
    fn average(&self, samples: &[f32]) -> Vec<f32> {
        let ([height, width], [h, w]) = (self.size, self.side);
        let (n, area) = (self.atoms.n, (BAND + h - 1) * width);
        let bands = self.each(samples, 1, |band, [y, x], mean, _, pursuer| {
            if band.sums.is_empty() {
                (band.sums, band.weights) = (vec![0.0; area], vec![0.0; area]);
            }
            let weight = 1.0 / (1 + pursuer.chosen.len()) as f32;
            for row in 0..h {
                let place = (y + row) * width + x..(y + row) * width + x + w;
                band.weights[place.clone()].iter_mut().for_each(|s| *s += weight);
                band.sums[place.clone()].iter_mut().for_each(|s| *s += weight * mean);
                for (&k, &code) in pursuer.chosen.iter().zip(&pursuer.codes) {
                    let line = &self.atoms.data[k * n + row * w..][..w];
                    band.sums[place.clone()].iter_mut().zip(line).for_each(|(s, d)| *s += weight * code * d);
                }
            }
        });
        let (mut sums, mut weights) = (vec![0.0f32; height * width], vec![0.0f32; height * width]);
        for (b, band) in bands.iter().enumerate() {
            let start = BAND * b * width;
            let end = (start + band.sums.len()).min(sums.len());
            sums[start..end].iter_mut().zip(&band.sums).for_each(|(s, x)| *s += x);
            weights[start..end].iter_mut().zip(&band.weights).for_each(|(s, x)| *s += x);
        }
        sums.iter().zip(&weights).zip(samples).map(|((s, w), x)| if *w > 0.0 { s / w } else { *x }).collect()
    }
}
