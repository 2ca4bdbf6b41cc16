//! Signals larger than the device's memory, in bands; and the scaled residual that certifies their
//! gap. Each test is skipped without a device.

mod common;

use common::{at_once, engine};
use lobcod::bands::{BandedShape, Strip};
use lobcod::engine::{
    Context, CpuEngine, Discovery, Engine, Lattice, Measure, Plane, Problem, ScaleField, Scaling,
    Session, Share, Support, Visit,
};
use lobcod::geometry::{Origin, Region};
use lobcod::grid::Grouping;
use lobcod::pursuit::{Local, Start};
use lobcod::{
    Border, Code, Dictionary, Extent, Mask, Needles, Observed, Penalty, PursuitParams, Report,
    Signal, Status,
};
use lobcod_cuda::CudaEngine;

fn waves(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).unwrap();
    let wave = |i: usize| {
        40.0 * (i as f32 * 0.61).sin() + 20.0 * (i as f32 * 0.113).cos() + (i * 7 % 19) as f32 * 2.0
    };
    Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect())
        .unwrap()
}

fn weights(extent: Extent) -> Signal<f32> {
    let weight = |i: usize| [1.0, 0.0, 0.5, 1.0, 1.0][i * 31 % 5];
    Signal::from_planar(extent, 1, (0..extent.volume()).map(weight).collect()).unwrap()
}

struct Case {
    piece: Strip<f32>,
    dictionary: Dictionary<f32>,
    params: PursuitParams,
}

impl Case {
    fn observed(&self) -> Observed<f32> {
        let mask = self.piece.weights.clone().map(|weights| Mask::new(weights).unwrap());
        Observed { mask, ..self.piece.samples.clone().into() }
    }

    fn whole(&self, engine: &dyn Engine<f32>, start: Start<f32>, tolerance: f64) -> Report {
        let params = self.params.clone().with(|p| p.tolerance = tolerance);
        let observed = Observed { start, ..self.observed() };
        params.check().unwrap().run(engine, &[observed], &self.dictionary, &mut ()).unwrap().report
    }

    fn check(&self, engine: &CudaEngine, rows: usize, name: &str) {
        let cpu = CpuEngine::new(1).unwrap();
        let tolerance = 1e-3;
        let pursuit = self.params.clone().with(|p| p.tolerance = tolerance).check().unwrap();
        let mut store: Vec<Vec<Code<f32>>> = Vec::new();
        let run = |store: &mut Vec<Vec<Code<f32>>>| {
            pursuit
                .run_in_bands(
                    engine,
                    &mut self.piece.clone(),
                    store,
                    &self.dictionary,
                    rows,
                    &mut (),
                )
                .unwrap()
        };
        let report = run(&mut store);
        assert!(store.len() > 1 && report.status == Status::Converged, "{name}: {report:?}");
        assert!(
            report.engine == "cuda" && report.total.relative_gap() <= tolerance,
            "{name}: {report:?}"
        );
        // Verify the report on the CPU.
        let samples = &self.piece.samples;
        let needles =
            Needles::new(samples.extent(), samples.channels(), self.params.border, store.concat());
        let given = self.whole(&cpu, Start::Needles(needles), 1.0).history[0];
        let total = report.total;
        assert!(
            (total.objective / given.objective - 1.0).abs() <= 1e-5,
            "{name}: {} {}",
            total.objective,
            given.objective
        );
        assert_eq!(total.nonzeros, given.nonzeros, "{name}");
        // The optimum is between the objective reached and the bound proved.
        let best = self.whole(&cpu, Start::Zero, 1e-5).total;
        assert!(
            total.objective >= (best.objective - best.gap) * (1.0 - 1e-6),
            "{name}: {total:?} {best:?}"
        );
        assert!(
            total.objective - total.gap <= best.objective * (1.0 + 1e-6),
            "{name}: {total:?} {best:?}"
        );
        let whole = self.whole(engine, Start::Zero, tolerance);
        let apart = (total.objective / whole.total.objective - 1.0).abs();
        assert!(
            whole.status == Status::Converged && apart <= 2.0 * tolerance,
            "{name}: {total:?} {:?}",
            whole.total
        );
        let mut again = Vec::new();
        assert_eq!((run(&mut again).total, again), (total, store), "{name}: two runs differ");
    }
}

#[test]
fn bands_on_the_device_reach_the_optimum_of_the_whole() {
    let Some(engine) = engine() else { return };
    let shapes: [(&[usize], &[usize], usize, usize); 4] = [
        (&[3000], &[16], 1, 400),
        (&[150, 90], &[6, 5], 1, 60),
        (&[97, 70], &[6, 5], 3, 40),
        (&[40, 18, 20], &[3, 4, 3], 1, 16),
    ];
    let mut cases = Vec::new();
    for shape in shapes {
        cases.extend([Border::Free, Border::Zero].map(|border| (shape, border, false)));
        cases.push((shape, Border::Free, true));
    }
    at_once(&engine, &cases, |engine, &((axes, atom, channels, rows), border, masked)| {
        let samples = waves(axes, channels);
        let weights = masked.then(|| weights(samples.extent()));
        let together = if masked { channels } else { 1 };
        let case = Case {
            piece: Strip { samples, weights },
            dictionary: Dictionary::random(Extent::new(atom).unwrap(), together, 24, 3).unwrap(),
            params: PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.border = border),
        };
        case.check(
            engine,
            rows,
            &format!("{axes:?} {atom:?} x{channels}, {border}, masked {masked}"),
        );
    });
}

/// Enough cells that the residual is scaled cell by cell.
#[test]
fn large_images_in_bands() {
    let Some(engine) = engine() else { return };
    at_once(&engine, &[Border::Free, Border::Zero], |engine, &border| {
        let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| p.border = border);
        let piece = Strip { samples: waves(&[900, 800], 1), weights: None };
        let case = Case {
            piece,
            dictionary: Dictionary::random(Extent::new(&[8, 8]).unwrap(), 1, 81, 3).unwrap(),
            params,
        };
        case.check(engine, 300, &format!("900x800, {border}"));
    });
}

#[test]
fn bands_respect_the_memory_limit() {
    let Some(engine) = engine() else { return };
    let dictionary: Dictionary<f32> =
        Dictionary::random(Extent::new(&[8, 8]).unwrap(), 1, 81, 3).unwrap();
    let limit = 64 << 20;
    let params = PursuitParams::new(Penalty::Relative(0.3)).with(|p| p.max_memory = Some(limit));
    let pursuit = params.check().unwrap();
    let extent = Extent::new(&[2000, 700]).unwrap();
    let shape = BandedShape { extent, channels: 1, masked: false };
    assert!(pursuit.whole_memory(&engine, shape, &dictionary).unwrap() > limit);
    let rows = pursuit.rows_within(&engine, shape, &dictionary, limit).unwrap();
    let mut piece = Strip { samples: waves(&[2000, 700], 1), weights: None };
    let mut store: Vec<Vec<Code<f32>>> = Vec::new();
    let report =
        pursuit.run_in_bands(&engine, &mut piece, &mut store, &dictionary, rows, &mut ()).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!(
        report.working_memory_bytes <= limit,
        "{} bytes in {} bands",
        report.working_memory_bytes,
        store.len()
    );
}

/// A session on all positions of a signal, as a part of a larger one.
fn session(
    engine: &dyn Engine<f32>,
    axes: &[usize],
    atom: &[usize],
    hidden: bool,
) -> Box<dyn Session<f32>> {
    let signal = waves(axes, 1);
    let weights = hidden.then(|| weights(signal.extent()).data().to_vec());
    let target = signal
        .data()
        .iter()
        .enumerate()
        .map(|(i, &x)| if weights.as_ref().is_some_and(|w| w[i] == 0.0) { 0.0 } else { x });
    let plane = Plane { target: target.collect(), weights, ..Plane::empty(signal.extent()) };
    let problem = Problem {
        planes: vec![plane.clone(), plane],
        dictionary: Dictionary::random(Extent::new(atom).unwrap(), 1, 7, 5).unwrap(),
        border: Border::Free,
        grouping: Grouping::Tiles(16),
        atom_weights: vec![1.0; 7],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    };
    let (length, atom) = (signal.extent().padded(), Extent::new(atom).unwrap().padded());
    engine.open(problem, Some(&Region::of(|a| 1 - atom[a] as i64..length[a] as i64))).unwrap()
}

#[test]
fn scaled_residuals_agree_with_the_cpu() {
    let Some(engine) = engine() else { return };
    let penalty = 30.0;
    let shapes: [(&[usize], &[usize]); 3] =
        [(&[500], &[9]), (&[70, 83], &[5, 4]), (&[20, 22, 24], &[3, 3, 4])];
    let cases = [shapes.map(|shape| (shape, false)), shapes.map(|shape| (shape, true))].concat();
    at_once(&engine, &cases, |engine, &((axes, atom), hidden)| {
        let name = format!("{axes:?}, hidden {hidden}");
        let mut processor = session(&CpuEngine::new(1).unwrap(), axes, atom, hidden);
        let context = Context::default();
        let discovery =
            Discovery { penalty, visit: Visit::All, local_tolerance: 1e-2, layer_seed: None };
        processor.discover(&discovery, &context).unwrap();
        processor
            .support(&Support { penalty, sweeps: 1, rounds: 2, tolerance: 0.0 }, &context)
            .unwrap();
        let mut device = session(engine, axes, atom, hidden);
        device.restore(&processor.state(Share::All).unwrap()).unwrap();
        let signal = Extent::new(axes).unwrap().region();
        let lattice = Lattice::new(Region::whole(signal.size), [6; 3], false);
        let excess: Vec<f32> =
            (0..lattice.cells()).map(|i| 1.0 + 0.1 * (i % 7 % 3) as f32).collect();
        let mut field = ScaleField::new(lattice);
        field.lower(0, &excess);
        let scaling = Scaling { field: &field, origin: Origin::default() };
        let half = (signal.end(1) + 1) / 2;
        let part =
            signal.with_range(1, 0..half).with_range(2, 1.min(signal.end(2) - 1)..signal.end(2));
        let measured = [processor, device].map(|mut session| {
            session.measure(Measure::Certificate { penalty, slack: 0.0 }, &context).unwrap();
            let scaled = session.scaled().unwrap();
            let mut largest = 1.0f64;
            scaled.exceeding(penalty, &mut |_, found| largest = largest.max(found.ratio)).unwrap();
            let [all, some] =
                [None, Some(&part)].map(|part| scaled.scaled_sums(1, scaling, part).unwrap());
            let correlation = scaled.scaled_correlation(1, scaling, 0.5 * penalty).unwrap();
            let parts = [
                scaled.residual_part(1, &part).unwrap(),
                scaled.residual_part(1, &signal).unwrap(),
            ]
            .concat();
            ([largest, all.dot, all.energy, some.dot, some.energy, correlation], parts)
        });
        let [(theirs, their_part), (ours, our_part)] = &measured;
        assert!(theirs[0] > 1.0, "{name}: nothing exceeds the penalty");
        assert!(
            ours.iter().zip(theirs).all(|(a, b)| (a / b - 1.0).abs() < 1e-4),
            "{name}: {ours:?} {theirs:?}"
        );
        assert_eq!(our_part.len(), their_part.len(), "{name}");
        assert!(our_part.iter().zip(their_part).all(|(a, b)| (a - b).abs() < 1e-2), "{name}");
    });
}
