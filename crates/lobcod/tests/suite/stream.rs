//! Learning from a stream: it learns, adapts to a change, respects its memory limit, and resumes
//! from a checkpoint bit for bit.

use lobcod::{
    Border, Control, Dictionary, Error, Extent, LearnParams, Mask, Observed, Penalty, Progress,
    PursuitParams, Signal, Stream,
};
use lobcod_conformance::cpu;

/// Stripes across the direction `angle`, of many phases and a little texture.
fn stripes(angle: f32, number: usize) -> Observed<f32> {
    let (dx, dy) = (angle.cos(), angle.sin());
    let sample = |i: usize| {
        let (y, x) = ((i / 40) as f32, (i % 40) as f32);
        let texture = ((i * 7919 + number * 104_729) % 101) as f32 / 500.0;
        (1.1 * (x * dx + y * dy) + number as f32).sin() + texture
    };
    Signal::from_planar(Extent::new(&[40, 40]).unwrap(), 1, (0..1600).map(sample).collect())
        .unwrap()
        .into()
}

fn params() -> LearnParams {
    LearnParams::new(Penalty::Absolute(0.4)).with(|p| p.stream_memory = 4)
}

fn stream(params: LearnParams) -> Stream<f32> {
    let first = Dictionary::random(Extent::new(&[6, 6]).unwrap(), 1, 6, 1).unwrap();
    params.check().unwrap().stream(&first).unwrap()
}

fn feed(stream: &mut Stream<f32>, angle: f32, numbers: std::ops::Range<usize>) {
    feed_on(2, stream, angle, numbers);
}

fn feed_on(threads: usize, stream: &mut Stream<f32>, angle: f32, numbers: std::ops::Range<usize>) {
    for number in numbers {
        assert_eq!(
            stream.partial_fit(&cpu(threads), &[stripes(angle, number)], &mut ()).unwrap(),
            Control::Continue
        );
    }
}

fn cost(dictionary: &Dictionary<f32>, signal: Observed<f32>) -> f64 {
    let pursuit = PursuitParams::new(Penalty::Absolute(0.4)).check().unwrap();
    pursuit.run(&cpu(0), &[signal], dictionary, &mut ()).unwrap().report.total.objective
}

#[test]
fn a_stream_learns_and_adapts_to_changes() {
    let (one, other) = (0.3, 1.9);
    let mut stream = stream(params());
    let first = stream.dictionary().clone();
    feed(&mut stream, one, 0..8);
    let learnt = stream.dictionary().clone();
    assert!(
        cost(&learnt, stripes(one, 99)) < 0.6 * cost(&first, stripes(one, 99)),
        "nothing was learnt"
    );
    feed(&mut stream, other, 0..8);
    let followed = stream.dictionary();
    assert!(
        cost(followed, stripes(other, 99)) < 0.7 * cost(&learnt, stripes(other, 99)),
        "the stream did not adapt to the change"
    );
    assert_eq!(stream.history().len(), 16);
}

#[test]
fn a_resumed_stream_is_bit_identical_on_any_number_of_threads() {
    let mut whole = stream(params());
    feed(&mut whole, 0.5, 0..6);
    let mut half = stream(params());
    feed_on(1, &mut half, 0.5, 0..3);
    let mut resumed = stream(params());
    resumed.restore(&half.checkpoint()).unwrap();
    feed_on(3, &mut resumed, 0.5, 3..6);
    assert_eq!(resumed.dictionary(), whole.dictionary());
    let mut other = stream(params().with(|p| p.seed = 5));
    assert!(
        other.restore(&half.checkpoint()).unwrap_err().to_string().contains("other parameters")
    );
    let mut damaged = half.checkpoint();
    damaged.learner.get_mut("pulls").unwrap().pop();
    assert!(half.restore(&damaged).unwrap_err().to_string().contains("damaged"));
}

#[test]
fn a_stream_learns_only_from_known_samples() {
    let hole = |i: usize| (i * 31 % 10) < 4;
    let mask = (0..1600).map(|i| if hole(i) { 0.0 } else { 1.0 }).collect();
    let mask =
        Mask::new(Signal::from_planar(Extent::new(&[40, 40]).unwrap(), 1, mask).unwrap()).unwrap();
    let learn = |junk: f32| {
        let mut stream = stream(params());
        for i in 0..4 {
            let mut signal = stripes(0.3, i);
            signal
                .signal
                .data_mut()
                .iter_mut()
                .enumerate()
                .filter(|(i, _)| hole(*i))
                .for_each(|(_, x)| *x = junk);
            stream
                .partial_fit(&cpu(0), &[Observed { mask: Some(mask.clone()), ..signal }], &mut ())
                .unwrap();
        }
        stream.dictionary().clone()
    };
    let learnt = learn(0.0);
    assert_eq!(learnt, learn(f32::NAN), "masked samples were read");
    let first = stream(params()).dictionary().clone();
    assert!(
        cost(&learnt, stripes(0.3, 99)) < 0.8 * cost(&first, stripes(0.3, 99)),
        "nothing was learnt from damaged signals"
    );
}

#[test]
fn borders_sizes_limits_and_stops() {
    for border in Border::ALL {
        let mut stream = stream(params().with(|p| p.border = border));
        stream.partial_fit(&cpu(0), &[stripes(0.3, 1), stripes(0.3, 2)], &mut ()).unwrap();
        let small = Signal::from_planar(
            Extent::new(&[9, 11]).unwrap(),
            1,
            (0..99).map(|i| (i as f32).sin()).collect(),
        )
        .unwrap();
        stream.partial_fit(&cpu(0), &[small.into()], &mut ()).unwrap();
        assert_eq!(stream.history().len(), 2);
    }
    let mut stopped = stream(params());
    let before = stopped.dictionary().clone();
    assert_eq!(
        stopped
            .partial_fit(&cpu(0), &[stripes(0.3, 1)], &mut |_: &Progress| Control::Stop)
            .unwrap(),
        Control::Stop
    );
    assert_eq!(
        (stopped.dictionary(), stopped.history().len()),
        (&before, 0),
        "a stopped call changed the model"
    );
    let first = Dictionary::<f32>::random(Extent::new(&[6, 6]).unwrap(), 1, 6, 1).unwrap();
    let small = params().with(|p| p.max_memory = Some(1000)).check().unwrap().stream(&first);
    assert!(matches!(small, Err(Error::Limits { .. })));
    // A set far larger than the memory limit is processed one signal at a time.
    let limit = 450_000;
    let mut tight = stream(params().with(|p| p.max_memory = Some(limit)));
    let set: Vec<Observed<f32>> = (0..60).map(|i| stripes(0.3, i)).collect();
    assert!(
        matches!(tight.partial_fit(&cpu(1), &set, &mut ()), Err(Error::Limits { .. })),
        "the whole set should not fit"
    );
    feed_on(1, &mut tight, 0.3, 0..60);
    assert_eq!(tight.history().len(), 60);
    let zero = Signal::<f32>::zeros(Extent::new(&[20, 20]).unwrap(), 1);
    let mut relative = stream(params().with(|p| p.penalty = Penalty::Relative(0.1)));
    assert!(
        relative
            .partial_fit(&cpu(1), &[zero.into()], &mut ())
            .unwrap_err()
            .to_string()
            .contains("nothing to learn")
    );
}
