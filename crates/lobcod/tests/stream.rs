//! Learning from a stream: it learns, follows a change, keeps within its memory, and goes on from a checkpoint bit for bit.

use lobcod::{
    Border, Control, Dictionary, Error, Extent, LearnParams, Mask, Observed, Penalty, Progress, PursuitParams, Signal, Stream,
};

/// Stripes across the direction `angle`, of many phases and a little texture.
fn stripes(angle: f32, number: usize) -> Observed<f32> {
    let (dx, dy) = (angle.cos(), angle.sin());
    let sample = |i: usize| {
        let (y, x) = ((i / 40) as f32, (i % 40) as f32);
        let texture = ((i * 7919 + number * 104_729) % 101) as f32 / 500.0;
        (1.1 * (x * dx + y * dy) + number as f32).sin() + texture
    };
    Signal::from_planar(Extent::new(&[40, 40]).unwrap(), 1, (0..1600).map(sample).collect()).unwrap().into()
}

fn params() -> LearnParams {
    LearnParams { threads: 2, stream_memory: 4, ..LearnParams::new(Penalty::Absolute(0.4)) }
}

fn stream(params: LearnParams) -> Stream<f32> {
    let first = Dictionary::random(Extent::new(&[6, 6]).unwrap(), 1, 6, 1).unwrap();
    params.check().unwrap().stream(&first).unwrap()
}

fn feed(stream: &mut Stream<f32>, angle: f32, numbers: std::ops::Range<usize>) {
    for number in numbers {
        assert_eq!(stream.partial_fit(&[stripes(angle, number)], &mut ()).unwrap(), Control::Continue);
    }
}

fn cost(dictionary: &Dictionary<f32>, signal: Observed<f32>) -> f64 {
    let pursuit = PursuitParams::new(Penalty::Absolute(0.4)).check().unwrap();
    pursuit.run(&[signal], dictionary, &mut ()).unwrap().report.total.objective
}

#[test]
fn it_learns_from_one_signal_after_the_other_and_follows_when_they_change() {
    let (one, other) = (0.3, 1.9);
    let mut stream = stream(params());
    let first = stream.dictionary().clone();
    feed(&mut stream, one, 0..8);
    let learnt = stream.dictionary().clone();
    assert!(cost(&learnt, stripes(one, 99)) < 0.6 * cost(&first, stripes(one, 99)), "nothing was learnt");
    feed(&mut stream, other, 0..8);
    let followed = stream.dictionary();
    assert!(cost(followed, stripes(other, 99)) < 0.7 * cost(&learnt, stripes(other, 99)), "the change was not followed");
    assert_eq!(stream.history().len(), 16);
}

#[test]
fn a_resumed_stream_goes_on_with_the_same_bits_on_any_number_of_threads() {
    let mut whole = stream(params());
    feed(&mut whole, 0.5, 0..6);
    let mut half = stream(LearnParams { threads: 1, ..params() });
    feed(&mut half, 0.5, 0..3);
    let mut resumed = stream(LearnParams { threads: 3, ..params() });
    resumed.take_up(&half.checkpoint()).unwrap();
    feed(&mut resumed, 0.5, 3..6);
    assert_eq!(resumed.dictionary(), whole.dictionary());
    let mut other = stream(LearnParams { seed: 5, ..params() });
    assert!(other.take_up(&half.checkpoint()).unwrap_err().to_string().contains("other parameters"));
    let mut damaged = half.checkpoint();
    damaged.memory.get_mut("pulls").unwrap().pop();
    assert!(half.take_up(&damaged).unwrap_err().to_string().contains("damaged"));
}

#[test]
fn what_is_hidden_teaches_nothing_and_what_is_known_does() {
    let hole = |i: usize| (i * 31 % 10) < 4;
    let mask = (0..1600).map(|i| if hole(i) { 0.0 } else { 1.0 }).collect();
    let mask = Mask::new(Signal::from_planar(Extent::new(&[40, 40]).unwrap(), 1, mask).unwrap()).unwrap();
    let learn = |junk: f32| {
        let mut stream = stream(params());
        for i in 0..4 {
            let mut signal = stripes(0.3, i);
            signal.signal.data_mut().iter_mut().enumerate().filter(|(i, _)| hole(*i)).for_each(|(_, x)| *x = junk);
            stream.partial_fit(&[Observed { mask: Some(mask.clone()), ..signal }], &mut ()).unwrap();
        }
        stream.dictionary().clone()
    };
    let learnt = learn(0.0);
    assert_eq!(learnt, learn(f32::NAN), "hidden samples were read");
    let first = stream(params()).dictionary().clone();
    assert!(cost(&learnt, stripes(0.3, 99)) < 0.8 * cost(&first, stripes(0.3, 99)), "nothing was learnt from damaged signals");
}

#[test]
fn borders_sizes_limits_and_stops() {
    for border in Border::ALL {
        let mut stream = stream(LearnParams { border, ..params() });
        stream.partial_fit(&[stripes(0.3, 1), stripes(0.3, 2)], &mut ()).unwrap();
        let small = Signal::from_planar(Extent::new(&[9, 11]).unwrap(), 1, (0..99).map(|i| (i as f32).sin()).collect()).unwrap();
        stream.partial_fit(&[small.into()], &mut ()).unwrap();
        assert_eq!(stream.history().len(), 2);
    }
    let mut stopped = stream(params());
    let before = stopped.dictionary().clone();
    assert_eq!(stopped.partial_fit(&[stripes(0.3, 1)], &mut |_: &Progress| Control::Stop).unwrap(), Control::Stop);
    assert_eq!((stopped.dictionary(), stopped.history().len()), (&before, 0), "a stopped call leaves the model as it was");
    let first = Dictionary::<f32>::random(Extent::new(&[6, 6]).unwrap(), 1, 6, 1).unwrap();
    let small = LearnParams { max_memory: Some(1000), ..params() }.check().unwrap().stream(&first);
    assert!(matches!(small, Err(Error::Limits { .. })));
    // A set far larger than the memory allowed goes through one signal at a time.
    let limit = 450_000;
    let mut tight = stream(LearnParams { max_memory: Some(limit), threads: 1, ..params() });
    let set: Vec<Observed<f32>> = (0..60).map(|i| stripes(0.3, i)).collect();
    assert!(matches!(tight.partial_fit(&set, &mut ()), Err(Error::Limits { .. })), "the whole set should not fit");
    feed(&mut tight, 0.3, 0..60);
    assert_eq!(tight.history().len(), 60);
    let zero = Signal::<f32>::zeros(Extent::new(&[20, 20]).unwrap(), 1);
    let mut relative = stream(LearnParams { penalty: Penalty::Relative(0.1), ..params() });
    assert!(relative.partial_fit(&[zero.into()], &mut ()).unwrap_err().to_string().contains("nothing to learn"));
}
