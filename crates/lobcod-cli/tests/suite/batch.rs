//! Commands on many images: folders, patterns, companions, and bad files among good ones.

use crate::common::{Desk, number, text, texture};
use lobcod::{Extent, Signal};
use lobcod_io::Depth;

/// Three images in a folder, one of them broken, and masks for them.
fn desk() -> Desk {
    let desk = Desk::new();
    for folder in ["in", "masks"] {
        std::fs::create_dir(desk.path(folder)).unwrap();
    }
    desk.image("in/a.png", &[24, 30], 1, 0.2);
    desk.image("in/c.png", &[20, 26], 1, 0.7);
    desk.bytes("in/b.png", b"not a png at all");
    for (name, axes) in [("masks/a.png", [24, 30]), ("masks/c.png", [20, 26])] {
        let holes = (0..axes[0] * axes[1]).map(|i| if i % 11 == 0 { 255.0 } else { 0.0 }).collect();
        let mask = Signal::from_planar(Extent::new(&axes).unwrap(), 1, holes).unwrap();
        desk.write(name, &mask, Depth::U8);
    }
    desk
}

#[test]
fn a_bad_image_does_not_stop_the_others() {
    let desk = desk();
    let output = desk.run("denoise in -o out --noise gaussian:5");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("in/b.png"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("2 of 3 images, 1 failed"), "{}", text(&output.stdout));
    for (name, there) in [("a.png", true), ("b.png", false), ("c.png", true)] {
        assert_eq!(desk.path("out").join(name).exists(), there, "{name}");
    }
    // Originals are never replaced.
    let output = desk.run("denoise in -o in");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("would replace"), "{}", text(&output.stderr));
    // Each is what it would be alone.
    desk.succeed("denoise in/c.png -o alone.png --noise gaussian:5");
    let read = |name: &str| std::fs::read(desk.path(name)).unwrap();
    assert!(read("alone.png") == read("out/c.png"));
}

#[test]
fn masks_and_reports_belong_to_their_images() {
    let desk = desk();
    for masks in ["masks", "masks/{}.png"] {
        let line = format!("inpaint in/a.png in/c.png -o filled --holes {masks} --preset fast");
        assert!(desk.succeed(&line).contains("2 of 2 images"));
        assert!(desk.path("filled/a.png").exists() && desk.path("filled/c.png").exists());
    }
    let line =
        "separate in/a.png in/c.png --smooth-out smooth --texture-out texture --report pages";
    desk.succeed(line);
    for file in ["smooth/a.png", "texture/c.png", "pages/a.html"] {
        assert!(desk.path(file).exists(), "{file}");
    }
    std::fs::remove_file(desk.path("masks/c.png")).unwrap();
    let output = desk.run("inpaint in/a.png in/c.png -o filled --holes masks --preset fast");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no file called c"), "{}", text(&output.stderr));
}

#[test]
fn each_image_has_a_line_of_json() {
    let desk = desk();
    // A folder of one image has the same form.
    std::fs::create_dir(desk.path("one")).unwrap();
    std::fs::copy(desk.path("in/a.png"), desk.path("one/a.png")).unwrap();
    let output = desk.run("denoise one -o single --noise gaussian:5 --json");
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let output = desk.run("denoise in/a.png in/c.png -o out --noise gaussian:5 --json");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let reports: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let files: Vec<_> = reports.iter().map(|report| &report["images"][0]["file"]).collect();
    assert_eq!(files, ["in/a.png", "in/c.png"]);
}

#[test]
fn time_points_are_images_of_their_own() {
    let desk = Desk::new();
    let movie = texture(&[3, 24, 30], 1, 0.0);
    let volume = lobcod_io::WriteOptions {
        axes: lobcod_io::Axes::Dhw,
        depth: Depth::U8,
        ..lobcod_io::WriteOptions::default()
    };
    lobcod_io::write_image(&desk.path("movie.tif"), &movie, &volume).unwrap();
    let report = desk.json("encode movie.tif --axes thw -o codes");
    assert_eq!(report["images"].as_array().unwrap().len(), 3);
    assert_eq!(report["images"][2]["file"], "movie.tif[2]");
    assert_eq!(report["images"][2]["shape"], serde_json::json!([24, 30]));
    desk.succeed("decode codes/movie-0002.npz -o frame.png");
    // A time point has the problem that its image has alone: both objectives are within their gaps
    // of the same optimum.
    desk.write(
        "frame.png",
        &Signal::from_planar(Extent::new(&[24, 30]).unwrap(), 1, movie.data()[2 * 720..].to_vec())
            .unwrap(),
        Depth::U8,
    );
    let alone = desk.json("encode frame.png --penalty 20");
    let together = desk.json("encode movie.tif --axes thw --penalty 20");
    let frame = &together["images"][2];
    let apart = (number(frame, "objective") - number(&alone, "objective")).abs();
    assert!(apart <= number(frame, "gap").max(number(&alone, "gap")), "{apart}");
    let other = (number(&together["images"][0], "objective") - number(&alone, "objective")).abs();
    assert!(other > 10.0 * apart, "the time points are alike: {other} and {apart}");
    // Each time point is filled, with the same mask.
    desk.mask("mask.png", &[24, 30]);
    let output = desk.run("inpaint movie.tif --axes thw --known mask.png -o out --preset fast");
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in ["movie-0000.tif", "movie-0001.tif", "movie-0002.tif"] {
        assert!(desk.path("out").join(name).is_file(), "{name}");
    }
    // As a volume it is one image.
    let volume = desk.json("encode movie.tif --axes dhw --dry-run");
    assert_eq!(volume["images"][0]["shape"], serde_json::json!([3, 24, 30]));
}
