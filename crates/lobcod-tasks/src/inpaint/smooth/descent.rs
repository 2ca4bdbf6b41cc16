//! Conjugate gradients on the missing samples, distributed over threads.
//!
//! A thread owns some rows and has copies of two rows (or slices) beyond them. Sums are added row
//! by row, so the result does not depend on the number of threads. Parts of a row without missing
//! samples are skipped.

use super::stencil::Stencil;
use lobcod::parallel::{self, Barrier};
use lobcod::run::Stop;
use lobcod_simd::{Dispatch, Kernel, Level, Vector};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Reduction of the slope that ends the iterations, and maximum number of iterations.
const FALL: f64 = 1e-3;
const ITERATIONS: usize = 300;
/// Minimum number of samples of a thread, and of indices along the first axis.
const LEAST_SAMPLES: usize = 1 << 14;
const LEAST_PLACES: usize = 4;
/// Parts of a row are multiples of this many samples.
const BLOCK: usize = 32;

/// Minimises the energy over the missing samples, up to the tolerance.
pub fn settle(
    stencil: &Stencil,
    samples: &mut [f64],
    hidden: &[bool],
    threads: usize,
    stop: &Stop,
) {
    let (width, rows, rows_of_place) = stencil.rows();
    let (places, place) = (rows / rows_of_place, rows_of_place * width);
    let most = (samples.len() / LEAST_SAMPLES).min(places / LEAST_PLACES).max(1);
    let shared = OnceLock::new();
    let split = |count: usize| {
        shared.get_or_init(|| Shared {
            stop: stop.clone(),
            announced: (0..count).map(|_| Announced::default()).collect(),
        });
        let end = |number: usize| (number + 1) * places / count;
        let windows: Vec<Vec<f64>> = (0..count)
            .map(|number| {
                let first = if number == 0 { 0 } else { end(number - 1) - 2 };
                samples[first * place..(end(number) + 2).min(places) * place].to_vec()
            })
            .collect();
        let mut rest = samples;
        let workers = windows.into_iter().enumerate().map(|(number, window)| {
            let from = if number == 0 { 0 } else { end(number - 1) };
            let own = rest
                .split_off_mut(..(end(number) - from) * place)
                .expect("parts sum to the length");
            let hidden = &hidden[from * place..end(number) * place];
            Worker {
                number,
                stencil,
                rows: from * rows_of_place..end(number) * rows_of_place,
                width,
                before: if number == 0 { 0 } else { 2 * place },
                edge: 2 * place,
                free: hidden.iter().map(|&hidden| f64::from(u8::from(hidden))).collect(),
                spans: hidden.chunks_exact(width).map(spans).collect(),
                slope: vec![0.0; own.len()],
                bent: vec![0.0; own.len()],
                samples: own,
                window,
            }
        });
        workers.collect()
    };
    parallel::team(
        parallel::count(threads).min(most),
        split,
        |worker: Worker, barrier: &Barrier| {
            worker.run(shared.get().expect("created with the workers"), barrier);
        },
    );
}

/// State shared between threads.
struct Shared {
    stop: Stop,
    announced: Vec<Announced>,
}

/// Data published by one thread.
#[derive(Default)]
struct Announced {
    /// For every row: curvature of the energy along the descent; squared slope, and whether the
    /// first thread observed a stop.
    along: Mutex<Vec<f64>>,
    energy: Mutex<(Vec<f64>, bool)>,
    /// The descent at its first and last rows.
    edges: Mutex<[Vec<f64>; 2]>,
}

impl Shared {
    fn energy(&self) -> (f64, bool) {
        let sum =
            self.announced.iter().flat_map(|announced| open(&announced.energy).0.clone()).sum();
        (sum, open(&self.announced[0].energy).1)
    }

    fn along(&self) -> f64 {
        self.announced.iter().flat_map(|announced| open(&announced.along).clone()).sum()
    }
}

fn open<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread and its rows.
struct Worker<'a> {
    number: usize,
    stencil: &'a Stencil,
    rows: Range<usize>,
    width: usize,
    samples: &'a mut [f64],
    /// 1 where a sample is missing.
    free: Vec<f64>,
    /// The columns of every row that hold its missing samples.
    spans: Vec<Vec<Range<usize>>>,
    slope: Vec<f64>,
    bent: Vec<f64>,
    /// The samples, later the descent, including rows of the neighbours before and after.
    window: Vec<f64>,
    before: usize,
    edge: usize,
}

impl Worker<'_> {
    fn run(mut self, shared: &Shared, barrier: &Barrier) {
        let mut sums = vec![0.0; self.rows.len()];
        self.pass(Pass::First, &mut sums);
        let (mut energy, mut stopped) = self.add_energy(shared, barrier, &sums);
        let least = FALL * FALL * energy;
        self.window.fill(0.0);
        self.pass(Pass::Turn(0.0), &mut sums);
        for _ in 0..ITERATIONS {
            if energy <= least || stopped {
                return;
            }
            self.exchange_edges(shared, barrier);
            self.pass(Pass::Along, &mut sums);
            open(&shared.announced[self.number].along).clone_from(&sums);
            barrier.wait();
            let step = energy / shared.along();
            if !step.is_finite() {
                return;
            }
            self.pass(Pass::Step(step), &mut sums);
            let before = energy;
            (energy, stopped) = self.add_energy(shared, barrier, &sums);
            self.pass(Pass::Turn(energy / before), &mut sums);
        }
    }

    fn add_energy(&self, shared: &Shared, barrier: &Barrier, sums: &[f64]) -> (f64, bool) {
        let stopped = self.number == 0 && shared.stop.is_due();
        *open(&shared.announced[self.number].energy) = (sums.to_vec(), stopped);
        barrier.wait();
        shared.energy()
    }

    fn exchange_edges(&mut self, shared: &Shared, barrier: &Barrier) {
        let own = self.before..self.before + self.samples.len();
        if shared.announced.len() == 1 {
            return;
        }
        let edges = [
            &self.window[own.start..own.start + self.edge],
            &self.window[own.end - self.edge..own.end],
        ];
        *open(&shared.announced[self.number].edges) = edges.map(<[f64]>::to_vec);
        barrier.wait();
        if self.number > 0 {
            self.window[..own.start]
                .copy_from_slice(&open(&shared.announced[self.number - 1].edges)[1]);
        }
        if let Some(behind) = shared.announced.get(self.number + 1) {
            self.window[own.end..].copy_from_slice(&open(&behind.edges)[0]);
        }
    }

    fn pass(&mut self, pass: Pass, sums: &mut [f64]) {
        f64::dispatch(Level::detect(), Rows { worker: self, pass, sums });
    }
}

/// A pass over all rows of a thread.
#[derive(Clone, Copy)]
enum Pass {
    /// The slope at the samples.
    First,
    /// The energy along the descent.
    Along,
    /// A step down.
    Step(f64),
    /// The next descent direction, from the last and the slope.
    Turn(f64),
}

struct Rows<'w, 'a> {
    worker: &'w mut Worker<'a>,
    pass: Pass,
    sums: &'w mut [f64],
}

impl Kernel<f64> for Rows<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = f64>>(self) {
        let w = self.worker;
        let start = w.rows.start * w.width - w.before;
        for (i, (sum, spans)) in self.sums.iter_mut().zip(&w.spans).enumerate() {
            *sum = 0.0;
            for columns in spans {
                let own = i * w.width + columns.start..i * w.width + columns.end;
                let descent = w.before + own.start..w.before + own.end;
                let free = &w.free[own.clone()];
                let slope = &mut w.slope[own.clone()];
                let bent = &mut w.bent[own.clone()];
                match self.pass {
                    Pass::First | Pass::Along => {
                        let first = matches!(self.pass, Pass::First);
                        let out = if first { slope } else { bent };
                        let row = w.rows.start + i;
                        w.stencil.bend_row(&w.window, start, row, columns.clone(), out);
                        out.iter_mut().zip(free).for_each(|(x, free)| *x *= free);
                        *sum += product(out, if first { out } else { &w.window[descent] });
                    }
                    Pass::Step(step) => {
                        let samples = w.samples[own].iter_mut().zip(&w.window[descent]);
                        samples.for_each(|(x, d)| *x += step * d);
                        slope.iter_mut().zip(bent).for_each(|(s, b)| *s += step * *b);
                        *sum += product(slope, slope);
                    }
                    Pass::Turn(ratio) => {
                        let descent = w.window[descent].iter_mut().zip(slope);
                        descent.for_each(|(d, s)| *d = ratio * *d - *s);
                    }
                }
            }
        }
    }
}

/// The columns of a row that hold missing samples, in whole blocks.
fn spans(hidden: &[bool]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (number, block) in hidden.chunks(BLOCK).enumerate().filter(|(_, b)| b.contains(&true)) {
        let (start, end) = (number * BLOCK, number * BLOCK + block.len());
        match spans.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => spans.push(start..end),
        }
    }
    spans
}

/// The sum of products, with eight accumulators.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}
