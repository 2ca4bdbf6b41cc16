//! Denoising of images with known ground truth.

use lobcod::{Dictionary, Extent, Signal, Status};
use lobcod_conformance::cpu;
use lobcod_tasks::denoise::{
    DenoiseParams, Denoised, DetectedNoise, Effort, Method, Noise, detect_noise, gain_of_counts,
    noise_level,
};
use lobcod_tasks::metrics::psnr;

const SIZE: [usize; 2] = [80, 96];

/// Pseudo-random numbers in (0, 1).
fn draws(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    };
    (0..count).map(|_| next()).collect()
}

/// Standard normal numbers (Box and Muller).
fn normal(count: usize, seed: u64) -> Vec<f64> {
    let (a, b) = (draws(count, seed), draws(count, seed + 1));
    a.iter()
        .zip(b)
        .map(|(u, v)| (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos())
        .collect()
}

/// Shading, an edge and a patch of stripes.
fn truth(channels: usize) -> Signal<f32> {
    let value = |i: usize| {
        let (y, x) = ((i / SIZE[1] % SIZE[0]) as f32, (i % SIZE[1]) as f32);
        let edge = if x + 0.5 * y > 70.0 { 60.0 } else { 0.0 };
        let stripes = if y > 40.0 && x < 50.0 { 25.0 * (0.8 * x + 0.4 * y).sin() } else { 0.0 };
        60.0 + 0.6 * y + edge + stripes
    };
    let extent = Extent::new(&SIZE).unwrap();
    Signal::from_planar(extent, channels, (0..channels * extent.volume()).map(value).collect())
        .unwrap()
}

fn noisy(clean: &Signal<f32>, sigma: f64) -> Signal<f32> {
    let noise = normal(clean.data().len(), 5);
    let data = clean.data().iter().zip(noise).map(|(x, n)| x + (sigma * n) as f32).collect();
    Signal::from_planar(clean.extent(), clean.channels(), data).unwrap()
}

fn run(params: DenoiseParams, image: &Signal<f32>) -> Denoised {
    run_on(0, params, image)
}

fn run_on(threads: usize, params: DenoiseParams, image: &Signal<f32>) -> Denoised {
    params.check().unwrap().run(&cpu(threads), image, &Dictionary::natural(), &mut ()).unwrap()
}

#[test]
fn the_noise_level_is_estimated() {
    for sigma in [3.0, 10.0, 40.0] {
        let found = noise_level(&noisy(&truth(1), sigma)).unwrap();
        assert!((found / sigma - 1.0).abs() < 0.06, "{sigma}: {found}");
    }
    assert!(noise_level(&truth(1)).unwrap() < 0.5);
    assert!(
        noise_level(&Signal::zeros(Extent::new(&[9, 40]).unwrap(), 1))
            .unwrap_err()
            .to_string()
            .contains("too small to estimate")
    );
}

#[test]
fn gaussian_noise_is_removed() {
    for channels in [1, 3] {
        let (clean, sigma) = (truth(channels), 15.0);
        let image = noisy(&clean, sigma);
        let before = psnr(&image, &clean, 255.0).unwrap();
        let groups = run(DenoiseParams::new(Noise::Gaussian { sigma: None }), &image);
        let local = run(
            DenoiseParams::new(Noise::Gaussian { sigma: None }).with(|p| p.method = Method::Local),
            &image,
        );
        let after = psnr(&local.image, &clean, 255.0).unwrap();
        let best = psnr(&groups.image, &clean, 255.0).unwrap();
        assert!(best > before + 7.0, "{channels} channels: {before} dB became {best}");
        assert!(best > after + 0.1, "{channels}: groups {best}, single patches {after}");
        assert!(groups.dictionary.is_none() && local.dictionary.is_some());
        assert!(after > before + 7.0, "{channels} channels: {before} dB became {after}");
        assert!((local.level / sigma - 1.0).abs() < 0.06, "{}", local.level);
        let kept = run(
            DenoiseParams::new(Noise::Gaussian { sigma: Some(sigma) })
                .with(|p| (p.method, p.fit_atoms) = (Method::Local, false)),
            &image,
        );
        let plain = psnr(&kept.image, &clean, 255.0).unwrap();
        assert!(
            plain > before + 6.0 && after > plain,
            "{channels} channels: fitted atoms {after}, given atoms {plain}"
        );
    }
}

/// Frames of a pattern that moves by a pixel from each to the next.
fn moving() -> Signal<f32> {
    let [frames, height, width] = [6, 40, 48];
    let value = |i: usize| {
        let (t, y) = (i / width / height, i / width % height);
        let x = i % width + t;
        let edge = if x + y / 2 > 45 { 70.0 } else { 0.0 };
        90.0 + edge + 30.0 * (0.02 * (x * x) as f32).sin() * (0.3 * y as f32).cos()
    };
    let extent = Extent::new(&[frames, height, width]).unwrap();
    Signal::from_planar(extent, 1, (0..extent.volume()).map(value).collect()).unwrap()
}

/// One frame.
fn frame(stack: &Signal<f32>, t: usize) -> Signal<f32> {
    let [_, height, width] = stack.extent().padded();
    let data = stack.data()[t * height * width..][..height * width].to_vec();
    Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, data).unwrap()
}

#[test]
fn stacks_share_patches_of_their_slices() {
    let (clean, sigma) = (moving(), 25.0);
    let image = noisy(&clean, sigma);
    for effort in [Effort::Standard, Effort::Best] {
        let params = DenoiseParams::new(Noise::Gaussian { sigma: None })
            .with(|p| p.method = Method::Groups(effort));
        let stack = run_on(1, params.clone(), &image);
        assert!((stack.level / sigma - 1.0).abs() < 0.15, "{}", stack.level);
        assert_eq!(stack.image, run_on(3, params.clone(), &image).image);
        let whole = psnr(&stack.image, &clean, 255.0).unwrap();
        let alone = |t: usize| {
            let params =
                params.clone().with(|p| p.noise = Noise::Gaussian { sigma: Some(stack.level) });
            let answer = run(params, &frame(&image, t)).image;
            10f64.powf(-0.1 * psnr(&answer, &frame(&clean, t), 255.0).unwrap())
        };
        let single = -10.0 * ((0..6).map(alone).sum::<f64>() / 6.0).log10();
        assert!(whole > single + 1.0, "{effort:?}: stack {whole}, slices {single}");
    }
    let detected = run(DenoiseParams::new(Noise::Auto), &image).detected;
    assert!(matches!(detected, Some(DetectedNoise::White { .. })), "{detected:?}");
}

#[test]
fn stacks_are_refused_where_only_images_are_supported() {
    let image = noisy(&moving(), 25.0);
    let refusal = |params: DenoiseParams| {
        let denoiser = params.check().unwrap();
        denoiser.run(&cpu(1), &image, &Dictionary::natural(), &mut ()).unwrap_err().to_string()
    };
    for noise in [Noise::Correlated { sigma: None }, Noise::Impulse { share: None }] {
        assert!(refusal(DenoiseParams::new(noise)).contains("not from stacks"));
    }
    for method in [Method::Local, Method::Convolutional] {
        let params = DenoiseParams::new(Noise::Gaussian { sigma: None });
        assert!(refusal(params.with(|p| p.method = method)).contains("a stack (6x40x48)"));
    }
}

#[test]
fn groups_of_patches_beat_single_ones_in_strong_noise() {
    let (clean, image) = (truth(1), noisy(&truth(1), 40.0));
    let score = |method: Method| {
        let params =
            DenoiseParams::new(Noise::Gaussian { sigma: Some(40.0) }).with(|p| p.method = method);
        psnr(&run(params, &image).image, &clean, 255.0).unwrap()
    };
    let local = score(Method::Local);
    for effort in [Effort::Standard, Effort::Best] {
        let groups = score(Method::Groups(effort));
        assert!(groups > local + 0.5, "{effort:?}: {groups}, single patches {local}");
    }
}

#[test]
fn the_scale_of_the_samples_does_not_matter() {
    let image = noisy(&truth(1), 20.0);
    let times = |image: &Signal<f32>, factor: f32| {
        let data = image.data().iter().map(|x| x * factor).collect();
        Signal::from_planar(image.extent(), 1, data).unwrap()
    };
    let clean = |sigma: f64, image: &Signal<f32>| {
        run(DenoiseParams::new(Noise::Gaussian { sigma: Some(sigma) }), image).image
    };
    let usual = clean(20.0, &image);
    // A power of two changes no digit.
    for exponent in [-40, 40] {
        let factor = 2f32.powi(exponent);
        let other = clean(20.0 * f64::from(factor), &times(&image, factor));
        assert_eq!(times(&other, 1.0 / factor), usual);
    }
}

#[test]
fn the_convolutional_method_has_a_certificate() {
    let (clean, image) = (truth(1), noisy(&truth(1), 15.0));
    let method = Method::Convolutional;
    let answer = run(
        DenoiseParams::new(Noise::Gaussian { sigma: Some(15.0) }).with(|p| p.method = method),
        &image,
    );
    let report = answer.report.unwrap();
    assert!(report.total.relative_gap() <= 1e-2 && report.penalty == 45.0);
    assert!(
        psnr(&answer.image, &clean, 255.0).unwrap() > psnr(&image, &clean, 255.0).unwrap() + 4.0
    );
}

#[test]
fn counts_are_stabilised() {
    // An image with few photons and read-out noise: brightness must not be biased.
    let clean = Signal::from_planar(
        truth(1).extent(),
        1,
        truth(1).data().iter().map(|x| x / 20.0).collect(),
    )
    .unwrap();
    let (uniform, read_out) = (draws(clean.data().len(), 9), normal(clean.data().len(), 21));
    let poisson = |mean: f64, u: f64| {
        let (mut count, mut probability) = (0, (-mean).exp());
        let mut below = probability;
        while below < u && count < 1000 {
            count += 1;
            probability *= mean / f64::from(count);
            below += probability;
        }
        f64::from(count)
    };
    // Without read-out noise the gain can be estimated, given enough counts.
    let many = |i: usize| 6.0 * f64::from(clean.data()[i]);
    let counts = (0..uniform.len()).map(|i| (3.0 * poisson(many(i), uniform[i])) as f32).collect();
    let counts = Signal::from_planar(clean.extent(), 1, counts).unwrap();
    let found = gain_of_counts(&counts).unwrap();
    assert!((found / 3.0 - 1.0).abs() < 0.15, "gain {found} instead of 3");
    assert_eq!(run(DenoiseParams::new(Noise::Poisson { gain: None }), &counts).level, found);
    let (gain, sigma) = (2.0, 0.5);
    let sample = |(i, x): (usize, &f32)| {
        (gain * poisson(f64::from(*x) / gain, uniform[i]) + sigma * read_out[i]) as f32
    };
    let image = Signal::from_planar(
        clean.extent(),
        1,
        clean.data().iter().enumerate().map(sample).collect(),
    )
    .unwrap();
    let answer = run(DenoiseParams::new(Noise::Mixed { gain, sigma }), &image);
    let (before, after) =
        (psnr(&image, &clean, 12.0).unwrap(), psnr(&answer.image, &clean, 12.0).unwrap());
    assert!(after > before + 6.0, "{before} dB became {after}");
    let mean = |s: &Signal<f32>| s.data().iter().sum::<f32>() / s.data().len() as f32;
    assert!(
        (mean(&answer.image) / mean(&clean) - 1.0).abs() < 0.04,
        "{} against {}",
        mean(&answer.image),
        mean(&clean)
    );
}

#[test]
fn impulses_are_found_and_the_rest_is_kept() {
    let clean = truth(1);
    let draw = draws(clean.data().len(), 3);
    let hit = |i: usize| if draw[i] < 0.05 { Some(0.0) } else { (draw[i] > 0.95).then_some(255.0) };
    let data: Vec<f32> = (0..draw.len()).map(|i| hit(i).unwrap_or(clean.data()[i])).collect();
    let image = Signal::from_planar(clean.extent(), 1, data).unwrap();
    let answer = run(DenoiseParams::new(Noise::Impulse { share: None }), &image);
    let changed = |i: usize| answer.image.data()[i] != image.data()[i];
    let (found, spoilt) =
        (0..draw.len()).fold((0, 0), |(f, s), i| match (hit(i).is_some(), changed(i)) {
            (true, true) => (f + 1, s),
            (false, true) => (f, s + 1),
            _ => (f, s),
        });
    let all = (0..draw.len()).filter(|&i| hit(i).is_some()).count();
    assert!(
        found as f64 > 0.97 * all as f64 && (spoilt as f64) < 0.02 * draw.len() as f64,
        "{found} of {all}, {spoilt} others"
    );
    let (before, after) =
        (psnr(&image, &clean, 255.0).unwrap(), psnr(&answer.image, &clean, 255.0).unwrap());
    assert!(after > before + 12.0, "{before} dB became {after}");
    let few = run(DenoiseParams::new(Noise::Impulse { share: Some(0.02) }), &image);
    assert!(few.level <= 0.0201);
}

#[test]
fn threads_change_nothing_and_time_limits_and_observers_stop_the_run() {
    let image = noisy(&truth(1), 20.0);
    for method in [Method::Groups(Effort::Standard), Method::Groups(Effort::Best), Method::Local] {
        let with = |threads: usize| {
            let params = DenoiseParams::new(Noise::Gaussian { sigma: Some(20.0) });
            run_on(threads, params.with(|p| p.method = method), &image).image
        };
        assert_eq!(with(1), with(3));
    }
    let params = DenoiseParams::new(Noise::Gaussian { sigma: Some(20.0) })
        .with(|p| p.time_limit = Some(std::time::Duration::ZERO));
    assert_eq!(run(params, &image).status, Status::TimeLimit);
    let mut stop = |_: &lobcod::Progress| lobcod::Control::Stop;
    let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(20.0) }).check().unwrap();
    assert_eq!(
        denoiser.run(&cpu(0), &image, &Dictionary::natural(), &mut stop).unwrap().status,
        Status::Interrupted
    );
}

#[test]
fn meaningless_parameters_are_rejected() {
    for (noise, word) in [
        (Noise::Gaussian { sigma: Some(0.0) }, "noise level"),
        (Noise::Mixed { gain: -1.0, sigma: 0.0 }, "gain"),
        (Noise::Poisson { gain: Some(0.0) }, "gain"),
        (Noise::Mixed { gain: 1.0, sigma: f64::NAN }, "read-out"),
        (Noise::Impulse { share: Some(1.0) }, "fraction of impulses"),
    ] {
        assert!(
            DenoiseParams::new(noise).check().unwrap_err().to_string().contains(word),
            "{word}"
        );
    }
    let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(1.0) }).check().unwrap();
    let refusal = |image: &Signal<f32>| {
        denoiser.run(&cpu(0), image, &Dictionary::natural(), &mut ()).unwrap_err().to_string()
    };
    assert!(
        refusal(&Signal::zeros(Extent::new(&[4, 40]).unwrap(), 1)).contains("smaller than an atom")
    );
    assert!(refusal(&Signal::zeros(Extent::new(&[400]).unwrap(), 1)).contains("two axes"));
    let mut broken = truth(1);
    broken.data_mut()[3] = f32::INFINITY;
    assert!(refusal(&broken).contains("inf"));
}

/// Letters of 5x7 dots, one number per row.
const LETTERS: [[u8; 7]; 6] = [
    [0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11],
    [0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e],
    [0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f],
    [0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11],
    [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
    [0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e],
];

/// A page of black letters on white, each dot two samples wide, in rows with space between them.
fn page() -> Signal<f32> {
    let [height, width] = [112, 128];
    let ink = |i: usize| {
        let [y, x] = [i / width, i % width];
        let [line, column] = [y / 20, x / 14];
        let [row, dot] = [y % 20 / 2, x % 14 / 2];
        if row >= 7 || dot >= 5 || line == 2 {
            return false;
        }
        LETTERS[(5 * line + 3 * column + line * column) % 6][row] >> (4 - dot) & 1 == 1
    };
    let data = (0..height * width).map(|i| if ink(i) { 0.0 } else { 255.0 }).collect();
    Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, data).unwrap()
}

/// Replaces a fraction of the samples by black and by white, one half each.
fn salt_and_pepper(clean: &Signal<f32>, fraction: f64) -> Signal<f32> {
    let draw = draws(clean.data().len(), 11);
    let sample = |(i, x): (usize, &f32)| {
        if draw[i] < 0.5 * fraction {
            0.0
        } else if draw[i] > 1.0 - 0.5 * fraction {
            255.0
        } else {
            *x
        }
    };
    let data = clean.data().iter().enumerate().map(sample).collect();
    Signal::from_planar(clean.extent(), clean.channels(), data).unwrap()
}

#[test]
fn strokes_are_not_impulses() {
    let clean = page();
    let untouched = run(DenoiseParams::new(Noise::Impulse { share: None }), &clean);
    assert!(psnr(&untouched.image, &clean, 255.0).unwrap() >= 45.0, "{}", untouched.level);
    for fraction in [0.01, 0.05, 0.2] {
        let noisy = salt_and_pepper(&clean, fraction);
        let answer = run(DenoiseParams::new(Noise::Impulse { share: None }), &noisy);
        let before = psnr(&noisy, &clean, 255.0).unwrap();
        let after = psnr(&answer.image, &clean, 255.0).unwrap();
        assert!(after > before + 2.0, "{fraction}: {before} dB became {after}");
    }
}

/// A halftone screen: black dots on white, or on grey.
fn screen(paper: f32) -> Signal<f32> {
    let [height, width] = [90, 120];
    let dot =
        |i: usize| i / width % 4 == 1 && (i % width + i / width / 4 % 2 * 2).is_multiple_of(5);
    let data = (0..height * width).map(|i| if dot(i) { 0.0 } else { paper }).collect();
    Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, data).unwrap()
}

#[test]
fn a_halftone_screen_is_not_impulses() {
    for paper in [255.0, 140.0] {
        let mut clean = screen(paper);
        // White somewhere, so that the paper is not an extreme value.
        clean.data_mut()[..240].fill(255.0);
        assert_eq!(detect_noise(&clean, 255.0).unwrap(), DetectedNoise::None, "{paper}");
        let untouched = run(DenoiseParams::new(Noise::Impulse { share: None }), &clean);
        assert!(psnr(&untouched.image, &clean, 255.0).unwrap() >= 45.0, "{paper}");
        // As many dots, but anywhere.
        let mut scattered = screen(paper);
        let draw = draws(scattered.data().len(), 3);
        for (i, x) in scattered.data_mut().iter_mut().enumerate() {
            *x = if i < 240 {
                255.0
            } else if draw[i] < 0.05 {
                0.0
            } else {
                paper
            };
        }
        let found = detect_noise(&scattered, 255.0).unwrap();
        assert!(matches!(found, DetectedNoise::Impulses { .. }), "{paper}: {found:?}");
    }
}

/// Fewer than ten isolated black dots, such as full stops, belong to the image.
#[test]
fn a_few_dots_are_not_impulses() {
    let extent = Extent::new(&[64, 64]).unwrap();
    let image = |dots: usize| {
        let mut data: Vec<f32> = (0..64 * 64).map(|i| 255.0 - (i % 64) as f32).collect();
        (0..dots).for_each(|k| data[(3 + 61 * k * k) % 4000] = 0.0);
        Signal::from_planar(extent, 1, data).unwrap()
    };
    assert_eq!(detect_noise(&image(9), 255.0).unwrap(), DetectedNoise::None);
    let many = detect_noise(&image(30), 255.0).unwrap();
    assert!(matches!(many, DetectedNoise::Impulses { .. }), "{many:?}");
}

/// Stars of every brightness, the brightest of them white, belong to the image.
#[test]
fn stars_are_not_impulses() {
    let extent = Extent::new(&[128, 128]).unwrap();
    let draw = draws(2 * extent.volume(), 21);
    let star = |i: usize| (draw[2 * i] < 0.02).then(|| (-120.0 * draw[2 * i + 1].ln()).min(235.0));
    let data = (0..extent.volume()).map(|i| 20.0 + star(i).unwrap_or(0.0) as f32).collect();
    let clean = Signal::from_planar(extent, 1, data).unwrap();
    let white = clean.data().iter().filter(|x| **x == 255.0).count();
    assert!(white > 30, "{white}");
    assert_eq!(detect_noise(&clean, 255.0).unwrap(), DetectedNoise::None);
    let found = detect_noise(&salt_and_pepper(&clean, 0.05), 255.0).unwrap();
    assert!(
        matches!(found, DetectedNoise::Impulses { fraction } if (0.03..0.07).contains(&fraction)),
        "{found:?}"
    );
}

/// Where the image has no extreme values of its own, every one is an impulse: also in the rare
/// neighbourhoods where several meet.
#[test]
fn every_impulse_is_found_at_every_rate() {
    let clean = truth(1);
    let mut last = f64::INFINITY;
    for fraction in [0.01, 0.03, 0.05, 0.08, 0.1, 0.2, 0.3] {
        let noisy = salt_and_pepper(&clean, fraction);
        let answer = run(DenoiseParams::new(Noise::Impulse { share: None }), &noisy);
        let hits = noisy.data().iter().zip(clean.data()).filter(|(x, c)| x != c).count();
        let found = (answer.level * noisy.data().len() as f64).round() as usize;
        assert_eq!(found, hits, "{fraction}");
        let score = psnr(&answer.image, &clean, 255.0).unwrap();
        assert!(score < last + 0.5, "{fraction}: {last} dB with fewer impulses, {score} dB");
        last = score;
    }
}

#[test]
fn the_fraction_of_impulses_need_not_be_given() {
    let clean = truth(1);
    for fraction in [0.01, 0.03, 0.3] {
        let noisy = salt_and_pepper(&clean, fraction);
        let score = |share: Option<f64>| {
            psnr(&run(DenoiseParams::new(Noise::Impulse { share }), &noisy).image, &clean, 255.0)
                .unwrap()
        };
        let (found, given) = (score(None), score(Some(fraction)));
        assert!(found > given - 0.5, "{fraction}: {given} dB became {found}");
        assert!(found > psnr(&noisy, &clean, 255.0).unwrap() + 8.0, "{fraction}: {found} dB");
    }
}

#[test]
fn texture_is_not_noise() {
    // Texture of random dots everywhere but in one corner.
    let extent = Extent::new(&[128, 128]).unwrap();
    let dots = draws(extent.volume(), 17);
    let value = |i: usize| {
        let [y, x] = [i / 128, i % 128];
        if y < 40 && x < 40 {
            90.0 + x as f32
        } else {
            60.0 + 60.0 * dots[y / 2 * 64 + x / 2] as f32
        }
    };
    let clean = Signal::from_planar(extent, 1, (0..extent.volume()).map(value).collect()).unwrap();
    for sigma in [5.0, 10.0, 25.0] {
        let found = noise_level(&noisy(&clean, sigma)).unwrap();
        assert!((found / sigma - 1.0).abs() < 0.1, "{sigma}: {found}");
    }
}

/// Adds noise with correlated neighbouring samples: white noise, averaged with weights 1 2 1 along
/// both axes.
fn with_correlated_noise(clean: &Signal<f32>, sigma: f64) -> Signal<f32> {
    let [_, height, width] = clean.extent().padded();
    let white = normal(height * width, 31);
    let at = |y: usize, x: usize| white[y % height * width + x % width];
    let row = |y: usize, x: usize| at(y, x) + 2.0 * at(y, x + 1) + at(y, x + 2);
    // The sum of squares of the weights is 36.
    let noise = |i: usize| {
        let [y, x] = [i / width, i % width];
        sigma / 6.0 * (row(y, x) + 2.0 * row(y + 1, x) + row(y + 2, x))
    };
    let data = clean.data().iter().enumerate().map(|(i, x)| x + noise(i) as f32).collect();
    Signal::from_planar(clean.extent(), 1, data).unwrap()
}

#[test]
fn correlated_noise_is_measured_and_removed() {
    let (clean, sigma) = (truth(1), 12.4);
    let image = with_correlated_noise(&clean, sigma);
    let white = noise_level(&image).unwrap();
    assert!(white < 0.6 * sigma, "high frequencies alone show {white}");
    let answer = run(DenoiseParams::new(Noise::Auto), &image);
    let Some(DetectedNoise::Correlated { sigma: found }) = answer.detected else {
        panic!("found {:?}", answer.detected);
    };
    assert!((found / sigma - 1.0).abs() < 0.2, "{found}");
    let score = |image: &Signal<f32>| psnr(image, &clean, 255.0).unwrap();
    let as_white = run(DenoiseParams::new(Noise::Gaussian { sigma: None }), &image);
    assert!(score(&answer.image) > score(&image) + 2.0, "{}", score(&answer.image));
    assert!(score(&answer.image) > score(&as_white.image) + 1.0, "{}", score(&as_white.image));
}

/// Shading from black to white with correlated noise, clipped to 8 bits; then `errors` of a level
/// that hides which samples were clipped, as a JPEG file does.
fn clipped_shading(sigma: f64) -> [Signal<f32>; 2] {
    let [height, width] = [96, 272];
    let shade = |x: usize| (1.2 * (x as f32 - 60.0)).clamp(0.0, 255.0);
    let clean = (0..height * width).map(|i| shade(i % width)).collect();
    let clean = Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, clean).unwrap();
    let mut image = with_correlated_noise(&clean, sigma);
    let errors = normal(clean.data().len(), 47);
    for (x, error) in image.data_mut().iter_mut().zip(errors) {
        *x = (x.clamp(0.0, 255.0) + error as f32).clamp(0.0, 255.0).round();
    }
    [clean, image]
}

#[test]
fn clipped_shadows_do_not_hide_correlated_noise() {
    let sigma = 12.4;
    let [clean, image] = clipped_shading(sigma);
    let answer = run(DenoiseParams::new(Noise::Auto), &image);
    let Some(DetectedNoise::Correlated { sigma: found }) = answer.detected else {
        panic!("found {:?}", answer.detected);
    };
    assert!((found / sigma - 1.0).abs() < 0.2, "{found}");
    let score = |image: &Signal<f32>| psnr(image, &clean, 255.0).unwrap();
    assert!(score(&answer.image) > score(&image) + 1.0, "{}", score(&answer.image));
    assert_eq!(detect_noise(&clipped_shading(0.0)[1], 255.0).unwrap(), DetectedNoise::None);
}

/// Soft blobs of a few sizes, as in a sharp photograph of leaves, with the errors of a JPEG file.
fn blobs() -> Signal<f32> {
    let [height, width] = [128, 128];
    let draw = draws(4 * 260, 9);
    let mut data = vec![100.0f32; height * width];
    for blob in draw.chunks_exact(4) {
        let centre = [blob[0] * height as f64, blob[1] * width as f64];
        let (radius, shade) = (3.0 + 9.0 * blob[2], 40.0 + 170.0 * blob[3]);
        for (i, x) in data.iter_mut().enumerate() {
            let [y, x_at] = [i / width, i % width].map(|v| v as f64);
            let distance = (y - centre[0]).hypot(x_at - centre[1]);
            let cover = (0.5 + 0.4 * (radius - distance)).clamp(0.0, 1.0);
            let shaded = shade + 6.0 * (x_at - centre[1]);
            *x += (cover * (shaded - f64::from(*x))) as f32;
        }
    }
    let errors = normal(data.len(), 13);
    let data = data.iter().zip(errors).map(|(x, e)| x + 0.6 * e as f32).collect();
    Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, data).unwrap()
}

#[test]
fn slopes_are_not_correlated_noise() {
    assert_eq!(detect_noise(&blobs(), 255.0).unwrap(), DetectedNoise::None);
}

/// What is removed is not stronger than the noise, in texture neither.
#[test]
fn correlated_noise_is_removed_from_texture_with_care() {
    let (clean, sigma) = (blobs(), 10.0);
    let image = with_correlated_noise(&clean, sigma);
    let answer = run(DenoiseParams::new(Noise::Correlated { sigma: Some(sigma) }), &image);
    let removed = answer.image.data().iter().zip(image.data()).map(|(a, b)| f64::from(a - b));
    let squares: Vec<f64> = removed.map(|r| r * r).collect();
    let level = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    assert!((0.2 * sigma..=1.2 * sigma).contains(&level), "{level}");
    let score = |image: &Signal<f32>| psnr(image, &clean, 255.0).unwrap();
    let [before, after] = [&image, &answer.image].map(score);
    assert!(after > before, "{before} dB became {after}");
}

/// A pattern of small squares with the errors of a JPEG file has no smooth place, but no noise.
#[test]
fn a_pattern_without_noise_is_left_alone() {
    let [height, width] = [96, 128];
    let errors = normal(height * width, 5);
    let sample = |i: usize| {
        let (y, x) = (i / width, i % width);
        let sign = if (y / 15 + x / 16) % 2 == 0 { 1.0 } else { -1.0 };
        let wave = ((x % 16) as f32 / 16.0 * std::f32::consts::PI).sin()
            * ((y % 15) as f32 / 15.0 * std::f32::consts::PI).cos();
        128.0 + sign * (12.0 + 38.0 * wave) + 2.0 * errors[i] as f32
    };
    let extent = Extent::new(&[height, width]).unwrap();
    let data = (0..height * width).map(sample).collect();
    let image = Signal::from_planar(extent, 1, data).unwrap();
    assert_eq!(detect_noise(&image, 255.0).unwrap(), DetectedNoise::None);
}

/// Noise is equally strong everywhere; texture, such as foam and rocks, is not.
#[test]
fn texture_of_varying_contrast_is_not_correlated_noise() {
    let extent = Extent::new(&[96, 256]).unwrap();
    let waves = with_correlated_noise(&Signal::zeros(extent, 1), 1.0);
    let textured = |contrast: &dyn Fn(usize) -> f32| {
        let value = |(i, wave): (usize, &f32)| 128.0 + contrast(i % 256) * wave;
        let data = waves.data().iter().enumerate().map(value).collect();
        detect_noise(&Signal::from_planar(extent, 1, data).unwrap(), 255.0).unwrap()
    };
    let noise = textured(&|_| 8.0);
    assert!(matches!(noise, DetectedNoise::Correlated { .. }), "{noise:?}");
    let texture = textured(&|x| if x < 32 { 8.0 } else { 13.0 + 7.0 * x as f32 / 256.0 });
    assert_eq!(texture, DetectedNoise::None);
}

/// The grain of a scanned photograph that counts as clean.
#[test]
fn faint_grain_is_left_alone() {
    let clean = truth(1);
    let grainy = noisy(&clean, 2.0);
    assert!((noise_level(&grainy).unwrap() - 2.0).abs() < 0.3);
    assert_eq!(detect_noise(&grainy, 255.0).unwrap(), DetectedNoise::None);
    let visible = detect_noise(&noisy(&clean, 4.0), 255.0).unwrap();
    assert!(matches!(visible, DetectedNoise::White { .. }), "{visible:?}");
}

#[test]
fn the_kind_of_noise_is_detected() {
    let clean = truth(1);
    for image in [&clean, &page()] {
        assert_eq!(detect_noise(image, 255.0).unwrap(), DetectedNoise::None);
        let untouched = run(DenoiseParams::new(Noise::Auto), image);
        assert_eq!((untouched.detected, &untouched.image), (Some(DetectedNoise::None), image));
    }
    let white = detect_noise(&noisy(&clean, 15.0), 255.0).unwrap();
    assert!(
        matches!(white, DetectedNoise::White { sigma } if (sigma / 15.0 - 1.0).abs() < 0.1),
        "{white:?}"
    );
    let impulses = detect_noise(&salt_and_pepper(&page(), 0.05), 255.0).unwrap();
    assert!(
        matches!(impulses, DetectedNoise::Impulses { fraction } if (0.03..0.08).contains(&fraction)),
        "{impulses:?}"
    );
    // Noise of counts, whose variance grows with the brightness.
    let wide = Signal::from_planar(
        clean.extent(),
        1,
        clean.data().iter().map(|x| 4.0 * x - 200.0).collect(),
    )
    .unwrap();
    let normal = normal(wide.data().len(), 41);
    let count = |(x, n): (&f32, f64)| x + (3.0 * f64::from(x.max(0.0))).sqrt() as f32 * n as f32;
    let counts = wide.data().iter().zip(normal).map(count).collect();
    let counts =
        detect_noise(&Signal::from_planar(clean.extent(), 1, counts).unwrap(), 255.0).unwrap();
    assert!(
        matches!(counts, DetectedNoise::SignalDependent { gain, .. } if (gain / 3.0 - 1.0).abs() < 0.3),
        "{counts:?}"
    );
}

#[test]
fn strength_removes_more_or_less() {
    let image = noisy(&truth(1), 15.0);
    let removed = |strength: f64| {
        let params = DenoiseParams::new(Noise::Gaussian { sigma: Some(15.0) })
            .with(|p| p.strength = strength);
        psnr(&run(params, &image).image, &image, 255.0).unwrap()
    };
    let [less, all, more] = [removed(0.5), removed(1.0), removed(1.5)];
    assert!(less > all + 1.0 && all > more, "{less} {all} {more}");
    let wrong = DenoiseParams::new(Noise::Auto).with(|p| p.strength = 0.0);
    assert!(wrong.check().unwrap_err().to_string().contains("strength"));
}
