//! Peak multiply-add throughput of one core.

use lobcod::Real;
use lobcod_simd::{Kernel, Level, Vector};
use std::hint::black_box;
use std::time::Instant;

/// GFLOP/s of multiply-adds in registers, the best of several short runs.
pub fn peak<T: Real>(level: Level) -> f64 {
    (0..20).map(|_| T::dispatch(level, Peak)).fold(0.0, f64::max)
}

struct Peak;

impl<T: Real> Kernel<T> for Peak {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) -> f64 {
        const CHAINS: usize = 12;
        let rounds = 200_000;
        let (x, y) = (
            V::Wide::splat(black_box(T::from_f64(0.999))),
            V::Wide::splat(black_box(T::from_f64(1e-3))),
        );
        let mut chains = [V::Wide::splat(T::ONE); CHAINS];
        let clock = Instant::now();
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = chain.mul_add(x, y);
            }
        }
        let seconds = clock.elapsed().as_secs_f64();
        black_box(chains.map(V::Wide::sum));
        (2 * CHAINS * V::Wide::LANES * rounds) as f64 / seconds / 1e9
    }
}
