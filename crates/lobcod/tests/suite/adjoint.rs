//! Synthesis agrees with its definition, and borders are equivalent to masks.

use lobcod::{Border, Extent, Mask, Needles, Observed, Penalty, PursuitParams, Signal};
use lobcod_conformance::cpu;
use lobcod_conformance::matrix::dot;
use lobcod_conformance::suite::tight;
use lobcod_conformance::{Oracle, Problem, problems};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn objective(params: &PursuitParams, observed: Observed<f64>, problem: &Problem) -> f64 {
    let pursuit = params.clone().check().expect("valid parameters");
    pursuit
        .run(&cpu(0), &[observed], &problem.dictionary, &mut ())
        .unwrap_or_else(|e| panic!("{e} ({problem})"))
        .report
        .total
        .objective
}

#[test]
fn synthesis_is_the_matrix_product_and_correlation_its_adjoint() {
    for problem in problems::all() {
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let mut rng = ChaCha8Rng::seed_from_u64(problem.seed);
        let line = Extent::new(&[oracle.size()]).expect("at least one code");
        let codes = problems::uniform(line, 1, -1.0..1.0, &mut rng).into_data();
        let signal = &problem.observed.signal;
        let samples =
            problems::uniform(signal.extent(), signal.channels(), -1.0..1.0, &mut rng).into_data();

        let needles = Needles::new(
            signal.extent(),
            signal.channels(),
            problem.params.border,
            oracle.entries(&codes),
        );
        let ours = needles.synthesise(&problem.dictionary).expect("needles that fit").into_data();
        let theirs = oracle.synthesise(&codes);
        let size = dot(&theirs, &theirs).sqrt();
        for (a, b) in ours.iter().zip(&theirs) {
            assert!(
                (a - b).abs() <= 1e-13 * size,
                "synthesis {a}, by matrix product {b} ({problem})"
            );
        }
        let (left, right) = (dot(&ours, &samples), dot(&codes, &oracle.correlate(&samples)));
        assert!(
            (left - right).abs() <= 1e-12 * size * dot(&samples, &samples).sqrt(),
            "{left} is not {right} ({problem})"
        );
    }
}

#[test]
fn dense_maps_hold_the_codes_in_the_order_of_the_definition() {
    for problem in problems::some(4) {
        let oracle = Oracle::new(&problem.params, &problem.observed, &problem.dictionary);
        let codes: Vec<f64> =
            (0..oracle.size()).map(|i| if i % 5 == 1 { i as f64 } else { 0.0 }).collect();
        let signal = &problem.observed.signal;
        let needles = Needles::new(
            signal.extent(),
            signal.channels(),
            problem.params.border,
            oracle.entries(&codes),
        );
        let maps = needles.to_maps(&problem.dictionary);
        let atoms = problem.dictionary.len();
        let positions = needles.position_extent(&problem.dictionary).volume();
        assert_eq!(maps.len(), codes.len(), "one number per code ({problem})");
        for (i, value) in maps.iter().enumerate() {
            let plane = i / (atoms * positions);
            let atom = i / positions % atoms;
            let position = i % positions;
            assert_eq!(
                *value,
                codes[(plane * positions + position) * atoms + atom],
                "map entry {i} ({problem})"
            );
        }
    }
}

#[test]
fn mask_of_ones_is_equivalent_to_no_mask() {
    for problem in problems::some(6) {
        let params = tight::<f64>(&problem);
        let signal = problem.observed.signal.clone();
        let ones = Signal::from_planar(signal.extent(), 1, vec![1.0; signal.extent().volume()])
            .expect("one weight per sample");
        let plain = Observed { mask: None, ..problem.observed::<f64>() };
        let masked =
            Observed { mask: Some(Mask::new(ones).expect("known samples")), ..plain.clone() };
        let [plain, masked] =
            [plain, masked].map(|observed| objective(&params, observed, &problem));
        assert!(
            (plain - masked).abs() <= 1e-9 * plain,
            "{plain} without a mask, {masked} with ones ({problem})"
        );
    }
}

/// The signal and its mask inside a frame of unobserved zeros, `h - 1` wide.
fn framed(observed: &Observed<f64>, atom: Extent) -> Observed<f64> {
    let (signal, margin) = (&observed.signal, atom.padded().map(|h| h - 1));
    let size = signal.extent().padded();
    let axes: Vec<usize> =
        (3 - signal.extent().rank()..3).map(|a| size[a] + 2 * margin[a]).collect();
    let extent = Extent::new(&axes).expect("valid shape");
    let wide = extent.padded();
    let mut samples = Signal::zeros(extent, signal.channels());
    let mut weights = Signal::zeros(extent, signal.channels());
    for i in 0..signal.data().len() {
        let (channel, at) = (i / signal.extent().volume(), i % signal.extent().volume());
        let [z, y, x] = [
            at / (size[1] * size[2]) + margin[0],
            at / size[2] % size[1] + margin[1],
            at % size[2] + margin[2],
        ];
        let to = channel * extent.volume() + (z * wide[1] + y) * wide[2] + x;
        samples.data_mut()[to] = signal.data()[i];
        weights.data_mut()[to] =
            observed.mask.as_ref().map_or(1.0, |mask| mask.channel(channel)[at]);
    }
    Observed { mask: Some(Mask::new(weights).expect("known samples")), ..Observed::from(samples) }
}

#[test]
fn free_border_is_a_frame_of_hidden_samples_under_any_border() {
    let free = problems::all()
        .into_iter()
        .filter(|p| p.params.border == Border::Free && p.observed.penalty_map.is_none());
    for problem in free.step_by(3) {
        let Penalty::Relative(factor) = problem.params.penalty else {
            unreachable!("problems have relative penalties")
        };
        let penalty_max =
            Oracle::new(&problem.params, &problem.observed, &problem.dictionary).penalty_max();
        let params =
            tight::<f64>(&problem).with(|p| p.penalty = Penalty::Absolute(factor * penalty_max));
        let bare = objective(&params, problem.observed(), &problem);
        for border in Border::ALL {
            let params = params.clone().with(|p| p.border = border);
            let framed = objective(
                &params,
                framed(&problem.observed, problem.dictionary.extent()),
                &problem,
            );
            assert!(
                (bare - framed).abs() <= 1e-9 * bare,
                "{bare} bare, {framed} framed with border {border} ({problem})"
            );
        }
    }
}
