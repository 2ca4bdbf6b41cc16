//! Signals of many cells, where a dual point scaled cell by cell certifies the gap.

use lobcod::pursuit::{Schedule, Start};
use lobcod::{
    Border, Dictionary, Extent, Mask, Observed, Penalty, PursuitParams, Report, Signal, Status,
};
use lobcod_conformance::cpu;

const SIDE: usize = 200;
const PENALTY: f64 = 0.5;

fn observed(masked: bool) -> Observed<f64> {
    let extent = Extent::new(&[SIDE, SIDE]).unwrap();
    let sample = |i: usize| {
        let (y, x) = ((i / SIDE) as f64, (i % SIDE) as f64);
        (0.3 * x + 0.002 * y * y).sin() + 0.5 * (0.01 * x * y).cos() + (i * 7919 % 23) as f64 * 0.03
    };
    let signal =
        Signal::from_planar(extent, 1, (0..extent.volume()).map(sample).collect()).unwrap();
    let weight = |i: usize| [1.0, 0.0, 0.5, 1.0, 1.0][i * 31 % 5];
    let mask = masked.then(|| {
        Mask::new(
            Signal::from_planar(extent, 1, (0..extent.volume()).map(weight).collect()).unwrap(),
        )
        .unwrap()
    });
    Observed { mask, ..signal.into() }
}

fn dictionary() -> Dictionary<f64> {
    Dictionary::random(Extent::new(&[4, 3]).unwrap(), 1, 15, 5).unwrap()
}

fn params(border: Border, tolerance: f64) -> PursuitParams {
    PursuitParams::new(Penalty::Absolute(PENALTY)).with(|p| {
        p.border = border;
        p.tolerance = tolerance;
        p.tile = Some(6);
    })
}

fn run(observed: &Observed<f64>, params: PursuitParams) -> (Report, Start<f64>) {
    let answer = params
        .check()
        .unwrap()
        .run(&cpu(0), std::slice::from_ref(observed), &dictionary(), &mut ())
        .unwrap();
    (answer.report, Start::Needles(answer.needles.into_iter().next().unwrap()))
}

#[test]
fn the_gap_bounds_the_distance_to_the_optimum() {
    for (border, masked) in [
        (Border::Free, false),
        (Border::Zero, false),
        (Border::Periodic, false),
        (Border::Free, true),
    ] {
        let observed = observed(masked);
        let (best, _) = run(&observed, params(border, 1e-6));
        assert_eq!(best.status, Status::Converged);
        for tolerance in [1e-1, 1e-2, 1e-3] {
            let (report, _) = run(&observed, params(border, tolerance));
            let total = report.total;
            assert!(report.status == Status::Converged && total.relative_gap() <= tolerance);
            let above = total.objective - (best.total.objective - best.total.gap);
            assert!(
                above >= 0.0 && total.objective - best.total.objective <= total.gap,
                "{border:?} {masked} {tolerance}"
            );
        }
    }
}

/// A few needles are wrong, the rest is optimal: only cells around them may be scaled down.
#[test]
fn a_few_wrong_needles_cost_little() {
    let mut observed = observed(false);
    let (best, start) = run(&observed, params(Border::Free, 1e-6));
    let Start::Needles(needles) = start else { unreachable!() };
    let mut codes = needles.codes().to_vec();
    let strongest = (0..codes.len())
        .max_by(|&a, &b| codes[a].value.abs().total_cmp(&codes[b].value.abs()))
        .unwrap();
    codes[strongest].value -= 0.05 * PENALTY * codes[strongest].value.signum();
    let spoiled = lobcod::Needles::new(needles.extent(), 1, Border::Free, codes);
    observed.start = Start::Needles(spoiled);
    // The paper's schedules scale the whole residual by one number.
    let plain = params(Border::Free, 1e-2).with(|p| {
        p.schedule = Schedule::Layers;
        p.tile = None;
        p.max_sweeps = 1;
    });
    let (one_scale, _) = run(&observed, plain);
    let (many_scales, _) = run(&observed, params(Border::Free, 1e-2));
    let first =
        |report: &Report| report.history.iter().find_map(|point| point.relative_gap).unwrap();
    assert!(
        first(&one_scale) > 1e-2 && first(&many_scales) <= 1e-3,
        "{} {}",
        first(&one_scale),
        first(&many_scales)
    );
    assert!(many_scales.total.objective - best.total.objective <= many_scales.total.gap);
    assert_eq!(many_scales.discovery_sweeps, 0, "proved without a sweep");
}
