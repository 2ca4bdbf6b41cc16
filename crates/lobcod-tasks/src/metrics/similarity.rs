//! Similarity of two signals: PSNR and SSIM.

use lobcod::base::along_axis;
use lobcod::error::check_positive;
use lobcod::geometry::cell;
use lobcod::{Error, Result};
use lobcod::{Real, Signal};

/// Peak signal-to-noise ratio in decibels, `20 log10(peak sqrt(N) / ||a - b||)`; infinite for equal
/// signals.
///
/// ```
/// use lobcod::{Extent, Signal};
/// use lobcod_tasks::metrics;
///
/// let black = Signal::from_planar(Extent::new(&[2, 2])?, 1, vec![0.0f32; 4])?;
/// let white = Signal::from_planar(Extent::new(&[2, 2])?, 1, vec![255.0f32; 4])?;
/// assert_eq!(metrics::psnr(&black, &white, 255.0)?, 0.0);
/// # Ok::<(), lobcod::Error>(())
/// ```
pub fn psnr<T: Real>(a: &Signal<T>, b: &Signal<T>, peak: f64) -> Result<f64> {
    check_comparable(a, b, peak)?;
    let square: f64 =
        a.data().iter().zip(b.data()).map(|(x, y)| (x.to_f64() - y.to_f64()).powi(2)).sum();
    Ok(20.0 * (peak * (a.data().len() as f64).sqrt() / square.sqrt()).log10())
}

/// Standard deviation of the Gaussian window of [`ssim`].
const SIGMA: f64 = 1.5;
/// Radius of the window: 3.5 standard deviations.
const RADIUS: usize = 5;

/// Structural similarity, 1 for equal signals: the mean over channels and over all samples at least
/// 5 away from the edge.
///
/// Local moments under a Gaussian window of standard deviation 1.5 truncated at 5 samples,
/// population covariances, `K1 = 0.01`, `K2 = 0.03`, equivalent to scikit-image's
/// `structural_similarity` with `gaussian_weights=True, sigma=1.5, use_sample_covariance=False`.
/// Every axis needs at least 11 samples.
pub fn ssim<T: Real>(a: &Signal<T>, b: &Signal<T>, peak: f64) -> Result<f64> {
    check_comparable(a, b, peak)?;
    let size = a.extent().padded();
    let axes = 3 - a.extent().rank()..3;
    if axes.clone().any(|axis| size[axis] <= 2 * RADIUS) {
        return Err(Error::Shape(format!(
            "SSIM needs at least {} samples along every axis, not {}",
            2 * RADIUS + 1,
            a.extent()
        )));
    }
    let window = gaussian_window();
    let moment = |f: &dyn Fn(f64, f64) -> f64, c: usize| {
        let mut field: Vec<f64> =
            a.channel(c).iter().zip(b.channel(c)).map(|(x, y)| f(x.to_f64(), y.to_f64())).collect();
        let mut line_sums = Vec::new();
        axes.clone().for_each(|axis| {
            along_axis(&mut field, size, axis, |line| filter_inside(line, &window, &mut line_sums))
        });
        field
    };
    let (c1, c2) = ((0.01 * peak).powi(2), (0.03 * peak).powi(2));
    let inside = |i: usize| {
        let at = cell(i, size);
        axes.clone().all(|axis| (RADIUS..size[axis] - RADIUS).contains(&at[axis]))
    };
    let mut sum = 0.0;
    for c in 0..a.channels() {
        let (mx, my) = (moment(&|x, _| x, c), moment(&|_, y| y, c));
        let (xx, yy, xy) =
            (moment(&|x, _| x * x, c), moment(&|_, y| y * y, c), moment(&|x, y| x * y, c));
        for i in (0..mx.len()).filter(|&i| inside(i)) {
            let vx = xx[i] - mx[i] * mx[i];
            let vy = yy[i] - my[i] * my[i];
            let vxy = xy[i] - mx[i] * my[i];
            sum += (2.0 * mx[i] * my[i] + c1) * (2.0 * vxy + c2)
                / ((mx[i] * mx[i] + my[i] * my[i] + c1) * (vx + vy + c2));
        }
    }
    let count: usize = axes.map(|axis| size[axis] - 2 * RADIUS).product();
    Ok(sum / (count * a.channels()) as f64)
}

fn gaussian_window() -> [f64; 2 * RADIUS + 1] {
    let bell: [f64; 2 * RADIUS + 1] =
        std::array::from_fn(|i| (-0.5 * ((i as f64 - RADIUS as f64) / SIGMA).powi(2)).exp());
    let sum: f64 = bell.iter().sum();
    bell.map(|w| w / sum)
}

/// Filters a line where the window fits; the ends are unchanged and excluded from the mean.
fn filter_inside(line: &mut [f64], window: &[f64], sums: &mut Vec<f64>) {
    sums.clear();
    sums.extend(
        line.windows(window.len())
            .map(|part| part.iter().zip(window).map(|(x, w)| x * w).sum::<f64>()),
    );
    line[RADIUS..RADIUS + sums.len()].copy_from_slice(sums);
}

pub(super) fn check_comparable<T: Real>(a: &Signal<T>, b: &Signal<T>, peak: f64) -> Result<()> {
    if (a.extent(), a.channels()) != (b.extent(), b.channels()) {
        return Err(Error::Shape(format!(
            "signals of {} with {} channels and {} with {} cannot be compared; they must have the \
             same shape",
            a.extent(),
            a.channels(),
            b.extent(),
            b.channels()
        )));
    }
    check_positive("the peak", peak)
}
