//! Images from standard input, to standard output, from folders and by patterns.

use crate::common::{Desk, text};
use std::fs::{self, File};
use std::process::Output;

/// Runs the program with a file as its standard input.
fn piped(desk: &Desk, line: &str, input: &str) -> Output {
    desk.command(line).stdin(File::open(desk.path(input)).unwrap()).output().unwrap()
}

/// A folder with an image, another of the same scene, and a mask with few holes.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("a.png", &[24, 24], 1, 0.0);
    desk.image("b.png", &[24, 24], 1, 0.1);
    let mut holes = desk.image("holes.png", &[24, 24], 1, 0.0);
    holes
        .data_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x = if i % 7 == 0 { 255.0 } else { 0.0 });
    desk.write("holes.png", &holes, lobcod_io::Depth::U8);
    desk
}

#[test]
fn piped_images_equal_those_of_files() {
    let desk = desk();
    for (line, input) in [
        ("inpaint @ --holes holes.png", "a.png"),
        ("inpaint a.png --holes @", "holes.png"),
        ("denoise @ --noise gaussian:9", "a.png"),
        ("fuse @ b.png", "a.png"),
        ("compare @ b.png", "a.png"),
        ("decode codes.npz", "a.png"),
        ("show natural", "a.png"),
    ] {
        desk.succeed("encode a.png -o codes.npz");
        desk.succeed(&format!("{} -o out.png --quiet", line.replace('@', input)));
        let output = piped(&desk, &format!("{} -o -", line.replace('@', "-")), input);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{line}: {}",
            text(&output.stderr)
        );
        assert!(output.stdout == fs::read(desk.path("out.png")).unwrap(), "{line}");
    }
    let output = piped(&desk, "encode - -o piped.npz", "a.png");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        fs::read(desk.path("piped.npz")).unwrap(),
        fs::read(desk.path("codes.npz")).unwrap()
    );
    assert!(!desk.files().contains(&"-".into()));
}

#[test]
fn what_a_pipe_cannot_do_is_refused() {
    let desk = desk();
    desk.bytes("empty", b"");
    desk.bytes("text", b"no image at all");
    for input in ["empty", "text"] {
        let output = piped(&desk, "denoise - -o - --noise gaussian:9", input);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(
            text(&output.stderr).starts_with("error: standard input is "),
            "{}",
            text(&output.stderr)
        );
    }
    for line in [
        "denoise a.png -o - --noise gaussian:9 --json",
        "denoise a.png -o - --noise gaussian:9 --reference a.png",
    ] {
        assert_eq!(desk.run(line).status.code(), Some(2), "{line}");
    }
    assert_eq!(desk.run("fuse a.png b.png -o out.png --decision-map -").status.code(), Some(1));
}

#[test]
fn folders_and_patterns_are_expanded() {
    let desk = desk();
    fs::create_dir(desk.path("set")).unwrap();
    for name in ["a", "b"] {
        fs::copy(desk.path(&format!("{name}.png")), desk.path(&format!("set/{name}.png"))).unwrap();
    }
    desk.bytes("set/metadata.txt", b"not an image");
    desk.succeed("encode a.png b.png -o codes");
    let codes = fs::read(desk.path("codes/b.npz")).unwrap();
    for images in ["set", "set/*.png", "set/[ab].png", "?.png"] {
        desk.succeed(&format!("encode {images} -o again"));
        assert_eq!(fs::read(desk.path("again/b.npz")).unwrap(), codes, "{images}");
    }
    desk.succeed("fuse a.png b.png -o named.png");
    for images in ["set", "set/?.png"] {
        desk.succeed(&format!("fuse {images} -o out.png"));
        assert_eq!(
            fs::read(desk.path("out.png")).unwrap(),
            fs::read(desk.path("named.png")).unwrap(),
            "{images}"
        );
    }
    desk.succeed("learn set/*.png -o d.npz --atoms 4 --size 5x5 --passes 1");
    for line in
        ["encode set/*.tif -o out", "fuse set/*.tif -o out.png", "learn set/[.png -o out.npz"]
    {
        let output = desk.run(line);
        assert!(
            output.status.code() == Some(1) && text(&output.stderr).contains("pattern"),
            "{}",
            text(&output.stderr)
        );
    }
}
