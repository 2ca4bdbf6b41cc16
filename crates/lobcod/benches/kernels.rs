//! Throughput of the correlation versus peak: `cargo bench -p lobcod --bench kernels`.

mod peak;

use lobcod::engine::{Context, CpuEngine, Engine, Measure, Plane, Problem};
use lobcod::grid::Grouping;
use lobcod::pursuit::Local;
use lobcod::{Border, Dictionary, Extent, Real, Result};
use lobcod_simd::Level;
use peak::peak;
use std::time::Instant;

fn main() -> Result<()> {
    let shapes: [(&str, &[usize], usize); 4] = [
        ("8x8, 81 atoms", &[8, 8], 81),
        ("11x11, 100", &[11, 11], 100),
        ("12x12, 128", &[12, 12], 128),
        ("16x12, 96", &[16, 12], 96),
    ];
    for &level in Level::ALL.iter().filter(|level| level.is_available()) {
        println!(
            "one core, {level}: GFLOP/s of measuring all correlations, of multiply-adds alone, \
             and the fraction"
        );
        for (name, atom, atoms) in shapes {
            let (f32s, f64s) =
                (fraction::<f32>(level, atom, atoms)?, fraction::<f64>(level, atom, atoms)?);
            println!("{name:>14}: f32 {f32s}   f64 {f64s}");
        }
    }
    Ok(())
}

fn fraction<T: Real>(level: Level, atom: &[usize], atoms: usize) -> Result<String> {
    let (rate, most) = (correlation::<T>(level, atom, atoms)?, peak::<T>(level));
    Ok(format!("{rate:6.1} of {most:6.1} ({:3.0} %)", 100.0 * rate / most))
}

/// GFLOP/s at which the largest correlation of a plane is measured, the best of several runs.
fn correlation<T: Real>(level: Level, atom: &[usize], atoms: usize) -> Result<f64> {
    let extent = Extent::new(&[192, 192])?;
    let dictionary = Dictionary::<T>::random(Extent::new(atom)?, 1, atoms, 0)?;
    let flops = 2 * dictionary.data().len();
    let target = (0..extent.volume()).map(|i| T::from_f64((i as f64 * 0.37).sin())).collect();
    let problem = Problem {
        planes: vec![Plane { target, ..Plane::empty(extent) }],
        dictionary,
        border: Border::Free,
        grouping: Grouping::default_tiles(2),
        atom_weights: vec![T::ONE; atoms],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    };
    let engine = CpuEngine::new(1)?.with_level(level).without_skipping();
    let mut best = 0.0f64;
    for _ in 0..5 {
        let mut session = engine.open(problem.clone(), None)?;
        let clock = Instant::now();
        let visited = session.measure(Measure::Largest, &Context::default())?[0].visited;
        best = best.max((flops * visited) as f64 / clock.elapsed().as_secs_f64() / 1e9);
    }
    Ok(best)
}
