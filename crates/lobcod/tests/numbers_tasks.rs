//! Numbers at the ends of their range in what the pursuit is for: pictures of numbers, or an error that says why.

use lobcod::tasks::denoise::{DenoiseParams, Method, Noise};
use lobcod::tasks::fuse::FuseParams;
use lobcod::tasks::inpaint::InpaintParams;
use lobcod::tasks::separate::SeparateParams;
use lobcod::{Dictionary, Error, Extent, Mask, Penalty, Result, Signal};
use std::time::Duration;

const LIMIT: Option<Duration> = Some(Duration::from_millis(200));

fn picture(channels: usize, scale: f64) -> Signal<f32> {
    let extent = Extent::new(&[22, 20]).unwrap();
    let wave = |i: usize| (scale * ((i as f64 * 0.9).sin() + (i * 7 % 5) as f64 * 0.2 - 0.4)) as f32;
    Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect()).unwrap()
}

/// Numbers, or a sentence that says what to do. Was it a picture?
fn numbers(answer: Result<Signal<f32>>, name: &str) -> bool {
    match answer {
        Ok(picture) => {
            assert!(picture.data().iter().all(|x| x.is_finite()), "{name}: a sample is no number");
            true
        }
        Err(Error::Data(reason)) => {
            assert!(reason.contains("; "), "{name}: {reason}");
            false
        }
        Err(Error::Parameter { .. }) => false,
        Err(other) => panic!("{name}: {other}"),
    }
}

#[test]
fn pictures_of_any_scale_stay_pictures_or_are_refused() {
    let atoms: Dictionary<f32> = Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 6, 1).unwrap();
    for power in [-44, -38, -30, 0, 18, 30, 37, 38] {
        for channels in [1, 3] {
            let scale = f64::powi(10.0, power);
            let (image, name) = (picture(channels, scale), format!("1e{power}, {channels} channels"));
            let mut given = Vec::new();
            let known: Vec<bool> = (0..440).map(|i| i % 5 != 2).collect();
            let mask = Mask::from_known(image.extent(), &known).unwrap();
            let inpaint = InpaintParams { threads: 1, time_limit: LIMIT, ..InpaintParams::default() }.check().unwrap();
            given.push(numbers(
                inpaint.run(&image, &mask, std::slice::from_ref(&atoms), &mut ()).map(|a| a.picture),
                &format!("inpaint {name}"),
            ));
            for method in [Method::Local, Method::Convolutional] {
                for noise in [
                    Noise::Gaussian { sigma: Some(0.1) },
                    Noise::Gaussian { sigma: None },
                    Noise::Poisson { gain: Some(1.0) },
                    Noise::Impulse { share: None },
                ] {
                    let params = DenoiseParams { method, threads: 1, time_limit: LIMIT, ..DenoiseParams::new(noise) };
                    let answer = params.check().unwrap().run(&image, &atoms, &mut ()).map(|answer| answer.picture);
                    given.push(numbers(answer, &format!("denoise {name} {noise:?}")));
                }
            }
            for penalty in [1e-12, 0.1, 1e12].map(Penalty::Relative) {
                let params = SeparateParams { threads: 1, time_limit: LIMIT, alternations: 2, ..SeparateParams::new(penalty) };
                let answer = params.check().unwrap().run(&image, &atoms, &mut ()).and_then(|layers| {
                    assert!(numbers(Ok(layers.base), &name));
                    layers.needles.synthesise(&atoms)
                });
                given.push(numbers(answer, &format!("separate {name} {penalty:?}")));
            }
            for other in [scale, 1.0] {
                let mut frames = vec![image.clone(), picture(channels, other)];
                let params = FuseParams { threads: 1, time_limit: LIMIT, ..FuseParams::default() };
                let answer = params.check().unwrap().run(&mut frames, &atoms, &mut ()).map(|fused| fused.picture);
                given.push(numbers(answer, &format!("fuse {name} and {other}")));
            }
            assert!(power != 0 || given.iter().all(|&given| given), "{name}: {given:?}");
        }
    }
}
