//! Rate of the correlation against the core's peak: `cargo bench -p lobcod --bench kernels`.

use lobcod::Extent;
use lobcod::simd::{Level, Rates, measure_rates};

fn main() -> lobcod::Result<()> {
    let shapes: [(&str, &[usize], usize); 4] = [
        ("8x8, 81 atoms", &[8, 8], 81),
        ("11x11, 100", &[11, 11], 100),
        ("12x12, 128", &[12, 12], 128),
        ("8x8x3, 96", &[192], 96),
    ];
    for &level in Level::ALL.iter().filter(|level| level.is_available()) {
        println!("one core, {level}: GFLOP/s of the largest correlation, of multiply-adds alone, and the share");
        for (name, axes, atoms) in shapes {
            for needles in [4, 16, 25, 48] {
                let extent = Extent::new(axes)?;
                let f32s = measure_rates::<f32>(level, extent, atoms, needles, 60)?;
                let f64s = measure_rates::<f64>(level, extent, atoms, needles, 60)?;
                let share =
                    |r: Rates| format!("{:6.1} of {:6.1} ({:3.0} %)", r.correlation, r.peak, 100.0 * r.correlation / r.peak);
                println!("{name:>14}, {needles:>2} needles: f32 {}   f64 {}", share(f32s), share(f64s));
            }
        }
    }
    Ok(())
}
