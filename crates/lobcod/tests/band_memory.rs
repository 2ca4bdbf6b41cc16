//! An engine with memory of its own, in which bands turn out to need more than was expected: they are halved until they fit.

use lobcod::engine::{
    CpuEngine, Discovery, Engine, Measure, Measurement, PlaneLayer, Problem, ScaledResidual, Session, State, Support, Sweep,
};
use lobcod::{
    Border, Code, Dictionary, Error, Extent, Needles, Observed, Penalty, Piece, PursuitParams, Result, Signal, Start, Status,
};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a position takes once there are codes, beyond what anybody expects.
const BYTES: u64 = 100;

struct Narrow {
    cpu: CpuEngine,
    memory: u64,
}

struct NarrowSession {
    cpu: Box<dyn Session<f32>>,
    needs: u64,
    allowed: Option<(u64, Arc<AtomicU64>)>,
    swept: bool,
}

impl Engine<f32> for Narrow {
    fn name(&self) -> &'static str {
        "narrow"
    }
    fn threads(&self) -> usize {
        1
    }
    fn estimate_memory(&self, _: &Problem<f32>, _: f64) -> Result<u64> {
        Ok(1)
    }
    fn open(&self, problem: Problem<f32>) -> Result<Box<dyn Session<f32>>> {
        self.cpu.open(problem)
    }
    fn open_part(&self, problem: Problem<f32>, positions: &[Range<i64>; 3]) -> Result<Box<dyn Session<f32>>> {
        let needs = BYTES * positions.iter().map(|p| (p.end - p.start) as u64).product::<u64>();
        Ok(Box::new(NarrowSession { cpu: self.cpu.open_part(problem, positions)?, needs, allowed: None, swept: false }))
    }
    fn own_memory(&self) -> Option<u64> {
        Some(self.memory)
    }
}

impl Session<f32> for NarrowSession {
    fn keep_within(&mut self, bytes: u64, wanted: Arc<AtomicU64>) {
        self.allowed = Some((bytes, wanted));
    }
    fn refresh(&mut self) {
        self.cpu.refresh();
    }
    fn discover(&mut self, sweep: &Discovery) -> Sweep {
        if let Some((allowed, wanted)) = self.allowed.as_ref().filter(|(allowed, _)| self.needs > *allowed) {
            assert!(!self.swept, "a session of {} bytes goes on with {allowed}", self.needs);
            wanted.store(self.needs, Ordering::Relaxed);
            self.swept = true;
            return Sweep::default();
        }
        self.cpu.discover(sweep)
    }
    fn support(&mut self, sweep: &Support) -> Sweep {
        self.cpu.support(sweep)
    }
    fn measure(&mut self, what: Measure) -> Vec<Measurement> {
        self.cpu.measure(what)
    }
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<f32>> {
        self.cpu.scaled()
    }
    fn fetch(&self) -> State<f32> {
        self.cpu.fetch()
    }
    fn restore(&mut self, state: &State<f32>) {
        self.cpu.restore(state);
    }
    fn remember_codes(&mut self) {
        self.cpu.remember_codes();
    }
    fn take_codes_back(&mut self) {
        self.cpu.take_codes_back();
    }
    fn improve_atoms(&mut self) -> f64 {
        self.cpu.improve_atoms()
    }
    fn layers(&self, plane: usize) -> usize {
        self.cpu.layers(plane)
    }
    fn gradient(&mut self, of: Option<PlaneLayer>) -> Vec<f64> {
        self.cpu.gradient(of)
    }
    fn energy_along(&mut self, direction: &[f64]) -> f64 {
        self.cpu.energy_along(direction)
    }
    fn residual(&self, plane: usize) -> Vec<f32> {
        self.cpu.residual(plane)
    }
    fn dictionary(&self) -> &Dictionary<f32> {
        self.cpu.dictionary()
    }
    fn set_dictionary(&mut self, dictionary: Dictionary<f32>) {
        self.cpu.set_dictionary(dictionary);
    }
    fn memory(&self) -> u64 {
        self.needs
    }
}

fn picture() -> Signal<f32> {
    let extent = Extent::new(&[230, 40]).unwrap();
    // Details everywhere but in the upper half, where bands of any size do.
    let sample = |i: usize| if i / 40 < 90 { 0.0 } else { 50.0 * (i as f32 * 0.37).sin() + (i * 31 % 17) as f32 };
    Signal::from_planar(extent, 1, (0..extent.volume()).map(sample).collect()).unwrap()
}

fn run(memory: u64, limit: Option<u64>, border: Border) -> (Result<lobcod::Report>, Vec<Vec<Code<f32>>>, Dictionary<f32>) {
    let dictionary = Dictionary::random(Extent::new(&[4, 4]).unwrap(), 1, 20, 1).unwrap();
    let params = PursuitParams { border, max_memory: limit, tolerance: 1e-3, ..PursuitParams::new(Penalty::Relative(0.05)) };
    let engine = Narrow { cpu: CpuEngine::new(1).unwrap(), memory };
    let (mut piece, mut shelf) = (Piece { samples: picture(), weights: None }, Vec::new());
    let report = params.check().unwrap().run_in_bands_on(&engine, &mut piece, &mut shelf, &dictionary, 120, &mut ());
    (report, shelf, dictionary)
}

#[test]
fn bands_that_need_more_than_they_may_take_are_halved() {
    for border in [Border::Free, Border::Zero] {
        let (report, two_bands, dictionary) = run(u64::MAX, None, border);
        assert_eq!(report.unwrap().status, Status::Converged);
        // Rows of 43 positions: 70 of them may be worked on at once.
        let limit = 70 * 43 * BYTES;
        for (memory, limit) in [(limit, None), (10 * limit, Some(limit))] {
            let (report, shelf, _) = run(memory, limit, border);
            let report = report.unwrap();
            assert!(report.status == Status::Converged && shelf.len() > two_bands.len(), "{} pieces, {report:?}", shelf.len());
            assert!(report.working_memory_bytes <= 70 * 43 * BYTES);
            // The codes on the shelf are those of the report.
            let needles = Needles::new(picture().extent(), 1, border, shelf.concat());
            let observed = Observed { start: Start::Needles(needles), ..picture().into() };
            let params = PursuitParams { border, tolerance: 1.0, ..PursuitParams::new(Penalty::Absolute(report.penalty)) };
            let given = params.check().unwrap().run(&[observed], &dictionary, &mut ()).unwrap().report.history[0];
            assert_eq!(report.total.nonzeros, given.nonzeros);
            assert!(
                (report.total.objective / given.objective - 1.0).abs() < 1e-5,
                "{} {}",
                report.total.objective,
                given.objective
            );
        }
    }
}

#[test]
fn bands_that_cannot_be_low_enough_are_refused() {
    let (report, ..) = run(43 * BYTES, None, Border::Free);
    assert!(matches!(report, Err(Error::Limits { needed, limit }) if needed > limit && limit == 43 * BYTES), "{report:?}");
}
