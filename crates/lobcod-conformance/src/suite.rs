//! The checks that every engine must pass. Each panics with a message that identifies the problem
//! by its seed and kind.

use crate::gradient::gradient_is_that_of_the_data_term;
use crate::oracle::Oracle;
use crate::problems::{self, Extra, Observation, Problem, Shape};
use lobcod::engine::Engine;
use lobcod::pursuit::Start;
use lobcod::{
    Answer, Border, Certificate, Dictionary, Error, Needles, Observed, Penalty, PursuitParams,
    Real, Status,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Expected accuracy of a precision, relative to the objective.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// Target gap of a pursuit.
    pub tolerance: f64,
    /// Distance from the oracle's objective.
    pub agreement: f64,
    /// Rounding error of reported numbers.
    pub rounding: f64,
}

impl Precision {
    /// Expected accuracy of this number type.
    pub fn of<T: Real>() -> Self {
        if T::EPSILON.to_f64() < 1e-10 {
            Self { tolerance: 1e-11, agreement: 1e-9, rounding: 1e-12 }
        } else {
            Self { tolerance: 1e-6, agreement: 1e-5, rounding: 2e-6 }
        }
    }
}

/// All checks in single precision.
pub fn check_engine_f32(engine: &dyn Engine<f32>) {
    check_engine(engine);
}

/// All checks in double precision.
pub fn check_engine_f64(engine: &dyn Engine<f64>) {
    check_engine(engine);
}

/// All checks in either precision.
pub fn check_engine<T: Real>(engine: &dyn Engine<T>) {
    checks().iter().for_each(|check| check(engine));
}

/// Problems with models that only some engines run: solved as the oracle does, or refused.
pub fn check_models<T: Real>(engine: &dyn Engine<T>) {
    for problem in problems::special() {
        if !is_refused(engine, &problem) {
            check_problem(engine, &problem);
        }
    }
}

/// An independent check.
pub type Check<T> = Box<dyn Fn(&dyn Engine<T>) + Send + Sync>;

/// All checks, which can run in any order or concurrently.
pub fn checks<T: Real>() -> Vec<Check<T>> {
    let mut checks: Vec<Check<T>> = Vec::new();
    for problem in problems::all() {
        checks.push(Box::new(move |engine| check_problem(engine, &problem)));
    }
    for problem in problems::some(3) {
        checks.push(Box::new(move |engine| {
            high_penalty_gives_nothing(engine, &problem);
            every_start_arrives(engine, &problem);
        }));
    }
    for problem in
        problems::some(2).into_iter().filter(|p| p.shape.signal.iter().product::<usize>() <= 230)
    {
        checks.push(Box::new(move |engine| gradient_is_that_of_the_data_term(engine, &problem)));
    }
    for border in Border::ALL {
        checks.push(Box::new(move |engine| several_signals_are_each_alone(engine, border)));
    }
    checks
}

/// Whether the engine refuses to run the model of a problem.
fn is_refused<T: Real>(engine: &dyn Engine<T>, problem: &Problem) -> bool {
    let pursuit = tight::<T>(problem).with(|p| p.max_sweeps = 1).check().expect("valid");
    let (observed, dictionary) = (problem.observed::<T>(), problem.dictionary.cast::<T>());
    match pursuit.run(engine, &[observed], &dictionary, &mut ()) {
        Err(Error::Unavailable(why)) => {
            assert!(why.contains("does not support"), "{why} ({problem})");
            true
        }
        _ => false,
    }
}

/// Answers to one problem agree with the oracle.
fn check_problem<T: Real>(engine: &dyn Engine<T>, problem: &Problem) {
    let solved = Solved::new::<T>(problem);
    answer_is_that_of(&solved, engine, problem);
    early_answers_are_honest(&solved, engine, problem);
    if problem.observation != Observation::Full {
        hidden_samples_are_not_read(engine, problem);
    }
}

/// The parameters of a problem, solved to the limit of the precision.
pub fn tight<T: Real>(problem: &Problem) -> PursuitParams {
    problem.params.clone().with(|p| {
        p.tolerance = Precision::of::<T>().tolerance;
        p.max_sweeps = 20_000;
    })
}

/// Runs the pursuit on the engine; panics, naming the problem, on an error.
pub fn run<T: Real>(
    engine: &dyn Engine<T>,
    params: PursuitParams,
    observed: &[Observed<T>],
    dictionary: &Dictionary<T>,
    problem: &Problem,
) -> Answer<T> {
    let pursuit = params.check().unwrap_or_else(|error| panic!("{error} ({problem})"));
    pursuit
        .run(engine, observed, dictionary, &mut ())
        .unwrap_or_else(|error| panic!("{error} ({problem})"))
}

/// The oracle of a problem, and its objective.
struct Solved {
    oracle: Oracle,
    optimum: f64,
}

impl Solved {
    fn new<T: Real>(problem: &Problem) -> Self {
        let oracle =
            Oracle::new(&problem.params, &problem.observed::<T>(), &problem.dictionary.cast::<T>());
        let optimum = oracle.objective(&oracle.solve());
        Self { oracle, optimum }
    }
}

/// The answer is as good as the oracle's, and its report is true.
pub fn agrees_with_oracle<T: Real>(engine: &dyn Engine<T>, problem: &Problem) {
    answer_is_that_of(&Solved::new::<T>(problem), engine, problem);
}

fn answer_is_that_of<T: Real>(solved: &Solved, engine: &dyn Engine<T>, problem: &Problem) {
    let precision = Precision::of::<T>();
    let (observed, dictionary) = (problem.observed::<T>(), problem.dictionary.cast::<T>());
    let Solved { oracle, optimum } = solved;
    let answer =
        run(engine, tight::<T>(problem), std::slice::from_ref(&observed), &dictionary, problem);
    let report = &answer.report;
    let near = |name: &str, ours: f64, theirs: f64, tolerance: f64| {
        let scale = theirs.abs().max(f64::MIN_POSITIVE);
        assert!(
            (ours - theirs).abs() <= tolerance * scale,
            "{name} is {ours}, the oracle says {theirs} ({problem})"
        );
    };
    let settled = report.status == Status::Converged
        || (T::NAME == "f32" && report.status == Status::Stalled);
    assert!(
        settled,
        "status {} at a gap of {:e} ({problem})",
        report.status,
        report.total.relative_gap()
    );
    let codes = oracle.codes(&answer.needles[0]);
    near("the optimum", report.total.objective, *optimum, precision.agreement);
    near(
        "the objective of the needles",
        report.total.objective,
        oracle.objective(&codes),
        precision.rounding,
    );
    near(
        "the data term of the needles",
        report.total.data_term,
        oracle.data_term(&codes),
        10.0 * precision.rounding,
    );
    near("penalty_max", report.total.penalty_max, oracle.penalty_max(), precision.rounding);
    assert_eq!(report.total.nonzeros, answer.needles[0].nonzeros(), "non-zeros ({problem})");
    assert_eq!(report.total.pixels, observed.signal.extent().volume(), "pixels ({problem})");
    assert!(
        report.status != Status::Converged || report.total.relative_gap() <= precision.tolerance,
        "converged at a gap of {:e} ({problem})",
        report.total.relative_gap()
    );
    gap_is_honest::<T>(&report.total, oracle.gap(&codes), *optimum, problem);
    let violation = oracle.violation(&codes);
    assert!(
        violation <= 30.0 * precision.tolerance.sqrt(),
        "optimality conditions violated by {violation:e} ({problem})"
    );
}

/// The report of an answer far from the optimum, after few sweeps or with a loose tolerance, is
/// true.
fn early_answers_are_honest<T: Real>(solved: &Solved, engine: &dyn Engine<T>, problem: &Problem) {
    let (observed, dictionary) = (problem.observed::<T>(), problem.dictionary.cast::<T>());
    let Solved { oracle, optimum } = solved;
    for (max_sweeps, tolerance) in [(1, 1e-9), (2, 1e-9), (1_000, 1e-2)] {
        let params = problem.params.clone().with(|p| {
            p.max_sweeps = max_sweeps;
            p.tolerance = tolerance;
        });
        let answer = run(engine, params, std::slice::from_ref(&observed), &dictionary, problem);
        let (codes, total) = (oracle.codes(&answer.needles[0]), answer.report.total);
        let off = (total.objective - oracle.objective(&codes)).abs();
        assert!(
            off <= Precision::of::<T>().rounding * total.objective,
            "objective off by {off:e} after {max_sweeps} sweeps ({problem})"
        );
        let converged = answer.report.status == Status::Converged;
        assert!(
            !converged || total.relative_gap() <= tolerance,
            "converged at a gap of {:e} ({problem})",
            total.relative_gap()
        );
        gap_is_honest::<T>(&total, oracle.gap(&codes), *optimum, problem);
    }
}

/// The reported gap is not smaller than the recomputed gap of the needles, nor than their distance
/// from the optimum.
fn gap_is_honest<T: Real>(
    certificate: &Certificate,
    recomputed: f64,
    optimum: f64,
    problem: &Problem,
) {
    let Certificate { objective, gap, .. } = *certificate;
    let slack = Precision::of::<T>().rounding * objective;
    let above = objective - optimum;
    assert!(gap >= -slack, "a gap of {gap:e} below 0 ({problem})");
    assert!(
        recomputed <= gap + slack,
        "the reported gap is {gap:e}, but that of the needles is {recomputed:e} ({problem})"
    );
    assert!(
        above <= gap + slack,
        "the reported gap is {gap:e}, but the objective is {above:e} above the optimum ({problem})"
    );
}

/// From penalty_max on (and slightly above it) all codes and the gap are zero.
pub fn high_penalty_gives_nothing<T: Real>(engine: &dyn Engine<T>, problem: &Problem) {
    let (observed, dictionary) = (problem.observed::<T>(), problem.dictionary.cast::<T>());
    let penalty_max = Oracle::new(&problem.params, &observed, &dictionary).penalty_max();
    let rounding = Precision::of::<T>().rounding;
    let least = Penalty::Relative(1.0 + rounding);
    for penalty in [least, Penalty::Relative(1.5), Penalty::Absolute(1.001 * penalty_max)] {
        let params = tight::<T>(problem).with(|p| p.penalty = penalty);
        let answer = run(engine, params, std::slice::from_ref(&observed), &dictionary, problem);
        let (nonzeros, gap) = (answer.needles[0].nonzeros(), answer.report.total.relative_gap());
        assert_eq!(nonzeros, 0, "non-zeros at penalty {penalty:?} ({problem})");
        assert!(gap.abs() <= rounding, "gap {gap:e} at penalty {penalty:?} ({problem})");
        assert_eq!(
            answer.report.status,
            Status::Converged,
            "status at penalty {penalty:?} ({problem})"
        );
    }
}

/// The 1/n start and arbitrary needles lead to the same objective; optimal needles do not become
/// worse.
pub fn every_start_arrives<T: Real>(engine: &dyn Engine<T>, problem: &Problem) {
    let Precision { agreement, .. } = Precision::of::<T>();
    let (observed, dictionary) = (problem.observed::<T>(), problem.dictionary.cast::<T>());
    let oracle = Oracle::new(&problem.params, &observed, &dictionary);
    let solution = oracle.solve();
    let optimum = oracle.objective(&solution);
    let start = |codes: &[f64]| {
        let (signal, entries) = (&observed.signal, oracle.entries(codes));
        Start::Needles(Needles::new(
            signal.extent(),
            signal.channels(),
            problem.params.border,
            entries,
        ))
    };
    let mut rng = ChaCha8Rng::seed_from_u64(problem.seed);
    let strange: Vec<f64> = (0..oracle.size())
        .map(|_| if rng.random_bool(0.1) { rng.random_range(0.0..3.0) } else { 0.0 })
        .collect();
    for (name, start, max_sweeps) in [
        ("1/n", Start::Spread, 20_000),
        ("strange", start(&strange), 20_000),
        ("optimal", start(&solution), 1),
    ] {
        let observed = Observed { start, ..observed.clone() };
        let params = tight::<T>(problem).with(|p| p.max_sweeps = max_sweeps);
        let objective =
            run(engine, params, &[observed], &dictionary, problem).report.total.objective;
        let off = (objective - optimum).abs() / optimum;
        assert!(
            off <= agreement,
            "{objective} instead of {optimum} from the {name} start ({problem})"
        );
    }
}

/// Samples of weight 0 may hold any value: the answer is bit-identical.
pub fn hidden_samples_are_not_read<T: Real>(engine: &dyn Engine<T>, problem: &Problem) {
    let (observed, dictionary) = (problem.observed::<T>(), problem.dictionary.cast::<T>());
    let mut spoilt = observed.clone();
    let mask = observed.mask.as_ref().expect("a problem with a mask");
    let volume = observed.signal.extent().volume();
    for (i, sample) in spoilt.signal.data_mut().iter_mut().enumerate() {
        if mask.channel(i / volume)[i % volume] == T::ZERO {
            *sample = T::from_f64(f64::NAN);
        }
    }
    let params = problem.params.clone().with(|p| p.tolerance = 1e-4);
    for start in [Start::Zero, Start::Spread] {
        let [clean, spoilt] = [&observed, &spoilt].map(|observed| {
            let observed = Observed { start: start.clone(), ..observed.clone() };
            run(engine, params.clone(), &[observed], &dictionary, problem)
        });
        assert_eq!(clean.needles, spoilt.needles, "hidden samples change the needles ({problem})");
        assert_eq!(
            clean.report.total, spoilt.report.total,
            "hidden samples change the report ({problem})"
        );
    }
}

/// Signals of different sizes solved together have the same objectives as alone, and their sums are
/// reported.
pub fn several_signals_are_each_alone<T: Real>(engine: &dyn Engine<T>, border: Border) {
    let precision = Precision::of::<T>();
    let sizes: [&[usize]; 4] = [&[9, 11], &[4, 3], &[3, 14], &[8, 5]];
    let kinds = [Observation::Full, Observation::Fractional, Observation::Known, Observation::Full];
    let problems = std::array::from_fn::<Problem, 4, _>(|i| {
        let shape = Shape { signal: sizes[i], atom: &[3, 3], channels: (1, 1), atoms: 6, tile: 5 };
        Problem::new(77, shape, border, kinds[i], Extra::Plain).expect("the atom fits")
    });
    let observed = problems.each_ref().map(Problem::observed::<T>);
    let dictionary = problems[0].dictionary.cast::<T>();
    let params = tight::<T>(&problems[0]).with(|p| p.penalty = Penalty::Absolute(0.9));
    let together = run(engine, params.clone(), &observed, &dictionary, &problems[0]);
    let mut sum = 0.0;
    for (i, (observed, problem)) in observed.iter().zip(&problems).enumerate() {
        let alone =
            run(engine, params.clone(), std::slice::from_ref(observed), &dictionary, problem)
                .report
                .total;
        let (ours, needles) = (together.report.signals[i], &together.needles[i]);
        let near =
            (ours.objective - alone.objective).abs() <= precision.agreement * alone.objective;
        assert!(
            near,
            "objective {} among others, {} alone ({problem})",
            ours.objective, alone.objective
        );
        assert_eq!(
            (ours.nonzeros, ours.penalty_max),
            (needles.nonzeros(), alone.penalty_max),
            "signal {i} of several ({problem})"
        );
        sum += ours.objective;
    }
    let total = together.report.total.objective;
    assert!(
        (total - sum).abs() <= 1e-12 * sum,
        "the sum of objectives is {sum}, reported {total} ({})",
        problems[0]
    );
}
