//! Every pair of models is solved to the optimum of the oracle, or refused by one sentence.

use lobcod::engine::Context;
use lobcod::engine::ranks::RankEngine;
use lobcod::pursuit::{Local, Loss, Start};
use lobcod::{
    Answer, Border, Code, Dictionary, Extent, Needles, Observed, Penalty, PursuitParams, Real,
    Result, Signal, Status,
};
use lobcod_conformance::problems::{self, Extra, Observation, Problem, SHAPES};
use lobcod_conformance::ranks::on_ranks;
use lobcod_conformance::suite::tight;
use lobcod_conformance::{Oracle, cpu};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    Zero,
    Periodic,
    Inside,
    Mask,
    Nonnegative,
    AtomWeights,
    PositionWeights,
    CoefficientWeights,
    Unpenalised,
    Elastic,
    Cap,
    Lars,
    Debias,
    MaxError,
    Huber,
    Joint,
    Cauchy,
    SmoothLayer,
    DataWeights,
    Absolute,
}

use Model::*;

const MODELS: [Model; 20] = [
    Zero,
    Periodic,
    Inside,
    Mask,
    Nonnegative,
    AtomWeights,
    PositionWeights,
    CoefficientWeights,
    Unpenalised,
    Elastic,
    Cap,
    Lars,
    Debias,
    MaxError,
    Huber,
    Joint,
    Cauchy,
    SmoothLayer,
    DataWeights,
    Absolute,
];

/// Pairs that are refused; all others are solved.
const REFUSED: [(Model, Model); 50] = [
    (Nonnegative, Unpenalised),
    (Nonnegative, Debias),
    (Unpenalised, Cap),
    (Unpenalised, Lars),
    (Elastic, MaxError),
    (Cap, MaxError),
    (Zero, Huber),
    (Inside, Huber),
    (Nonnegative, Huber),
    (PositionWeights, Huber),
    (CoefficientWeights, Huber),
    (Unpenalised, Huber),
    (Elastic, Huber),
    (Cap, Huber),
    (Debias, Huber),
    (MaxError, Huber),
    (CoefficientWeights, Joint),
    (Unpenalised, Joint),
    (Elastic, Joint),
    (Cap, Joint),
    (Lars, Joint),
    (MaxError, Joint),
    (Huber, Joint),
    (Zero, Cauchy),
    (Unpenalised, Cauchy),
    (Cap, Cauchy),
    (Debias, Cauchy),
    (MaxError, Cauchy),
    (Joint, Cauchy),
    (Unpenalised, SmoothLayer),
    (Cap, SmoothLayer),
    (Debias, SmoothLayer),
    (MaxError, SmoothLayer),
    (Huber, SmoothLayer),
    (Cauchy, SmoothLayer),
    (Zero, DataWeights),
    (Zero, Absolute),
    (Inside, Absolute),
    (Mask, Absolute),
    (Nonnegative, Absolute),
    (PositionWeights, Absolute),
    (CoefficientWeights, Absolute),
    (Unpenalised, Absolute),
    (Elastic, Absolute),
    (Cap, Absolute),
    (Debias, Absolute),
    (MaxError, Absolute),
    (Joint, Absolute),
    (SmoothLayer, Absolute),
    (DataWeights, Absolute),
];

/// Pairs of which only one can be chosen.
fn exclusive(pair: [Model; 2]) -> bool {
    let borders = pair.iter().filter(|m| matches!(m, Zero | Periodic | Inside)).count();
    let weights = pair.iter().filter(|m| matches!(m, CoefficientWeights | Unpenalised)).count();
    let losses = pair.iter().filter(|m| matches!(m, Huber | Cauchy | Absolute)).count();
    let masks = pair.iter().filter(|m| matches!(m, Mask | DataWeights)).count();
    borders > 1 || weights > 1 || losses > 1 || masks > 1
}

const CAP: usize = 1;
const SCALE: f64 = 0.8;
/// Penalty of the l1 loss.
const L1_PENALTY: f64 = 0.8;

/// A small problem with both models.
fn problem(pair: [Model; 2]) -> Problem {
    let border = pair.iter().fold(Border::Free, |border, model| match model {
        Zero => Border::Zero,
        Periodic => Border::Periodic,
        Inside => Border::Inside,
        _ => border,
    });
    let observation =
        if pair.contains(&Mask) { Observation::Fractional } else { Observation::Full };
    // Three channels, coded with a one-channel dictionary.
    let shape = if pair.contains(&Joint) { SHAPES[3] } else { SHAPES[1] };
    let mut problem =
        Problem::new(5, shape, border, observation, Extra::Plain).expect("the atom fits");
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let (signal, atom) = (problem.observed.signal.extent(), problem.dictionary.extent());
    let (atoms, positions) =
        (problem.dictionary.len(), signal.with_padded(border.positions(signal, atom).size));
    for model in pair {
        match model {
            Zero | Periodic | Inside | Mask => {}
            Nonnegative => problem.params.nonnegative = true,
            AtomWeights => {
                let weights = (0..atoms).map(|_| rng.random_range(0.5..2.0)).collect();
                problem.params.atom_weights = Some(weights);
            }
            PositionWeights => {
                let map = problems::uniform(positions, 1, 0.5..2.0, &mut rng);
                problem.observed.penalty_map = Some(map);
            }
            CoefficientWeights | Unpenalised => {
                let mut weights = problems::uniform(positions, atoms, 0.5..2.0, &mut rng);
                for (i, w) in weights.data_mut().iter_mut().enumerate() {
                    if model == Unpenalised && i % 40 == 3 {
                        *w = 0.0;
                    } else if i % 6 == 0 {
                        *w = f64::INFINITY;
                    }
                }
                problem.observed.coefficient_weights = Some(weights);
            }
            Elastic => problem.params.elastic = 0.3,
            Cap => problem.params.max_nonzeros = Some(CAP),
            Lars => problem.params.local = Local::Lars,
            Debias => problem.params.debias = true,
            MaxError => {}
            Huber => problem.params.loss = Loss::Huber(0.7),
            Joint => problem.params.joint = 0.6,
            Cauchy => problem.params.loss = Loss::Cauchy(SCALE),
            SmoothLayer => problem.params.smooth_layer = 2.0,
            Absolute => {
                problem.params.loss = Loss::L1;
                problem.params.penalty = Penalty::Absolute(L1_PENALTY);
            }
            DataWeights => {
                let mut weights = problems::uniform(signal, 1, 0.3..2.5, &mut rng);
                weights.data_mut().iter_mut().step_by(5).for_each(|w| *w = 0.0);
                problem.observed.mask = Some(lobcod::Mask::weighted(weights).expect("a mask"));
            }
        }
    }
    let refused = [Joint, Cauchy, SmoothLayer, Absolute].iter().any(|model| pair.contains(model));
    if pair.contains(&MaxError) && !refused {
        // Two thirds of the error of zero codes.
        let params = problem.params.clone().with(|p| p.penalty = Penalty::Relative(1.0 + 1e-9));
        let oracle = Oracle::new(&params, &problem.observed, &problem.dictionary);
        let error = (2.0 * oracle.data_term(&oracle.solve())).sqrt();
        problem.params.penalty = Penalty::MaxError(0.66 * error);
    } else if pair.contains(&MaxError) {
        problem.params.penalty = Penalty::MaxError(1.0);
    }
    problem
}

fn solve(params: PursuitParams, problem: &Problem) -> Result<Answer<f64>> {
    let observed = std::slice::from_ref(&problem.observed);
    let run = |pursuit: lobcod::Pursuit| {
        let alone = pursuit.run(&cpu(1), observed, &problem.dictionary, &mut ());
        let together = on_ranks(2, |world| {
            let engine = RankEngine::new(world, 1).expect("an engine").with_process_grid([1, 1, 2]);
            pursuit.run(&engine, observed, &problem.dictionary, &mut ())
        });
        for other in together {
            match (&alone, &other) {
                (Ok(a), Ok(b)) => assert_eq!(a.needles, b.needles, "ranks ({problem})"),
                (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "ranks ({problem})"),
                _ => panic!("ranks differ ({problem})"),
            }
        }
        alone
    };
    params.check().and_then(run)
}

#[test]
fn every_pair_of_models_is_solved_to_the_optimum_or_refused() {
    for (i, &first) in MODELS.iter().enumerate() {
        for &second in &MODELS[i..] {
            let pair = [first, second];
            if exclusive(pair) && first != second {
                continue;
            }
            let problem = problem(pair);
            let approximate = pair.contains(&MaxError) || pair.contains(&Cauchy);
            let tolerance = match approximate {
                _ if pair.contains(&Absolute) => 1e-4,
                true => 1e-6,
                false => 1e-11,
            };
            let params = tight::<f64>(&problem).with(|p| p.tolerance = tolerance);
            let what = format!("{pair:?} ({problem})");
            match solve(params, &problem) {
                Ok(answer) => {
                    assert!(!REFUSED.contains(&(first, second)), "not refused: {what}");
                    check(&answer, pair, &problem, &what);
                }
                Err(error) => {
                    let words = error.to_string();
                    assert!(REFUSED.contains(&(first, second)), "refused: {words} {what}");
                    assert!(words.contains("; ") && !words.contains('\n'), "no cure: {words}");
                }
            }
        }
    }
}

/// The answer is that of the oracle.
fn check(answer: &Answer<f64>, pair: [Model; 2], problem: &Problem, what: &str) {
    let report = &answer.report;
    if pair.contains(&Cap) {
        let codes = answer.needles[0].codes();
        assert!(codes.windows(2).all(|c| c[0].position != c[1].position), "beyond the cap: {what}");
        return;
    }
    if pair.contains(&Cauchy) {
        return check_reweighted(answer, problem, what);
    }
    if pair.contains(&Absolute) {
        return check_l1(answer, problem, what);
    }
    let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
    let best = oracle.solve();
    let codes = oracle.codes(&answer.needles[0]);
    assert_eq!(report.status, Status::Converged, "{what}");
    let near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * b.abs();
    if let Some(constrained) = report.constrained {
        let smallest = oracle.weighted_l1(&best);
        let Penalty::MaxError(bound) = problem.params.penalty else { panic!("no bound: {what}") };
        assert!(constrained.error <= bound, "error {} > {bound}: {what}", constrained.error);
        let l1 = constrained.l1_norm;
        assert!(near(l1, smallest, 2e-6), "norm {l1} instead of {smallest}: {what}");
        assert!(l1 - smallest <= constrained.gap + 1e-9 * l1, "dishonest gap: {what}");
    } else {
        let (objective, optimum) = (report.total.objective, oracle.objective(&best));
        assert!(near(objective, optimum, 1e-9), "{objective} instead of {optimum}: {what}");
    }
    if !pair.iter().any(|model| [Debias, Huber, MaxError].contains(model)) {
        // The codes have the same objective where a pursuit would start from them.
        let start = Start::Needles(answer.needles[0].clone());
        let observed = [Observed { start, ..problem.observed.clone() }];
        let pursuit = problem.params.clone().check().expect("valid");
        let (penalty, joint) = (report.penalty, problem.params.joint);
        let planes = pursuit
            .measure_start(&cpu(1), &observed, &problem.dictionary, penalty, &Context::default())
            .expect("a measurement");
        let objective = planes.iter().map(|m| m.objective(penalty + joint)).sum();
        assert!(near(report.total.objective, objective, 1e-9), "{objective} at the start: {what}");
    }
    if pair.contains(&Debias) {
        let term = oracle.data_term(&codes);
        let found = report.debiased_data_term.expect("debiased");
        // A support as large as the signal leaves only rounding errors.
        let exact = found.max(term) < 1e-20;
        assert!(exact || near(found, term, 1e-9), "data term {found} instead of {term}: {what}");
        assert!(term < report.total.data_term, "debiasing did not lower the data term: {what}");
        for i in (0..codes.len()).filter(|&i| codes[i] != 0.0) {
            for step in [-1e-3, 1e-3] {
                let mut other = codes.clone();
                other[i] += step;
                assert!(oracle.data_term(&other) > term, "not the least squares: {what}");
            }
        }
    } else if report.constrained.is_none() {
        let violation = oracle.violation(&codes);
        assert!(violation <= 1e-4, "optimality conditions violated by {violation:e}: {what}");
    }
}

/// The codes are optimal for the weights of their own residual, and the objective is that of the
/// loss.
fn check_reweighted(answer: &Answer<f64>, problem: &Problem, what: &str) {
    let (report, needles) = (&answer.report, &answer.needles[0]);
    assert_eq!(report.status, Status::Converged, "{what}");
    let made = needles.synthesise(&problem.dictionary).expect("a synthesis");
    let given = |i: usize| problem.observed.mask.as_ref().map_or(1.0, |m| m.channel(0)[i]);
    let samples = problem.observed.signal.data().iter().zip(made.data()).enumerate();
    let squared: Vec<f64> =
        samples.map(|(i, (y, x))| (given(i) * (y - x) / SCALE).powi(2)).collect();
    let weights = squared.iter().enumerate().map(|(i, r)| given(i) / (1.0 + r).sqrt()).collect();
    let weights = Signal::from_planar(problem.observed.signal.extent(), 1, weights).unwrap();
    let mask = lobcod::Mask::weighted(weights).expect("a mask");
    let observed = Observed { mask: Some(mask), ..problem.observed.clone() };
    let params = problem.params.clone().with(|p| {
        p.loss = Loss::Squares;
        p.penalty = Penalty::Absolute(report.penalty);
    });
    let oracle = Oracle::new(&params, &observed, &problem.dictionary);
    let codes = oracle.codes(needles);
    let (gap, objective) = (oracle.gap(&codes), oracle.objective(&codes));
    assert!(gap <= 1.01e-6 * objective, "gap {gap} of {objective}: {what}");
    let certified = report.total.objective;
    assert!((certified - objective).abs() <= 1e-9 * objective, "{certified}, {objective}: {what}");
    assert_eq!(report.signals[0].penalty_max, report.total.penalty_max, "{what}");
    let loss: f64 = squared.iter().map(|r| 0.5 * SCALE * SCALE * r.ln_1p()).sum();
    let whole = loss + objective - oracle.data_term(&codes);
    let reported = report.reweighted.expect("reweighted").objective;
    assert!((reported - whole).abs() <= 1e-5 * whole, "{reported} instead of {whole}: {what}");
}

/// Outliers disturb the codes of squares, but hardly those of the Cauchy loss.
#[test]
fn the_cauchy_loss_ignores_outliers() {
    let extent = Extent::new(&[200]).unwrap();
    let dictionary = Dictionary::<f64>::random(Extent::new(&[9]).unwrap(), 1, 4, 1).unwrap();
    let code = |i: u32| Code {
        position: [0, 0, 20 * i as i32 + 5],
        atom: i % 4,
        channel: 0,
        value: 5.0 + f64::from(i),
    };
    let truth = Needles::new(extent, 1, Border::Free, (0..9).map(code).collect());
    let clean = truth.synthesise(&dictionary).unwrap();
    let mut signal = clean.clone();
    (0..200).step_by(17).for_each(|i| signal.data_mut()[i] += 40.0);
    let error = |loss: Loss| {
        let params = PursuitParams::new(Penalty::Absolute(0.2)).with(|p| p.loss = loss);
        let observed = [signal.clone().into()];
        let answer = params.check().unwrap().run(&cpu(1), &observed, &dictionary, &mut ()).unwrap();
        let made = answer.needles[0].synthesise(&dictionary).unwrap();
        made.data().iter().zip(clean.data()).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
    };
    let (squares, cauchy) = (error(Loss::Squares), error(Loss::Cauchy(0.5)));
    assert!(cauchy < 0.02 * squares, "{cauchy} against {squares}");
}

/// Weights that are refused, with the words of the sentence.
#[test]
fn wrong_weights_are_refused() {
    let good = problem([CoefficientWeights, CoefficientWeights]);
    let run = |observed: &Observed<f64>, dictionary: &Dictionary<f64>| {
        let pursuit = good.params.clone().check().expect("valid");
        pursuit.run(&cpu(1), std::slice::from_ref(observed), dictionary, &mut ())
    };
    let with = |change: &dyn Fn(&mut [f64])| {
        let mut observed = good.observed.clone();
        change(observed.coefficient_weights.as_mut().expect("weights").data_mut());
        run(&observed, &good.dictionary).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(with(&|_| ()), Ok(()));
    for wrong in [-1.0, f64::NAN] {
        let refused = with(&|weights| weights[7] = wrong).expect_err("a wrong weight");
        assert!(refused.contains("the weight of a coefficient"), "{refused}");
    }
    let mut observed = good.observed.clone();
    observed.coefficient_weights = Some(problems::uniform(
        observed.signal.extent(),
        good.dictionary.len(),
        0.5..1.0,
        &mut ChaCha8Rng::seed_from_u64(1),
    ));
    let refused = run(&observed, &good.dictionary).expect_err("a wrong shape").to_string();
    assert!(refused.contains("atoms, then positions"), "{refused}");
}

/// A bound above the norm of the signal is met by zero codes; one below every fit is refused.
#[test]
fn extreme_bounds_have_the_obvious_answers() {
    let mut problem = problem([MaxError, MaxError]);
    problem.params.penalty = Penalty::MaxError(1e6);
    let answer = solve(problem.params.clone(), &problem).expect("an answer");
    assert_eq!(answer.needles[0].nonzeros(), 0);
    assert_eq!(answer.report.constrained.expect("constrained").gap, 0.0);
    // One atom cannot fit noise.
    problem.dictionary =
        Dictionary::new(problem.dictionary.extent(), 1, problem.dictionary.atom(0).to_vec())
            .expect("one atom");
    problem.params.border = Border::Inside;
    problem.params.penalty = Penalty::MaxError(1e-6);
    let refused = solve(problem.params.clone(), &problem).expect_err("impossible").to_string();
    assert!(refused.contains("does not fall below"), "{refused}");
}

/// The optimum of the l1 loss is between bounds that the oracle derives from a Huber loss.
fn check_l1(answer: &Answer<f64>, problem: &Problem, what: &str) {
    assert_eq!(answer.report.status, Status::Converged, "{what}");
    let small = 3e-3;
    let huber = problem.params.clone().with(|p| {
        p.loss = Loss::Huber(small);
        p.penalty = Penalty::Absolute(small * L1_PENALTY);
    });
    let oracle = Oracle::new(&huber, &problem.observed, &problem.dictionary);
    let lower = oracle.objective(&oracle.solve()) / small;
    let objective = answer.report.total.objective;
    assert!(objective >= lower * (1.0 - 1e-9), "{objective} below {lower}: {what}");
    // A Huber loss divided by its bound is below the absolute value by half the bound at most.
    let samples = problem.observed.signal.extent().volume() as f64;
    let upper = lower + samples * 0.5 * small;
    assert!(objective - upper <= answer.report.total.gap, "{objective} {upper}: {what}");
    assert!(objective <= upper * (1.0 + 2e-4), "{objective} above {upper}: {what}");
    let needles = &answer.needles[0];
    let sum = needles.synthesise(&problem.dictionary).expect("a synthesis");
    let known = |i: usize| problem.observed.mask.as_ref().map_or(1.0, |m| m.channel(0)[i]);
    let samples = problem.observed.signal.data().iter().zip(sum.data()).enumerate();
    let error: f64 = samples.map(|(i, (y, x))| known(i) * (y - x).abs()).sum();
    let recomputed = error + L1_PENALTY * oracle.weighted_l1(&oracle.codes(needles));
    assert!(
        (objective - recomputed).abs() <= 1e-9 * recomputed,
        "{objective} {recomputed}: {what}"
    );
}

#[test]
fn the_l1_loss_in_single_precision_ends_with_the_best_codes_found() {
    fn objective<T: Real>(signal: &Signal<f64>, dictionary: &Dictionary<f64>) -> f64 {
        let params = PursuitParams::new(Penalty::Absolute(1.0)).with(|p| p.loss = Loss::L1);
        let (observed, dictionary) = ([signal.cast::<T>().into()], dictionary.cast::<T>());
        let pursuit = params.check().unwrap();
        let answer = pursuit.run(&cpu(1), &observed, &dictionary, &mut ()).unwrap();
        let made = answer.needles[0].synthesise(&dictionary).unwrap();
        let samples = signal.data().iter().zip(made.data());
        let error: f64 = samples.map(|(y, x)| (y - x.to_f64()).abs()).sum();
        error + answer.needles[0].codes().iter().map(|c| c.value.to_f64().abs()).sum::<f64>()
    }
    let extent = Extent::new(&[26, 26]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let steps = (0..676).map(|i| {
        let (y, x) = (i / 26, i % 26);
        150.0 + 60.0 * f64::from(x / 9 + y / 11) + rng.random_range(-8.0..8.0)
    });
    let signal = Signal::from_planar(extent, 1, steps.collect()).unwrap();
    let dictionary = Dictionary::dct(Extent::new(&[5, 5]).unwrap(), 1, 12).unwrap();
    let (double, single) =
        (objective::<f64>(&signal, &dictionary), objective::<f32>(&signal, &dictionary));
    assert!(single <= 1.02 * double, "{single} in single precision, {double} in double");
}

#[test]
fn the_l1_loss_is_solved_to_its_own_gap_with_a_mask_of_known_samples() {
    let (border, observation) = (Border::Periodic, Observation::Known);
    let mut problem = Problem::new(9, SHAPES[1], border, observation, Extra::Plain).unwrap();
    problem.params.loss = Loss::L1;
    problem.params.penalty = Penalty::Absolute(L1_PENALTY);
    problem.params.tolerance = 1e-4;
    let answer = solve(problem.params.clone(), &problem).expect("an answer");
    check_l1(&answer, &problem, &problem.to_string());
}
