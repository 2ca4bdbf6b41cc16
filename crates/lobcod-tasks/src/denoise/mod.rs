//! Denoising: white or correlated Gaussian noise, photon counts, impulses.

mod anscombe;
mod blocks;
mod correlated;
mod detect;
mod extremes;
mod groups;
mod impulse;
mod level;
mod linear;
mod local;
mod noise;
mod omp;
mod params;
mod posterior;
mod repeats;
mod spectrum;

pub use detect::{DetectedNoise, detect_noise};
pub use level::{gain_of_counts, noise_level};
pub use noise::Noise;
pub use params::{DenoiseParams, Effort, Method};

use crate::opponent::{opponent_of_rgb, rgb_of_opponent};
use anscombe::Anscombe;
use lobcod::bands::BandedShape;
use lobcod::base::Base;
use lobcod::engine::Engine;
use lobcod::memory;
use lobcod::run::{Limits, Run};
use lobcod::{
    Dictionary, Error, Extent, Observed, Observer, Penalty, PursuitParams, Report, Result, Signal,
    Status,
};

/// Penalty of the convolutional pursuit in units of the noise level.
const PENALTY: f64 = 3.0;

/// A denoiser with validated parameters.
///
/// Gaussian noise, [`Method::Groups`]: similar patches are coded together, over the principal
/// components of their group, in two passes: the second takes the spectrum of each group from the
/// result of the first. [`Method::Local`]: every needle codes its own patch, minus its mean, by
/// orthogonal matching pursuit until the residual is at noise level (`n (1.1 sigma)^2`), and the
/// patches are averaged; before that the atoms are fitted to the noisy image in a few rounds of
/// coding and least squares. [`Method::Convolutional`]: one pursuit of the whole image at a penalty
/// of 3 sigma, with its certificate. Colours are first converted to three uncorrelated channels.
///
/// Counts (Poisson noise, or mixed with Gaussian) are stabilised by the generalised Anscombe
/// transform, denoised as Gaussian noise of level 1, and transformed back by its unbiased inverse.
/// Correlated noise is whitened by its estimated spectrum, at half the resolution first. Impulses
/// are samples of an extreme value that their neighbours do not explain; a pursuit that ignores
/// them fills them, and all other samples are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Denoiser {
    params: DenoiseParams,
}

/// A denoised image.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Denoised {
    /// The image.
    pub image: Signal<f32>,
    /// Level of Gaussian noise or gain of counts, given or estimated; fraction of samples
    /// identified as impulses.
    pub level: f64,
    /// The detected noise, if it was not given.
    pub detected: Option<DetectedNoise>,
    /// The atoms, as fitted to the image; `None` if the method uses no atoms.
    pub dictionary: Option<Dictionary<f32>>,
    /// The report of the pursuit of the whole image, if there was one.
    pub report: Option<Report>,
    /// How the run ended.
    pub status: Status,
    /// Wall time.
    pub seconds: f64,
}

impl Denoised {
    /// The unchanged image, because no noise was found.
    fn unchanged(image: &Signal<f32>) -> Self {
        Self {
            image: image.clone(),
            level: 0.0,
            detected: None,
            dictionary: None,
            report: None,
            status: Status::Converged,
            seconds: 0.0,
        }
    }
}

impl Denoiser {
    /// The parameters.
    pub fn params(&self) -> &DenoiseParams {
        &self.params
    }

    /// Estimates the memory of denoising an image of this shape in bytes, besides the image; for
    /// [`Noise::Auto`] the maximum over all kinds of noise.
    pub fn estimate_memory(
        &self,
        engine: &dyn Engine<f32>,
        extent: Extent,
        channels: usize,
        dictionary: &Dictionary<f32>,
    ) -> Result<u64> {
        let of = |noise: Noise| self.memory_of(engine, noise, extent, channels, dictionary);
        match self.params.noise {
            Noise::Auto => {
                let white = of(Noise::Gaussian { sigma: None })?;
                if extent.rank() == 3 {
                    return Ok(white);
                }
                let correlated = of(Noise::Correlated { sigma: None })?;
                Ok(white.max(correlated).max(of(Noise::Impulse { share: None })?))
            }
            noise => of(noise),
        }
    }

    fn memory_of(
        &self,
        engine: &dyn Engine<f32>,
        noise: Noise,
        extent: Extent,
        channels: usize,
        dictionary: &Dictionary<f32>,
    ) -> Result<u64> {
        // The image with transformed colours, the clean one (or the base layer), and the result
        // transformed back (or the input of the pursuit).
        let planes = (3 * channels * extent.volume() * size_of::<f32>()) as u64;
        let threads = engine.threads();
        let without_pursuit = match (noise, self.params.method) {
            (Noise::Correlated { .. }, _) => {
                Some(correlated::memory(self.params.effort(), extent, channels, threads))
            }
            (Noise::Impulse { .. }, _) | (_, Method::Convolutional) => None,
            (_, Method::Groups(effort)) => Some(groups::memory(effort, extent, channels, threads)),
            (_, Method::Local) => Some(local::memory(extent, dictionary, threads)),
        };
        if let Some(memory) = without_pursuit {
            return Ok(memory + planes + blocks::memory(extent));
        }
        let pursuit = PursuitParams::new(Penalty::Absolute(1.0)).check()?;
        let masked = matches!(noise, Noise::Impulse { .. });
        let shape = BandedShape { extent, channels, masked };
        let session = if masked {
            pursuit.learning_memory(engine, shape, dictionary)?
        } else {
            pursuit.whole_memory(engine, shape, dictionary)?
        };
        Ok(session + planes + blocks::memory(extent))
    }

    /// Denoises an image or a stack of images with one or three channels.
    ///
    /// In a stack (three axes: a volume, or the frames of a sequence), similar patches are also
    /// searched in neighbouring slices; [`Method::Groups`] only.
    ///
    /// ```
    /// use lobcod::engine::CpuEngine;
    /// use lobcod::{Dictionary, Extent, Signal};
    /// use lobcod_tasks::denoise::{DenoiseParams, Noise};
    /// let mut random = 1u32;
    /// let noisy = |i: u32| {
    ///     random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    ///     100.0 + (i / 32) as f32 + 13.8 * (random as f32 / u32::MAX as f32 - 0.5)
    /// };
    /// let image =
    ///     Signal::from_planar(Extent::new(&[32, 32])?, 1, (0..1024).map(noisy).collect())?;
    /// let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(4.0) }).check()?;
    /// let clean =
    ///     denoiser.run(&CpuEngine::new(0)?, &image, &Dictionary::natural(), &mut ())?.image;
    /// assert!((clean.data()[16 * 32 + 16] - 116.0).abs() < 2.0);
    /// # Ok::<(), lobcod::Error>(())
    /// ```
    pub fn run(
        &self,
        engine: &dyn Engine<f32>,
        image: &Signal<f32>,
        dictionary: &Dictionary<f32>,
        observer: &mut dyn Observer,
    ) -> Result<Denoised> {
        self.check_image(image, dictionary)?;
        let limits = Limits { time: self.params.time_limit, memory: None };
        let mut run = Run::begin(limits, engine.agreement(), observer);
        let detected = match self.params.noise {
            Noise::Auto => Some(detect_noise(image, self.params.scale)?),
            _ => None,
        };
        let noise = detected.map_or(Some(self.params.noise), DetectedNoise::to_noise);
        let of_slices = matches!(noise, Some(Noise::Correlated { .. } | Noise::Impulse { .. }));
        if image.extent().rank() == 3 && of_slices {
            let found = detected.map_or_else(String::new, |found| format!(" ({found})"));
            return Err(Error::Data(format!(
                "correlated noise and impulses{found} are removed from images, not from stacks; \
                 denoise the slices separately, or give the level of gaussian noise"
            )));
        }
        let mut denoised = match noise {
            None => Denoised::unchanged(image),
            Some(noise) => {
                let needed =
                    self.memory_of(engine, noise, image.extent(), image.channels(), dictionary)?;
                memory::check(needed, self.params.max_memory)?;
                self.remove(noise, engine, image, dictionary, &mut run)?
            }
        };
        denoised.detected = detected;
        denoised.seconds = run.seconds();
        Ok(Denoised { image: denoised.image.finite()?, ..denoised })
    }

    fn remove(
        &self,
        noise: Noise,
        engine: &dyn Engine<f32>,
        image: &Signal<f32>,
        dictionary: &Dictionary<f32>,
        run: &mut Run,
    ) -> Result<Denoised> {
        match noise {
            // Resolved by the caller.
            Noise::Auto => Ok(Denoised::unchanged(image)),
            Noise::Gaussian { sigma } => {
                self.gaussian(engine, image, sigma, dictionary, &Signal::clone, run)
            }
            Noise::Correlated { sigma } => self.correlated(engine.threads(), image, sigma, run),
            Noise::Poisson { gain } => {
                let gain = gain.map_or_else(|| gain_of_counts(image), Ok)?;
                self.counts(engine, image, Anscombe { gain, sigma: 0.0 }, dictionary, run)
            }
            Noise::Mixed { gain, sigma } => {
                self.counts(engine, image, Anscombe { gain, sigma }, dictionary, run)
            }
            Noise::Impulse { share } => {
                impulse::denoise(&self.params, engine, image, share, dictionary, run)
            }
        }
    }

    fn correlated(
        &self,
        threads: usize,
        image: &Signal<f32>,
        sigma: Option<f64>,
        run: &mut Run,
    ) -> Result<Denoised> {
        let coloured = image.channels() == 3;
        let opposed = if coloured { opponent_of_rgb(image) } else { image.clone() };
        let spectra = correlated::spectra(&opposed)?;
        let squares: f64 = spectra.iter().map(|spectrum| spectrum.level().powi(2)).sum();
        let measured = (squares / spectra.len() as f64).sqrt();
        let level = sigma.unwrap_or(measured);
        if measured == 0.0 {
            return Ok(Denoised::unchanged(image));
        }
        let back = |clean: &Signal<f32>| match coloured {
            true => rgb_of_opponent(clean),
            false => clean.clone(),
        };
        let factor = self.params.strength * level / measured;
        let noise = (&spectra[..], factor);
        let (clean, status) =
            correlated::denoise(self.params.effort(), threads, &opposed, noise, &back, run)?;
        Ok(Denoised {
            image: back(&clean),
            level,
            detected: None,
            dictionary: None,
            report: None,
            status,
            seconds: 0.0,
        })
    }

    fn counts(
        &self,
        engine: &dyn Engine<f32>,
        image: &Signal<f32>,
        transform: Anscombe,
        dictionary: &Dictionary<f32>,
        run: &mut Run,
    ) -> Result<Denoised> {
        let (stabilised, inverse) =
            (transform.forward(image), |clean: &Signal<f32>| transform.inverse(clean));
        let denoised = self.gaussian(engine, &stabilised, Some(1.0), dictionary, &inverse, run)?;
        Ok(Denoised {
            image: transform.inverse(&denoised.image),
            level: transform.gain,
            ..denoised
        })
    }

    /// Previews are shown as `displayed` makes them of the clean image.
    fn gaussian(
        &self,
        engine: &dyn Engine<f32>,
        image: &Signal<f32>,
        sigma: Option<f64>,
        dictionary: &Dictionary<f32>,
        displayed: &dyn Fn(&Signal<f32>) -> Signal<f32>,
        run: &mut Run,
    ) -> Result<Denoised> {
        let coloured = image.channels() == 3;
        let opposed = if coloured { opponent_of_rgb(image) } else { image.clone() };
        let level = sigma.map_or_else(|| noise_level(&opposed), Ok)?;
        if level == 0.0 {
            return Ok(Denoised::unchanged(image));
        }
        let (clean, dictionary, status, report) = match self.params.method {
            Method::Groups(effort) => {
                let sigma = self.params.strength * level;
                let displayed = |clean: &Signal<f32>| match coloured {
                    true => displayed(&rgb_of_opponent(clean)),
                    false => displayed(clean),
                };
                let threads = engine.threads();
                let (clean, status) =
                    groups::denoise(effort, threads, &opposed, sigma, &displayed, run)?;
                (clean, None, status, None)
            }
            Method::Local => {
                let sigma = self.params.strength * level;
                let (clean, dictionary, status) = local::denoise(
                    &self.params,
                    engine.threads(),
                    &opposed,
                    sigma,
                    dictionary,
                    run,
                )?;
                (clean, Some(dictionary), status, None)
            }
            Method::Convolutional => {
                let base = Base::Smooth { mu: Base::DEFAULT_MU }.layer(
                    &opposed,
                    None,
                    dictionary.extent(),
                )?;
                let penalty = Penalty::Absolute(
                    self.params.penalty.unwrap_or(PENALTY * self.params.strength * level),
                );
                let observed: [Observed<f32>; 1] = [opposed.minus(&base)?.into()];
                let pursuit = self.params.pursuit(PursuitParams::new(penalty), run).check()?;
                let answer = pursuit.run(engine, &observed, dictionary, &mut run.part())?;
                let clean = answer.needles[0].synthesise(dictionary)?.plus(&base)?;
                (clean, Some(dictionary.clone()), answer.report.status, Some(answer.report))
            }
        };
        let image = if coloured { rgb_of_opponent(&clean) } else { clean };
        Ok(Denoised { image, level, detected: None, dictionary, report, status, seconds: 0.0 })
    }

    fn check_image(&self, image: &Signal<f32>, dictionary: &Dictionary<f32>) -> Result<()> {
        let (extent, atom) = (image.extent(), dictionary.extent());
        let groups = matches!(self.params.method, Method::Groups(_));
        if extent.rank() == 3 && !groups {
            return Err(Error::Shape(format!(
                "a stack ({extent}) is denoised by groups of similar patches only; use the preset \
                 standard or best, or denoise its slices separately"
            )));
        }
        if extent.rank() < 2 || atom.rank() != 2 || dictionary.channels() != 1 {
            return Err(Error::Shape(format!(
                "denoising takes an image with two axes, or a stack of images, and flat atoms of \
                 one channel, not {extent} and {atom}"
            )));
        }
        let fits = (1..3).all(|axis| extent.padded()[axis] >= atom.padded()[axis]);
        if !fits {
            return Err(Error::Shape(format!(
                "the image ({extent}) is smaller than an atom ({atom}); use smaller atoms"
            )));
        }
        match image.data().iter().find(|x| !x.is_finite()) {
            Some(x) => Err(Error::Data(format!(
                "a sample is {x}; replace it with a finite value, or fill it first"
            ))),
            None => Ok(()),
        }
    }
}
