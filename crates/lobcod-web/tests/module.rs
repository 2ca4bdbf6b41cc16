//! The WebAssembly module under Node against the native library; skipped without either.
//!
//! `cargo xtask studio` builds the module.

mod common;

use common::node::run;
use common::{Events, grey, lines, request, still_life};
use serde_json::json;

#[test]
fn learning_finds_the_objective_of_plain_vectors() {
    let image = grey(&still_life(72));
    let job = request("learn", json!({"atoms": 12, "size": [7, 7], "passes": 3}))
        .with_u8("image", &[72, 72], &image)
        .to_bytes();
    let Some((events, _)) = run(&job) else { return };
    let (module, native) = (events.result().head["objective"].as_f64().unwrap(), Events::of(&job));
    let native = native.result().head["objective"].as_f64().unwrap();
    // The module adds dot products in another order, which rounds samples differently.
    assert!((module - native).abs() <= 1e-6 * native, "{module} and {native}");
    let seconds = events.result().head["seconds"].as_f64().unwrap();
    assert!(seconds > 0.0, "the clock of the host is used");
    assert!(events.named("preview").count() > 0 && events.named("progress").count() > 0);
}

#[test]
fn every_task_gives_the_native_pixels() {
    let (side, image) = (64, still_life(64));
    let shape = [side, side, 4];
    let mut noisy = image.clone();
    for (i, pixel) in noisy.chunks_exact_mut(4).enumerate() {
        pixel[..3].iter_mut().for_each(|x| *x = x.saturating_add((i * i % 23) as u8 / 2));
    }
    let frames = |job: lobcod_web::message::Draft| {
        job.with_u8("frame0", &shape, &image).with_u8("frame1", &shape, &noisy)
    };
    let jobs = [
        request("inpaint", json!({})).with_u8("image", &shape, &image).with_u8(
            "mask",
            &[side, side],
            &lines(side),
        ),
        frames(request("fuse", json!({"mode": "focus", "align": "none"}))),
        request("denoise", json!({"noise": "gaussian:6"})).with_u8("image", &shape, &image),
    ];
    for job in jobs {
        let job = job.to_bytes();
        let Some((events, _)) = run(&job) else { return };
        let native = Events::of(&job);
        let (module, native) = (events.result(), native.result());
        let (module, native) = (module.array("image").unwrap(), native.array("image").unwrap());
        assert_eq!(module.shape, native.shape);
        let largest = module.bytes.iter().zip(native.bytes).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(largest <= Some(1), "{largest:?}");
    }
}

#[test]
fn twelve_megapixels_are_refused_in_a_sentence_by_every_task() {
    let (shape, image) = ([3000, 4000], vec![127; 12_000_000]);
    for task in ["inpaint", "noise", "denoise", "encode", "learn"] {
        let job = request(task, json!({})).with_u8("image", &shape, &image).to_bytes();
        let Some((events, _)) = run(&job) else { return };
        let sentence = events.error();
        assert!(sentence.contains("12.0 megapixels") && sentence.contains("lobcod studio"));
    }
    for task in ["fuse", "repaint"] {
        let half = &image[..6_000_000];
        let frames = request(task, json!({})).with_u8("frame0", &[1500, 4000], half);
        let job = frames.with_u8("frame1", &[1500, 4000], half).to_bytes();
        let Some((events, _)) = run(&job) else { return };
        assert!(events.error().contains("12.0 megapixels"));
    }
}

#[test]
fn errors_are_sentences() {
    let wrong = request("inpaint", json!({"preset": "slow"})).with_u8("image", &[2, 2], &[0; 4]);
    let Some((events, _)) = run(&wrong.to_bytes()) else { return };
    assert!(events.error().contains("unknown variant `slow`"));
}
