//! Signals coded in bands, compared with the same signals coded as a whole.

use lobcod::bands::{BandedShape, Strip};
use lobcod::engine::CpuEngine;
use lobcod::pursuit::Start;
use lobcod::{
    Border, Code, Control, Dictionary, Extent, Mask, Needles, Observed, Penalty, Progress,
    PursuitParams, Real, Report, Signal, Status,
};
use lobcod_conformance::cpu;

fn signal(axes: &[usize], channels: usize) -> Signal<f64> {
    let extent = Extent::new(axes).unwrap();
    let width = axes[axes.len() - 1];
    let sample = |i: usize| {
        let (y, x) = ((i / width) as f64, (i % width) as f64);
        (0.3 * x + 0.002 * y * y).sin() + 0.5 * (0.01 * x * y).cos() + (i * 7919 % 23) as f64 * 0.03
    };
    Signal::from_planar(extent, channels, (0..channels * extent.volume()).map(sample).collect())
        .unwrap()
}

/// Weights with holes, one of them as tall as a band.
fn weights(axes: &[usize]) -> Signal<f64> {
    let extent = Extent::new(axes).unwrap();
    let line = extent.volume() / axes[0];
    let weight = |i: usize| {
        if (15..35).contains(&(i / line)) { 0.0 } else { [1.0, 0.0, 0.5, 1.0, 1.0][i * 31 % 5] }
    };
    Signal::from_planar(extent, 1, (0..extent.volume()).map(weight).collect()).unwrap()
}

struct Case {
    piece: Strip<f64>,
    dictionary: Dictionary<f64>,
    params: PursuitParams,
}

impl Case {
    fn new(axes: &[usize], atom: &[usize], border: Border) -> Self {
        let dictionary = Dictionary::random(Extent::new(atom).unwrap(), 1, 12, 5).unwrap();
        let params = PursuitParams::new(Penalty::Absolute(0.15)).with(|p| {
            p.border = border;
            p.tile = Some(6);
        });
        Self { piece: Strip { samples: signal(axes, 1), weights: None }, dictionary, params }
    }

    fn observed(&self) -> Observed<f64> {
        let mask = self.piece.weights.clone().map(|weights| Mask::new(weights).unwrap());
        Observed { mask, ..self.piece.samples.clone().into() }
    }

    fn whole(&self, start: Start<f64>, tolerance: f64) -> Report {
        let observed = Observed { start, ..self.observed() };
        let params = self.params.clone().with(|p| p.tolerance = tolerance);
        params.check().unwrap().run(&cpu(0), &[observed], &self.dictionary, &mut ()).unwrap().report
    }

    fn in_bands(&self, rows: usize, tolerance: f64) -> (Report, Vec<Vec<Code<f64>>>) {
        let pursuit = self.params.clone().with(|p| p.tolerance = tolerance).check().unwrap();
        let mut store = Vec::new();
        let report = pursuit
            .run_in_bands(
                &cpu(0),
                &mut self.piece.clone(),
                &mut store,
                &self.dictionary,
                rows,
                &mut (),
            )
            .unwrap();
        (report, store)
    }

    fn needles(&self, store: &[Vec<Code<f64>>]) -> Needles<f64> {
        let samples = &self.piece.samples;
        Needles::new(samples.extent(), samples.channels(), self.params.border, store.concat())
    }

    /// The report matches the codes, and the optimum is within the reported gap.
    fn check(&self, report: &Report, store: &[Vec<Code<f64>>], best: &Report) {
        let total = report.total;
        let given = self.whole(Start::Needles(self.needles(store)), 1.0).history[0];
        assert!(
            (total.objective - given.objective).abs() <= 1e-9 * given.objective,
            "{} {}",
            total.objective,
            given.objective
        );
        assert_eq!(total.nonzeros, given.nonzeros);
        assert!(total.objective >= best.total.objective - best.total.gap);
        assert!(
            total.objective - total.gap <= best.total.objective * (1.0 + 1e-12),
            "{total:?} {:?}",
            best.total
        );
        assert!((total.penalty_max / best.total.penalty_max - 1.0).abs() < 1e-9);
        assert_eq!(total.pixels, best.total.pixels);
    }

    fn check_all(&self, heights: &[usize]) {
        let best = self.whole(Start::Zero, 1e-5);
        assert_eq!(best.status, Status::Converged);
        for &rows in heights {
            for tolerance in [1e-2, 1e-3] {
                let (report, store) = self.in_bands(rows, tolerance);
                assert!(
                    report.status == Status::Converged && report.total.relative_gap() <= tolerance,
                    "{rows} {report:?}"
                );
                self.check(&report, &store, &best);
                let axis = 3 - self.piece.samples.extent().rank();
                let row = |code: &Code<f64>| code.position[axis];
                for pair in
                    store.windows(2).filter(|pair| !pair[0].is_empty() && !pair[1].is_empty())
                {
                    assert!(
                        pair[0].iter().map(row).max() < pair[1].iter().map(row).min(),
                        "a position belongs to two bands"
                    );
                }
                assert_eq!(
                    self.needles(&store).codes(),
                    store.concat(),
                    "codes are not sorted across bands"
                );
            }
        }
    }
}

#[test]
fn sequences() {
    for border in [Border::Free, Border::Zero] {
        Case::new(&[701], &[9], border).check_all(&[45, 350]);
    }
}

#[test]
fn images() {
    for border in [Border::Free, Border::Zero] {
        Case::new(&[51, 33], &[5, 4], border).check_all(&[15, 33]);
    }
}

#[test]
fn images_lower_than_an_atom() {
    for border in [Border::Free, Border::Zero] {
        Case::new(&[3, 60], &[5, 4], border).check_all(&[1, 5]);
    }
}

#[test]
fn volumes() {
    for border in [Border::Free, Border::Zero] {
        Case::new(&[17, 14, 11], &[3, 4, 3], border).check_all(&[7]);
    }
}

#[test]
fn missing_and_uncertain_samples() {
    for border in [Border::Free, Border::Zero] {
        let mut case = Case::new(&[51, 33], &[5, 4], border);
        case.piece.weights = Some(weights(&[51, 33]));
        case.check_all(&[17]);
    }
}

#[test]
fn channels_separately_and_jointly() {
    let mut case = Case::new(&[41, 30], &[5, 4], Border::Free);
    case.piece.samples = signal(&[41, 30], 3);
    case.check_all(&[12]);
    case.dictionary = Dictionary::random(Extent::new(&[5, 4]).unwrap(), 3, 12, 5).unwrap();
    case.check_all(&[12]);
}

#[test]
fn options() {
    let mut case = Case::new(&[51, 33], &[5, 4], Border::Free);
    case.params.penalty = Penalty::Relative(0.1);
    case.params.nonnegative = true;
    case.params.atom_weights = Some((0..12).map(|k| 1.0 + 0.05 * f64::from(k)).collect());
    case.check_all(&[20]);
}

/// Enough cells that the residual is scaled cell by cell.
#[test]
fn many_cells() {
    let case = Case::new(&[200, 200], &[4, 3], Border::Free);
    let best = case.whole(Start::Zero, 1e-5);
    for tolerance in [1e-2, 1e-3] {
        let (report, store) = case.in_bands(37, tolerance);
        assert!(
            report.status == Status::Converged && report.total.relative_gap() <= tolerance,
            "{report:?}"
        );
        case.check(&report, &store, &best);
    }
}

/// The lowest possible bands.
#[test]
fn bands_of_a_few_atoms() {
    let case = Case::new(&[87, 20], &[5, 4], Border::Free);
    let best = case.whole(Start::Zero, 1e-5);
    let bands = case.params.clone().check().unwrap().bands(
        case.piece.samples.extent(),
        case.dictionary.extent(),
        1,
    );
    let (report, store) = case.in_bands(1, 1e-2);
    assert_eq!((bands, report.status), (4, Status::Converged));
    case.check(&report, &store, &best);
}

#[test]
fn single_precision() {
    let case = Case::new(&[90, 43], &[5, 4], Border::Free);
    let best = case.whole(Start::Zero, 1e-5);
    let mut piece = Strip { samples: case.piece.samples.cast::<f32>(), weights: None };
    let mut store: Vec<Vec<Code<f32>>> = Vec::new();
    let pursuit = case.params.clone().check().unwrap();
    let report = pursuit
        .run_in_bands(&cpu(0), &mut piece, &mut store, &case.dictionary.cast(), 20, &mut ())
        .unwrap();
    assert!(report.status == Status::Converged && report.precision == f32::NAME);
    assert!((report.total.objective / best.total.objective - 1.0).abs() < 1e-3);
}

#[test]
fn a_stopped_run_is_certified() {
    let case = Case::new(&[51, 33], &[5, 4], Border::Free);
    let best = case.whole(Start::Zero, 1e-5);
    let pursuit = case.params.clone().check().unwrap();
    for calls in [1, 20, 60] {
        let mut left = calls;
        let mut stop = |_: &Progress| {
            left -= 1;
            if left > 0 { Control::Continue } else { Control::Stop }
        };
        let mut store = Vec::new();
        let report = pursuit
            .run_in_bands(
                &cpu(0),
                &mut case.piece.clone(),
                &mut store,
                &case.dictionary,
                12,
                &mut stop,
            )
            .unwrap();
        if report.status != Status::Converged {
            assert_eq!(report.status, Status::Interrupted);
        }
        case.check(&report, &store, &best);
    }
}

#[test]
fn a_periodic_border_is_rejected() {
    let case = Case::new(&[51, 33], &[5, 4], Border::Periodic);
    let pursuit = case.params.clone().check().unwrap();
    let mut store: Vec<Vec<Code<f64>>> = Vec::new();
    let refused = pursuit.run_in_bands(
        &cpu(0),
        &mut case.piece.clone(),
        &mut store,
        &case.dictionary,
        12,
        &mut (),
    );
    assert!(refused.unwrap_err().to_string().contains("use the free border"));
}

#[test]
fn bands_are_as_tall_as_memory_allows() {
    let case = Case::new(&[51, 33], &[5, 4], Border::Free);
    let pursuit = case.params.clone().check().unwrap();
    let engine = CpuEngine::new(1).unwrap();
    let shape =
        BandedShape { extent: Extent::new(&[20_000, 1000]).unwrap(), channels: 1, masked: false };
    let memory = |rows: usize| pursuit.band_memory(&engine, shape, &case.dictionary, rows).unwrap();
    for bytes in [16 << 20, 64 << 20, 512 << 20] {
        let rows = pursuit.rows_within(&engine, shape, &case.dictionary, bytes).unwrap();
        assert!(memory(rows) <= bytes && memory(rows + 1 + rows / 2) > bytes, "{rows}");
    }
    assert!(pursuit.rows_within(&engine, shape, &case.dictionary, 1 << 16).is_err());
}
