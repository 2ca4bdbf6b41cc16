//! Peak performance of one core of this machine.

use super::peak::peak;
use lobcod::Result;
use lobcod_simd::{Kernel, Level, Vector};
use std::hint::black_box;
use std::time::Instant;

/// Peak performance of one core.
pub struct Ceilings {
    /// Multiply-adds in registers, GFLOP/s.
    pub peak: f64,
    /// Read bandwidth of the first and second cache and of memory, in GB/s.
    pub l1: f64,
    pub l2: f64,
    pub memory: f64,
}

impl Ceilings {
    pub fn measure() -> Result<Self> {
        Ok(Self {
            peak: peak::<f32>(Level::detect()),
            l1: read_rate(16 << 10),
            l2: read_rate(256 << 10),
            memory: read_rate(256 << 20),
        })
    }
}

/// GB/s of repeatedly reading a buffer of this many bytes, the best of several runs.
fn read_rate(bytes: usize) -> f64 {
    let buffer = vec![1.0f32; bytes / 4];
    let rounds = ((64 << 20) / bytes).max(1);
    (0..9)
        .map(|_| lobcod_simd::Dispatch::dispatch(Level::detect(), Read { buffer: &buffer, rounds }))
        .fold(0.0, f64::max)
}

struct Read<'a> {
    buffer: &'a [f32],
    rounds: usize,
}

impl Kernel<f32> for Read<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Elem = f32>>(self) -> f64 {
        const CHAINS: usize = 8;
        let step = CHAINS * V::LANES;
        let clock = Instant::now();
        for _ in 0..self.rounds {
            let mut chains = [V::splat(0.0); CHAINS];
            for block in black_box(self.buffer).chunks_exact(step) {
                for (i, chain) in chains.iter_mut().enumerate() {
                    // SAFETY: a block holds CHAINS vectors.
                    *chain = chain.max(unsafe { V::load(block.as_ptr().add(i * V::LANES)) });
                }
            }
            black_box(chains.map(V::largest));
        }
        (size_of_val(self.buffer) * self.rounds) as f64 / clock.elapsed().as_secs_f64() / 1e9
    }
}
