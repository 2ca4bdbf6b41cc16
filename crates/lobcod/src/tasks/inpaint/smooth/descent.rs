//! Conjugate gradients on the hidden samples, shared among threads.
//!
//! A thread has some rows, and copies of the two rows (or slices) beyond them. Sums are added row by row, so the answer does not depend
//! on how many threads there are. Three times in an iteration all of them wait for each other, a few microseconds each time.

use super::stencil::Stencil;
use crate::observe::Stop;
use crate::parallel;
use crate::simd::{Dispatch, Kernel, Level, Vector};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Fall of the slope that ends the iterations, and iterations at most.
const FALL: f64 = 1e-3;
const ITERATIONS: usize = 300;
/// Samples of a thread, and places along the first axis, at least.
const LEAST_SAMPLES: usize = 1 << 14;
const LEAST_PLACES: usize = 4;
/// Looks at a barrier before others may have the core.
const SPINS: usize = 2000;

/// Moves the hidden samples to where the slope of the energy is nearly 0.
pub(super) fn settle(stencil: &Stencil, samples: &mut [f64], hidden: &[bool], threads: usize, stop: &Stop) {
    let (width, rows, rows_of_place) = stencil.rows();
    let (places, place) = (rows / rows_of_place, rows_of_place * width);
    let most = (samples.len() / LEAST_SAMPLES).min(places / LEAST_PLACES).max(1);
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for _ in 1..parallel::count(threads).min(most) {
            let (sender, receiver) = channel::<(Worker, Arc<Shared>)>();
            let run = move || receiver.recv().map_or((), |(worker, shared)| worker.run(&shared));
            // Where no thread is to be had, the others do its part.
            if Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
            others.push(sender);
        }
        let count = others.len() + 1;
        let shared = Arc::new(Shared::new(count, stop.clone()));
        let end = |number: usize| (number + 1) * places / count;
        let windows: Vec<Vec<f64>> = (0..count)
            .map(|number| {
                let first = if number == 0 { 0 } else { end(number - 1) - 2 };
                samples[first * place..(end(number) + 2).min(places) * place].to_vec()
            })
            .collect();
        let mut rest = samples;
        let mut workers = windows.into_iter().enumerate().map(|(number, window)| {
            let from = if number == 0 { 0 } else { end(number - 1) };
            let own = rest.split_off_mut(..(end(number) - from) * place).expect("a part of the samples");
            let hidden = &hidden[from * place..end(number) * place];
            Worker {
                number,
                stencil,
                rows: from * rows_of_place..end(number) * rows_of_place,
                width,
                before: if number == 0 { 0 } else { 2 * place },
                edge: 2 * place,
                free: hidden.iter().map(|&hidden| f64::from(u8::from(hidden))).collect(),
                slope: vec![0.0; own.len()],
                bent: vec![0.0; own.len()],
                samples: own,
                window,
            }
        });
        let first = workers.next().expect("this thread");
        for (worker, sender) in workers.zip(others) {
            sender.send((worker, Arc::clone(&shared))).expect("a thread that waits for its work");
        }
        first.run(&shared);
    });
}

/// What threads tell each other.
struct Shared {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
    stop: Stop,
    told: Vec<Told>,
}

/// What one of them tells.
#[derive(Default)]
struct Told {
    /// Of every row: how the energy curves along the descent; and its slope squared, with the word of the first thread on whether it is
    /// time to stop.
    along: Mutex<Vec<f64>>,
    energy: Mutex<(Vec<f64>, bool)>,
    /// The descent at its first and last places.
    edges: Mutex<[Vec<f64>; 2]>,
}

impl Shared {
    fn new(threads: usize, stop: Stop) -> Self {
        let told = (0..threads).map(|_| Told::default()).collect();
        Self { threads, waiting: AtomicUsize::new(0), round: AtomicUsize::new(0), stop, told }
    }

    /// Waits for all others.
    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            looks += 1;
            if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }

    fn energy(&self) -> (f64, bool) {
        let sum = self.told.iter().flat_map(|told| open(&told.energy).0.clone()).sum();
        (sum, open(&self.told[0].energy).1)
    }

    fn along(&self) -> f64 {
        self.told.iter().flat_map(|told| open(&told.along).clone()).sum()
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
    /// 1 where a sample is hidden.
    free: Vec<f64>,
    slope: Vec<f64>,
    bent: Vec<f64>,
    /// The samples, later the descent; with those of neighbours before and behind.
    window: Vec<f64>,
    before: usize,
    edge: usize,
}

impl Worker<'_> {
    fn run(mut self, shared: &Shared) {
        let mut sums = vec![0.0; self.rows.len()];
        self.pass(Pass::First, &mut sums);
        let (mut energy, mut stopped) = self.add_energy(shared, &sums);
        let least = FALL * FALL * energy;
        self.pass(Pass::Turn(0.0), &mut sums);
        for _ in 0..ITERATIONS {
            if energy <= least || stopped {
                return;
            }
            self.exchange_edges(shared);
            self.pass(Pass::Along, &mut sums);
            open(&shared.told[self.number].along).clone_from(&sums);
            shared.wait();
            let step = energy / shared.along();
            if !step.is_finite() {
                return;
            }
            self.pass(Pass::Step(step), &mut sums);
            let before = energy;
            (energy, stopped) = self.add_energy(shared, &sums);
            self.pass(Pass::Turn(energy / before), &mut sums);
        }
    }

    fn add_energy(&self, shared: &Shared, sums: &[f64]) -> (f64, bool) {
        let stopped = self.number == 0 && shared.stop.is_due();
        *open(&shared.told[self.number].energy) = (sums.to_vec(), stopped);
        shared.wait();
        shared.energy()
    }

    fn exchange_edges(&mut self, shared: &Shared) {
        let own = self.before..self.before + self.samples.len();
        if shared.threads == 1 {
            return;
        }
        let edges = [&self.window[own.start..own.start + self.edge], &self.window[own.end - self.edge..own.end]];
        *open(&shared.told[self.number].edges) = edges.map(<[f64]>::to_vec);
        shared.wait();
        if self.number > 0 {
            self.window[..own.start].copy_from_slice(&open(&shared.told[self.number - 1].edges)[1]);
        }
        if let Some(behind) = shared.told.get(self.number + 1) {
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
    /// The next descent, from the last and the slope.
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
        for (i, sum) in self.sums.iter_mut().enumerate() {
            let own = i * w.width..(i + 1) * w.width;
            let descent = w.before + own.start..w.before + own.end;
            let (free, slope, bent) = (&w.free[own.clone()], &mut w.slope[own.clone()], &mut w.bent[own.clone()]);
            match self.pass {
                Pass::First | Pass::Along => {
                    let first = matches!(self.pass, Pass::First);
                    let out = if first { slope } else { bent };
                    w.stencil.bend_row(&w.window, start, w.rows.start + i, out);
                    out.iter_mut().zip(free).for_each(|(x, free)| *x *= free);
                    *sum = product(out, if first { out } else { &w.window[descent] });
                }
                Pass::Step(step) => {
                    let samples = w.samples[own].iter_mut().zip(&w.window[descent]);
                    samples.for_each(|(x, d)| *x += step * d);
                    slope.iter_mut().zip(bent).for_each(|(s, b)| *s += step * *b);
                    *sum = product(slope, slope);
                }
                Pass::Turn(ratio) => {
                    w.window[descent].iter_mut().zip(slope).for_each(|(d, s)| *d = ratio * *d - *s);
                }
            }
        }
    }
}

/// The sum of products, in eight chains.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}
