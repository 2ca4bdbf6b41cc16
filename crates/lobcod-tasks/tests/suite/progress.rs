//! Progress of every kind of run: a fraction that rises from 0 towards 1.

use lobcod::learn::Method;
use lobcod::{
    Control, Dictionary, Extent, LearnParams, Mask, Penalty, Progress, PursuitParams, Signal,
};
use lobcod_conformance::cpu;
use lobcod_tasks::denoise::{DenoiseParams, Noise};
use lobcod_tasks::fuse::FuseParams;
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::separate::SeparateParams;
use lobcod_tasks::{colour, synthetic};

/// What an observer saw.
fn seen(run: impl FnOnce(&mut dyn lobcod::Observer)) -> Vec<f64> {
    let mut fractions = Vec::new();
    let mut observer = |now: &Progress| {
        fractions.push(now.fraction);
        Control::Continue
    };
    run(&mut observer);
    fractions
}

fn check(task: &str, fractions: &[f64]) {
    println!("{task}: {fractions:.2?}");
    assert!(fractions.iter().all(|x| (0.0..=1.0).contains(x)), "{task}: {fractions:?}");
    assert!(fractions.is_sorted(), "{task} falls back: {fractions:?}");
    let (first, last) = (fractions[0], fractions[fractions.len() - 1]);
    assert!(first < 0.5 && last > 0.6, "{task}: from {first} to {last}");
    let mut steps = fractions.to_vec();
    steps.dedup();
    assert!(steps.len() >= 4, "{task}: {steps:?}");
}

#[test]
fn bars_fill() {
    let image = colour::lightness(&synthetic::still_life(96).unwrap(), 255.0, 1).unwrap();
    let (engine, atoms) = (cpu(1), Dictionary::natural());
    let noisy: Vec<f32> =
        image.data().iter().enumerate().map(|(i, x)| x + (i * 37 % 19) as f32).collect();
    let noisy = Signal::from_planar(image.extent(), 1, noisy).unwrap();
    let known: Vec<bool> = (0..96 * 96).map(|i| i * 31 % 7 > 2).collect();
    let mask = Mask::from_known(image.extent(), &known).unwrap();
    let observed = [noisy.clone().into()];

    let pursuit = PursuitParams::new(Penalty::Relative(0.02)).check().unwrap();
    check("pursuit", &seen(|o| drop(pursuit.run(&engine, &observed, &atoms, o).unwrap())));
    let first = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 8, 0).unwrap();
    for method in [Method::Atomwise, Method::Batch] {
        let learner =
            LearnParams::new(Penalty::Relative(0.1)).with(|p| (p.method, p.passes) = (method, 6));
        let learner = learner.check().unwrap();
        check("learning", &seen(|o| drop(learner.run(&engine, &observed, &first, o).unwrap())));
    }
    let inpaint = InpaintParams::default().check().unwrap();
    let atoms = [atoms];
    check("inpainting", &seen(|o| drop(inpaint.run(&engine, &image, &mask, &atoms, o).unwrap())));
    let separator = SeparateParams::new(Penalty::Relative(0.05)).check().unwrap();
    check("separation", &seen(|o| drop(separator.run(&engine, &image, &atoms[0], o).unwrap())));
    let fuser = FuseParams::default().check().unwrap();
    let mut frames = vec![image.clone(), noisy.clone()];
    check("fusion", &seen(|o| drop(fuser.run(&engine, &mut frames, &atoms[0], o).unwrap())));
    let denoiser = DenoiseParams::new(Noise::Gaussian { sigma: Some(5.0) }).check().unwrap();
    check("denoising", &seen(|o| drop(denoiser.run(&engine, &noisy, &atoms[0], o).unwrap())));
}
