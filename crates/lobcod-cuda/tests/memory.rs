//! A device that runs out of memory: a clear error, codes that can still be fetched, and fallback
//! to the CPU. Each test is skipped without a device.

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use lobcod::engine::{
    Context, CpuEngine, Discovery, Engine, FallbackEngine, Measure, Plane, Problem, Session, Share,
    Support, Visit,
};
use lobcod::grid::Grouping;
use lobcod::pursuit::Local;
use lobcod::{Border, Dictionary, Error, Extent, Penalty, PursuitParams, Signal, Status};
use lobcod_cuda::CudaEngine;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// Side of the image: the codes of its tiles take tens of MiB.
const SIDE: usize = 800;
/// Largest block left free on the device, in bytes.
const SMALLEST: usize = 4 << 20;
/// A penalty with few codes, and one at which tiles overflow their initial memory.
const COARSE: f64 = 80.0;
const FINE: f64 = 0.5;

/// Tests that take all memory must not run concurrently.
static ALONE: Mutex<()> = Mutex::new(());

fn engine() -> Option<CudaEngine> {
    CudaEngine::new().inspect_err(|error| lobcod_conformance::skipped(error)).ok()
}

/// Occupies nearly all memory of the device.
struct Hog {
    blocks: Vec<CudaSlice<u8>>,
    stream: Arc<CudaStream>,
}

impl Hog {
    fn new() -> Self {
        let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
        let (mut blocks, mut size) = (Vec::new(), 1usize << 37);
        while size >= SMALLEST {
            match stream.alloc_zeros(size) {
                Ok(block) => blocks.push(block),
                Err(_) => size /= 2,
            }
        }
        stream.synchronize().unwrap();
        Self { blocks, stream }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.blocks.clear();
        self.stream.synchronize().unwrap();
    }
}

fn image() -> Signal<f32> {
    let extent = Extent::new(&[SIDE, SIDE]).unwrap();
    let wave = |i: usize| {
        40.0 * (i as f32 * 0.61).sin() + 20.0 * (i as f32 * 0.113).cos() + (i * 7 % 19) as f32 * 2.0
    };
    Signal::from_planar(extent, 1, (0..extent.volume()).map(wave).collect()).unwrap()
}

fn dictionary() -> Dictionary<f32> {
    Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 40, 3).unwrap()
}

fn open(engine: &dyn Engine<f32>) -> Result<Box<dyn Session<f32>>, Error> {
    let (image, dictionary) = (image(), dictionary());
    let problem = Problem {
        planes: vec![Plane { target: image.data().to_vec(), ..Plane::empty(image.extent()) }],
        atom_weights: vec![1.0; dictionary.len()],
        dictionary,
        border: Border::Free,
        grouping: Grouping::default_tiles(2),
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    };
    engine.open(problem, None)
}

fn discovery(penalty: f64) -> Discovery {
    Discovery { penalty, visit: Visit::All, local_tolerance: 1e-2, layer_seed: None }
}

fn objective(session: &mut dyn Session<f32>, what: Measure, penalty: f64) -> f64 {
    session.measure(what, &Context::default()).unwrap().iter().map(|m| m.objective(penalty)).sum()
}

/// Codes can be fetched, the residual belongs to them, and the session continues to work.
fn assert_usable(session: &mut dyn Session<f32>) {
    let codes = session.state(Share::All).unwrap().codes;
    assert!(!codes[0].is_empty(), "the codes are lost");
    let (swept, synthesised) =
        (objective(session, Measure::Progress, FINE), objective(session, Measure::Objective, FINE));
    assert!(
        (swept / synthesised - 1.0).abs() < 1e-4,
        "the residual gives {swept}, the codes give {synthesised}"
    );
    session.discover(&discovery(FINE), &Context::default()).unwrap();
    session
        .support(
            &Support { penalty: FINE, sweeps: 1, rounds: 2, tolerance: 0.0 },
            &Context::default(),
        )
        .unwrap();
    let after = objective(session, Measure::Objective, FINE);
    assert!(after < synthesised, "another sweep went from {synthesised} to {after}");
}

fn assert_out_of_memory(error: &Error) {
    let text = error.to_string();
    assert!(
        matches!(error, Error::Device(_)) && text.contains("too little free memory"),
        "{error:?}"
    );
    assert!(!text.contains('\n') && text.contains("cpu engine"), "{text}");
}

#[test]
fn a_sweep_that_exceeds_its_limit_reports_what_it_needs() {
    let Some(engine) = engine() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for visit in [Visit::All, Visit::Spread] {
        let mut session = open(&engine).unwrap();
        session.discover(&discovery(COARSE), &Context::default()).unwrap();
        let context = Context { max_memory: Some(session.memory()), ..Context::default() };
        let error =
            session.discover(&Discovery { visit, ..discovery(FINE) }, &context).unwrap_err();
        let Error::Limits { needed, limit } = error else { panic!("{error:?}") };
        assert!(
            needed > limit && Some(limit) == context.max_memory,
            "{needed} bytes needed, {limit} allowed"
        );
        assert!(session.memory() <= limit, "{} bytes taken, {limit} allowed", session.memory());
        assert_usable(&mut *session);
    }
}

#[test]
fn a_device_without_memory_is_an_error_and_codes_can_still_be_fetched() {
    let Some(engine) = engine() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut session = open(&engine).unwrap();
    session.discover(&discovery(COARSE), &Context::default()).unwrap();
    let before = session.state(Share::All).unwrap();
    let hog = Hog::new();
    assert_out_of_memory(&open(&engine).err().expect("a session needs memory"));
    assert_eq!(session.state(Share::All).unwrap(), before);
    assert_out_of_memory(&session.discover(&discovery(FINE), &Context::default()).unwrap_err());
    assert!(!session.state(Share::All).unwrap().codes[0].is_empty());
    drop(hog);
    assert_usable(&mut *session);
    assert!(open(&engine).is_ok());
}

/// An engine that falls back to the CPU, and the faults it reported.
fn fallback(engine: CudaEngine) -> (FallbackEngine<f32>, Rc<RefCell<Vec<Error>>>) {
    let faults: Rc<RefCell<Vec<Error>>> = Rc::default();
    let notice = Rc::clone(&faults);
    let cpu = Box::new(CpuEngine::new(0).unwrap());
    (
        FallbackEngine::new(Box::new(engine), cpu, move |fault, _| {
            notice.borrow_mut().push(fault.clone())
        }),
        faults,
    )
}

#[test]
fn the_cpu_takes_over_from_a_device_without_memory() {
    let Some(engine) = engine() else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // In the middle of a session.
    let (auto, faults) = fallback(engine.clone());
    let mut session = open(&auto).unwrap();
    session.discover(&discovery(COARSE), &Context::default()).unwrap();
    session.state(Share::All).unwrap();
    let before = objective(&mut *session, Measure::Objective, FINE);
    let hog = Hog::new();
    session.discover(&discovery(FINE), &Context::default()).unwrap();
    assert_eq!((faults.borrow().len(), auto.name()), (1, "cpu"));
    assert_out_of_memory(&faults.borrow()[0]);
    assert!(objective(&mut *session, Measure::Objective, FINE) < before);
    // While opening a session.
    let (auto, faults) = fallback(engine);
    let pursuit = PursuitParams::new(Penalty::Relative(0.3)).check().unwrap();
    let report = pursuit.run(&auto, &[image().into()], &dictionary(), &mut ()).unwrap().report;
    assert_eq!((report.status, faults.borrow().len()), (Status::Converged, 1));
    drop(hog);
}
