//! Inpainting: hidden samples are never read, known ones are kept, and what is filled in is better than a smooth guess.

use lobcod::base::local_mean;
use lobcod::tasks::inpaint::{InpaintParams, Inpainted};
use lobcod::{Control, Dictionary, Extent, Mask, Progress, Signal, Status, metrics};
use std::time::Duration;

/// Stripes of two directions on a slope, one phase a channel.
fn picture(height: usize, width: usize, channels: usize) -> Signal<f32> {
    let value = |i: usize| {
        let (c, y, x) = (i / (height * width), (i / width) % height, i % width);
        let stripes = if x + y < (height + width) / 2 { (0.8 * x as f32 + c as f32).sin() } else { (0.7 * y as f32).cos() };
        120.0 + 50.0 * stripes + 0.5 * x as f32 - 0.3 * y as f32
    };
    let data = (0..height * width * channels).map(value).collect();
    Signal::from_planar(Extent::new(&[height, width]).unwrap(), channels, data).unwrap()
}

/// Half of the pixels, as good as at random.
fn half(extent: Extent) -> Vec<bool> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 63 == 1
    };
    (0..extent.volume()).map(|_| next()).collect()
}

/// One thread: the tests themselves run side by side.
fn usual() -> InpaintParams {
    InpaintParams { threads: 1, ..InpaintParams::default() }
}

fn fill(params: InpaintParams, picture: &Signal<f32>, known: &[bool]) -> Inpainted<f32> {
    let mask = Mask::from_known(picture.extent(), known).unwrap();
    params.check().unwrap().run(picture, &mask, &[Dictionary::natural()], &mut ()).unwrap()
}

fn with_hidden(picture: &Signal<f32>, known: &[bool], hidden: f32) -> Signal<f32> {
    let mut damaged = picture.clone();
    let places = damaged.data_mut().iter_mut().enumerate().filter(|(i, _)| !known[i % known.len()]);
    places.for_each(|(_, x)| *x = hidden);
    damaged
}

#[test]
fn hidden_samples_are_never_read() {
    for channels in [1, 3] {
        let truth = picture(40, 36, channels);
        let known = half(truth.extent());
        let params = InpaintParams { learn: channels == 1, windows: vec![1.0, 0.5], ..usual() };
        let answers: Vec<_> = [0.0, 1e9, f32::NAN].map(|x| fill(params.clone(), &with_hidden(&truth, &known, x), &known)).into();
        for other in &answers[1..] {
            assert_eq!(answers[0].picture, other.picture);
            assert_eq!(answers[0].fit, other.fit);
            assert_eq!(answers[0].report.path, other.report.path);
        }
    }
}

#[test]
fn known_samples_are_kept_and_the_fit_is_close_to_them() {
    let truth = picture(48, 48, 3);
    let known = half(truth.extent());
    let filled = fill(usual(), &truth, &known);
    let (mut differ, mut worst) = (0, 0.0f32);
    for i in (0..truth.data().len()).filter(|i| known[i % known.len()]) {
        assert_eq!(filled.picture.data()[i].to_bits(), truth.data()[i].to_bits());
        differ += usize::from(filled.fit.data()[i] != truth.data()[i]);
        worst = worst.max((filled.fit.data()[i] - truth.data()[i]).abs());
    }
    assert!(differ > 100 && worst < 25.0, "{differ} samples of the fit differ, by {worst} at most");
}

#[test]
fn texture_is_filled_far_better_than_by_the_local_mean() {
    let truth = picture(64, 64, 1);
    let known = half(truth.extent());
    let mask = Mask::from_known(truth.extent(), &known).unwrap();
    let smooth = local_mean(&truth, Some(&mask), Extent::new(&[8, 8]).unwrap()).unwrap();
    let guess = Signal::from_planar(
        truth.extent(),
        1,
        (0..known.len()).map(|i| if known[i] { truth.data()[i] } else { smooth.data()[i] }).collect(),
    );
    let plain = metrics::psnr(&guess.unwrap(), &truth, 255.0).unwrap();
    let given = metrics::psnr(&fill(usual(), &truth, &known).picture, &truth, 255.0).unwrap();
    assert!(given > plain + 8.0, "{given:.2} dB against {plain:.2} dB");
}

#[test]
fn atoms_learnt_on_the_damaged_picture_take_over_where_given_ones_fail() {
    // A tile of noise, again and again: no photograph has it.
    let noise = |i: usize| ((i * i * 7919 + i * 104_729) % 181) as f32 + 40.0;
    let tiles = (0..96 * 96).map(|i| noise((i / 96) % 7 * 9 + (i % 96) % 9)).collect();
    let truth = Signal::from_planar(Extent::new(&[96, 96]).unwrap(), 1, tiles).unwrap();
    let known = half(truth.extent());
    let given = fill(usual(), &truth, &known);
    let learnt = fill(InpaintParams { learn: true, windows: vec![1.0, 0.5], ..usual() }, &truth, &known);
    let [given_db, learnt_db] = [&given, &learnt].map(|a| metrics::psnr(&a.picture, &truth, 255.0).unwrap());
    assert!(learnt_db > given_db + 3.0, "learnt atoms reach {learnt_db:.2} dB, given ones {given_db:.2} dB");
    assert!(learnt.learnt.as_ref().is_some_and(|d| *d != Dictionary::natural()) && given.learnt.is_none());
    let share = |learnt: bool, of: &Inpainted<f32>| {
        of.report.answers.iter().filter(|a| a.learnt == learnt).map(|a| a.weight).sum::<f64>()
    };
    assert!(share(true, &learnt) > 0.9 && (share(true, &learnt) + share(false, &learnt) - 1.0).abs() < 1e-12);
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let truth = picture(70, 90, 1);
    let known = half(truth.extent());
    let run =
        |threads| fill(InpaintParams { threads, learn: true, variants: 2, windows: vec![1.0, 0.5], ..usual() }, &truth, &known);
    let one = run(1);
    for threads in [2, 3] {
        let other = run(threads);
        assert_eq!(one.fit, other.fit);
        assert_eq!(one.report.answers, other.report.answers);
    }
}

#[test]
fn the_penalty_follows_the_noise() {
    let truth = picture(64, 64, 1);
    let known = half(truth.extent());
    let mut state = 5u64;
    let mut noise = || {
        let mut sum = -6.0;
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            sum += (state >> 40) as f32 / (1u64 << 24) as f32;
        }
        sum
    };
    let noisy = Signal::from_planar(truth.extent(), 1, truth.data().iter().map(|x| x + 25.0 * noise()).collect()).unwrap();
    let (clean, rough) = (fill(usual(), &truth, &known), fill(usual(), &noisy, &known));
    assert!(rough.report.penalty > 4.0 * clean.report.penalty, "{} and {}", rough.report.penalty, clean.report.penalty);
    let [fit, kept] = [&rough.fit, &rough.picture].map(|a| metrics::psnr(a, &truth, 255.0).unwrap());
    assert!(fit > kept + 1.0, "the fit of noisy samples should be smoother: {fit:.2} against {kept:.2} dB");
}

#[test]
fn the_answer_scales_with_the_signal() {
    let truth = picture(40, 40, 1);
    let known = half(truth.extent());
    let small = Signal::from_planar(truth.extent(), 1, truth.data().iter().map(|x| x / 256.0).collect()).unwrap();
    let (large, small) = (fill(usual(), &truth, &known), fill(usual(), &small, &known));
    // A power of 2 changes exponents only.
    assert!(large.fit.data().iter().zip(small.fit.data()).all(|(a, b)| (a - 256.0 * b).abs() < 1e-2));
    assert!((large.report.penalty / small.report.penalty - 256.0).abs() < 1.0);
}

#[test]
fn holes_larger_than_any_window_are_filled_smoothly() {
    let truth = picture(80, 80, 1);
    let inside = |i: usize| (20..60).contains(&(i / 80)) && (20..60).contains(&(i % 80));
    let known: Vec<bool> = (0..6400).map(|i| !inside(i)).collect();
    let filled = fill(usual(), &with_hidden(&truth, &known, f32::NAN), &known);
    let (low, high) =
        (truth.data().iter().copied().fold(f32::MAX, f32::min), truth.data().iter().copied().fold(f32::MIN, f32::max));
    let values = filled.picture.data();
    assert!(values.iter().all(|x| x.is_finite() && *x > low - 30.0 && *x < high + 30.0));
    // Deep inside nothing is known of the stripes: neighbours must differ by little.
    for y in 32..48 {
        for x in 32..48 {
            let i = 80 * y + x;
            assert!((values[i] - values[i + 1]).abs() < 4.0 && (values[i] - values[i + 80]).abs() < 4.0, "a step at {y}, {x}");
        }
    }
}

#[test]
fn nothing_missing_comes_back_unchanged_and_nothing_known_is_refused() {
    let truth = picture(20, 20, 1);
    let filled = fill(usual(), &truth, &[true; 400]);
    assert_eq!((&filled.picture, &filled.fit), (&truth, &truth));
    assert!(filled.report.answers.is_empty() && filled.report.penalty == 0.0);
    assert!(Mask::<f32>::from_known(truth.extent(), &[false; 400]).is_err());
    // One channel without a known sample is as bad.
    let colour = picture(20, 20, 3);
    let weights = (0..1200).map(|i| if i < 400 { 0.0 } else { 1.0 }).collect();
    let mask = Mask::new(Signal::from_planar(colour.extent(), 3, weights).unwrap()).unwrap();
    let refused = usual().check().unwrap().run(&colour, &mask, &[Dictionary::natural()], &mut ());
    assert!(refused.unwrap_err().to_string().contains("channel 0"));
}

#[test]
fn flat_and_nearly_unknown_pictures_are_filled() {
    let extent = Extent::new(&[30, 30]).unwrap();
    let flat = Signal::from_planar(extent, 1, vec![77.0f32; 900]).unwrap();
    let filled = fill(usual(), &flat, &half(extent));
    assert!(filled.picture.data().iter().all(|x| (x - 77.0).abs() < 1e-3));
    let truth = picture(30, 30, 1);
    for count in [1, 2, 40] {
        let known: Vec<bool> = (0..900).map(|i| i % (900 / count) == 7).collect();
        let filled = fill(InpaintParams { learn: true, ..usual() }, &truth, &known);
        assert!(filled.picture.data().iter().all(|x| x.is_finite() && (-50.0..300.0).contains(x)));
    }
}

#[test]
fn masks_of_channels_that_differ_and_atoms_of_colour_are_welcome() {
    let truth = picture(32, 32, 3);
    let known: Vec<bool> = (0..3072).map(|i| (i * 7919 / 13) % 3 != 0).collect();
    let weights = known.iter().map(|&k| if k { 1.0 } else { 0.0 }).collect();
    let mask = Mask::new(Signal::from_planar(truth.extent(), 3, weights).unwrap()).unwrap();
    let colour = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 3, 40, 1).unwrap();
    let inpaint = usual().check().unwrap();
    for dictionary in [Dictionary::natural(), colour] {
        let filled = inpaint.run(&truth, &mask, &[dictionary], &mut ()).unwrap();
        for (i, &known) in known.iter().enumerate() {
            assert!(!known || filled.picture.data()[i] == truth.data()[i]);
            assert!((filled.picture.data()[i] - truth.data()[i]).abs() < 90.0);
        }
    }
}

#[test]
fn sequences_are_filled_too() {
    let extent = Extent::new(&[400]).unwrap();
    let truth = Signal::from_planar(extent, 1, (0..400).map(|t| (0.3 * t as f32).sin()).collect()).unwrap();
    let known = half(extent);
    let mask = Mask::from_known(extent, &known).unwrap();
    let cosines = Dictionary::dct(Extent::new(&[16]).unwrap(), 1, 17).unwrap();
    let filled = usual().check().unwrap().run(&truth, &mask, &[cosines], &mut ()).unwrap();
    assert!(metrics::psnr(&filled.picture, &truth, 2.0).unwrap() > 14.0);
}

#[test]
fn the_observer_and_the_clock_end_the_work_with_an_answer() {
    let truth = picture(60, 60, 1);
    let known = half(truth.extent());
    let mask = Mask::from_known(truth.extent(), &known).unwrap();
    let inpaint = InpaintParams { learn: true, windows: vec![1.0, 0.5], ..usual() }.check().unwrap();
    let mut whole = 0;
    let mut count = |_: &Progress| {
        whole += 1;
        Control::Continue
    };
    let done = inpaint.run(&truth, &mask, &[Dictionary::natural()], &mut count).unwrap();
    assert_eq!(done.report.status, Status::Converged);
    for limit in [1, 9, whole / 2, whole - 1] {
        let mut calls = 0;
        let mut stop = |p: &Progress| {
            calls += 1;
            assert!(p.objective.is_finite() && p.stage_penalty > 0.0);
            if calls >= limit { Control::Stop } else { Control::Continue }
        };
        let filled = inpaint.run(&truth, &mask, &[Dictionary::natural()], &mut stop).unwrap();
        assert_eq!((filled.report.status, calls), (Status::Interrupted, limit));
        assert!(filled.picture.data().iter().all(|x| x.is_finite()) && !filled.report.answers.is_empty());
    }
    let hurried = InpaintParams { time_limit: Some(Duration::ZERO), ..usual() };
    let filled = fill(hurried, &truth, &known);
    assert_eq!((filled.report.status, filled.report.discovery_sweeps), (Status::TimeLimit, 1));
}

#[test]
fn a_penalty_asked_for_is_the_one_the_codes_end_at() {
    let truth = picture(40, 40, 1);
    let known = half(truth.extent());
    for penalty in [0.5, 30.0] {
        let filled = fill(InpaintParams { penalty: Some(penalty), ..usual() }, &truth, &known);
        assert_eq!((filled.report.penalty, filled.report.path.last().unwrap().penalty), (penalty, penalty));
    }
    let unjudged = fill(InpaintParams { held_out: 0.0, ..usual() }, &truth, &known);
    assert!(unjudged.report.held_out == 0 && unjudged.report.path.iter().all(|p| p.held_out_error.is_none()));
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (params, word) in [
        (InpaintParams { penalty: Some(0.0), ..usual() }, "penalty"),
        (InpaintParams { penalty: Some(f64::NAN), ..usual() }, "penalty"),
        (InpaintParams { density: -1.0, ..usual() }, "density"),
        (InpaintParams { variants: 0, ..usual() }, "variants"),
        (InpaintParams { variants: 9, ..usual() }, "variants"),
        (InpaintParams { windows: vec![], ..usual() }, "windows"),
        (InpaintParams { windows: vec![1.0, 0.0], ..usual() }, "window"),
        (InpaintParams { held_out: 0.6, ..usual() }, "held out"),
    ] {
        assert!(params.check().unwrap_err().to_string().contains(word), "{word}");
    }
    let truth = picture(16, 16, 1);
    let mask = Mask::from_known(truth.extent(), &half(truth.extent())).unwrap();
    let inpaint = usual().check().unwrap();
    assert!(inpaint.run(&truth, &mask, &[], &mut ()).is_err());
    let line = Dictionary::random(Extent::new(&[9]).unwrap(), 1, 4, 0).unwrap();
    assert!(inpaint.run(&truth, &mask, &[line], &mut ()).is_err());
    let colour = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 3, 4, 0).unwrap();
    assert!(inpaint.run(&truth, &mask, &[colour], &mut ()).is_err());
    let tight = InpaintParams { max_memory: Some(1000), ..usual() }.check().unwrap();
    assert!(tight.run(&truth, &mask, &[Dictionary::natural()], &mut ()).unwrap_err().to_string().contains("memory"));
}
