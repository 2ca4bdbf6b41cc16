//! Correlated noise: coarse scales first, each made white by a filter, denoised by groups of similar
//! patches, and filtered back.

use super::groups;
use super::level::check_size;
use super::params::Effort;
use super::spectrum::Spectrum;
use lobcod::base::box_mean;
use lobcod::parallel;
use lobcod::run::Run;
use lobcod::{Extent, Result, Signal, Status};
use std::ops::Range;

/// Minimum side of an image that is also denoised at half the resolution.
const COARSEST: usize = 96;
/// Effective number of frequencies of the noise below which it varies slowly.
const WIDE: f64 = 8.5;
/// Samples of a filter on each side of its centre.
const RADIUS: usize = 8;
const SIDE: usize = 2 * RADIUS + 1;
/// Frequencies along each axis at which the filters are sampled.
const FREQUENCIES: usize = 48;
/// Side of the windows in which the removed part is compared with the noise, and its maximum
/// standard deviation there, in units of the noise level.
const WINDOW: usize = 17;
const MOST_REMOVED: f32 = 1.2;

/// The filters of a channel: one makes its noise white and of level 1, the other undoes that.
struct Filters {
    whitening: Vec<f32>,
    colouring: Vec<f32>,
}

impl Filters {
    /// `None` for a channel without noise.
    fn of(spectrum: &Spectrum) -> Option<Self> {
        (spectrum.level() > 0.0).then(|| Self {
            whitening: kernel(|frequency| 1.0 / spectrum.deviation(frequency)),
            colouring: kernel(|frequency| spectrum.deviation(frequency)),
        })
    }
}

/// The image as it is displayed, from the channels that are denoised.
type Displayed<'a> = &'a dyn Fn(&Signal<f32>) -> Signal<f32>;

/// How noise is removed at all scales.
#[derive(Clone, Copy)]
struct Removal {
    effort: Effort,
    threads: usize,
    /// Fraction of the measured level.
    factor: f64,
    /// Whether this is a coarser scale than that of the image.
    is_coarse: bool,
}

/// Removes correlated noise with these spectra; `factor` is the fraction of its measured level.
///
/// Patches are too small for slowly varying noise, so channels with such noise are denoised at half
/// the resolution first, and the difference is added. What is removed is nowhere stronger than the
/// noise: the rest would be texture with the spectrum of the noise.
pub(super) fn denoise(
    effort: Effort,
    threads: usize,
    image: &Signal<f32>,
    (spectra, factor): (&[Spectrum], f64),
    displayed: Displayed<'_>,
    run: &mut Run,
) -> Result<(Signal<f32>, Status)> {
    let removal = Removal { effort, threads, factor, is_coarse: false };
    removal.at_scale(image, spectra, 0.0..1.0, displayed, run)
}

impl Removal {
    /// The same at one scale and the coarser ones, with bounds of the spectra, in a part of the
    /// run.
    fn at_scale(
        self,
        image: &Signal<f32>,
        bounds: &[Spectrum],
        part: Range<f64>,
        displayed: Displayed<'_>,
        run: &mut Run,
    ) -> Result<(Signal<f32>, Status)> {
        let [_, height, width] = image.extent().padded();
        let mut input = image.clone();
        let mut own = part.clone();
        let is_wide = |spectrum: &Spectrum| {
            let varies_slowly = self.is_coarse || spectrum.frequencies() < WIDE;
            spectrum.level() > 0.0 && varies_slowly
        };
        if height.min(width) >= COARSEST && bounds.iter().any(is_wide) {
            // A quarter of the pixels.
            own.start += 0.2 * (part.end - part.start);
            let coarse = halved(image)?;
            let half = |(own, bound): (Spectrum, &Spectrum)| match is_wide(bound) {
                true => own.at_most(&bound.bound_of_half()),
                false => Spectrum::ZERO,
            };
            let halves: Vec<Spectrum> =
                spectra(&coarse)?.into_iter().zip(bounds).map(half).collect();
            let with_details = |clean: &Signal<f32>| {
                let mut whole = image.clone();
                add_enlarged(&mut whole, &coarse, clean);
                displayed(&whole)
            };
            let coarser = Self { is_coarse: true, ..self };
            let own_part = part.start..own.start;
            let (clean, status) =
                coarser.at_scale(&coarse, &halves, own_part, &with_details, run)?;
            add_enlarged(&mut input, &coarse, &clean);
            if status != Status::Converged {
                return Ok((input, status));
            }
        }
        run.begin_part(own);
        let own = spectra(&input)?;
        let own: Vec<Spectrum> = own.iter().zip(bounds).map(|(own, of)| own.at_most(of)).collect();
        let (mut clean, status) = self.whitened(&input, &own, displayed, run)?;
        for (c, bound) in bounds.iter().enumerate() {
            let most = MOST_REMOVED * (self.factor * bound.level()) as f32;
            let channel = c * height * width..(c + 1) * height * width;
            let samples = &mut clean.data_mut()[channel];
            limit_removed(image.channel(c), samples, [height, width], most, self.threads);
        }
        Ok((clean, status))
    }

    /// Removes the noise of one scale. The removed noise is filtered, not the image, so that the
    /// image passes no filter.
    fn whitened(
        self,
        image: &Signal<f32>,
        spectra: &[Spectrum],
        displayed: Displayed<'_>,
        run: &mut Run,
    ) -> Result<(Signal<f32>, Status)> {
        let [_, height, width] = image.extent().padded();
        let filters: Vec<Option<Filters>> = spectra.iter().map(Filters::of).collect();
        let levels = spectra.iter().map(Spectrum::level).filter(|level| *level > 0.0);
        let least = levels.fold(f64::MAX, f64::min) as f32;
        let mut whitened = Vec::with_capacity(image.data().len());
        for (c, filters) in filters.iter().enumerate() {
            let channel = image.channel(c);
            match filters {
                Some(Filters { whitening, .. }) => {
                    whitened.extend(filtered(channel, [height, width], whitening, self.threads));
                }
                None => whitened.extend(channel.iter().map(|x| x / least)),
            }
        }
        let whitened = Signal::from_planar(image.extent(), image.channels(), whitened)?;
        let coloured = |white: &Signal<f32>| -> Signal<f32> {
            let mut clean = image.clone();
            for (c, filters) in filters.iter().enumerate() {
                let Some(Filters { colouring, .. }) = filters else { continue };
                let both = whitened.channel(c).iter().zip(white.channel(c));
                let removed: Vec<f32> = both.map(|(noisy, clean)| noisy - clean).collect();
                let removed = filtered(&removed, [height, width], colouring, self.threads);
                let samples = &mut clean.data_mut()[c * height * width..][..height * width];
                samples.iter_mut().zip(&removed).for_each(|(x, r)| *x -= r);
            }
            clean
        };
        let shown = |white: &Signal<f32>| displayed(&coloured(white));
        let (white, status) =
            groups::denoise(self.effort, self.threads, &whitened, self.factor, &shown, run)?;
        Ok((coloured(&white), status))
    }
}

/// The spectra of all channels: the noise of colours has another one than that of brightness.
pub(super) fn spectra(image: &Signal<f32>) -> Result<Vec<Spectrum>> {
    check_size(image)?;
    let [_, height, width] = image.extent().padded();
    let channels = (0..image.channels()).map(|c| image.channel(c));
    Ok(channels.map(|channel| Spectrum::of(channel, [height, width], 1)).collect())
}

/// Working memory besides the image: as for white noise, and the input of a scale, the whitened
/// image, the clean one, a channel of removed noise, filtered, with its squares and their sums.
pub(super) fn memory(effort: Effort, extent: Extent, channels: usize, threads: usize) -> u64 {
    let planes = (3 * channels + 4) * extent.volume() * size_of::<f32>();
    groups::memory(effort, extent, channels, threads) + planes as u64
}

/// The symmetric filter with these gains, each at a frequency in units of the highest.
fn kernel(gain: impl Fn([f64; 2]) -> f64) -> Vec<f32> {
    let frequency = |i: usize| (i as f64 + 0.5) / FREQUENCIES as f64;
    let wave = |i: usize, x: usize| {
        (std::f64::consts::PI * frequency(i) * (x as f64 - RADIUS as f64)).cos()
    };
    let gains: Vec<f64> = (0..FREQUENCIES * FREQUENCIES)
        .map(|i| gain([frequency(i / FREQUENCIES), frequency(i % FREQUENCIES)]))
        .collect();
    // One axis after the other.
    let rows: Vec<f64> = (0..SIDE * FREQUENCIES)
        .map(|i| {
            let (y, v) = (i / FREQUENCIES, i % FREQUENCIES);
            (0..FREQUENCIES).map(|u| wave(u, y) * gains[u * FREQUENCIES + v]).sum()
        })
        .collect();
    (0..SIDE * SIDE)
        .map(|i| {
            let (y, x) = (i / SIDE, i % SIDE);
            let sum: f64 = (0..FREQUENCIES).map(|v| wave(v, x) * rows[y * FREQUENCIES + v]).sum();
            (sum / (FREQUENCIES * FREQUENCIES) as f64) as f32
        })
        .collect()
}

/// Convolves a channel, mirrored at its ends, with a symmetric filter.
fn filtered(
    channel: &[f32],
    [height, width]: [usize; 2],
    filter: &[f32],
    threads: usize,
) -> Vec<f32> {
    let mirrored = |i: usize, length: usize| {
        let period = 2 * length;
        let i = (i + period * RADIUS.div_ceil(period) - RADIUS) % period;
        i.min(period - 1 - i)
    };
    let mut result = vec![0.0; height * width];
    let open = || vec![0.0; width + 2 * RADIUS];
    parallel::chunks(&mut result, width, threads, open, |y, row, wide: &mut Vec<f32>| {
        for (v, gains) in filter.chunks_exact(SIDE).enumerate() {
            let line = &channel[mirrored(y + v, height) * width..][..width];
            for (x, sample) in wide.iter_mut().enumerate() {
                *sample = line[mirrored(x, width)];
            }
            for (u, gain) in gains.iter().enumerate() {
                row.iter_mut().zip(&wide[u..]).for_each(|(sum, x)| *sum += gain * x);
            }
        }
    });
    result
}

/// Moves the clean channel towards the noisy one where the root mean square of their difference in a
/// window exceeds a limit.
fn limit_removed(
    noisy: &[f32],
    clean: &mut [f32],
    [height, width]: [usize; 2],
    most: f32,
    threads: usize,
) {
    let mut squares: Vec<f32> = noisy.iter().zip(&*clean).map(|(x, c)| (x - c).powi(2)).collect();
    box_mean(&mut squares, [height, width], WINDOW, threads);
    for ((c, x), mean) in clean.iter_mut().zip(noisy).zip(squares) {
        let level = mean.max(0.0).sqrt();
        if level > most {
            *c = x + (*c - x) * (most / level);
        }
    }
}

/// The means of 2x2 samples; an odd last row or column is dropped.
fn halved(image: &Signal<f32>) -> Result<Signal<f32>> {
    let [_, height, width] = image.extent().padded();
    let (rows, columns) = (height / 2, width / 2);
    let mut data = Vec::with_capacity(image.channels() * rows * columns);
    for c in 0..image.channels() {
        let samples = image.channel(c);
        data.extend((0..rows * columns).map(|i| {
            let corner = 2 * (i / columns) * width + 2 * (i % columns);
            let [top, bottom] = [corner, corner + width].map(|i| samples[i] + samples[i + 1]);
            0.25 * (top + bottom)
        }));
    }
    Signal::from_planar(Extent::new(&[rows, columns])?, image.channels(), data)
}

/// Adds what was removed at half the resolution, interpolated linearly.
fn add_enlarged(image: &mut Signal<f32>, noisy: &Signal<f32>, clean: &Signal<f32>) {
    let [_, height, width] = image.extent().padded();
    let [_, rows, columns] = noisy.extent().padded();
    let split = |i: usize, length: usize| {
        let at = (0.5 * i as f32 - 0.25).clamp(0.0, (length - 1) as f32);
        (at as usize, (at as usize + 1).min(length - 1), at.fract())
    };
    let across: Vec<(usize, usize, f32)> = (0..width).map(|x| split(x, columns)).collect();
    for (i, line) in image.data_mut().chunks_exact_mut(width).enumerate() {
        let (channel, y) = (i / height, i % height);
        let (top, bottom, down) = split(y, rows);
        let [top, bottom] = [top, bottom].map(|row| (channel * rows + row) * columns);
        let removed = |i: usize| clean.data()[i] - noisy.data()[i];
        for (sample, &(left, right, along)) in line.iter_mut().zip(&across) {
            let row = |r: usize| (1.0 - along) * removed(r + left) + along * removed(r + right);
            *sample += (1.0 - down) * row(top) + down * row(bottom);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [usize; 2] = [120, 150];

    fn white() -> Vec<f32> {
        let mut state = 7u32;
        let mut uniform = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        (0..SIZE[0] * SIZE[1])
            .map(|_| 3f32.sqrt() * (0..4).map(|_| uniform()).sum::<f32>())
            .collect()
    }

    fn level(samples: &[f32]) -> f64 {
        let squares: f64 = samples.iter().map(|x| f64::from(x * x)).sum();
        (squares / samples.len() as f64).sqrt()
    }

    #[test]
    fn a_filter_without_effect_returns_its_input() {
        let noise = white();
        let same = filtered(&noise, SIZE, &kernel(|_| 1.0), 2);
        assert!(noise.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-5));
        // Also where the filter is larger than the image.
        assert_eq!(filtered(&[2.0; 15], [3, 5], &kernel(|_| 0.5), 1).len(), 15);
    }

    #[test]
    fn correlated_noise_becomes_white_and_back() {
        let gain = |[u, v]: [f64; 2]| 9.0 * (-1.2 * (u * u + v * v)).exp();
        let noise = filtered(&white(), SIZE, &kernel(gain), 1);
        let spectrum = Spectrum::of(&noise, SIZE, 1);
        let filters = Filters::of(&spectrum).unwrap();
        assert!((spectrum.level() / level(&noise) - 1.0).abs() < 0.15);
        let whitened = filtered(&noise, SIZE, &filters.whitening, 2);
        let before = spectrum.correlation();
        let after = Spectrum::of(&whitened, SIZE, 1).correlation();
        assert!(before > 1.6 && (0.8..1.3).contains(&after), "{before} became {after}");
        assert!((0.8..1.2).contains(&level(&whitened)), "{}", level(&whitened));
        let back = filtered(&whitened, SIZE, &filters.colouring, 1);
        let errors: Vec<f32> = back.iter().zip(&noise).map(|(a, b)| a - b).collect();
        assert!(level(&errors) < 0.02 * level(&noise), "{}", level(&errors));
        assert!(Filters::of(&Spectrum::of(&[0.0; 120 * 150], SIZE, 1)).is_none());
    }
}
