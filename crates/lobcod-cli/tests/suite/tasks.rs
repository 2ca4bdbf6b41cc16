//! fuse, denoise, separate and compare on the command line.

use crate::common::{Desk, near, number, text, texture};
use lobcod::{Extent, Signal};
use lobcod_io::{Axes, Depth, ReadOptions, read_image};

const SIZE: [usize; 2] = [48, 64];

/// The mean of 9x9 samples around sample `i`, rounded to an integer.
fn blurred(image: &Signal<f32>, i: usize) -> f32 {
    let [height, width] = SIZE;
    let plane = i / (height * width);
    let y = i / width % height;
    let x = i % width;
    let near = |at: usize, k: usize, n: usize| (at + k).saturating_sub(4).min(n - 1);
    let sample =
        |k: usize| image.channel(plane)[near(y, k / 9, height) * width + near(x, k % 9, width)];
    ((0..81).map(sample).sum::<f32>() / 81.0).round()
}

/// Two frames, each sharp on one side and blurred on the other, in 0..255, and the ground truth.
fn pair(desk: &Desk, ending: &str, depth: Depth, channels: usize) -> Signal<f32> {
    let truth = texture(&SIZE, channels, 0.3);
    for (name, left) in [("near", true), ("far", false)] {
        let value = |(i, x): (usize, &f32)| {
            if (i % SIZE[1] < 32) == left { *x } else { blurred(&truth, i) }
        };
        let data = truth.data().iter().enumerate().map(value).collect();
        desk.write(
            &format!("{name}.{ending}"),
            &Signal::from_planar(truth.extent(), channels, data).unwrap(),
            depth,
        );
    }
    desk.write(&format!("true.{ending}"), &truth, depth);
    truth
}

fn read(desk: &Desk, name: &str) -> (Signal<f32>, Depth) {
    let image = read_image::<f32>(&desk.path(name), &ReadOptions::default()).unwrap();
    (image.signal, image.depth)
}

/// PSNR by definition.
fn psnr(a: &Signal<f32>, b: &Signal<f32>) -> f64 {
    let square: f64 = a.data().iter().zip(b.data()).map(|(x, y)| f64::from(x - y).powi(2)).sum();
    10.0 * (255f64.powi(2) * a.data().len() as f64 / square).log10()
}

#[test]
fn fuse_writes_a_sharp_image_its_maps_and_its_scores() {
    for (ending, depth, channels) in [("png", Depth::U8, 1), ("tif", Depth::U16, 3)] {
        let desk = Desk::new();
        let truth = pair(&desk, ending, depth, channels);
        // Quiet: stripes in small images may look like motion and cause a warning.
        let report = desk.json(&format!(
            "fuse near.{ending} far.{ending} -o out.{ending} --reference true.{ending} \
             --decision-map from.png --depth-map depth.npy --report page.html --quiet"
        ));
        let (image, written) = read(&desk, &format!("out.{ending}"));
        assert_eq!((written, image.channels()), (depth, channels));
        assert!(number(&report, "psnr_output_db") > 24.0, "{report}");
        assert!(near(number(&report, "psnr_output_db"), psnr(&image, &truth), 1e-4));
        assert!(number(&report, "q_abf") > 0.5 && number(&report, "mutual_information") > 1.0);
        assert!(number(&report, "psnr_l_db") > 20.0 && number(&report, "psnr_authors_db") > 20.0);
        let from = read(&desk, "from.png").0;
        let row = &from.data()[24 * SIZE[1]..][..SIZE[1]];
        assert!(
            row[..24].iter().all(|x| *x == 0.0) && row[40..].iter().all(|x| *x == 255.0),
            "{row:?}"
        );
        let shares: f64 =
            report["images"].as_array().unwrap().iter().map(|i| number(i, "share")).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
        assert!(
            page.contains("Decision") && page.contains("data:image/png") && !page.contains("://")
        );
    }
}

#[test]
fn fuse_takes_pixels_from_the_images_that_a_map_names() {
    let desk = Desk::new();
    pair(&desk, "png", Depth::U8, 1);
    let fuse = "fuse near.png far.png --align none --quiet";
    desk.succeed(&format!("{fuse} -o usual.png --decision-map from.png"));
    // All of the last image, by grey values; then only its first columns.
    let volume = SIZE[0] * SIZE[1];
    let map = |data: Vec<f32>| Signal::from_planar(Extent::new(&SIZE).unwrap(), 1, data).unwrap();
    desk.write("all.png", &map(vec![255.0; volume]), Depth::U8);
    desk.succeed(&format!("{fuse} -o all-far.png --decision all.png"));
    let (far, usual) = (read(&desk, "far.png").0, read(&desk, "usual.png").0);
    assert_eq!(read(&desk, "all-far.png").0.data(), far.data());
    let is_painted = |i: usize| i % SIZE[1] < 22;
    let painted = |i: usize| if is_painted(i) { 1.0 } else { f32::NAN };
    desk.write("part.npy", &map((0..volume).map(painted).collect()), Depth::F32);
    desk.succeed(&format!("{fuse} -o part.png --decision part.npy --decision-map now.png"));
    let (part, now) = (read(&desk, "part.png").0, read(&desk, "now.png").0);
    let at = |column: usize| 24 * SIZE[1] + column;
    assert_eq!(part.data()[at(8)], far.data()[at(8)]);
    assert_eq!(part.data()[at(50)], usual.data()[at(50)]);
    assert_eq!((now.data()[at(12)], now.data()[at(23)]), (255.0, 0.0));
    desk.write("third.npy", &map(vec![2.0; volume]), Depth::F32);
    let output = desk.run(&format!("{fuse} -o out.png --decision third.npy"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("names frame 2, but there are 2 frames"), "{said}");
}

#[test]
fn fuse_options_take_effect() {
    let desk = Desk::new();
    pair(&desk, "png", Depth::U8, 1);
    for options in [
        "--fast",
        "--compose codes --activity plain",
        "--fuse-base average",
        "--mode exposure",
        "--align similarity",
        "--prefer back",
    ] {
        let report = desk.json(&format!("fuse near.png far.png -o out.png {options} --quiet"));
        assert!(
            report["output"] == "out.png" && number(&report, "q_abf") > 0.1,
            "{options}: {report}"
        );
    }
    let plan = desk.json("fuse near.png far.png -o never.png --dry-run");
    assert!(
        number(&plan, "working_memory_bytes") > 1e5
            && !desk.files().contains(&"never.png".to_string())
    );
    let said = desk.succeed("fuse near.png far.png -o out.png");
    assert!(said.contains("Q_AB/F") && said.contains("out.png"), "{said}");
    assert_eq!(desk.succeed("fuse near.png far.png -o out.png --quiet"), "");
    // A misaligned frame causes a warning.
    let shifted: Vec<f32> = (0..SIZE[0] * SIZE[1])
        .map(|i| texture(&[48, 70], 1, 0.3).data()[i / 64 * 70 + i % 64 + 4])
        .collect();
    desk.write(
        "moved.png",
        &Signal::from_planar(Extent::new(&SIZE).unwrap(), 1, shifted).unwrap(),
        Depth::U8,
    );
    let output = desk.run("fuse true.png moved.png -o out.png --align none");
    assert!(
        output.status.success() && text(&output.stderr).contains("--align"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn fuse_decides_between_focus_and_exposure_and_refuses_unrelated_images() {
    let desk = Desk::new();
    let scene = texture(&SIZE, 1, 0.3);
    let exposed = |gain: f32| {
        let data = scene.data().iter().map(|x| (gain * x).clamp(0.0, 255.0)).collect();
        Signal::from_planar(scene.extent(), 1, data).unwrap()
    };
    desk.write("dark.png", &exposed(0.4), Depth::U8);
    desk.write("bright.png", &exposed(1.5), Depth::U8);
    let report = desk.json("fuse dark.png bright.png -o out.png");
    assert_eq!(report["mode"], "exposure");
    assert!(desk.succeed("fuse dark.png bright.png -o out.png").contains("exposure (brightness"));
    let output = desk.run("fuse dark.png bright.png -o out.png --mode focus");
    assert!(output.status.success() && text(&output.stderr).contains("--mode exposure"));
    let summary = text(&output.stdout);
    assert!(summary.contains("focus (brightness differs by"), "{summary}");
    // Brighter to the right, and brighter towards the bottom: two scenes.
    let ramp = |rising: fn(usize) -> usize| {
        let data = (0..96 * 96).map(|i| 20.0 + 2.0 * rising(i) as f32).collect();
        Signal::from_planar(Extent::new(&[96, 96]).unwrap(), 1, data).unwrap()
    };
    desk.write("true.png", &ramp(|i| i % 96), Depth::U8);
    desk.write("other.png", &ramp(|i| i / 96), Depth::U8);
    let refused = desk.run("fuse true.png other.png -o never.png");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("do not show the same scene"),
        "{}",
        text(&refused.stderr)
    );
    assert!(!desk.files().contains(&"never.png".to_string()));
    let warned = desk.run("fuse true.png other.png -o out.png --mode focus");
    assert!(
        warned.status.success() && text(&warned.stderr).contains("may not show the same scene")
    );
    // On an aligned stack, alignment changes nothing.
    let same = desk.json("fuse true.png true.png -o a.png --mode focus");
    desk.succeed("fuse true.png true.png -o b.png --mode focus --align none");
    assert_eq!(same["aligned"], false);
    let read = |name: &str| std::fs::read(desk.path(name)).unwrap();
    assert!(read("a.png") == read("b.png"));
}

#[test]
fn stacks_are_denoised_as_volumes_and_as_sequences() {
    let desk = Desk::new();
    let clean = texture(&[4, 32, 36], 1, 0.0);
    let noise = |i: usize| {
        let mixed = (i as u32 + 1).wrapping_mul(2_654_435_761);
        ((mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519) >> 16) % 61
    };
    let noisy = clean.data().iter().enumerate().map(|(i, x)| x + noise(i) as f32 - 30.0).collect();
    let noisy = Signal::from_planar(clean.extent(), 1, noisy).unwrap();
    desk.write("noisy.npy", &noisy, Depth::F32);
    desk.write("noisy.tif", &noisy, Depth::F32);
    desk.write("true.npy", &clean, Depth::F32);
    let command = |image: &str, options: &str| {
        format!("denoise {image} --noise gaussian:17.6 {options} --reference true.npy")
    };
    let volume = desk.json(&command("noisy.npy", "-o volume.npy --axes dhw --report page.html"));
    let gain = number(&volume, "psnr_db") - number(&volume, "psnr_noisy_db");
    assert!(gain > 1.0, "{volume}");
    desk.json(&command("noisy.npy", "-o sequence.npy --axes thw"));
    desk.json(&command("noisy.tif", "-o stack.tif --axes dhw"));
    let options = ReadOptions { axes: Some(Axes::Dhw), ..ReadOptions::default() };
    let stack = |name: &str| read_image::<f32>(&desk.path(name), &options).unwrap().signal;
    assert_eq!(stack("sequence.npy"), stack("volume.npy"));
    assert_eq!(stack("stack.tif"), stack("volume.npy"));
    let refused = desk.run("denoise noisy.npy -o x.npy --axes dhw --noise 17.6 --preset fast");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("groups of similar patches only"));
}

#[test]
fn images_in_a_folder_are_denoised_as_one_stack() {
    let desk = Desk::new();
    let [depth, rows, columns] = [5, 30, 33];
    let noise = |i: usize| f32::from((i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] / 5);
    for channels in [1, 3] {
        let axes = if channels == 1 { "dhw" } else { "thwc" };
        let clean = texture(&[depth, rows, columns], channels, 0.0);
        let noisy = clean.data().iter().enumerate().map(|(i, x)| x / 2.0 + noise(i)).collect();
        let noisy = Signal::from_planar(clean.extent(), channels, noisy).unwrap();
        let (stack, folder) = (format!("{axes}.npy"), format!("{axes}-slices"));
        desk.write(&stack, &noisy, Depth::F32);
        std::fs::create_dir(desk.path(&folder)).unwrap();
        let slice_of = |stack: &Signal<f32>, i: usize| {
            let area = rows * columns;
            let planes = stack.data().chunks_exact(depth * area);
            let data = planes.flat_map(|plane| plane[i * area..][..area].to_vec()).collect();
            Signal::from_planar(Extent::new(&[rows, columns]).unwrap(), channels, data).unwrap()
        };
        for i in 0..depth {
            desk.write(&format!("{folder}/{i}.npy"), &slice_of(&noisy, i), Depth::F32);
        }
        let run = |image: &str, output: &str| {
            let options = format!("--noise gaussian:15 --axes {axes} --reference {stack}");
            desk.json(&format!("denoise {image} -o {output} {options}"))
        };
        let whole = run(&stack, "whole.npy");
        let sliced = run(&folder, &format!("{folder}-clean"));
        assert_eq!(whole["psnr_db"], sliced["psnr_db"]);
        assert_eq!(whole["psnr_output_db"], sliced["psnr_output_db"]);
        run(&folder, "one.npy");
        let axes = if channels == 1 { Axes::Dhw } else { Axes::Dhwc };
        let options = ReadOptions { axes: Some(axes), ..ReadOptions::default() };
        let read_stack = |name| read_image::<f32>(&desk.path(name), &options).unwrap().signal;
        let expected = read_stack("whole.npy");
        assert_eq!(read_stack("one.npy"), expected);
        for i in 0..depth {
            let (found, _) = read(&desk, &format!("{folder}-clean/{i}.npy"));
            assert_eq!(found, slice_of(&expected, i), "slice {i}");
        }
        let name = if channels == 1 { "dhw" } else { "thwc" };
        for output in [folder.clone(), format!("{folder}/0.npy")] {
            let refused = desk.run(&format!("denoise {folder} -o {output} --axes {name}"));
            assert_eq!(refused.status.code(), Some(1));
            let words = String::from_utf8_lossy(&refused.stderr);
            assert!(words.contains("is both input and output"), "{words}");
        }
        desk.run(&format!("denoise {folder} -o - --axes {name} --noise 15"));
        assert!(!desk.path("-").exists());
    }
    desk.write("dhw-slices/5.npy", &texture(&[20, 33], 1, 0.0), Depth::F32);
    let refused = desk.run("denoise dhw-slices -o out --axes dhw --noise 15");
    assert_eq!(refused.status.code(), Some(1));
    let words = String::from_utf8_lossy(&refused.stderr);
    assert!(words.contains("5.npy is 33x20, but dhw-slices/0.npy is 33x30"), "{words}");
    assert!(!desk.path("out").exists());
}

#[test]
fn denoise_scores_what_it_writes() {
    let desk = Desk::new();
    let clean = texture(&SIZE, 1, 0.0);
    desk.write("true.png", &clean, Depth::U8);
    // Bits of a multiplicative hash: no pattern to which atoms could adapt.
    let noise = |i: usize| {
        (((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
            >> 40)
            % 61
    };
    let noisy = clean.data().iter().enumerate().map(|(i, x)| x + noise(i) as f32 - 30.0).collect();
    let noisy = Signal::from_planar(clean.extent(), 1, noisy).unwrap();
    desk.write("noisy.npy", &noisy, Depth::F32);
    for options in [
        "--noise gaussian:17.6 --report local.html",
        "--noise gaussian",
        "--noise gaussian:17.6 --method convolutional --report page.html",
    ] {
        let report =
            desk.json(&format!("denoise noisy.npy -o out.npy {options} --reference true.png"));
        let (written, _) = read(&desk, "out.npy");
        assert!(
            near(number(&report, "psnr_db"), psnr(&written, &clean), 1e-3)
                && report["status"] == "converged",
            "{report}"
        );
        assert!(
            number(&report, "psnr_db") > number(&report, "psnr_noisy_db") + 1.0,
            "{options}: {report}"
        );
    }
    for (page, word) in
        [("page.html", "<details><summary><h2>Objective and gap"), ("local.html", "Noise: ")]
    {
        let page = std::fs::read_to_string(desk.path(page)).unwrap();
        assert!(
            page.contains(word)
                && page.contains("PSNR")
                && page.contains("data:image/png")
                && !page.contains("://")
        );
    }
    let plan = desk.json("denoise noisy.npy -o never.png --dry-run");
    assert!(
        plan["working_memory_bytes"].as_u64() > Some(100_000) && plan["fits"] == true,
        "{plan}"
    );
    let plan =
        desk.json("denoise noisy.npy -o never.png --dry-run --noise impulse --max-memory 50k");
    assert!(number(&plan, "working_memory_bytes") > 1e5 && plan["fits"] == false, "{plan}");
    assert!(!desk.files().contains(&"never.png".to_string()));
    for noise in ["poisson:2", "mixed:2,5", "impulse", "impulse:0.1"] {
        let report =
            desk.json(&format!("denoise noisy.npy -o out.png --noise {noise} --keep-atoms"));
        assert_eq!(report["output"], "out.png");
    }
    assert!(
        desk.succeed("denoise noisy.npy -o out.png --noise gaussian:17.6")
            .contains("gaussian noise")
    );
    let correlated = "denoise noisy.npy -o out.png --noise correlated";
    for (option, words) in
        [("--keep-atoms", "without atoms"), ("--engine cuda", "--engine cpu or auto")]
    {
        let output = desk.run(&format!("{correlated} {option}"));
        assert!(!output.status.success() && text(&output.stderr).contains(words), "{option}");
    }
    assert_eq!(desk.json(correlated)["dictionary"], "none");
}

#[test]
fn separate_splits_and_compare_compares() {
    let desk = Desk::new();
    let image = desk.image("a.png", &SIZE, 1, 0.0);
    let report = desk.json(
        "separate a.png --smooth-out smooth.npy --texture-out texture.npy --penalty 20 \
         --alternations 3",
    );
    let (smooth, layer) = (read(&desk, "smooth.npy").0, read(&desk, "texture.npy").0);
    let rest: f64 = (0..image.data().len())
        .map(|i| f64::from(image.data()[i] - smooth.data()[i] - layer.data()[i]).powi(2))
        .sum();
    assert!(near(0.5 * rest, number(&report, "data_term"), 1e-3), "{rest} {report}");
    let plan = desk.json("separate a.png --smooth-out never.png --texture-out no.png --dry-run");
    assert!(
        number(&plan, "working_memory_bytes") > 1e5
            && !desk.files().contains(&"never.png".to_string())
    );
    desk.succeed(
        "separate a.png --smooth-out smooth.png --texture-out texture.png --penalty 20 \
         --alternations 1",
    );
    assert!(
        (read(&desk, "texture.png").0.data().iter().sum::<f32>() / 3072.0 - 127.5).abs() < 30.0
    );

    let other = desk.image("b.png", &SIZE, 1, 1.0);
    let report = desk.json("compare a.png b.png -o difference.png");
    assert!(
        near(number(&report, "psnr_db"), psnr(&image, &other), 1e-6)
            && number(&report, "ssim") < 1.0
    );
    let largest =
        image.data().iter().zip(other.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert_eq!(number(&report, "largest_difference") as f32, largest);
    assert_eq!(read(&desk, "difference.png").0.data().iter().copied().fold(0.0, f32::max), largest);
    assert!(desk.succeed("compare a.png a.png").contains("equal"));
}

#[test]
fn errors_are_one_sentence_and_leave_nothing() {
    let desk = Desk::new();
    desk.image("a.png", &SIZE, 1, 0.0);
    desk.image("colour.png", &SIZE, 3, 0.0);
    desk.image("small.png", &[20, 20], 1, 0.0);
    desk.bytes("text.png", b"no image");
    let mut unknown = texture(&SIZE, 1, 0.0);
    unknown.data_mut()[100] = f32::NAN;
    desk.write("holes.npy", &unknown, Depth::F32);
    let before = desk.files();
    for (line, word) in [
        ("fuse a.png -o out.png", "two or more"),
        ("fuse a.png small.png -o out.png", "small.png"),
        ("fuse a.png colour.png -o out.png", "channels"),
        ("fuse a.png missing.png -o out.png", "missing.png"),
        ("fuse a.png text.png -o out.png", "text.png"),
        ("fuse a.png holes.npy -o out.png", "missing pixels"),
        ("fuse a.png a.png -o out.png --window 0", "window"),
        ("fuse a.png a.png -o out.png --smooth 0", "smooth layer"),
        ("fuse a.png a.png -o out.png --penalty -1", "penalty"),
        ("fuse a.png a.png -o out.png --compose pixels --fuse-base average", "codes"),
        ("fuse a.png a.png -o out.png --fast --mode exposure", "fast"),
        ("fuse a.png a.png -o out.png --reference small.png", "small.png"),
        ("fuse a.png a.png -o out.png --reference a.png --peak 0", "peak"),
        ("fuse a.png a.png -o out.png --max-memory 1k", "limit"),
        ("fuse a.png a.png -o nowhere/out.png", "nowhere"),
        ("fuse a.png a.png -o out.png --decision-map nowhere/map.png", "nowhere"),
        ("denoise missing.png -o out.png", "missing.png"),
        ("denoise holes.npy -o out.png", "missing pixels"),
        ("denoise a.png -o out.png --noise gaussian:0", "noise level"),
        ("denoise a.png -o out.png --noise poisson:-1", "gain"),
        ("denoise a.png -o out.png --max-memory 20k", "limit"),
        ("denoise a.png -o out.png --noise impulse:2", "fraction"),
        ("denoise a.png -o out.xyz", "out.xyz"),
        ("separate a.png --smooth-out out.png --texture-out ./out.png", "the same file"),
        ("separate a.png --smooth-out out.png --texture-out nowhere/x.png", "nowhere"),
        ("separate a.png --smooth-out out.png --texture-out x.png --smooth -2", "smooth layer"),
        ("compare a.png small.png", "the same shape"),
        ("compare a.png missing.png", "missing.png"),
        ("compare a.png a.png --peak 0", "peak"),
    ] {
        let output = desk.run(line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "lobcod {line}\n{out}{err}");
        assert!(
            err.starts_with("error: ") && err.lines().count() == 1 && err.contains(word),
            "lobcod {line}\n{err}"
        );
        assert_eq!((out.as_str(), desk.files()), ("", before.clone()), "lobcod {line}");
    }
    for line in [
        "fuse a.png a.png",
        "fuse a.png a.png -o out.png --mode depth",
        "denoise a.png -o out.png --noise snow",
        "compare a.png",
    ] {
        assert_eq!(desk.run(line).status.code(), Some(2), "lobcod {line}");
    }
}

/// An interrupted task writes a complete result so far and reports it; if there is none yet, it
/// says so.
#[cfg(unix)]
#[test]
fn interrupted_tasks_save_the_result_so_far() {
    let desk = Desk::new();
    desk.image("a.png", &[1500, 1500], 1, 0.0);
    desk.image("b.png", &[1500, 1500], 1, 1.0);
    let mut known = texture(&[1500, 1500], 1, 2.0);
    known.data_mut().iter_mut().step_by(3).for_each(|x| *x = 0.0);
    desk.write("known.png", &known, Depth::U8);
    for line in [
        "fuse a.png b.png -o out.png --tolerance 1e-9 --alternations 500 --penalty 0.3",
        "denoise a.png -o out.png --noise gaussian:20",
        "inpaint a.png --known known.png -o out.png --preset best",
        "separate a.png --smooth-out out.png --texture-out texture.png --tolerance 1e-9 \
         --alternations 500",
        "demo -o out",
    ] {
        let output = desk.break_off(line, |waited| waited.as_millis() >= 600);
        let written = desk.path("out.png").exists();
        let report: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        let words = text(&output.stderr);
        assert_eq!(
            written,
            report.is_some_and(|report| report["status"] == "interrupted"),
            "lobcod {line}"
        );
        let nothing = words.contains("interrupted: nothing was written")
            || words.contains("there was nothing to save yet");
        assert_eq!(written, !nothing, "lobcod {line}: {words}");
        if written {
            let image = read_image::<f32>(&desk.path("out.png"), &ReadOptions::default()).unwrap();
            assert_eq!(image.signal.extent().axes(), [1500, 1500]);
            std::fs::remove_file(desk.path("out.png")).unwrap();
        }
        assert!(!desk.path("out").exists());
    }
}
