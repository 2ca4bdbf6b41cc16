//! The guided filter: smooths a map, but not across the edges of an image.

use lobcod::base::box_mean;
use lobcod::parallel;

/// Samples per work item of a thread.
const RUN: usize = 1 << 14;

/// Fits an affine function of the guide in every box (He, Sun and Tang) and averages the fits.
pub struct Guided<'a> {
    guide: &'a [f32],
    size: [usize; 2],
    window: usize,
    threads: usize,
    mean: Vec<f32>,
    /// 1 / (variance of the guide + eps).
    inverse: Vec<f32>,
}

impl<'a> Guided<'a> {
    /// A filter with boxes of `window` samples; edges of the guide below `sqrt(eps)` are smoothed.
    pub fn new(
        guide: &'a [f32],
        size: [usize; 2],
        window: usize,
        eps: f32,
        threads: usize,
    ) -> Self {
        let mut mean = guide.to_vec();
        box_mean(&mut mean, size, window, threads);
        let mut inverse: Vec<f32> = guide.iter().map(|x| x * x).collect();
        box_mean(&mut inverse, size, window, threads);
        inverse.iter_mut().zip(&mean).for_each(|(v, m)| *v = 1.0 / ((*v - m * m).max(0.0) + eps));
        Self { guide, size, window, threads, mean, inverse }
    }

    /// Filters a map in place.
    pub fn apply(&self, map: &mut [f32]) {
        let mut slope: Vec<f32> = map.iter().zip(self.guide).map(|(p, i)| p * i).collect();
        self.boxes(&mut slope);
        self.boxes(map);
        // With the means of p, I and Ip: slope = cov(I, p) / (var(I) + eps), offset = mean(p) -
        // slope mean(I).
        for (((a, p), m), v) in
            slope.iter_mut().zip(map.iter_mut()).zip(&self.mean).zip(&self.inverse)
        {
            *a = (*a - m * *p) * v;
            *p -= *a * m;
        }
        self.boxes(&mut slope);
        self.boxes(map);
        let (slope, guide) = (&slope, self.guide);
        parallel::chunks(
            map,
            RUN,
            self.threads,
            || (),
            |i, run, ()| {
                run.iter_mut()
                    .enumerate()
                    .for_each(|(j, b)| *b += slope[i * RUN + j] * guide[i * RUN + j]);
            },
        );
    }

    fn boxes(&self, map: &mut [f32]) {
        box_mean(map, self.size, self.window, self.threads);
    }
}
