//! Real-world photographs and masks: rotated cameras, masks from paint programs, painted holes,
//! floats.

use crate::common::{Desk, near, number, text, texture};
use lobcod::{Extent, Signal};
use lobcod_io::{Array, Depth, Metadata, ReadOptions, WriteOptions, npy, read_image, write_image};
use lobcod_tasks::metrics;
use serde_json::Value;

const SIZE: [usize; 2] = [48, 64];

fn image(value: impl Fn(usize, usize) -> f32) -> Signal<f32> {
    let values = (0..SIZE[0] * SIZE[1]).map(|i| value(i / SIZE[1], i % SIZE[1])).collect();
    Signal::from_planar(Extent::new(&SIZE).unwrap(), 1, values).unwrap()
}

fn read(desk: &Desk, name: &str) -> Signal<f32> {
    read_image(&desk.path(name), &ReadOptions::default()).unwrap().signal
}

/// A scratch across the image, 3 pixels wide.
fn scratch(y: usize, x: usize) -> bool {
    (x + 62 - y) % 64 < 3
}

fn scratches(marked: f32, other: f32) -> Signal<f32> {
    image(|y, x| if scratch(y, x) { marked } else { other })
}

/// The photograph with white scratches.
fn damaged() -> Signal<f32> {
    let photo = texture(&SIZE, 1, 0.0);
    image(|y, x| if scratch(y, x) { 255.0 } else { photo.data()[y * SIZE[1] + x] })
}

/// Writes pixels with this EXIF orientation.
fn write_turned(desk: &Desk, name: &str, stored: &Signal<f32>, orientation: u8) {
    let exif =
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", &[orientation, 0, 0, 0, 0, 0, 0, 0][..]]
            .concat();
    let metadata = Metadata { exif: Some(exif), ..Metadata::default() };
    write_image(&desk.path(name), stored, &WriteOptions { metadata, ..WriteOptions::default() })
        .unwrap();
}

/// The pixels as stored by a camera with orientation 3 (upside down) or 6 (on its side).
fn as_stored(upright: &Signal<f32>, orientation: u8) -> Signal<f32> {
    let [_, height, width] = upright.extent().padded();
    match orientation {
        3 => {
            Signal::from_planar(upright.extent(), 1, upright.data().iter().rev().copied().collect())
                .unwrap()
        }
        _ => {
            // Upright pixel (y, x) is stored in row width - 1 - x and column y.
            let stored = (0..width * height)
                .map(|i| upright.data()[i % height * width + width - 1 - i / height])
                .collect();
            Signal::from_planar(Extent::new(&[width, height]).unwrap(), 1, stored).unwrap()
        }
    }
}

#[test]
fn a_rotated_photograph_and_its_mask_become_upright() {
    let desk = Desk::new();
    desk.write("upright.png", &damaged(), Depth::U8);
    desk.write("holes.png", &scratches(255.0, 0.0), Depth::U8);
    desk.write("reference.png", &texture(&SIZE, 1, 0.0), Depth::U8);
    desk.succeed("inpaint upright.png --holes holes.png -o expected.png --threads 1 --quiet");
    for orientation in [3, 6] {
        write_turned(&desk, "turned.png", &as_stored(&damaged(), orientation), orientation);
        write_turned(
            &desk,
            "mask.png",
            &as_stored(&scratches(255.0, 0.0), orientation),
            orientation,
        );
        write_turned(
            &desk,
            "truth.png",
            &as_stored(&texture(&SIZE, 1, 0.0), orientation),
            orientation,
        );
        for mask in ["holes.png", "mask.png"] {
            let line = "inpaint turned.png -o out.png --reference truth.png --report page.html \
                        --threads 1";
            let report = desk.json(&format!("{line} --holes {mask}"));
            assert!(number(&report, "psnr_output_db") > 30.0, "{orientation} {mask}");
            assert_eq!(
                read(&desk, "out.png").data(),
                read(&desk, "expected.png").data(),
                "{orientation} {mask}"
            );
            let written = std::fs::read(desk.path("out.png")).unwrap();
            assert_eq!(written[16..24], [0, 0, 0, 64, 0, 0, 0, 48], "pixels are written upright");
            assert!(
                written.windows(12).any(|w| w == b"\x12\x01\x03\0\x01\0\0\0\x01\0\0\0"),
                "the orientation is 1"
            );
        }
        let compared = desk.json("compare truth.png reference.png");
        assert_eq!(compared["equal"], true, "{orientation}");
    }
    // A mask on its side: sizes are width x height, and the sentence names the rotation.
    desk.write("side.png", &as_stored(&scratches(255.0, 0.0), 6), Depth::U8);
    desk.write("small.png", &texture(&[20, 30], 1, 0.0), Depth::U8);
    let line = "inpaint turned.png -o out.png --quiet --holes";
    let refusal = |mask: &str| {
        let output = desk.run(&format!("{line} {mask}"));
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let error = refusal("side.png");
    assert!(error.contains("a mask of 48x64 pixels, but the image has 64x48"), "{error}");
    assert!(error.contains("EXIF orientation, so turn the mask by 90 degrees"), "{error}");
    let error = refusal("small.png");
    assert!(error.contains("30x20 pixels, but the image has 64x48; resize"), "{error}");
}

#[test]
fn masks_of_paint_programs_give_the_rule_and_the_fraction() {
    let desk = Desk::new();
    desk.write("damaged.png", &damaged(), Depth::U8);
    desk.write("hard.png", &scratches(255.0, 0.0), Depth::U8);
    desk.write("soft.jpg", &scratches(255.0, 0.0), Depth::U8);
    desk.write("known.jpg", &scratches(0.0, 255.0), Depth::U8);
    let report = |line: &str| {
        desk.json(&format!("inpaint damaged.png {line} -o out.png --preset fast --threads 1"))
    };
    let rules =
        |report: &Value| report["mask_rules"].as_array().unwrap()[0].as_str().unwrap().to_string();
    let exact = scratches(1.0, 0.0).data().iter().sum::<f32>() as f64 / 3072.0;
    let hard = report("--holes hard.png");
    assert_eq!(
        (rules(&hard).as_str(), number(&hard, "missing_fraction")),
        ("hard.png: non-zero pixels are missing", exact)
    );
    let photo = texture(&SIZE, 1, 0.0);
    for (line, rule) in
        [("--holes soft.jpg", "16/255 are missing"), ("--known known.jpg", "239/255 are known")]
    {
        let soft = report(line);
        assert!(rules(&soft).contains(rule), "{line}: {}", rules(&soft));
        let fraction = number(&soft, "missing_fraction");
        assert!(fraction >= exact && fraction < 4.0 * exact, "{line}: {fraction}");
        let psnr = metrics::psnr(&read(&desk, "out.png"), &photo, 255.0).unwrap();
        assert!(psnr > 25.0, "{line}: {psnr} dB");
    }
    let words = desk.succeed(
        "inpaint damaged.png --holes hard.png -o out.png --preset fast --threads 1 --report \
         page.html",
    );
    assert!(words.contains("% of the pixels (hard.png: non-zero pixels are missing)"), "{words}");
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    assert!(page.contains("non-zero pixels are missing"));
    for command in
        ["encode damaged.png -o codes.npz", "learn damaged.png -o atoms.npz --atoms 4 --passes 1"]
    {
        let report = desk.json(&format!("{command} --holes hard.png --threads 1"));
        assert_eq!(number(&report["images"][0], "missing_fraction"), exact, "{command}");
        assert!(
            report["images"][0]["mask_rules"][0].as_str().unwrap().contains("hard.png"),
            "{command}"
        );
    }
}

#[test]
fn an_inverted_mask_causes_a_warning() {
    let desk = Desk::new();
    let large = |value: &dyn Fn(usize, usize) -> f32| {
        let values = (0..120 * 120).map(|i| value(i / 120, i % 120)).collect();
        Signal::from_planar(Extent::new(&[120, 120]).unwrap(), 1, values).unwrap()
    };
    desk.image("photo.png", &[120, 120], 1, 0.0);
    desk.write(
        "mask.png",
        &large(&|_, x| if (58..62).contains(&x) { 255.0 } else { 0.0 }),
        Depth::U8,
    );
    let random = |y: usize, x: usize| if (y * 120 + x) * 7919 % 1009 < 30 { 255.0 } else { 0.0 };
    desk.write("random.png", &large(&random), Depth::U8);
    let run = |line: &str| {
        let output =
            desk.run(&format!("inpaint photo.png {line} -o out.png --time-limit 0 --threads 1"));
        assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    let warning = run("--known mask.png");
    assert_eq!(warning.lines().count(), 1, "{warning}");
    for word in ["warning", "--known mask.png", "97 %", "--holes mask.png"] {
        assert!(warning.contains(word), "{word} is missing in {warning}");
    }
    for line in ["--holes mask.png", "--known random.png", "--known mask.png --quiet"] {
        assert_eq!(run(line), "", "{line}");
    }
}

#[test]
fn pixels_painted_in_a_colour_are_missing() {
    let desk = Desk::new();
    let photo = texture(&SIZE, 3, 0.0);
    let mut painted = photo.clone();
    let pixels = SIZE[0] * SIZE[1];
    for i in (0..pixels).filter(|i| scratch(i / SIZE[1], i % SIZE[1])) {
        (0..3).for_each(|c| painted.data_mut()[c * pixels + i] = if c == 0 { 255.0 } else { 0.0 });
    }
    desk.write("painted.png", &painted, Depth::U8);
    desk.write("deep.png", &painted, Depth::U16);
    desk.write("grey.png", &texture(&SIZE, 1, 0.0), Depth::U8);
    let exact = scratches(1.0, 0.0).data().iter().sum::<f32>() as f64 / 3072.0;
    for (file, colour) in [("painted.png", "#ff0000"), ("deep.png", "FF0000")] {
        let report =
            desk.json(&format!("inpaint {file} --holes-colour {colour} -o out.png --threads 1"));
        assert_eq!(number(&report, "missing_fraction"), exact, "{file}");
        assert!(report["mask_rules"][0].as_str().unwrap().contains("#ff0000"));
        let psnr = metrics::psnr(&read(&desk, "out.png"), &photo, 255.0).unwrap();
        assert!(psnr > 30.0, "{file}: {psnr} dB");
    }
    // A soft brush mixes paint into the pixels around it, and JPEG spreads it further.
    let mut soft = photo.clone();
    for i in 0..pixels {
        let distance = (i % SIZE[1]).abs_diff(i / SIZE[1] + 2) as f32;
        let paint = (3.0 - distance).clamp(0.0, 1.0) * 0.6 + if distance < 2.0 { 0.4 } else { 0.0 };
        (0..3).for_each(|c| {
            let sample = &mut soft.data_mut()[c * pixels + i];
            *sample = (1.0 - paint) * *sample + paint * if c == 0 { 255.0 } else { 0.0 };
        });
    }
    for name in ["soft.png", "soft.jpg"] {
        desk.write(name, &soft, Depth::U8);
        let report =
            desk.json(&format!("inpaint {name} --holes-colour #ff0000 -o out.png --threads 1"));
        assert!(
            report["mask_rules"][0].as_str().unwrap().contains("partly painted"),
            "{name}: {report}"
        );
        let out = read(&desk, "out.png");
        let pure = |i: usize| {
            (out.channel(0)[i] - photo.channel(0)[i]).min(photo.channel(1)[i] - out.channel(1)[i])
        };
        let worst = (0..pixels).map(pure).fold(0.0, f32::max);
        assert!(worst < 60.0, "{name}: {worst} of red is left");
    }
    // A red object under red paint in a JPEG file is kept.
    let object = |i: usize| i % SIZE[1] > 24 && i / SIZE[1] > 8;
    let mut similar = photo.clone();
    for i in (0..pixels).filter(|&i| object(i)) {
        (0..3).for_each(|c| {
            let sample = &mut similar.data_mut()[c * pixels + i];
            *sample = 0.2 * *sample + if c == 0 { 200.0 } else { 70.0 };
        });
    }
    let truth = similar.clone();
    for i in 0..pixels {
        // Half painted on both sides.
        let paint = [(36..39, 1.0), (35..40, 0.5)].into_iter().find(|(x, _)| x.contains(&(i % 64)));
        let paint = paint.map_or(0.0, |(_, paint)| paint);
        (0..3).for_each(|c| {
            let sample = &mut similar.data_mut()[c * pixels + i];
            *sample += paint * (if c == 0 { 255.0 } else { 0.0 } - *sample);
        });
    }
    desk.write("similar.jpg", &similar, Depth::U8);
    let report =
        desk.json("inpaint similar.jpg --holes-colour #ff0000 -o out.png --threads 1 --quiet");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("colours similar to #ff0000"), "{report}");
    assert!(number(&report, "missing_fraction") < 0.4, "{report}");
    let psnr = metrics::psnr(&read(&desk, "out.png"), &truth, 255.0).unwrap();
    assert!(psnr > 22.0, "{psnr} dB");
    for (line, word) in [
        (
            "inpaint painted.png --holes-colour #00ff00 -o none.png",
            "no pixel of painted.png has the colour #00ff00",
        ),
        ("inpaint grey.png --holes-colour #ff0000 -o none.png", "greyscale image"),
    ] {
        let output = desk.run(line);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {err}");
        assert!(err.lines().count() == 1 && err.contains(word), "{line}: {err}");
    }
    assert_eq!(
        desk.run("inpaint painted.png --holes-colour red -o none.png").status.code(),
        Some(2)
    );
}

#[test]
fn floats_keep_their_type_and_their_range() {
    let desk = Desk::new();
    let photo = texture(&SIZE, 1, 0.0);
    let unit: Vec<f64> = photo.data().iter().map(|x| f64::from(*x) / 255.0 + 1e-12).collect();
    let noisy: Vec<f64> = unit
        .iter()
        .enumerate()
        .map(|(i, x)| x + 0.03 * ((i * 7919 % 1013) as f64 / 506.0 - 1.0))
        .collect();
    let mut holes = unit.clone();
    (0..3072).filter(|i| scratch(i / 64, i % 64)).for_each(|i| holes[i] = f64::NAN);
    for (name, values) in [("truth.npy", &unit), ("noisy.npy", &noisy), ("holes.npy", &holes)] {
        desk.bytes(name, &npy::encode(&Array::new(&SIZE, values.iter().copied())));
    }
    let said = |line: &str| {
        let output = desk.run(&format!("{line} --json"));
        assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (report, text(&output.stderr))
    };
    // Doubles stay doubles, and known samples keep all bits.
    let (report, warnings) = said("inpaint holes.npy -o filled.npy --reference truth.npy");
    let filled = std::fs::read(desk.path("filled.npy")).unwrap();
    assert!(text(&filled[10..64]).contains("<f8"), "{}", text(&filled[10..64]));
    let filled =
        read_image::<f64>(&desk.path("filled.npy"), &ReadOptions::default()).unwrap().signal;
    let known = |i: &usize| !scratch(i / 64, i % 64);
    assert!((0..3072).filter(known).all(|i| filled.data()[i] == unit[i]));
    // Scores use the range of the values as peak, with a warning.
    let truth = Signal::from_planar(Extent::new(&SIZE).unwrap(), 1, unit.clone()).unwrap();
    let expected = metrics::psnr(&filled, &truth, 1.0).unwrap();
    assert!(near(number(&report, "psnr_output_db"), expected, 1e-6), "{report}");
    assert_eq!(number(&report, "peak"), 1.0);
    assert!(
        warnings.lines().count() == 1
            && warnings.contains("peak of 1")
            && warnings.contains("--peak"),
        "{warnings}"
    );
    assert_eq!(said("inpaint holes.npy -o filled.npy --reference truth.npy --peak 1").1, "");
    // Integer files use it as white; the solver works on the same values as before.
    let (report, warnings) =
        said("denoise noisy.npy -o clean.png --noise gaussian:0.02 --reference truth.npy");
    assert!(
        warnings.contains("1 becomes white in clean.png; set white with --scale"),
        "{warnings}"
    );
    let clean = read(&desk, "clean.png");
    assert!(metrics::psnr(&clean, &photo, 255.0).unwrap() > 30.0, "the image is not nearly black");
    assert!(
        number(&report, "psnr_db") < 60.0 && number(&report, "psnr_noisy_db") < 45.0,
        "{report}"
    );
    said("denoise noisy.npy -o clean.npy --noise gaussian:0.02");
    said("denoise noisy.npy -o scaled.npy --noise gaussian:0.02 --scale 255");
    assert_eq!(
        std::fs::read(desk.path("clean.npy")).unwrap(),
        std::fs::read(desk.path("scaled.npy")).unwrap()
    );
    for line in [
        "separate noisy.npy --smooth-out smooth.png --texture-out texture.png",
        "compare truth.npy noisy.npy -o d.png",
    ] {
        assert!(said(line).1.contains("becomes white in"), "{line}");
    }
    let bright = |name: &str| read(&desk, name).data().iter().sum::<f32>() / 3072.0;
    assert!(bright("smooth.png") > 60.0, "{}", bright("smooth.png"));
    let (report, _) = said("encode truth.npy -o codes.npz --reference truth.npy");
    assert!(number(&report, "psnr_db") < 60.0, "{report}");
    desk.succeed("decode codes.npz -o decoded.png --quiet");
    assert!(metrics::psnr(&read(&desk, "decoded.png"), &photo, 255.0).unwrap() > 25.0);
    // Different units cause a warning.
    desk.write("truth.png", &photo, Depth::U8);
    assert!(
        said("denoise noisy.npy -o clean.npy --noise gaussian:0.02 --reference truth.png")
            .1
            .contains("different units")
    );
}

#[test]
fn encode_prints_the_psnr_and_the_penalty_of_learning() {
    let desk = Desk::new();
    let photo = desk.image("photo.png", &SIZE, 1, 0.0);
    desk.succeed(
        "learn photo.png -o atoms.npz --atoms 6 --size 6x6 --passes 2 --penalty 30 --threads 1 \
         --quiet",
    );
    let line = "encode photo.png -o codes.npz --dictionary atoms.npz --threads 1";
    let report = desk.json(line);
    assert_eq!(number(&report, "dictionary_penalty"), 30.0);
    desk.succeed("decode codes.npz -o back.npy --quiet");
    let psnr = metrics::psnr(&read(&desk, "back.npy"), &photo, 255.0).unwrap();
    assert!(near(number(&report, "psnr_db"), psnr, 1e-4), "{} and {psnr}", report["psnr_db"]);
    let words = desk.succeed(&format!("{line} --report page.html"));
    assert!(words.contains(&format!("{psnr:.2} dB of the reconstruction, peak 255")), "{words}");
    assert!(
        words.contains("learnt with penalty 30; use --penalty 30 to encode with the same"),
        "{words}"
    );
    assert!(words.contains("photo.png, 64x48"), "sizes are width x height: {words}");
    assert!(!desk.succeed(&format!("{line} --penalty 30")).contains("learnt with"));
    // A report begins with the quality of the result; details of the solver are collapsed.
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    let header = &page[page.find("<header>").unwrap()..page.find("</header>").unwrap()];
    assert!(
        header.contains(&format!("to the image: {psnr:.1} dB")) && !header.contains("objective"),
        "{header}"
    );
    assert!(page.contains("<details><summary><h2>Objective and gap"));
}

#[test]
fn damage_is_proposed_and_never_applied() {
    let desk = Desk::new();
    let sound = lobcod_tasks::synthetic::still_life(256).unwrap();
    let mut damaged = sound.clone();
    let is_scratch = |i: usize| (i % 256).abs_diff(90 + i / 256 / 4) < 1 && i / 256 > 40;
    for c in 0..3 {
        for i in (0..256 * 256).filter(|&i| is_scratch(i)) {
            damaged.data_mut()[c * 256 * 256 + i] = 250.0;
        }
    }
    desk.write("photo.png", &damaged, Depth::U8);
    let before = std::fs::read(desk.path("photo.png")).unwrap();
    let printed = desk.succeed("find-damage photo.png -o mask.png --report review.html");
    assert!(printed.contains("--holes mask.png") && printed.contains("review"), "{printed}");
    assert_eq!(std::fs::read(desk.path("photo.png")).unwrap(), before);
    assert!(std::fs::read_to_string(desk.path("review.html")).unwrap().contains("proposal"));
    let report = desk.json("find-damage photo.png -o mask.png");
    assert!(number(&report, "scratches") >= 1.0 && number(&report, "fraction") < 0.05, "{report}");
    // The mask works as it is.
    let filled = desk.json("inpaint photo.png --holes mask.png -o filled.png --preset fast");
    assert!(number(&filled, "missing_samples") >= number(&report, "marked_pixels"));
    let refused = desk.run("find-damage photo.png -o photo.png");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("both input and output"));
}
