//! Jobs on the engine of this machine.

mod common;

use common::{Events, grey, lines, portable, request, still_life};
use lobcod::run::Stop;
use lobcod_web::message::Message;
use serde_json::json;

const SIDE: usize = 96;

#[test]
fn holes_are_filled_with_previews_and_the_rest_is_kept() {
    let (image, mask) = (still_life(SIDE), lines(SIDE));
    let mut damaged = image.clone();
    for (pixel, _) in damaged.chunks_exact_mut(4).zip(&mask).filter(|(_, m)| **m > 0) {
        pixel[..3].fill(0);
    }
    let job = request("inpaint", json!({"preset": "fast"}))
        .with_u8("image", &[SIDE, SIDE, 4], &damaged)
        .with_u8("mask", &[SIDE, SIDE], &mask);
    let events = Events::of(&job.to_bytes());
    let result = events.result();
    let filled = result.array("image").unwrap();
    assert_eq!(filled.shape, [SIDE, SIDE, 4]);
    let holes = mask.iter().filter(|m| **m > 0).count();
    assert_eq!(result.head["missing"], holes);
    let error = |image: &[u8]| {
        let pixels = image
            .chunks_exact(4)
            .zip(still_life(SIDE).chunks_exact(4).map(<[u8]>::to_vec).collect::<Vec<_>>());
        let squares: f64 = pixels
            .flat_map(|(a, b)| (0..3).map(move |c| (f64::from(a[c]) - f64::from(b[c])).powi(2)))
            .sum();
        (squares / (3 * holes) as f64).sqrt()
    };
    assert!(error(filled.bytes) < 0.2 * error(&damaged), "{}", error(filled.bytes));
    let known = filled.bytes.chunks_exact(4).zip(image.chunks_exact(4)).zip(&mask);
    assert!(known.filter(|(_, m)| **m == 0).all(|((a, b), _)| a == b));
    let previews: Vec<_> =
        events.named("preview").map(|p| p.array("image").unwrap().bytes.to_vec()).collect();
    assert!(!previews.is_empty());
    assert!(error(previews.last().unwrap()) < 0.5 * error(&damaged));
    let fractions: Vec<f64> =
        events.named("progress").map(|p| p.head["fraction"].as_f64().unwrap()).collect();
    assert!(!fractions.is_empty() && fractions.is_sorted());
}

#[test]
fn transparent_pixels_are_missing() {
    let mut image = still_life(48);
    image[4 * (20 * 48 + 20) + 3] = 0;
    let sent =
        |task: &str| request(task, json!({})).with_u8("image", &[48, 48, 4], &image).to_bytes();
    assert_eq!(Events::of(&sent("inpaint")).result().head["missing"], 1);
    // Half transparent: missing next to a hole, known elsewhere.
    for (y, x) in [(20, 21), (30, 30)] {
        image[4 * (y * 48 + x) + 3] = 180;
    }
    let sent =
        |task: &str| request(task, json!({})).with_u8("image", &[48, 48, 4], &image).to_bytes();
    assert_eq!(Events::of(&sent("inpaint")).result().head["missing"], 2);
    assert!(Events::of(&sent("denoise")).error().contains("transparent pixels"));
}

#[test]
fn noise_is_estimated_and_removed() {
    let mut image = grey(&still_life(128));
    let mut state = 1u32;
    for x in &mut image {
        let noise: i32 = (0..12)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as i32 - 128
            })
            .sum::<i32>()
            / 21;
        *x = (i32::from(*x) + noise).clamp(0, 255) as u8;
    }
    let sent = |task: &str, options| {
        Events::of(&request(task, options).with_u8("image", &[128, 128], &image).to_bytes())
    };
    let estimate = sent("noise", json!({}));
    let head = &estimate.result().head;
    assert!(
        ["white", "correlated", "signal-dependent"].contains(&head["kind"].as_str().unwrap()),
        "{head}"
    );
    let clean = sent("denoise", json!({"noise": head["noise"], "strength": 1}));
    let preview = clean.named("preview").next().unwrap();
    assert_eq!(preview.array("image").unwrap().shape, [128, 128, 4]);
    let clean = clean.result().array("image").unwrap();
    assert_eq!(clean.shape, [128, 128, 4]);
    let pure = still_life(128);
    let error = |i: usize, x: u8| i32::from(x.abs_diff(pure[4 * i + 1])).pow(2);
    let squares: i32 = (0..128 * 128).map(|i| error(i, clean.bytes[4 * i])).sum();
    let before: i32 = image.iter().enumerate().map(|(i, &x)| error(i, x)).sum();
    assert!(2 * squares < before, "{squares} of {before}");
}

#[test]
fn frames_are_fused_and_painted_places_are_taken_from_chosen_frames() {
    let sharp = grey(&still_life(SIDE));
    let blurred = |i: usize| {
        let (y, x) = (i / SIDE, i % SIDE);
        let near = |a: usize| a.saturating_sub(2)..(a + 3).min(SIDE);
        let box_of = near(y).flat_map(|v| near(x).map(move |u| v * SIDE + u)).collect::<Vec<_>>();
        (box_of.iter().map(|&j| usize::from(sharp[j])).sum::<usize>() / box_of.len()) as u8
    };
    let frame = |left: bool| -> Vec<u8> {
        (0..SIDE * SIDE)
            .map(|i| if (i % SIDE < SIDE / 2) == left { sharp[i] } else { blurred(i) })
            .collect()
    };
    let frames = [frame(true), frame(false)];
    let shape = [SIDE, SIDE];
    let with_frames = |job: lobcod_web::message::Draft| {
        job.with_u8("frame0", &shape, &frames[0]).with_u8("frame1", &shape, &frames[1])
    };
    let fused = Events::of(
        &with_frames(request("fuse", json!({"align": "none", "mode": "focus"}))).to_bytes(),
    );
    let fused = fused.result();
    assert_eq!(fused.head["crop"], json!([0, 0, SIDE, SIDE]));
    assert_eq!(fused.head["mode"], "focus");
    let decision = fused.array("decision").unwrap().bytes.to_vec();
    let left = |i: &usize| i % SIDE < SIDE / 2 - 8;
    let taken = (0..decision.len()).filter(left).filter(|&i| decision[i] == 0).count();
    assert!(taken * 10 > 9 * (0..decision.len()).filter(left).count());
    assert_eq!(fused.array("depth").unwrap().shape, shape);

    let options = json!({"alignment": fused.head["alignment"]});
    let image = fused.array("image").unwrap();
    let repaint = |painted: &[u8]| {
        let job = with_frames(request("repaint", options.clone()));
        let job = job.with_u8("fused", &image.shape, image.bytes);
        Events::of(&job.with_u8("painted", &shape, painted).to_bytes())
    };
    let kept = repaint(&vec![255; decision.len()]);
    assert_eq!(kept.result().array("image").unwrap().bytes, image.bytes);
    let only = repaint(&vec![1; decision.len()]);
    let only = grey(only.result().array("image").unwrap().bytes);
    assert_eq!(only, frames[1]);
    // A part of the left half, from the frame that is blurred there.
    let is_painted = |i: usize| i % SIDE < 30;
    let painted: Vec<u8> =
        (0..decision.len()).map(|i| 255 - 254 * u8::from(is_painted(i))).collect();
    let now = repaint(&painted);
    let (now, before) = (grey(now.result().array("image").unwrap().bytes), grey(image.bytes));
    assert_eq!(
        (now[40 * SIDE + 10], now[40 * SIDE + 60]),
        (frames[1][40 * SIDE + 10], before[40 * SIDE + 60])
    );
    assert_ne!(now, before);
    assert!(repaint(&vec![2; decision.len()]).error().contains("names frame 2"));
}

#[test]
fn atoms_are_learnt_with_codes_that_make_the_image() {
    let image = grey(&still_life(64));
    let job = request("learn", json!({"atoms": 6, "size": [5, 5], "passes": 4}));
    let events = Events::of(&job.with_u8("image", &[64, 64], &image).to_bytes());
    let result = events.result();
    assert_eq!(result.array("atoms").unwrap().shape, [6, 5, 5]);
    let preview = events.named("preview").next().unwrap();
    assert_eq!(preview.array("atoms").unwrap().shape, [6, 5, 5]);
    let passes = |name: &'static str| events.named(name).map(|e| e.head["pass"].clone());
    assert!(passes("progress").any(|pass| pass == 1));
    assert!(result.head["gap"].as_f64().unwrap() <= 1e-3);
    let history = result.head["history"].as_array().unwrap();
    assert_eq!(history.len(), 4);
    let positions = result.array("position").unwrap();
    let count = result.array("value").unwrap().shape[0];
    assert_eq!(positions.shape, [count, 2]);
    assert_eq!(result.head["nonzeros"], count);
    assert!(result.array("atom").unwrap().to_i32().unwrap().iter().all(|k| (0..6).contains(k)));
    assert!(positions.to_i32().unwrap().iter().all(|x| (-4..64).contains(x)));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("atoms.npz");
    std::fs::write(&file, result.array("dictionary").unwrap().bytes).unwrap();
    let read = lobcod_io::read_dictionary::<f32>(&file).unwrap();
    assert_eq!(read.data(), result.array("atoms").unwrap().to_f32().unwrap());
}

#[test]
fn the_atoms_of_a_preview_become_a_file() {
    let file_of = |shape: &[usize]| {
        let atoms: Vec<f32> = (0..shape.iter().product()).map(|i: usize| i as f32 + 1.0).collect();
        let job = request("dictionary", json!({})).with_f32("atoms", shape, &atoms);
        let events = Events::of(&job.to_bytes());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("atoms.npz");
        std::fs::write(&file, events.result().array("dictionary").unwrap().bytes).unwrap();
        lobcod_io::read_dictionary::<f32>(&file).unwrap()
    };
    for (shape, channels, axes) in
        [(&[3, 9][..], 1, &[9][..]), (&[3, 4, 5], 1, &[4, 5]), (&[2, 3, 4, 5], 3, &[4, 5])]
    {
        let dictionary = file_of(shape);
        assert_eq!((dictionary.len(), dictionary.channels()), (shape[0], channels));
        assert_eq!(dictionary.extent().axes(), axes);
        // Atoms have unit norm in the file.
        let (first, second) = (dictionary.data()[0], dictionary.data()[1]);
        assert!((second / first - 2.0).abs() < 1e-5);
    }
    for shape in [&[7][..], &[2, 2, 2, 2, 2]] {
        let atoms = vec![1.0; shape.iter().product()];
        let job = request("dictionary", json!({})).with_f32("atoms", shape, &atoms);
        assert!(Events::of(&job.to_bytes()).error().contains("the atoms are missing"));
    }
}

#[test]
fn waveforms_are_learnt_from_a_sound() {
    let pulse = |t: usize| (-(t as f32) / 12.0).exp() * (t as f32 * 0.9).sin();
    let mut samples = vec![0.0f32; 4000];
    for start in (50..3900).step_by(170) {
        (0..64).for_each(|t| samples[start + t] += 0.5 * pulse(t));
    }
    let options = json!({"atoms": 2, "size": 64, "passes": 10, "rate": 8000});
    let events =
        Events::of(&request("sound", options).with_f32("samples", &[4000], &samples).to_bytes());
    let result = events.result();
    assert_eq!(result.head["rate"], 8000.0);
    assert_eq!(result.array("atoms").unwrap().shape, [2, 64]);
    assert_eq!(result.array("position").unwrap().shape[1], 1);
    let made = result.array("reconstruction").unwrap().to_f32().unwrap();
    let energy = |x: &mut dyn Iterator<Item = f32>| x.map(|x| f64::from(x).powi(2)).sum::<f64>();
    let error = energy(&mut made.iter().zip(&samples).map(|(a, b)| a - b));
    assert!(error < 0.05 * energy(&mut samples.iter().copied()), "{error}");
}

#[test]
fn a_job_stops_with_what_it_has() {
    let image = grey(&still_life(SIDE));
    let job = request("inpaint", json!({})).with_u8("image", &[SIDE, SIDE], &image).with_u8(
        "mask",
        &[SIDE, SIDE],
        &lines(SIDE),
    );
    let mut events = Events { stop: Stop::when(|| true), ..Events::default() };
    lobcod_web::run(&job.to_bytes(), &portable(), &mut events);
    assert_eq!(events.result().head["status"], "interrupted");
    assert_eq!(events.result().array("image").unwrap().shape, [SIDE, SIDE, 4]);
}

#[test]
fn wrong_requests_are_refused_in_a_sentence() {
    let image = vec![100; 64 * 64];
    let sent = |task: &str, options| {
        Events::of(&request(task, options).with_u8("image", &[64, 64], &image).to_bytes()).error()
    };
    for (task, options, words) in [
        ("paint", json!({}), "the task is paint"),
        ("inpaint", json!({"speed": 3}), "unknown field `speed`"),
        ("inpaint", json!({"preset": "slow"}), "unknown variant `slow`"),
        ("inpaint", json!({"penalty": -1}), "the penalty is -1"),
        ("inpaint", json!({"time_limit": -1}), "the time limit is -1"),
        ("denoise", json!({"noise": "snow"}), "the noise is snow"),
        ("denoise", json!({"strength": 0}), "the strength is 0"),
        ("learn", json!({"size": [80, 8]}), "atoms of 8x80 do not fit into 64x64"),
        ("learn", json!({"passes": 0}), "the number of passes is 0"),
        ("learn", json!({}), "nothing to learn"),
        ("fuse", json!({}), "there are 0 frames; choose 2 to 20"),
        ("repaint", json!({}), "missing field `alignment`"),
        ("sound", json!({}), "the sound is missing"),
    ] {
        let error = sent(task, options);
        assert!(error.contains(words), "{task}: {error}");
    }
    let other = Events::of(&lobcod_web::message::Draft::new(json!({"protocol": 9})).to_bytes());
    assert!(other.error().contains("version 9 of the protocol"));
    assert!(Events::of(b"??").error().contains("is too short"));
    let narrow = request("noise", json!({})).with_u8("image", &[40, 9], &[7; 360]);
    assert!(Events::of(&narrow.to_bytes()).error().contains("the image of 9x40 pixels"));
    let empty = request("noise", json!({})).with_u8("image", &[0, 5], &[]);
    assert!(Events::of(&empty.to_bytes()).error().contains("is empty"));
    let floats = request("noise", json!({})).with_f32("image", &[2, 2], &[0.0; 4]);
    assert!(Events::of(&floats.to_bytes()).error().contains("[height, width, 4]"));
}

#[test]
fn memory_beyond_the_limit_is_refused_in_a_sentence() {
    let machine = lobcod_web::Machine::new(
        |_, _| Ok(Box::new(lobcod::engine::CpuEngine::new(1)?)),
        Some(1 << 20),
    );
    let image = still_life(SIDE);
    for task in ["denoise", "learn"] {
        let options = if task == "denoise" { json!({"noise": "gaussian:9"}) } else { json!({}) };
        let job = request(task, options).with_u8("image", &[SIDE, SIDE, 4], &image);
        let mut events = Events::default();
        assert!(!lobcod_web::run(&job.to_bytes(), &machine, &mut events));
        let message = Message::read(events.messages.last().unwrap()).unwrap();
        let words = message.head["message"].as_str().unwrap();
        assert!(words.contains("but the limit is 1.0 MiB"), "{words}");
    }
}
