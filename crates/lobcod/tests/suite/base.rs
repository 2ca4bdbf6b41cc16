//! Base layers: fast implementations against the definitions, and properties with masks.

use lobcod::base::{Base, local_mean, smooth};
use lobcod::{Error, Extent, Mask, Signal};
use proptest::prelude::*;

/// Pseudo-random numbers in [0, 1), reproducible by seed.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    (0..count).map(|_| next()).collect()
}

fn signal(axes: &[usize], channels: usize, seed: u64) -> Signal<f64> {
    let extent = Extent::new(axes).unwrap();
    let data =
        noise(extent.volume() * channels, seed).into_iter().map(|x| 200.0 * x - 50.0).collect();
    Signal::from_planar(extent, channels, data).unwrap()
}

/// Weights of which some are 0, some 1 and the rest in between; the first is never 0.
fn mask(axes: &[usize], channels: usize, missing: f64, seed: u64) -> Mask<f64> {
    let extent = Extent::new(axes).unwrap();
    let draws = noise(extent.volume() * channels, seed ^ 77);
    let mut weights: Vec<f64> =
        draws.iter().map(|&u| if u < missing { 0.0 } else { (u * 1.5).min(1.0) }).collect();
    weights[0] = 1.0;
    Mask::new(Signal::from_planar(extent, channels, weights).unwrap()).unwrap()
}

/// Walks to position `i` one step at a time, reversing at both ends.
fn reflected(i: i64, length: usize) -> usize {
    let (mut at, mut step) = (0i64, if i < 0 { -1 } else { 1 });
    for _ in 0..i.abs() {
        if length == 1 {
            return 0;
        }
        if !(0..length as i64).contains(&(at + step)) {
            step = -step;
        }
        at += step;
    }
    at as usize
}

/// `box(M I) / box(M)` by definition; `None` if the window contains no known sample.
fn naive_mean(
    signal: &Signal<f64>,
    mask: Option<&Mask<f64>>,
    window: [usize; 3],
) -> Vec<Option<f64>> {
    let size = signal.extent().padded();
    let [after, before] = [window.map(|n| (n - 1) / 2), window.map(|n| n - 1 - (n - 1) / 2)];
    let mut means = Vec::new();
    for c in 0..signal.channels() {
        for i in 0..signal.extent().volume() {
            let at =
                [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]].map(|x| x as i64);
            let range = |a: usize| at[a] - before[a] as i64..=at[a] + after[a] as i64;
            let (mut sum, mut weight) = (0.0, 0.0);
            for z in range(0) {
                for y in range(1) {
                    for x in range(2) {
                        let [z, y, x] =
                            [reflected(z, size[0]), reflected(y, size[1]), reflected(x, size[2])];
                        let j = (z * size[1] + y) * size[2] + x;
                        let w = mask.map_or(1.0, |m| m.channel(c)[j]);
                        weight += w;
                        sum += if w == 0.0 { 0.0 } else { w * signal.channel(c)[j] };
                    }
                }
            }
            means.push((weight > 0.0).then(|| sum / weight));
        }
    }
    means
}

/// One to three axes for a signal, and a window with as many.
fn shapes() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    prop_oneof![
        (1usize..40, 1usize..20).prop_map(|(l, n)| (vec![l], vec![n])),
        ([1usize..14, 1usize..14], [1usize..10, 1usize..10])
            .prop_map(|(l, n)| (l.to_vec(), n.to_vec())),
        ([1usize..7, 1usize..7, 1usize..7], [1usize..5, 1usize..5, 1usize..5])
            .prop_map(|(l, n)| (l.to_vec(), n.to_vec())),
    ]
}

/// Replaces missing samples by NaN.
fn spoiled(signal: &Signal<f64>, mask: &Mask<f64>) -> Signal<f64> {
    let mut spoiled = signal.clone();
    let v = signal.extent().volume();
    for (i, x) in spoiled.data_mut().iter_mut().enumerate() {
        if mask.channel(i / v)[i % v] == 0.0 {
            *x = f64::NAN;
        }
    }
    spoiled
}

fn bits(signal: &Signal<f64>) -> Vec<u64> {
    signal.data().iter().map(|x| x.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn local_mean_is_the_box_average(
        (axes, window) in shapes(),
        channels in 1usize..3,
        seed in 0u64..1000,
    ) {
        let image = signal(&axes, channels, seed);
        let window = Extent::new(&window).unwrap();
        let fast = local_mean(&image, None, window).unwrap();
        for (f, n) in fast.data().iter().zip(naive_mean(&image, None, window.padded())) {
            prop_assert!((f - n.unwrap()).abs() < 1e-11, "{f} is not {n:?}");
        }
    }

    #[test]
    fn masked_local_mean_is_the_average_of_known_samples(
        (axes, window) in shapes(),
        channels in 1usize..3,
        missing in 0.0f64..1.0,
        seed in 0u64..1000,
    ) {
        let image = signal(&axes, channels, seed);
        let known = mask(&axes, 1, missing, seed);
        let window = Extent::new(&window).unwrap();
        let fast = local_mean(&image, Some(&known), window).unwrap();
        let (low, high) =
            image.data().iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
        for (f, n) in fast.data().iter().zip(naive_mean(&image, Some(&known), window.padded())) {
            match n {
                Some(n) => prop_assert!((f - n).abs() < 1e-11, "{f} is not {n}"),
                None => prop_assert!(
                    (low - 1e-9..=high + 1e-9).contains(f),
                    "{f} is not within the range of the samples"
                ),
            }
        }
    }

    #[test]
    fn smooth_solves_its_system(
        (axes, _) in shapes(),
        channels in 1usize..3,
        mu in 0.01f64..50.0,
        missing in -0.5f64..0.95,
        seed in 0u64..1000,
    ) {
        let image = signal(&axes, channels, seed);
        let known = (missing >= 0.0).then(|| mask(&axes, channels, missing, seed));
        let layer = smooth(&image, known.as_ref(), mu).unwrap();
        for c in 0..channels {
            let weights = known
                .as_ref()
                .map_or(vec![1.0; image.extent().volume()], |m| m.channel(c).to_vec());
            if weights.iter().all(|&w| w == 0.0) {
                prop_assert!(layer.channel(c).iter().all(|&x| x == 0.0));
                continue;
            }
            let (mut residual, mut scale) = (0.0f64, 0.0f64);
            for (i, (b, y)) in layer.channel(c).iter().zip(image.channel(c)).enumerate() {
                let slopes: f64 =
                    neighbours(i, image.extent().padded()).map(|j| b - layer.channel(c)[j]).sum();
                let square = weights[i] * weights[i];
                residual += (square * (b - y) + mu * slopes).powi(2);
                scale += (square * y).powi(2);
            }
            let tolerance = if known.is_some() { 1e-8 } else { 1e-12 };
            prop_assert!(
                residual.sqrt() <= tolerance * scale.sqrt() + 1e-11,
                "{residual} against {scale}"
            );
        }
    }

    #[test]
    fn missing_samples_are_never_read(
        (axes, window) in shapes(),
        channels in 1usize..3,
        missing in 0.1f64..1.0,
        seed in 0u64..1000,
    ) {
        let image = signal(&axes, channels, seed);
        let known = mask(&axes, channels, missing, seed);
        let spoiled = spoiled(&image, &known);
        for base in [Base::LocalMean, Base::Smooth { mu: 2.0 }] {
            let [clean, other] = [&image, &spoiled]
                .map(|s| base.layer(s, Some(&known), Extent::new(&window).unwrap()).unwrap());
            prop_assert!(clean.data().iter().all(|x| x.is_finite()));
            prop_assert_eq!(bits(&clean), bits(&other));
        }
    }
}

/// Neighbours of `i` inside the box.
fn neighbours(i: usize, size: [usize; 3]) -> impl Iterator<Item = usize> {
    let at = [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]];
    let stride = [size[1] * size[2], size[2], 1];
    (0..3).flat_map(move |a| {
        let below = (at[a] > 0).then(|| i - stride[a]);
        let above = (at[a] + 1 < size[a]).then(|| i + stride[a]);
        below.into_iter().chain(above)
    })
}

#[test]
fn the_window_of_eight_reaches_four_back_and_three_ahead() {
    let mut impulse = vec![0.0; 21];
    impulse[10] = 8.0;
    let image = Signal::from_planar(Extent::new(&[21]).unwrap(), 1, impulse).unwrap();
    let mean = local_mean(&image, None, Extent::new(&[8]).unwrap()).unwrap();
    let touched: Vec<usize> = (0..21).filter(|&i| mean.data()[i] != 0.0).collect();
    assert_eq!(touched, (7..=14).collect::<Vec<_>>());
}

#[test]
fn a_large_hole_is_filled_without_a_jump() {
    // A ramp with a hole of 40x40 in the middle: ten times the window.
    let (n, window) = (80, 4);
    let image = Signal::from_planar(
        Extent::new(&[n, n]).unwrap(),
        1,
        (0..n * n).map(|i| (i % n) as f64).collect(),
    )
    .unwrap();
    let outside = |i: usize| i / n < 20 || i / n >= 60 || i % n < 20 || i % n >= 60;
    let known =
        Mask::from_known(image.extent(), &(0..n * n).map(outside).collect::<Vec<_>>()).unwrap();
    let mean = local_mean(&image, Some(&known), Extent::new(&[window, window]).unwrap()).unwrap();
    let row = &mean.data()[40 * n..41 * n];
    let jump = row.windows(2).map(|p| (p[1] - p[0]).abs()).fold(0.0, f64::max);
    // The ramp itself rises by 40 across the hole.
    assert!(jump < 8.0, "the fill jumps by {jump}");
    assert!((row[39] - 39.0).abs() < 12.0, "the middle of the hole is {}", row[39]);
}

#[test]
fn a_channel_without_a_known_sample_gets_zero() {
    let image = signal(&[6, 7], 2, 5);
    let weights = (0..84).map(|i| f64::from(i < 42)).collect();
    let known = Mask::new(Signal::from_planar(image.extent(), 2, weights).unwrap()).unwrap();
    for base in [Base::LocalMean, Base::Smooth { mu: 5.0 }] {
        let layer = base.layer(&image, Some(&known), Extent::new(&[3, 3]).unwrap()).unwrap();
        assert!(
            layer.channel(0).iter().all(|&x| x != 0.0)
                && layer.channel(1).iter().all(|&x| x == 0.0)
        );
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let image = signal(&[33, 21], 3, 9);
    let known = mask(&[33, 21], 1, 0.5, 9);
    let known32 = Mask::new(known.weights().cast::<f32>()).unwrap();
    for base in [Base::None, Base::LocalMean, Base::Smooth { mu: 5.0 }] {
        let window = Extent::new(&[8, 8]).unwrap();
        let wide = base.layer(&image, Some(&known), window).unwrap();
        let narrow = base.layer(&image.cast::<f32>(), Some(&known32), window).unwrap();
        for (w, n) in wide.data().iter().zip(narrow.data()) {
            assert!((w - f64::from(*n)).abs() < 1e-4, "{w} is not {n}");
        }
    }
}

#[test]
fn invalid_input_is_rejected() {
    let image = signal(&[6, 7], 1, 1);
    let box2 = Extent::new(&[3, 3]).unwrap();
    assert!(matches!(local_mean(&image, None, Extent::new(&[3]).unwrap()), Err(Error::Shape(_))));
    assert!(matches!(
        local_mean(&image, Some(&mask(&[7, 6], 1, 0.5, 1)), box2),
        Err(Error::Shape(_))
    ));
    for mu in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(smooth(&image, None, mu), Err(Error::Parameter { .. })));
    }
    let mut broken = image.clone();
    broken.data_mut()[3] = f64::NAN;
    assert!(matches!(local_mean(&broken, None, box2), Err(Error::Data(_))));
    assert!(matches!(smooth(&broken, None, 1.0), Err(Error::Data(_))));
}

#[test]
fn names_round_trip() {
    for (text, base) in [
        ("none", Base::None),
        ("local-mean", Base::LocalMean),
        ("smooth", Base::Smooth { mu: 5.0 }),
        ("smooth:0.25", Base::Smooth { mu: 0.25 }),
    ] {
        assert_eq!(text.parse::<Base>().unwrap(), base);
        assert_eq!(base.to_string(), text);
    }
    for wrong in ["", "mean", "smooth:", "smooth:0", "smooth:-1", "smooth:nan", "smooth:inf"] {
        assert!(wrong.parse::<Base>().is_err(), "{wrong} was accepted");
    }
}
