//! Numbers at the ends of their range in tasks: finite images, or an error that explains why.

use lobcod::{Dictionary, Error, Extent, Mask, Penalty, Result, Signal};
use lobcod_conformance::cpu;
use lobcod_tasks::denoise::{DenoiseParams, Method, Noise};
use lobcod_tasks::fuse::FuseParams;
use lobcod_tasks::inpaint::InpaintParams;
use lobcod_tasks::separate::SeparateParams;
use std::time::Duration;

const LIMIT: Option<Duration> = Some(Duration::from_millis(200));

fn test_image(channels: usize, scale: f64) -> Signal<f32> {
    let extent = Extent::new(&[22, 20]).unwrap();
    let wave =
        |i: usize| (scale * ((i as f64 * 0.9).sin() + (i * 7 % 5) as f64 * 0.2 - 0.4)) as f32;
    Signal::from_planar(extent, channels, (0..extent.volume() * channels).map(wave).collect())
        .unwrap()
}

/// Checks for finite numbers, or an actionable error; returns whether there was an image.
fn numbers(answer: Result<Signal<f32>>, name: &str) -> bool {
    match answer {
        Ok(image) => {
            assert!(
                image.data().iter().all(|x| x.is_finite()),
                "{name}: a sample is NaN or infinite"
            );
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
fn images_of_any_scale_stay_images_or_are_refused() {
    let atoms: Dictionary<f32> =
        Dictionary::random(Extent::new(&[5, 5]).unwrap(), 1, 6, 1).unwrap();
    for power in [-44, -38, -30, 0, 18, 30, 37, 38] {
        for channels in [1, 3] {
            let scale = f64::powi(10.0, power);
            let (image, name) =
                (test_image(channels, scale), format!("1e{power}, {channels} channels"));
            let mut given = Vec::new();
            let known: Vec<bool> = (0..440).map(|i| i % 5 != 2).collect();
            let mask = Mask::from_known(image.extent(), &known).unwrap();
            let inpaint = InpaintParams::default().with(|p| p.time_limit = LIMIT).check().unwrap();
            given.push(numbers(
                inpaint
                    .run(&cpu(1), &image, &mask, std::slice::from_ref(&atoms), &mut ())
                    .map(|a| a.image),
                &format!("inpaint {name}"),
            ));
            for method in [Method::Local, Method::Convolutional] {
                for noise in [
                    Noise::Gaussian { sigma: Some(0.1) },
                    Noise::Gaussian { sigma: None },
                    Noise::Poisson { gain: Some(1.0) },
                    Noise::Impulse { share: None },
                ] {
                    let params = DenoiseParams::new(noise).with(|p| {
                        p.method = method;
                        p.time_limit = LIMIT;
                    });
                    let answer = params
                        .check()
                        .unwrap()
                        .run(&cpu(1), &image, &atoms, &mut ())
                        .map(|answer| answer.image);
                    given.push(numbers(answer, &format!("denoise {name} {noise:?}")));
                }
            }
            for penalty in [1e-12, 0.1, 1e12].map(Penalty::Relative) {
                let params = SeparateParams::new(penalty).with(|p| {
                    p.time_limit = LIMIT;
                    p.alternations = 2;
                });
                let answer =
                    params.check().unwrap().run(&cpu(1), &image, &atoms, &mut ()).and_then(
                        |layers| {
                            assert!(numbers(Ok(layers.base), &name));
                            layers.needles.synthesise(&atoms)
                        },
                    );
                given.push(numbers(answer, &format!("separate {name} {penalty:?}")));
            }
            for other in [scale, 1.0] {
                let mut frames = vec![image.clone(), test_image(channels, other)];
                let params = FuseParams::default().with(|p| p.time_limit = LIMIT);
                let answer = params
                    .check()
                    .unwrap()
                    .run(&cpu(1), &mut frames, &atoms, &mut ())
                    .map(|fused| fused.image);
                given.push(numbers(answer, &format!("fuse {name} and {other}")));
            }
            assert!(power != 0 || given.iter().all(|&given| given), "{name}: {given:?}");
        }
    }
}
