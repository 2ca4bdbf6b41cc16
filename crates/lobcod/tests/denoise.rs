//! Denoising of pictures whose truth is known.

use lobcod::metrics::psnr;
use lobcod::tasks::denoise::{DenoiseParams, Denoised, Method, Noise, gain_of_counts, noise_level};
use lobcod::{Dictionary, Extent, Signal, Status};

const SIZE: [usize; 2] = [80, 96];

/// Numbers in (0, 1) that look random.
fn draws(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    };
    (0..count).map(|_| next()).collect()
}

/// Standard normal numbers (Box and Muller).
fn normal(count: usize, seed: u64) -> Vec<f64> {
    let (a, b) = (draws(count, seed), draws(count, seed + 1));
    a.iter().zip(b).map(|(u, v)| (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()).collect()
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
    Signal::from_planar(extent, channels, (0..channels * extent.volume()).map(value).collect()).unwrap()
}

fn noisy(clean: &Signal<f32>, sigma: f64) -> Signal<f32> {
    let noise = normal(clean.data().len(), 5);
    let data = clean.data().iter().zip(noise).map(|(x, n)| x + (sigma * n) as f32).collect();
    Signal::from_planar(clean.extent(), clean.channels(), data).unwrap()
}

fn run(params: DenoiseParams, picture: &Signal<f32>) -> Denoised {
    params.check().unwrap().run(picture, &Dictionary::natural(), &mut ()).unwrap()
}

#[test]
fn the_noise_level_is_estimated() {
    for sigma in [3.0, 10.0, 40.0] {
        let found = noise_level(&noisy(&truth(1), sigma)).unwrap();
        assert!((found / sigma - 1.0).abs() < 0.06, "{sigma}: {found}");
    }
    assert!(noise_level(&truth(1)).unwrap() < 0.5);
    assert!(noise_level(&Signal::zeros(Extent::new(&[9, 40]).unwrap(), 1)).unwrap_err().to_string().contains("estimated"));
}

#[test]
fn gaussian_noise_goes() {
    for channels in [1, 3] {
        let (clean, sigma) = (truth(channels), 15.0);
        let picture = noisy(&clean, sigma);
        let before = psnr(&picture, &clean, 255.0).unwrap();
        let local = run(DenoiseParams::new(Noise::Gaussian { sigma: None }), &picture);
        let after = psnr(&local.picture, &clean, 255.0).unwrap();
        assert!(after > before + 7.0, "{channels} channels: {before} dB became {after}");
        assert!((local.level / sigma - 1.0).abs() < 0.06, "{}", local.level);
        let kept =
            run(DenoiseParams { fit_atoms: false, ..DenoiseParams::new(Noise::Gaussian { sigma: Some(sigma) }) }, &picture);
        let plain = psnr(&kept.picture, &clean, 255.0).unwrap();
        assert!(plain > before + 6.0 && after > plain, "{channels} channels: fitted atoms {after}, kept {plain}");
    }
}

#[test]
fn the_convolutional_way_has_a_certificate() {
    let (clean, picture) = (truth(1), noisy(&truth(1), 15.0));
    let method = Method::Convolutional;
    let answer = run(DenoiseParams { method, ..DenoiseParams::new(Noise::Gaussian { sigma: Some(15.0) }) }, &picture);
    let report = answer.report.unwrap();
    assert!(report.total.relative_gap() <= 1e-2 && report.penalty == 45.0);
    assert!(psnr(&answer.picture, &clean, 255.0).unwrap() > psnr(&picture, &clean, 255.0).unwrap() + 4.0);
}

#[test]
fn counts_are_stabilised() {
    // A picture of few photons with read-out noise: brightness must not be biased.
    let clean = Signal::from_planar(truth(1).extent(), 1, truth(1).data().iter().map(|x| x / 20.0).collect()).unwrap();
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
    // Without read-out noise the gain need not be told: enough counts on average, and it is found.
    let many = |i: usize| 6.0 * f64::from(clean.data()[i]);
    let counts = (0..uniform.len()).map(|i| (3.0 * poisson(many(i), uniform[i])) as f32).collect();
    let counts = Signal::from_planar(clean.extent(), 1, counts).unwrap();
    let found = gain_of_counts(&counts).unwrap();
    assert!((found / 3.0 - 1.0).abs() < 0.15, "gain {found} instead of 3");
    assert_eq!(run(DenoiseParams::new(Noise::Poisson { gain: None }), &counts).level, found);
    let (gain, sigma) = (2.0, 0.5);
    let sample = |(i, x): (usize, &f32)| (gain * poisson(f64::from(*x) / gain, uniform[i]) + sigma * read_out[i]) as f32;
    let picture = Signal::from_planar(clean.extent(), 1, clean.data().iter().enumerate().map(sample).collect()).unwrap();
    let answer = run(DenoiseParams::new(Noise::Mixed { gain, sigma }), &picture);
    let (before, after) = (psnr(&picture, &clean, 12.0).unwrap(), psnr(&answer.picture, &clean, 12.0).unwrap());
    assert!(after > before + 6.0, "{before} dB became {after}");
    let mean = |s: &Signal<f32>| s.data().iter().sum::<f32>() / s.data().len() as f32;
    assert!((mean(&answer.picture) / mean(&clean) - 1.0).abs() < 0.04, "{} against {}", mean(&answer.picture), mean(&clean));
}

#[test]
fn impulses_are_found_and_the_rest_is_kept() {
    let clean = truth(1);
    let draw = draws(clean.data().len(), 3);
    let hit = |i: usize| if draw[i] < 0.05 { Some(0.0) } else { (draw[i] > 0.95).then_some(255.0) };
    let data: Vec<f32> = (0..draw.len()).map(|i| hit(i).unwrap_or(clean.data()[i])).collect();
    let picture = Signal::from_planar(clean.extent(), 1, data).unwrap();
    let answer = run(DenoiseParams::new(Noise::Impulse { share: None }), &picture);
    let changed = |i: usize| answer.picture.data()[i] != picture.data()[i];
    let (found, spoilt) = (0..draw.len()).fold((0, 0), |(f, s), i| match (hit(i).is_some(), changed(i)) {
        (true, true) => (f + 1, s),
        (false, true) => (f, s + 1),
        _ => (f, s),
    });
    let all = (0..draw.len()).filter(|&i| hit(i).is_some()).count();
    assert!(found as f64 > 0.97 * all as f64 && (spoilt as f64) < 0.02 * draw.len() as f64, "{found} of {all}, {spoilt} others");
    let (before, after) = (psnr(&picture, &clean, 255.0).unwrap(), psnr(&answer.picture, &clean, 255.0).unwrap());
    assert!(after > before + 12.0, "{before} dB became {after}");
    let few = run(DenoiseParams::new(Noise::Impulse { share: Some(0.02) }), &picture);
    assert!(few.level <= 0.0201);
}

#[test]
fn threads_change_nothing_and_time_and_observers_are_obeyed() {
    let picture = noisy(&truth(1), 20.0);
    let with = |threads: usize| {
        run(DenoiseParams { threads, ..DenoiseParams::new(Noise::Gaussian { sigma: Some(20.0) }) }, &picture).picture
    };
    assert_eq!(with(1), with(3));
    let params = DenoiseParams {
        time_limit: Some(std::time::Duration::ZERO),
        ..DenoiseParams::new(Noise::Gaussian { sigma: Some(20.0) })
    };
    assert_eq!(run(params, &picture).status, Status::TimeLimit);
    let mut stop = |_: &lobcod::Progress| lobcod::Control::Stop;
    let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(20.0) }).check().unwrap();
    assert_eq!(denoiser.run(&picture, &Dictionary::natural(), &mut stop).unwrap().status, Status::Interrupted);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (noise, word) in [
        (Noise::Gaussian { sigma: Some(0.0) }, "noise level"),
        (Noise::Mixed { gain: -1.0, sigma: 0.0 }, "gain"),
        (Noise::Poisson { gain: Some(0.0) }, "gain"),
        (Noise::Mixed { gain: 1.0, sigma: f64::NAN }, "read-out"),
        (Noise::Impulse { share: Some(1.0) }, "share"),
    ] {
        assert!(DenoiseParams::new(noise).check().unwrap_err().to_string().contains(word), "{word}");
    }
    let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(1.0) }).check().unwrap();
    let refusal = |picture: &Signal<f32>| denoiser.run(picture, &Dictionary::natural(), &mut ()).unwrap_err().to_string();
    assert!(refusal(&Signal::zeros(Extent::new(&[4, 40]).unwrap(), 1)).contains("smaller than an atom"));
    assert!(refusal(&Signal::zeros(Extent::new(&[400]).unwrap(), 1)).contains("two axes"));
    let mut broken = truth(1);
    broken.data_mut()[3] = f32::INFINITY;
    assert!(refusal(&broken).contains("inf"));
}
