//! Fusion metrics that need no reference image.

use super::similarity::check_comparable;
use lobcod::parallel;
use lobcod::{Error, Result, Signal};

/// Curves of Xydeas and Petrovic (height, slope, midpoint) for strength and direction of edges.
const STRENGTH: [f64; 3] = [0.9994, -15.0, 0.5];
const DIRECTION: [f64; 3] = [0.9879, -22.0, 0.8];
/// Number of grey levels.
const SHADES: usize = 256;

/// The edge score `Q_AB/F` of Xydeas and Petrovic, one source at a time: no two need to be in
/// memory.
///
/// An edge (Sobel, with replicated borders) of a source is preserved to the degree that the fused
/// image has an edge of the same strength and direction there; the mean over all sources and
/// samples is weighted by the strength of the sources' edges. An image compared with itself scores
/// 0.975: the published curves do not reach 1. Images have one channel and are not rescaled. Cost:
/// about a hundred operations per sample and source.
///
/// ```
/// use lobcod::{Extent, Signal};
/// use lobcod_tasks::metrics::EdgeScore;
/// let image = Signal::from_planar(
///     Extent::new(&[9, 9])?,
///     1,
///     (0..81).map(|i| (i * i % 17) as f32).collect(),
/// )?;
/// let mut score = EdgeScore::new(&image, 1)?;
/// score.add(&image)?;
/// assert!((score.value() - 0.975).abs() < 1e-3);
/// # Ok::<(), lobcod::Error>(())
/// ```
pub struct EdgeScore {
    fused: Signal<f32>,
    threads: usize,
    preserved: f64,
    all: f64,
}

impl EdgeScore {
    /// Creates a score of a fused image, without sources.
    pub fn new(fused: &Signal<f32>, threads: usize) -> Result<Self> {
        check_grey(fused)?;
        Ok(Self { fused: fused.clone(), threads, preserved: 0.0, all: 0.0 })
    }

    /// Adds a source.
    pub fn add(&mut self, source: &Signal<f32>) -> Result<()> {
        check_comparable(source, &self.fused, 1.0)?;
        let [_, height, width] = source.extent().padded();
        let mut rows = vec![[0.0f64; 2]; height];
        parallel::chunks(
            &mut rows,
            1,
            self.threads,
            || (),
            |y, sums, ()| {
                for x in 0..width {
                    let [a, f] = [source, &self.fused].map(|image| edge(image, y, x));
                    sums[0][0] += a[0] * preserved(a, f);
                    sums[0][1] += a[0];
                }
            },
        );
        for [preserved, all] in rows {
            self.preserved += preserved;
            self.all += all;
        }
        Ok(())
    }

    /// The score; 0 if the sources have no edges.
    pub fn value(&self) -> f64 {
        if self.all > 0.0 { self.preserved / self.all } else { 0.0 }
    }
}

/// [`EdgeScore`] of sources that are all in memory.
pub fn q_abf(sources: &[Signal<f32>], fused: &Signal<f32>) -> Result<f64> {
    let mut score = EdgeScore::new(fused, 0)?;
    sources.iter().try_for_each(|source| score.add(source))?;
    Ok(score.value())
}

/// Mutual information of two one-channel images in bits, samples rounded and clipped to 0..255. For
/// a fused image the literature sums it over the sources.
pub fn mutual_information(a: &Signal<f32>, b: &Signal<f32>) -> Result<f64> {
    check_grey(a)?;
    check_comparable(a, b, 1.0)?;
    let mut joint = vec![0u64; SHADES * SHADES];
    let shade = |x: f32| x.round().clamp(0.0, (SHADES - 1) as f32) as usize;
    a.data().iter().zip(b.data()).for_each(|(&x, &y)| joint[shade(x) * SHADES + shade(y)] += 1);
    let all = a.data().len() as f64;
    let rows: Vec<u64> = joint.chunks_exact(SHADES).map(|row| row.iter().sum()).collect();
    let columns: Vec<u64> =
        (0..SHADES).map(|j| joint.iter().skip(j).step_by(SHADES).sum()).collect();
    let term = |(i, &n): (usize, &u64)| {
        let (row, column) = (rows[i / SHADES] as f64, columns[i % SHADES] as f64);
        if n == 0 { 0.0 } else { n as f64 / all * (n as f64 * all / (row * column)).log2() }
    };
    Ok(joint.iter().enumerate().map(term).sum())
}

/// Strength and direction (from -pi/2 to pi/2) of the edge at a sample.
fn edge(image: &Signal<f32>, y: usize, x: usize) -> [f64; 2] {
    let [_, height, width] = image.extent().padded();
    let at = |dy: usize, dx: usize| {
        let (y, x) = ((y + dy).clamp(1, height) - 1, (x + dx).clamp(1, width) - 1);
        f64::from(image.data()[y * width + x])
    };
    let across = at(0, 2) + 2.0 * at(1, 2) + at(2, 2) - at(0, 0) - 2.0 * at(1, 0) - at(2, 0);
    let down = at(2, 0) + 2.0 * at(2, 1) + at(2, 2) - at(0, 0) - 2.0 * at(0, 1) - at(0, 2);
    let direction =
        if across == 0.0 { std::f64::consts::FRAC_PI_2 } else { (down / across).atan() };
    [across.hypot(down), direction]
}

/// How well an edge of a source is preserved.
fn preserved([g, a]: [f64; 2], [h, b]: [f64; 2]) -> f64 {
    let strength = if g.max(h) > 0.0 { g.min(h) / g.max(h) } else { 0.0 };
    let direction = 1.0 - (a - b).abs() / std::f64::consts::FRAC_PI_2;
    let curve =
        |[height, slope, middle]: [f64; 3], x: f64| height / (1.0 + (slope * (x - middle)).exp());
    curve(STRENGTH, strength) * curve(DIRECTION, direction)
}

pub(super) fn check_grey(image: &Signal<f32>) -> Result<()> {
    if image.channels() == 1 && image.extent().rank() == 2 {
        return Ok(());
    }
    let found = format!("{} with {} channels", image.extent(), image.channels());
    Err(Error::Shape(format!(
        "this score needs an image with two axes and one channel, not {found}; use its lightness"
    )))
}
