//! Neither the order of tiles nor skipped needles change a bit; other vector instructions change
//! only rounding.

use lobcod::engine::CpuEngine;
use lobcod::{Answer, Border, Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Signal};
use lobcod_simd::Level;

/// Enough for bounds with whole vectors, if the machine has them.
const ATOMS: usize = 41;

fn observed(masked: bool) -> Vec<Observed<f32>> {
    let extent = Extent::new(&[43, 38]).unwrap();
    let wave = |i: usize| {
        3.0 * ((i % 38) as f32 * 0.7).sin()
            + ((i / 38) as f32 * 0.45).cos()
            + (i * 7 % 23) as f32 * 0.1
    };
    let signal = Signal::from_planar(extent, 1, (0..extent.volume()).map(wave).collect()).unwrap();
    let known: Vec<bool> = (0..extent.volume()).map(|i| i * 31 % 7 > 1).collect();
    let mask = masked.then(|| Mask::from_known(extent, &known).unwrap());
    let small =
        Signal::from_planar(Extent::new(&[12, 50]).unwrap(), 1, (0..600).map(wave).collect())
            .unwrap();
    vec![Observed { mask, ..signal.into() }, small.into()]
}

fn run(engine: &CpuEngine, border: Border, masked: bool) -> Answer<f32> {
    let params = PursuitParams::new(Penalty::Relative(0.05)).with(|p| {
        p.border = border;
        p.tile = Some(8);
        p.tolerance = 1e-5;
    });
    run_with(engine, params, masked)
}

fn run_with(engine: &CpuEngine, params: PursuitParams, masked: bool) -> Answer<f32> {
    let dictionary = Dictionary::random(Extent::new(&[5, 6]).unwrap(), 1, ATOMS, 1).unwrap();
    params.check().unwrap().run(engine, &observed(masked), &dictionary, &mut ()).unwrap()
}

#[test]
fn the_order_of_tiles_changes_no_bit() {
    for border in Border::ALL {
        for masked in [false, true] {
            let forward = run(&CpuEngine::new(1).unwrap(), border, masked);
            for threads in [1, 3] {
                let backward =
                    run(&CpuEngine::new(threads).unwrap().with_reversed_tiles(), border, masked);
                assert_eq!(
                    forward.needles, backward.needles,
                    "{border}, masked {masked}, {threads} threads"
                );
                assert_eq!(
                    forward.report.total, backward.report.total,
                    "{border}, masked {masked}, {threads} threads"
                );
            }
        }
    }
}

#[test]
fn skipped_needles_change_no_bit() {
    for border in Border::ALL {
        for masked in [false, true] {
            for penalty in [0.3, 0.05] {
                let params = PursuitParams::new(Penalty::Relative(penalty)).with(|p| {
                    p.border = border;
                    p.tile = Some(8);
                    p.tolerance = 1e-5;
                });
                let weighted = params.clone().with(|p| {
                    p.atom_weights = Some((0..ATOMS).map(|k| 0.7 + 0.02 * k as f64).collect())
                });
                let others = [params.clone().with(|p| p.nonnegative = true), weighted, params];
                for params in others {
                    let name = format!("{border}, masked {masked}, {params:?}");
                    let some = run_with(&CpuEngine::new(2).unwrap(), params.clone(), masked);
                    let all =
                        run_with(&CpuEngine::new(1).unwrap().without_skipping(), params, masked);
                    assert!(some.report.total.nonzeros > 0, "{name}");
                    assert_eq!(some.needles, all.needles, "{name}");
                    assert_eq!(some.report.total, all.report.total, "{name}");
                }
            }
        }
    }
}

#[test]
fn levels_agree() {
    for border in Border::ALL {
        let best = run(&CpuEngine::new(1).unwrap(), border, true).report.total;
        for &level in Level::ALL.iter().filter(|level| level.is_available()) {
            let other =
                run(&CpuEngine::new(1).unwrap().with_level(level), border, true).report.total;
            assert!(best.relative_gap() <= 1e-5 && other.relative_gap() <= 1e-5);
            assert!(
                (best.objective / other.objective - 1.0).abs() <= 1e-5,
                "{border}, {level}: {best:?} against {other:?}"
            );
        }
    }
}
