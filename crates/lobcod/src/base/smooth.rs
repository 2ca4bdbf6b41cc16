//! Smooth layer: close to the signal, with a small gradient.

use super::{along_axis, observed_channel};
use crate::error::{Error, Result, check_positive};
use crate::extent::Extent;
use crate::mask::Mask;
use crate::parallel;
use crate::real::Real;
use crate::signal::Signal;
use rustdct::{DctPlanner, TransformType2And3};
use std::f64::consts::PI;
use std::sync::Arc;

/// Relative residual at which the masked system is solved.
const TOLERANCE: f64 = 1e-8;
/// Maximum number of conjugate gradient steps; ordinary masks take 10 to 100.
const MAX_STEPS: usize = 5000;

/// The layer `B` that minimises `1/2 ||A (Y - B)||^2 + mu/2 ||grad B||^2`, channel by channel.
///
/// The gradient takes differences of neighbours along every axis and none across the edge
/// (Neumann), so the layer solves `(A^2 + mu L) B = A^2 Y` with `L = Gx'Gx + Gy'Gy + Gz'Gz`.
/// Without a mask this is `(I + mu L)^-1 Y` of the paper's fusion task, solved exactly: the cosine
/// transform (DCT-II) turns `L` into a diagonal. With a mask, conjugate gradients preconditioned by
/// that solve, to a relative residual of 1e-8. Samples of weight 0 are never read; a channel
/// without known samples gets 0.
///
/// Cost: two cosine transforms, or two per step of conjugate gradients; memory: 2 or 7 `f64` per
/// sample.
///
/// ```
/// use lobcod::{Extent, Signal, base::smooth};
///
/// let step = Signal::from_planar(Extent::new(&[4])?, 1, vec![0.0f64, 0.0, 1.0, 1.0])?;
/// let soft = smooth(&step, None, 5.0)?;
/// assert!(soft.data()[1] > 0.3 && soft.data()[2] < 0.7);
/// # Ok::<(), lobcod::Error>(())
/// ```
pub fn smooth<T: Real>(signal: &Signal<T>, mask: Option<&Mask<T>>, mu: f64) -> Result<Signal<T>> {
    smooth_on(signal, mask, mu, 1)
}

/// [`smooth`] on the given number of threads (0: all cores); the result is bit-identical.
pub fn smooth_on<T: Real>(
    signal: &Signal<T>,
    mask: Option<&Mask<T>>,
    mu: f64,
    threads: usize,
) -> Result<Signal<T>> {
    check_positive("the weight of the smooth layer", mu)?;
    if let Some(mask) = mask {
        mask.check_fits(signal)?;
    }
    let mut transform = CosineSolve::new(signal.extent().padded(), threads);
    let mut data = Vec::with_capacity(signal.data().len());
    for c in 0..signal.channels() {
        let mut layer = observed_channel(signal, mask, c)?;
        match mask {
            None => transform.solve(&mut layer, 1.0, mu),
            Some(mask) => {
                let squares: Vec<f64> =
                    mask.channel(c).iter().map(|w| w.to_f64() * w.to_f64()).collect();
                solve_masked(&mut layer, &squares, mu, &mut transform)?;
            }
        }
        data.extend(layer.into_iter().map(T::from_f64));
    }
    Signal::from_planar(signal.extent(), signal.channels(), data)
}

/// Temporary memory [`smooth`] needs without a mask, in bytes.
pub fn smooth_memory(extent: Extent) -> u64 {
    const TRANSFORM: usize = 9;
    let copies = if extent.rank() == 2 { 2 } else { 1 };
    let longest = extent.axes().iter().copied().max().unwrap_or(0);
    ((copies * extent.volume() + TRANSFORM * longest) * size_of::<f64>()) as u64
}

/// Solves for smooth layers while the residual changes.
pub(crate) struct LayerSolver {
    transform: CosineSolve,
    mu: f64,
}

impl LayerSolver {
    pub fn new(extent: Extent, mu: f64, threads: usize) -> Self {
        Self { transform: CosineSolve::new(extent.padded(), threads), mu }
    }

    /// Improves a layer `B` of one channel with its residual `R = A^2 (Y - B - X)`: exactly or, with
    /// weights `A^2`, until the gradient is the fraction `tolerance` of what it was. The sum of the
    /// residual is then 0.
    pub fn improve(
        &mut self,
        layer: &mut [f64],
        residual: &[f64],
        squares: Option<&[f64]>,
        tolerance: f64,
    ) {
        let Self { transform, mu } = self;
        let mut gradient = residual.to_vec();
        add_laplacian(&mut gradient, layer, transform.size, -*mu);
        let Some(squares) = squares else {
            transform.solve(&mut gradient, 1.0, *mu);
            return add(layer, &gradient);
        };
        let total: f64 = squares.iter().sum();
        if total == 0.0 {
            return;
        }
        // The best constant, also after the descent, which ends early.
        let shift = |layer: &mut [f64], gradient: &mut [f64]| {
            let mean = gradient.iter().sum::<f64>() / total;
            layer.iter_mut().for_each(|b| *b += mean);
            gradient.iter_mut().zip(squares).for_each(|(g, a)| *g -= mean * a);
        };
        shift(layer, &mut gradient);
        let mut change = vec![0.0; layer.len()];
        descend(&mut change, &mut gradient, squares, (*mu, tolerance), transform);
        add(layer, &change);
        shift(layer, &mut gradient);
    }

    /// `mu/2 ||grad B||^2`.
    pub fn term(&self, layer: &[f64]) -> f64 {
        let mut slopes = vec![0.0; layer.len()];
        add_laplacian(&mut slopes, layer, self.transform.size, self.mu);
        0.5 * dot(layer, &slopes)
    }

    /// `1/(2 mu) <R, L^+ R>`: the conjugate of [`LayerSolver::term`] at a residual of sum 0.
    pub fn conjugate(&mut self, residual: &[f64]) -> f64 {
        let mut potential = residual.to_vec();
        self.transform.solve(&mut potential, 0.0, self.mu);
        0.5 * dot(residual, &potential)
    }
}

fn add(layer: &mut [f64], change: &[f64]) {
    layer.iter_mut().zip(change).for_each(|(b, x)| *b += x);
}

/// Columns transposed together, to use whole cache lines.
const COLUMNS: usize = 16;

/// A planned cosine transform of one length.
type Transform = Arc<dyn TransformType2And3<f64>>;

/// Exact solves with `shift I + mu L` by cosine transforms.
struct CosineSolve {
    size: [usize; 3],
    threads: usize,
    /// Forward and inverse transform of every axis.
    transforms: [(Transform, Transform); 3],
    /// Eigenvalues of the one-dimensional `L` of every axis.
    eigenvalues: [Vec<f64>; 3],
    /// The transposed image.
    transposed: Vec<f64>,
}

impl CosineSolve {
    fn new(size: [usize; 3], threads: usize) -> Self {
        let eigenvalues = size.map(|n| {
            (0..n).map(|k| 4.0 * (PI * k as f64 / (2 * n) as f64).sin().powi(2)).collect()
        });
        let mut planner = DctPlanner::new();
        let transforms = size.map(|n| (planner.plan_dct2(n), planner.plan_dct3(n)));
        Self { size, threads, transforms, eigenvalues, transposed: Vec::new() }
    }

    /// `data <- (shift I + mu L)^-1 data`; the pseudo-inverse if `shift` is 0.
    fn solve(&mut self, data: &mut [f64], shift: f64, mu: f64) {
        if self.size[0] == 1 && self.size[1..].iter().all(|&n| n > 1) {
            self.solve_plane(data, shift, mu)
        } else {
            self.solve_box(data, shift, mu)
        }
    }

    /// One or three axes, one after the other.
    fn solve_box(&self, data: &mut [f64], shift: f64, mu: f64) {
        let axes = (0..3).filter(|&a| self.size[a] > 1);
        for axis in axes.clone() {
            let dct = &self.transforms[axis].0;
            let mut scratch = vec![0.0; dct.get_scratch_len()];
            along_axis(data, self.size, axis, |line| {
                dct.process_dct2_with_scratch(line, &mut scratch)
            });
        }
        let gain = self.gain();
        let [planes, rows, columns] = &self.eigenvalues;
        for (row, line) in data.chunks_exact_mut(columns.len()).enumerate() {
            let outer = planes[row / rows.len()] + rows[row % rows.len()];
            line.iter_mut()
                .zip(columns)
                .for_each(|(x, inner)| divide(x, gain * (shift + mu * (outer + inner))));
        }
        for axis in axes {
            let dct = &self.transforms[axis].1;
            let mut scratch = vec![0.0; dct.get_scratch_len()];
            along_axis(data, self.size, axis, |line| {
                dct.process_dct3_with_scratch(line, &mut scratch)
            });
        }
    }

    /// Two axes: columns are transformed in the transposed image.
    fn solve_plane(&mut self, data: &mut [f64], shift: f64, mu: f64) {
        let [_, height, width] = self.size;
        let (gain, threads) = (self.gain(), self.threads);
        let [_, (down, up), (forth, back)] = &self.transforms;
        let [_, rows, columns] = &self.eigenvalues;
        let scratch = |a: &Transform| vec![0.0; a.get_scratch_len()];
        parallel::chunks(
            data,
            width,
            threads,
            || scratch(forth),
            |_, line, s| forth.process_dct2_with_scratch(line, s),
        );
        self.transposed.resize(data.len(), 0.0);
        let transpose = |from: &[f64], length: usize, first: usize, to: &mut [f64]| {
            let count = to.len() / (from.len() / length);
            for (i, row) in from.chunks_exact(length).enumerate() {
                for (j, value) in row[first..first + count].iter().enumerate() {
                    to[j * (from.len() / length) + i] = *value;
                }
            }
        };
        let flat = &*data;
        parallel::chunks(
            &mut self.transposed,
            COLUMNS * height,
            threads,
            || (scratch(down), scratch(up)),
            |i, part, (s, t)| {
                transpose(flat, width, COLUMNS * i, part);
                for (j, line) in part.chunks_exact_mut(height).enumerate() {
                    down.process_dct2_with_scratch(line, s);
                    let inner = columns[COLUMNS * i + j];
                    line.iter_mut()
                        .zip(rows)
                        .for_each(|(x, outer)| divide(x, gain * (shift + mu * (outer + inner))));
                    up.process_dct3_with_scratch(line, t);
                }
            },
        );
        let transposed = &self.transposed;
        parallel::chunks(
            data,
            COLUMNS * width,
            threads,
            || scratch(back),
            |i, part, s| {
                transpose(transposed, height, COLUMNS * i, part);
                part.chunks_exact_mut(width)
                    .for_each(|line| back.process_dct3_with_scratch(line, s));
            },
        );
    }

    /// Factor by which the two unscaled transforms multiply a line: n / 2 for n samples.
    fn gain(&self) -> f64 {
        self.size.iter().filter(|&&n| n > 1).map(|&n| n as f64 / 2.0).product()
    }
}

/// Divides a coefficient by an eigenvalue, or sets it to 0 where that is 0.
#[inline(always)]
fn divide(x: &mut f64, eigenvalue: f64) {
    *x = if eigenvalue == 0.0 { 0.0 } else { *x / eigenvalue };
}

/// Solves `(A^2 + mu L) B = A^2 Y` in place; `layer` holds `Y` on entry and `B` on return.
fn solve_masked(
    layer: &mut [f64],
    squares: &[f64],
    mu: f64,
    transform: &mut CosineSolve,
) -> Result<()> {
    let total: f64 = squares.iter().sum();
    if total == 0.0 {
        return Ok(());
    }
    // L annihilates constants: subtracting the weighted mean keeps the system well conditioned for
    // large mu.
    let mean = dot(layer, squares) / total;
    let mut residual: Vec<f64> = layer.iter().zip(squares).map(|(y, a)| a * (y - mean)).collect();
    layer.fill(0.0);
    if !descend(layer, &mut residual, squares, (mu, TOLERANCE), transform) {
        return Err(Error::Data(format!(
            "the smooth layer with weight {mu} did not converge for this mask; use a weight \
             closer to 1"
        )));
    }
    layer.iter_mut().for_each(|x| *x += mean);
    Ok(())
}

/// Conjugate gradients for `(A^2 + mu L) x = b`, where `residual` is `b - (A^2 + mu L) x` on entry
/// and on return; false if its norm was not reduced to the fraction `tolerance`.
fn descend(
    x: &mut [f64],
    residual: &mut [f64],
    squares: &[f64],
    (mu, tolerance): (f64, f64),
    transform: &mut CosineSolve,
) -> bool {
    let shift = squares.iter().sum::<f64>() / x.len() as f64;
    let target = tolerance * dot(residual, residual).sqrt();
    let precondition = |residual: &[f64], transform: &mut CosineSolve| {
        let mut z = residual.to_vec();
        transform.solve(&mut z, shift, mu);
        z
    };
    let mut direction = precondition(residual, transform);
    let mut energy = dot(residual, &direction);
    let mut image = vec![0.0; x.len()];
    for _ in 0..MAX_STEPS {
        if dot(residual, residual).sqrt() <= target {
            return true;
        }
        image.iter_mut().zip(&direction).zip(squares).for_each(|((q, d), a)| *q = a * d);
        add_laplacian(&mut image, &direction, transform.size, mu);
        let step = energy / dot(&direction, &image);
        for (i, d) in direction.iter().enumerate() {
            x[i] += step * d;
            residual[i] -= step * image[i];
        }
        let z = precondition(residual, transform);
        let previous = std::mem::replace(&mut energy, dot(residual, &z));
        direction.iter_mut().zip(z).for_each(|(d, z)| *d = z + energy / previous * *d);
    }
    false
}

/// `out += mu L x`.
fn add_laplacian(out: &mut [f64], x: &[f64], size: [usize; 3], mu: f64) {
    let mut stride = 1;
    for axis in (0..3).rev() {
        for slab in (0..x.len()).step_by(stride * size[axis]) {
            for i in slab..slab + stride * (size[axis] - 1) {
                let slope = mu * (x[i + stride] - x[i]);
                out[i] -= slope;
                out[i + stride] += slope;
            }
        }
        stride *= size[axis];
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
