//! Previews show the work in progress and do not change the result.

use lobcod::engine::CpuEngine;
use lobcod::{Control, Dictionary, LearnParams, Mask, Observer, Penalty, Progress, Result, Signal};
use lobcod_tasks::denoise::{DenoiseParams, Effort, Method, Noise};
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::{colour, synthetic};

const SIDE: usize = 72;

/// Takes every preview.
#[derive(Default)]
struct Watcher {
    sweeps: usize,
    images: Vec<Signal<f32>>,
    atoms: Vec<Dictionary<f32>>,
}

impl Observer for Watcher {
    fn progress(&mut self, _: &Progress) -> Control {
        self.sweeps += 1;
        Control::Continue
    }

    fn preview(&mut self, take: &mut dyn FnMut() -> Result<Signal<f32>>) {
        self.images.push(take().unwrap());
    }

    fn atoms(&mut self, take: &mut dyn FnMut() -> Dictionary<f32>) {
        self.atoms.push(take());
    }
}

#[test]
fn a_hole_fills_from_preview_to_preview() {
    let image = synthetic::still_life(SIDE).unwrap();
    // A band of holes in one corner, so that only a window of the image is filled.
    let known: Vec<bool> = (0..SIDE * SIDE)
        .map(|i| i / SIDE > 30 || i % SIDE > 30 || (i / SIDE + i % SIDE) % 9 > 1)
        .collect();
    let mask = Mask::from_known(image.extent(), &known).unwrap();
    let engine = CpuEngine::new(2).unwrap();
    let inpainter = InpaintParams::default().check().unwrap();
    let atoms = [Dictionary::natural()];
    let alone = inpainter.run(&engine, &image, &mask, &atoms, &mut ()).unwrap().image;
    let mut watcher = Watcher::default();
    let watched = inpainter.run(&engine, &image, &mask, &atoms, &mut watcher).unwrap().image;
    assert_eq!(alone, watched);
    // Also within sweeps.
    assert!(watcher.images.len() > watcher.sweeps + 5, "{} previews", watcher.images.len());
    let volume = SIDE * SIDE;
    let error = |preview: &Signal<f32>| {
        let mut sum = 0.0;
        for (i, (a, b)) in preview.data().iter().zip(image.data()).enumerate() {
            // Known pixels are never touched.
            assert!(!known[i % volume] || (a - b).abs() < 1e-3, "{a} and {b} at {i}");
            sum += f64::from(a - b).powi(2);
        }
        sum
    };
    let errors: Vec<f64> = watcher.images.iter().map(error).collect();
    assert!(errors.last().unwrap() < &(2.0 * error(&watched)), "{errors:?}");
    assert!(errors.last() < errors.first(), "{errors:?}");
    // Rounds over groups of similar patches are shown, on one thread after every row of groups.
    let atoms_only = InpaintParams::default().with(|p| p.groups = 0).check().unwrap();
    let mut before = Watcher::default();
    atoms_only.run(&engine, &image, &mask, &atoms, &mut before).unwrap();
    let rounds = inpainter.params().groups;
    assert!(rounds > 0 && watcher.images.len() > before.images.len() + rounds);
    let mut patient = Watcher::default();
    let engine = CpuEngine::new(1).unwrap();
    let result = inpainter.run(&engine, &image, &mask, &atoms, &mut patient).unwrap();
    assert_eq!(result.image, alone);
    let shown = patient.images.len() - before.images.len();
    assert!(shown > 10 * rounds, "{shown} previews");
}

#[test]
fn noise_vanishes_from_preview_to_preview() {
    let clean = synthetic::still_life(SIDE).unwrap();
    let mut state = 1u32;
    let mut noise = || -> f32 {
        let mut uniform = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        20.0 * (uniform() + uniform() + uniform() + uniform())
    };
    let noisy = clean.data().iter().map(|x| x + noise()).collect();
    let noisy = Signal::from_planar(clean.extent(), clean.channels(), noisy).unwrap();
    let error = |image: &Signal<f32>| -> f64 {
        image.data().iter().zip(clean.data()).map(|(a, b)| f64::from(a - b).powi(2)).sum()
    };
    // Also colours, and values stabilised for a noise that grows with brightness, are shown as they
    // are in the image.
    for noise in [Noise::Gaussian { sigma: None }, Noise::Mixed { gain: 0.5, sigma: 9.0 }] {
        let params = DenoiseParams::new(noise).with(|p| p.method = Method::Groups(Effort::Best));
        let denoiser = params.check().unwrap();
        let run = |observer: &mut dyn Observer| {
            let engine = CpuEngine::new(1).unwrap();
            denoiser.run(&engine, &noisy, &Dictionary::natural(), observer).unwrap().image
        };
        let mut watcher = Watcher::default();
        let watched = run(&mut watcher);
        assert_eq!(run(&mut ()), watched);
        let errors: Vec<f64> = watcher.images.iter().map(error).collect();
        assert!((errors[0] / error(&noisy) - 1.0).abs() < 0.1, "{errors:?}");
        assert!(errors.last().unwrap() < &(1.1 * error(&watched)), "{errors:?}");
        // A later pass begins with a part of the noise, but never with all of it.
        assert!(errors.windows(2).all(|pair| pair[1] < 1.4 * pair[0]), "{errors:?}");
        assert!(errors.len() > 4 * 10, "{}", errors.len());
    }
}

#[test]
fn atoms_are_shown_within_a_pass() {
    let image = colour::lightness(&synthetic::still_life(48).unwrap(), 255.0, 1).unwrap();
    let base = lobcod::base::local_mean(&image, None, lobcod::Extent::new(&[5, 5]).unwrap());
    let detail = image.minus(&base.unwrap()).unwrap();
    let first = Dictionary::random(lobcod::Extent::new(&[5, 5]).unwrap(), 1, 6, 0).unwrap();
    let learner = LearnParams::new(Penalty::Relative(0.1)).with(|p| p.passes = 2).check().unwrap();
    let engine = CpuEngine::new(1).unwrap();
    let run = |observer: &mut dyn Observer| {
        learner.run(&engine, &[detail.clone().into()], &first, observer).unwrap().dictionary
    };
    let mut watcher = Watcher::default();
    let watched = run(&mut watcher);
    assert_eq!(run(&mut ()), watched);
    assert!(watcher.atoms.len() > 2 * 3, "{}", watcher.atoms.len());
    assert!(watcher.atoms.windows(2).any(|pair| pair[0] != pair[1]));
}
