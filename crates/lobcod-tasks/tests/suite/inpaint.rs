//! Inpainting: missing samples are never read, known ones are kept, and the result is better than
//! smooth interpolation.

use lobcod::base::local_mean;
use lobcod::{Control, Dictionary, Extent, Mask, Progress, Signal, Status};
use lobcod_conformance::cpu;
use lobcod_tasks::inpaint::{InpaintParams, Inpainted, Preset};
use lobcod_tasks::metrics;
use std::time::Duration;

/// Stripes in two directions on a slope, with a different phase in each channel.
fn image(height: usize, width: usize, channels: usize) -> Signal<f32> {
    let value = |i: usize| {
        let c = i / (height * width);
        let y = (i / width) % height;
        let x = i % width;
        let stripes = if x + y < (height + width) / 2 {
            (0.8 * x as f32 + c as f32).sin()
        } else {
            (0.7 * y as f32).cos()
        };
        120.0 + 50.0 * stripes + 0.5 * x as f32 - 0.3 * y as f32
    };
    let data = (0..height * width * channels).map(value).collect();
    Signal::from_planar(Extent::new(&[height, width]).unwrap(), channels, data).unwrap()
}

/// Half of the pixels, pseudo-randomly.
fn half(extent: Extent) -> Vec<bool> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 63 == 1
    };
    (0..extent.volume()).map(|_| next()).collect()
}

fn usual() -> InpaintParams {
    InpaintParams::default()
}

/// On one thread: tests run in parallel.
fn fill(params: InpaintParams, image: &Signal<f32>, known: &[bool]) -> Inpainted<f32> {
    fill_on(1, params, image, known)
}

fn fill_on(
    threads: usize,
    params: InpaintParams,
    image: &Signal<f32>,
    known: &[bool],
) -> Inpainted<f32> {
    let mask = Mask::from_known(image.extent(), known).unwrap();
    params
        .check()
        .unwrap()
        .run(&cpu(threads), image, &mask, &[Dictionary::natural()], &mut ())
        .unwrap()
}

fn with_hidden(image: &Signal<f32>, known: &[bool], hidden: f32) -> Signal<f32> {
    let mut damaged = image.clone();
    let places = damaged.data_mut().iter_mut().enumerate().filter(|(i, _)| !known[i % known.len()]);
    places.for_each(|(_, x)| *x = hidden);
    damaged
}

#[test]
fn hidden_samples_are_never_read() {
    for channels in [1, 3] {
        let truth = image(40, 36, channels);
        let known = half(truth.extent());
        let params = usual().with(|p| {
            p.learn = channels == 1;
            p.windows = vec![1.0, 0.5];
        });
        let answers: Vec<_> = [0.0, 1e9, f32::NAN]
            .map(|x| fill(params.clone(), &with_hidden(&truth, &known, x), &known))
            .into();
        for other in &answers[1..] {
            assert_eq!(answers[0].image, other.image);
            assert_eq!(answers[0].fit, other.fit);
            assert_eq!(answers[0].report.path, other.report.path);
        }
    }
}

#[test]
fn known_samples_are_kept_and_the_fit_is_close_to_them() {
    let truth = image(48, 48, 3);
    let known = half(truth.extent());
    let filled = fill(usual(), &truth, &known);
    let (mut differ, mut worst) = (0, 0.0f32);
    for i in (0..truth.data().len()).filter(|i| known[i % known.len()]) {
        assert_eq!(filled.image.data()[i].to_bits(), truth.data()[i].to_bits());
        differ += usize::from(filled.fit.data()[i] != truth.data()[i]);
        worst = worst.max((filled.fit.data()[i] - truth.data()[i]).abs());
    }
    assert!(differ > 100 && worst < 25.0, "{differ} samples of the fit differ, by {worst} at most");
}

#[test]
fn what_is_far_from_holes_does_not_matter() {
    let truth = image(96, 160, 1);
    let known: Vec<bool> = (0..96 * 160).map(|i| !(79..82).contains(&(i % 160))).collect();
    let mut other = truth.clone();
    let far = other.data_mut().iter_mut().enumerate().filter(|(i, _)| i % 160 < 30);
    far.for_each(|(i, x)| *x = ((i * 37) % 251) as f32);
    let filled = fill(usual(), &truth, &known).image;
    let differing = fill(usual(), &other, &known).image;
    let holes = (0..known.len()).filter(|&i| !known[i]);
    assert!(holes.into_iter().all(|i| filled.data()[i] == differing.data()[i]));
}

#[test]
fn texture_is_filled_far_better_than_by_the_local_mean() {
    let truth = image(64, 64, 1);
    let known = half(truth.extent());
    let mask = Mask::from_known(truth.extent(), &known).unwrap();
    let smooth = local_mean(&truth, Some(&mask), Extent::new(&[8, 8]).unwrap()).unwrap();
    let guess = Signal::from_planar(
        truth.extent(),
        1,
        (0..known.len())
            .map(|i| if known[i] { truth.data()[i] } else { smooth.data()[i] })
            .collect(),
    );
    let plain = metrics::psnr(&guess.unwrap(), &truth, 255.0).unwrap();
    let given = metrics::psnr(&fill(usual(), &truth, &known).image, &truth, 255.0).unwrap();
    assert!(given > plain + 8.0, "{given:.2} dB against {plain:.2} dB");
}

#[test]
fn atoms_learnt_on_the_damaged_image_dominate_if_given_ones_fail() {
    // A repeated tile of noise, unlike any photograph.
    let noise = |i: usize| ((i * i * 7919 + i * 104_729) % 181) as f32 + 40.0;
    let tiles = (0..96 * 96).map(|i| noise((i / 96) % 7 * 9 + (i % 96) % 9)).collect();
    let truth = Signal::from_planar(Extent::new(&[96, 96]).unwrap(), 1, tiles).unwrap();
    let known = half(truth.extent());
    let given = fill(usual().with(|p| p.groups = 0), &truth, &known);
    let learnt = fill(
        usual().with(|p| {
            p.groups = 0;
            p.learn = true;
            p.windows = vec![1.0, 0.5];
        }),
        &truth,
        &known,
    );
    let [given_db, learnt_db] =
        [&given, &learnt].map(|a| metrics::psnr(&a.image, &truth, 255.0).unwrap());
    assert!(
        learnt_db > given_db + 3.0,
        "learnt atoms reach {learnt_db:.2} dB, given ones {given_db:.2} dB"
    );
    assert!(
        learnt.learnt.as_ref().is_some_and(|d| *d != Dictionary::natural())
            && given.learnt.is_none()
    );
    let weight = |learnt: bool, of: &Inpainted<f32>| {
        of.report.answers.iter().filter(|a| a.learnt == learnt).map(|a| a.weight).sum::<f64>()
    };
    assert!(
        weight(true, &learnt) > 0.9
            && (weight(true, &learnt) + weight(false, &learnt) - 1.0).abs() < 1e-12
    );
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let truth = image(70, 90, 1);
    let known = half(truth.extent());
    let run = |threads| {
        fill_on(
            threads,
            usual().with(|p| {
                p.learn = true;
                p.variants = 2;
                p.windows = vec![1.0, 0.5];
            }),
            &truth,
            &known,
        )
    };
    let one = run(1);
    for threads in [2, 3] {
        let other = run(threads);
        assert_eq!(one.fit, other.fit);
        assert_eq!(one.report.answers, other.report.answers);
    }
}

#[test]
fn the_penalty_follows_the_noise() {
    let truth = image(64, 64, 1);
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
    let noisy = Signal::from_planar(
        truth.extent(),
        1,
        truth.data().iter().map(|x| x + 25.0 * noise()).collect(),
    )
    .unwrap();
    let (clean, rough) = (fill(usual(), &truth, &known), fill(usual(), &noisy, &known));
    assert!(
        rough.report.penalty > 4.0 * clean.report.penalty,
        "{} and {}",
        rough.report.penalty,
        clean.report.penalty
    );
    let [fit, kept] = [&rough.fit, &rough.image].map(|a| metrics::psnr(a, &truth, 255.0).unwrap());
    assert!(
        fit > kept + 1.0,
        "the fit of noisy samples should be smoother: {fit:.2} against {kept:.2} dB"
    );
}

#[test]
fn the_answer_scales_with_the_signal() {
    let truth = image(40, 40, 1);
    let known = half(truth.extent());
    let small =
        Signal::from_planar(truth.extent(), 1, truth.data().iter().map(|x| x / 256.0).collect())
            .unwrap();
    let (large, small) = (fill(usual(), &truth, &known), fill(usual(), &small, &known));
    // A power of 2 changes only exponents.
    assert!(
        large.fit.data().iter().zip(small.fit.data()).all(|(a, b)| (a - 256.0 * b).abs() < 1e-2)
    );
    assert!((large.report.penalty / small.report.penalty - 256.0).abs() < 1.0);
}

#[test]
fn holes_larger_than_any_window_are_filled_smoothly() {
    let truth = image(80, 80, 1);
    let inside = |i: usize| (20..60).contains(&(i / 80)) && (20..60).contains(&(i % 80));
    let known: Vec<bool> = (0..6400).map(|i| !inside(i)).collect();
    let filled = fill(usual(), &with_hidden(&truth, &known, f32::NAN), &known);
    let (low, high) = (
        truth.data().iter().copied().fold(f32::MAX, f32::min),
        truth.data().iter().copied().fold(f32::MIN, f32::max),
    );
    let values = filled.image.data();
    assert!(values.iter().all(|x| x.is_finite() && *x > low - 30.0 && *x < high + 30.0));
    // Far inside, nothing is known of the stripes: neighbours must be similar.
    for y in 32..48 {
        for x in 32..48 {
            let i = 80 * y + x;
            assert!(
                (values[i] - values[i + 1]).abs() < 4.0 && (values[i] - values[i + 80]).abs() < 4.0,
                "a step at {y}, {x}"
            );
        }
    }
}

#[test]
fn complete_images_are_unchanged_and_unknown_images_rejected() {
    let truth = image(20, 20, 1);
    let filled = fill(usual(), &truth, &[true; 400]);
    assert_eq!((&filled.image, &filled.fit), (&truth, &truth));
    assert!(filled.report.answers.is_empty() && filled.report.penalty == 0.0);
    assert!(Mask::<f32>::from_known(truth.extent(), &[false; 400]).is_err());
    // One channel without a known sample is an error as well.
    let colour = image(20, 20, 3);
    let weights = (0..1200).map(|i| if i < 400 { 0.0 } else { 1.0 }).collect();
    let mask = Mask::new(Signal::from_planar(colour.extent(), 3, weights).unwrap()).unwrap();
    let refused =
        usual().check().unwrap().run(&cpu(0), &colour, &mask, &[Dictionary::natural()], &mut ());
    assert!(refused.unwrap_err().to_string().contains("channel 0"));
}

#[test]
fn flat_and_nearly_unknown_images_are_filled() {
    let extent = Extent::new(&[30, 30]).unwrap();
    let flat = Signal::from_planar(extent, 1, vec![77.0f32; 900]).unwrap();
    let filled = fill(usual(), &flat, &half(extent));
    assert!(filled.image.data().iter().all(|x| (x - 77.0).abs() < 1e-3));
    let truth = image(30, 30, 1);
    for count in [1, 2, 40] {
        let known: Vec<bool> = (0..900).map(|i| i % (900 / count) == 7).collect();
        let filled = fill(usual().with(|p| p.learn = true), &truth, &known);
        assert!(filled.image.data().iter().all(|x| x.is_finite() && (-50.0..300.0).contains(x)));
    }
}

#[test]
fn masks_per_channel_and_colour_atoms_are_supported() {
    let truth = image(32, 32, 3);
    let known: Vec<bool> = (0..3072).map(|i| (i * 7919 / 13) % 3 != 0).collect();
    let weights = known.iter().map(|&k| if k { 1.0 } else { 0.0 }).collect();
    let mask = Mask::new(Signal::from_planar(truth.extent(), 3, weights).unwrap()).unwrap();
    let colour = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 3, 40, 1).unwrap();
    let inpaint = usual().check().unwrap();
    for dictionary in [Dictionary::natural(), colour] {
        let filled = inpaint.run(&cpu(0), &truth, &mask, &[dictionary], &mut ()).unwrap();
        for (i, &known) in known.iter().enumerate() {
            assert!(!known || filled.image.data()[i] == truth.data()[i]);
            assert!((filled.image.data()[i] - truth.data()[i]).abs() < 90.0);
        }
    }
}

#[test]
fn one_dimensional_signals_are_filled() {
    let extent = Extent::new(&[400]).unwrap();
    let truth =
        Signal::from_planar(extent, 1, (0..400).map(|t| (0.3 * t as f32).sin()).collect()).unwrap();
    let known = half(extent);
    let mask = Mask::from_known(extent, &known).unwrap();
    let cosines = Dictionary::dct(Extent::new(&[16]).unwrap(), 1, 17).unwrap();
    let filled = usual().check().unwrap().run(&cpu(0), &truth, &mask, &[cosines], &mut ()).unwrap();
    assert!(metrics::psnr(&filled.image, &truth, 2.0).unwrap() > 14.0);
}

#[test]
fn the_observer_and_the_clock_end_the_run_with_an_answer() {
    let truth = image(60, 60, 1);
    let known = half(truth.extent());
    let mask = Mask::from_known(truth.extent(), &known).unwrap();
    let inpaint = usual()
        .with(|p| {
            p.learn = true;
            p.windows = vec![1.0, 0.5];
        })
        .check()
        .unwrap();
    let mut whole = 0;
    let mut count = |_: &Progress| {
        whole += 1;
        Control::Continue
    };
    let done = inpaint.run(&cpu(0), &truth, &mask, &[Dictionary::natural()], &mut count).unwrap();
    assert_eq!(done.report.status, Status::Converged);
    for limit in [1, 9, whole / 2, whole - 1] {
        let mut calls = 0;
        let mut stop = |p: &Progress| {
            calls += 1;
            assert!(p.objective.is_finite() && p.stage_penalty > 0.0);
            if calls >= limit { Control::Stop } else { Control::Continue }
        };
        let filled =
            inpaint.run(&cpu(0), &truth, &mask, &[Dictionary::natural()], &mut stop).unwrap();
        assert_eq!((filled.report.status, calls), (Status::Interrupted, limit));
        assert!(
            filled.image.data().iter().all(|x| x.is_finite()) && !filled.report.answers.is_empty()
        );
    }
    let hurried = usual().with(|p| p.time_limit = Some(Duration::ZERO));
    let filled = fill(hurried, &truth, &known);
    assert_eq!((filled.report.status, filled.report.discovery_sweeps), (Status::TimeLimit, 1));
}

#[test]
fn an_interrupted_run_returns_the_best_answer_so_far() {
    let stripes = |i: usize| 128.0 + 60.0 * (1.3 * (i % 64) as f32 + 0.4 * (i / 64) as f32).sin();
    let extent = Extent::new(&[64, 64]).unwrap();
    let truth = Signal::from_planar(extent, 1, (0..4096).map(stripes).collect()).unwrap();
    let known = half(truth.extent());
    let mask = Mask::from_known(truth.extent(), &known).unwrap();
    let inpaint = usual().check().unwrap();
    let stopped_at = |fraction: f64| {
        let mut stop = |p: &Progress| {
            if p.fraction >= fraction { Control::Stop } else { Control::Continue }
        };
        let natural = [Dictionary::natural()];
        let filled = inpaint.run(&cpu(1), &truth, &mask, &natural, &mut stop).unwrap();
        metrics::psnr(&filled.image, &truth, 255.0).unwrap()
    };
    let [smooth, half, late, whole] = [0.0, 0.5, 0.85, 2.0].map(stopped_at);
    println!("{smooth:.2}, {half:.2}, {late:.2}, {whole:.2} dB");
    assert!(half >= smooth && late > smooth + 0.3 && whole >= late - 0.1);
}

#[test]
fn a_given_penalty_is_the_final_one() {
    let truth = image(40, 40, 1);
    let known = half(truth.extent());
    for penalty in [0.5, 30.0] {
        let filled = fill(usual().with(|p| p.penalty = Some(penalty)), &truth, &known);
        assert_eq!(
            (filled.report.penalty, filled.report.path.last().unwrap().penalty),
            (penalty, penalty)
        );
    }
    let unjudged = fill(usual().with(|p| p.held_out = 0.0), &truth, &known);
    assert!(
        unjudged.report.held_out == 0
            && unjudged.report.path.iter().all(|p| p.held_out_error.is_none())
    );
}

#[test]
fn parameters_out_of_range_are_rejected() {
    for (params, word) in [
        (usual().with(|p| p.penalty = Some(0.0)), "penalty"),
        (usual().with(|p| p.penalty = Some(f64::NAN)), "penalty"),
        (usual().with(|p| p.density = -1.0), "density"),
        (usual().with(|p| p.variants = 9), "variants"),
        (usual().with(|p| p.windows = vec![]), "windows"),
        (usual().with(|p| p.windows = vec![1.0, 0.0]), "window"),
        (usual().with(|p| p.held_out = 0.6), "held out"),
    ] {
        assert!(params.check().unwrap_err().to_string().contains(word), "{word}");
    }
    let truth = image(16, 16, 1);
    let mask = Mask::from_known(truth.extent(), &half(truth.extent())).unwrap();
    let inpaint = usual().check().unwrap();
    assert!(inpaint.run(&cpu(0), &truth, &mask, &[], &mut ()).is_err());
    let line = Dictionary::random(Extent::new(&[9]).unwrap(), 1, 4, 0).unwrap();
    assert!(inpaint.run(&cpu(0), &truth, &mask, &[line], &mut ()).is_err());
    let colour = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 3, 4, 0).unwrap();
    assert!(inpaint.run(&cpu(0), &truth, &mask, &[colour], &mut ()).is_err());
    let tight = usual().with(|p| p.max_memory = Some(1000)).check().unwrap();
    assert!(
        tight
            .run(&cpu(0), &truth, &mask, &[Dictionary::natural()], &mut ())
            .unwrap_err()
            .to_string()
            .contains("memory")
    );
}

#[test]
fn groups_of_similar_patches_improve_the_result_on_any_number_of_threads() {
    let image = image(64, 72, 1);
    let known = half(image.extent());
    let damaged = with_hidden(&image, &known, f32::NAN);
    let with = |threads: usize, groups: usize| {
        fill_on(threads, usual().with(|p| p.groups = groups), &damaged, &known)
    };
    let (before, after) = (with(1, 0), with(1, 8));
    let score = |filled: &Inpainted<f32>| metrics::psnr(&filled.image, &image, 255.0).unwrap();
    assert!(score(&after) > score(&before) + 1.0, "{} {}", score(&before), score(&after));
    let joint = after.report.answers.iter().find(|answer| answer.groups).unwrap();
    assert!(joint.weight > 0.5, "{joint:?}");
    assert!(before.report.answers.iter().all(|answer| !answer.groups));
    for (i, &known) in known.iter().enumerate() {
        assert!(!known || after.image.data()[i] == image.data()[i]);
    }
    let on_three = with(3, 8);
    assert_eq!((&after.image, &after.fit), (&on_three.image, &on_three.fit));
}

#[test]
fn the_fast_preset_fills_by_groups_alone_unless_codes_are_asked_for() {
    let truth = image(64, 72, 1);
    let known: Vec<bool> = (0..64 * 72).map(|i| (i / 72 + 2 * (i % 72)) % 40 >= 3).collect();
    let damaged = with_hidden(&truth, &known, f32::NAN);
    let fast = || InpaintParams::preset(Preset::Fast);
    let score = |filled: &Inpainted<f32>| metrics::psnr(&filled.image, &truth, 255.0).unwrap();
    let is_coded = |filled: &Inpainted<f32>| {
        filled.report.discovery_sweeps > 0
            && filled.report.answers.iter().any(|answer| answer.dictionary.is_some())
    };
    let (quick, thorough) = (fill(fast(), &damaged, &known), fill(usual(), &damaged, &known));
    assert!(!is_coded(&quick) && is_coded(&thorough));
    let plate = quick.report.answers.iter().find(|answer| !answer.groups).unwrap();
    let groups = quick.report.answers.iter().find(|answer| answer.groups).unwrap();
    assert!(groups.held_out_error < plate.held_out_error, "{groups:?} {plate:?}");
    assert!(score(&thorough) > score(&quick), "{} {}", score(&thorough), score(&quick));
    let on_three = fill_on(3, fast(), &damaged, &known);
    assert_eq!((&quick.image, &quick.fit), (&on_three.image, &on_three.fit));
    for (i, &known) in known.iter().enumerate() {
        assert!(!known || quick.image.data()[i] == truth.data()[i]);
    }
    for change in [
        (|p| p.penalty = Some(5.0)) as fn(&mut InpaintParams),
        |p| p.learn = true,
        |p| p.everywhere = true,
        |p| p.groups = 0,
        |p| p.held_out = 0.0,
    ] {
        let filled = fill(fast().with(change), &damaged, &known);
        assert!(is_coded(&filled), "{:?}", filled.report);
    }
}

#[test]
fn fast_is_better_than_the_thin_plate_on_thin_scratches() {
    let truth = lobcod_tasks::synthetic::grey_still_life(160).unwrap();
    let known: Vec<bool> = (0..160 * 160)
        .map(|i| {
            let (y, x) = ((i / 160) as f64, (i % 160) as f64);
            (0.31 * x + 0.9 * y + 6.0 * (0.05 * x).sin()).rem_euclid(50.0) >= 2.5
        })
        .collect();
    let damaged = with_hidden(&truth, &known, 0.0);
    let filled = fill(InpaintParams::preset(Preset::Fast), &damaged, &known);
    let mut plate = filled.report.answers.iter().filter(|answer| !answer.groups);
    let error = plate.next().unwrap().held_out_error.unwrap();
    let hidden = (0..known.len()).filter(|&i| !known[i]);
    let errors: Vec<f64> =
        hidden.map(|i| f64::from(filled.image.data()[i] - truth.data()[i]).powi(2)).collect();
    let own = (errors.iter().sum::<f64>() / errors.len() as f64).sqrt();
    assert!(own < error, "{own} {error}");
}

#[test]
fn colours_are_improved_by_groups_too() {
    let image = image(48, 56, 3);
    let known = half(image.extent());
    let damaged = with_hidden(&image, &known, 0.0);
    let score = |groups: usize| {
        let filled = fill(usual().with(|p| p.groups = groups), &damaged, &known);
        metrics::psnr(&filled.image, &image, 255.0).unwrap()
    };
    let (before, after) = (score(0), score(6));
    assert!(after > before + 0.5, "{before} {after}");
}
