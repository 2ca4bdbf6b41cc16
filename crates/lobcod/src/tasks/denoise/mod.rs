//! Denoising: gaussian noise, counts of photons, impulses.

mod anscombe;
mod impulse;
mod level;
mod linear;
mod local;
mod omp;
mod params;

pub use level::{gain_of_counts, noise_level};
pub use params::{DenoiseParams, Method, Noise};

use crate::base::Base;
use crate::dictionary::Dictionary;
use crate::engine::{CpuEngine, Engine};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::memory;
use crate::observe::Observer;
use crate::pursuit::{BandedShape, Observed, Penalty, PursuitParams, checked};
use crate::report::{Report, Status};
use crate::signal::Signal;
use anscombe::Anscombe;
use std::time::Instant;

/// Penalty of the convolutional pursuit in units of the noise level.
const PENALTY: f64 = 3.0;

/// A denoiser whose parameters were checked.
///
/// Gaussian noise, [`Method::Local`]: every needle codes its own patch, less its mean, by orthogonal matching pursuit until what is left
/// is what the noise would leave (`n (1.1 sigma)^2`), and the patches are averaged; before that the atoms are fitted to the noisy
/// picture in a few rounds of coding and least squares. [`Method::Convolutional`]: one pursuit of the whole picture at a penalty of
/// 3 sigma, with its certificate. Colours are turned into three uncorrelated channels first.
///
/// Counts (Poisson noise, or mixed with gaussian) are stabilised by the generalised Anscombe transform, denoised as gaussian noise
/// of level 1, and carried back by its unbiased inverse. Impulses are found by a pursuit with one more atom, a single sample with a
/// penalty of its own, and filled by a pursuit that does not see them; all other samples are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Denoiser {
    params: DenoiseParams,
}

/// A clean picture.
#[derive(Clone, Debug)]
pub struct Denoised {
    /// The picture.
    pub picture: Signal<f32>,
    /// Level of gaussian noise, given or estimated; gain of counts, given or estimated; share of samples taken for impulses.
    pub level: f64,
    /// The atoms, as fitted to the picture.
    pub dictionary: Dictionary<f32>,
    /// The pursuit of the whole picture, where there was one.
    pub report: Option<Report>,
    /// How the work ended.
    pub status: Status,
    /// Wall time.
    pub seconds: f64,
}

impl Denoiser {
    /// The parameters.
    pub fn params(&self) -> &DenoiseParams {
        &self.params
    }

    /// Bytes that denoising a picture of this shape is expected to need beside the picture itself.
    pub fn estimate_memory(&self, extent: Extent, channels: usize, dictionary: &Dictionary<f32>) -> Result<u64> {
        let patches = self.params.method == Method::Local && !matches!(self.params.noise, Noise::Impulse { .. });
        if patches {
            // The picture with its colours turned, the clean one, and the same turned back.
            let planes = 3 * channels * extent.volume() * size_of::<f32>();
            return Ok(local::memory(extent, dictionary, self.params.threads) + planes as u64);
        }
        let params = PursuitParams { threads: self.params.threads, ..PursuitParams::new(Penalty::Absolute(1.0)) };
        let (pursuit, engine) = (params.check()?, CpuEngine::new(self.params.threads)?);
        let session = match self.params.noise {
            Noise::Impulse { .. } => {
                pursuit.learning_memory(&engine, BandedShape { extent, channels, masked: true }, dictionary)?
            }
            _ => pursuit.whole_memory(&engine, BandedShape { extent, channels, masked: false }, dictionary)?,
        };
        // The picture with its colours turned, the base layer, and what is coded.
        Ok(session + (3 * channels * extent.volume() * size_of::<f32>()) as u64)
    }

    fn check_memory(&self, picture: &Signal<f32>, dictionary: &Dictionary<f32>) -> Result<()> {
        memory::check(self.estimate_memory(picture.extent(), picture.channels(), dictionary)?, self.params.max_memory)
    }

    /// Takes the noise off a picture of one or three channels.
    ///
    /// ```
    /// use lobcod::{Dictionary, Extent, Signal, tasks::denoise::{DenoiseParams, Noise}};
    /// let noisy = |i: usize| 100.0 + (i / 32) as f32 + if (i * 7919) % 13 < 6 { 4.0 } else { -4.0 };
    /// let picture = Signal::from_planar(Extent::new(&[32, 32])?, 1, (0..1024).map(noisy).collect())?;
    /// let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(4.0) }).check()?;
    /// let clean = denoiser.run(&picture, &Dictionary::natural(), &mut ())?.picture;
    /// assert!((clean.data()[16 * 32 + 16] - 116.0).abs() < 2.0);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run(&self, picture: &Signal<f32>, dictionary: &Dictionary<f32>, observer: &mut dyn Observer) -> Result<Denoised> {
        self.run_on(&CpuEngine::new(self.params.threads)?, picture, dictionary, observer)
    }

    /// Takes the noise off a picture; pursuits run on a given engine, patches on the threads of this machine.
    pub fn run_on(
        &self,
        engine: &dyn Engine<f32>,
        picture: &Signal<f32>,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> Result<Denoised> {
        check_picture(picture, dictionary)?;
        self.check_memory(picture, dictionary)?;
        let clock = Instant::now();
        let mut denoised = match self.params.noise {
            Noise::Gaussian { sigma } => self.gaussian(engine, picture, sigma, dictionary, observer)?,
            Noise::Poisson { gain } => {
                let gain = gain.map_or_else(|| gain_of_counts(picture), Ok)?;
                self.counts(engine, picture, Anscombe { gain, sigma: 0.0 }, dictionary, observer)?
            }
            Noise::Mixed { gain, sigma } => self.counts(engine, picture, Anscombe { gain, sigma }, dictionary, observer)?,
            Noise::Impulse { share } => impulse::denoise(&self.params, engine, picture, share, dictionary, observer)?,
        };
        denoised.seconds = clock.elapsed().as_secs_f64();
        Ok(Denoised { picture: checked(denoised.picture)?, ..denoised })
    }

    fn counts(
        &self,
        engine: &dyn Engine<f32>,
        picture: &Signal<f32>,
        transform: Anscombe,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> Result<Denoised> {
        let denoised = self.gaussian(engine, &transform.forward(picture), Some(1.0), dictionary, observer)?;
        Ok(Denoised { picture: transform.inverse(&denoised.picture), level: transform.gain, ..denoised })
    }

    fn gaussian(
        &self,
        engine: &dyn Engine<f32>,
        picture: &Signal<f32>,
        sigma: Option<f64>,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> Result<Denoised> {
        let opposed = if picture.channels() == 3 { turn_colours(picture, false) } else { picture.clone() };
        let level = sigma.map_or_else(|| noise_level(&opposed), Ok)?;
        if level == 0.0 {
            return Ok(Denoised {
                picture: picture.clone(),
                level,
                dictionary: dictionary.clone(),
                report: None,
                status: Status::Converged,
                seconds: 0.0,
            });
        }
        let (clean, dictionary, status, report) = match self.params.method {
            Method::Local => {
                let (clean, dictionary, status) = local::denoise(&self.params, &opposed, level, dictionary, observer)?;
                (clean, dictionary, status, None)
            }
            Method::Convolutional => {
                let base = Base::Smooth { mu: Base::DEFAULT_MU }.layer(&opposed, None, dictionary.extent())?;
                let penalty = Penalty::Absolute(self.params.penalty.unwrap_or(PENALTY * level));
                let observed: [Observed<f32>; 1] = [opposed.minus(&base)?.into()];
                let pursuit = self.params.pursuit(PursuitParams::new(penalty)).check()?;
                let answer = pursuit.run_on(engine, &observed, dictionary, observer)?;
                let clean = answer.needles[0].synthesise(dictionary)?.plus(&base)?;
                (clean, dictionary.clone(), answer.report.status, Some(answer.report))
            }
        };
        let picture = if picture.channels() == 3 { turn_colours(&clean, true) } else { clean };
        Ok(Denoised { picture, level, dictionary, report, status, seconds: 0.0 })
    }
}

/// Red, green and blue to their mean and two differences, or back: a rotation, so noise stays what it is.
fn turn_colours(picture: &Signal<f32>, back: bool) -> Signal<f32> {
    let (a, b, c) = (1.0 / 3f32.sqrt(), 1.0 / 2f32.sqrt(), 1.0 / 6f32.sqrt());
    let rotation = [[a, a, a], [b, 0.0, -b], [c, -2.0 * c, c]];
    let volume = picture.extent().volume();
    let mut out = picture.clone();
    for i in 0..3 * volume {
        let (row, at) = (i / volume, i % volume);
        let weight = |column: usize| if back { rotation[column][row] } else { rotation[row][column] };
        out.data_mut()[i] = (0..3).map(|column| weight(column) * picture.channel(column)[at]).sum();
    }
    out
}

fn check_picture(picture: &Signal<f32>, dictionary: &Dictionary<f32>) -> Result<()> {
    let (extent, atom) = (picture.extent(), dictionary.extent());
    if extent.rank() != 2 || atom.rank() != 2 || dictionary.channels() != 1 {
        return Err(Error::Shape(format!(
            "denoising takes a picture with two axes and flat atoms of one channel, not {extent} and {atom}"
        )));
    }
    let fits = (1..3).all(|axis| extent.padded()[axis] >= atom.padded()[axis]);
    if !fits {
        return Err(Error::Shape(format!("the picture ({extent}) is smaller than an atom ({atom}); use smaller atoms")));
    }
    match picture.data().iter().find(|x| !x.is_finite()) {
        Some(x) => Err(Error::Data(format!("a sample is {x}; replace it by a number, or fill it first"))),
        None => Ok(()),
    }
}
