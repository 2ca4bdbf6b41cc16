//! Conformance under `mpirun`: this program starts itself on 1, 2 and 4 ranks.

use lobcod::engine::ranks::{RankEngine, World as _};
use lobcod::engine::{CpuEngine, Engine};
use lobcod::{Answer, Border, Control, LearnParams, Penalty, Progress, Real};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{self, Extra, Observation, Problem, Shape};
use lobcod_conformance::suite::{agrees_with_oracle, run};
use lobcod_mpi::MpiWorld;
use std::process::{Output, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Selects what a started rank does.
const ROLE: &str = "LOBCOD_TEST_ROLE";

fn main() {
    match std::env::var(ROLE).as_deref() {
        Ok("conform") => conform(),
        Ok("die") => die(|| panic!("rank died")),
        Ok("vanish") => die(|| std::process::abort()),
        _ => start_all(),
    }
}

/// Starts this program on some ranks and waits for its end.
fn mpirun(ranks: usize, role: &str) -> Output {
    let exe = std::env::current_exe().expect("path of this program");
    let mut child = lobcod_mpi::launcher(ranks)
        .arg(exe)
        .env(ROLE, role)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun is installed");
    // A job that hangs must not block the tests.
    let patience = Instant::now() + Duration::from_secs(300);
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > patience {
            child.kill().expect("it runs");
            panic!("{ranks} ranks in role {role} have not ended");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.wait_with_output().expect("an output")
}

fn start_all() {
    for ranks in [1, 2, 4] {
        let output = mpirun(ranks, "conform");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{ranks} ranks: {words}");
        println!("conformance on {ranks} ranks: ok");
    }
    let output = mpirun(3, "die");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "a job that lost a rank has failed");
    assert!(words.contains("rank 1 of 3 failed") && words.contains("rank died"), "{words}");
    println!("a rank that panics ends the job: ok");
    assert!(!mpirun(3, "vanish").status.success(), "a job that lost a rank has failed");
    println!("a rank that is killed ends the job: ok");
}

/// The bits of an answer that must not depend on the ranks.
fn bits<T: Real>(answer: &Answer<T>) -> Vec<u64> {
    let total = answer.report.total;
    let mut bits = vec![total.objective.to_bits(), total.gap.to_bits(), total.nonzeros as u64];
    for code in answer.needles.iter().flat_map(|needles| needles.codes()) {
        bits.extend(code.position.map(|p| p as u64));
        bits.extend([u64::from(code.atom), u64::from(code.channel), code.value.to_f64().to_bits()]);
    }
    bits
}

fn same_bits<T: Real>(engine: &RankEngine, problem: &Problem) {
    let (observed, dictionary) = ([problem.observed::<T>()], problem.dictionary.cast::<T>());
    let params = problem.params.clone().with(|p| p.tolerance = 1e-4);
    let alone = CpuEngine::new(1).expect("an engine");
    let [ours, theirs] = [engine as &dyn Engine<T>, &alone]
        .map(|engine| bits(&run(engine, params.clone(), &observed, &dictionary, problem)));
    assert!(ours == theirs, "{problem}");
}

/// All process grids of these ranks.
fn engines(world: &Rc<MpiWorld>) -> Vec<RankEngine> {
    let engine = || RankEngine::new(Rc::clone(world) as Rc<_>, 1).expect("an engine");
    let ranks = world.ranks();
    let grids = [[1, ranks, 1], [1, 1, ranks], [1, 2.min(ranks), ranks.div_ceil(2)]];
    std::iter::once(engine()).chain(grids.map(|grid| engine().with_process_grid(grid))).collect()
}

fn conform() {
    let world = MpiWorld::join().expect("started by mpirun");
    let shapes = [
        Shape { signal: &[33, 29], atom: &[5, 4], channels: (1, 1), atoms: 9, tile: 8 },
        Shape { signal: &[25, 26], atom: &[3, 3], channels: (3, 1), atoms: 6, tile: 6 },
    ];
    let problems = shapes.into_iter().flat_map(|shape| Border::ALL.map(|border| (shape, border)));
    for ((shape, border), engine) in problems.zip(engines(&world).iter().cycle()) {
        let problem = Problem::new(11, shape, border, Observation::Known, Extra::Everything)
            .expect("the atom fits");
        same_bits::<f32>(engine, &problem);
        same_bits::<f64>(engine, &problem);
    }
    let engine = RankEngine::new(Rc::clone(&world) as Rc<_>, 2)
        .expect("an engine")
        .with_process_grid([1, 1, world.ranks()]);
    for problem in problems::some(23) {
        agrees_with_oracle::<f32>(&engine, &problem);
    }
    let problem = Problem::new(4, shapes[0], Border::Free, Observation::Full, Extra::Plain)
        .expect("the atom fits");
    let (observed, first) =
        ([problem.observed::<f32>(), problem.observed::<f32>()], problem.dictionary.cast());
    let learner = LearnParams::new(Penalty::Relative(0.1))
        .with(|p| p.passes = 2)
        .check()
        .expect("parameters");
    let ours = learner.run(&engine, &observed, &first, &mut ()).expect("a dictionary");
    let alone = learner.run(&cpu(1), &observed, &first, &mut ()).expect("a dictionary");
    assert!(ours.dictionary == alone.dictionary && ours.needles == alone.needles, "learning");
    lobcod_mpi::ping(&world);
}

/// Rank 1 fails in the middle of a pursuit, while the others wait for its borders.
fn die(fail: fn()) {
    let world = MpiWorld::join().expect("started by mpirun");
    let shape = Shape { signal: &[33, 29], atom: &[5, 4], channels: (1, 1), atoms: 9, tile: 8 };
    let problem = Problem::new(11, shape, Border::Free, Observation::Full, Extra::Plain)
        .expect("the atom fits");
    let engine = RankEngine::new(Rc::clone(&world) as Rc<_>, 1)
        .expect("an engine")
        .with_process_grid([1, 3, 1]);
    let rank = world.rank();
    let mut observer = move |progress: &Progress| {
        if rank == 1 && progress.discovery_sweeps >= 2 {
            fail();
        }
        Control::Continue
    };
    let params = problem.params.clone().with(|p| p.tolerance = 1e-9);
    let (observed, dictionary) = ([problem.observed::<f32>()], problem.dictionary.cast());
    let answer =
        params.check().expect("parameters").run(&engine, &observed, &dictionary, &mut observer);
    unreachable!("{} codes without rank 1", answer.expect("an answer").needles[0].nonzeros());
}
