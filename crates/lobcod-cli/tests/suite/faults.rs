//! Every bad input with every command that accepts it: a one-sentence error with advice, exit code
//! 1, and no files left behind.

use crate::common::{Desk, text, texture};
use lobcod::{Dictionary, Extent};
use lobcod_io::{Depth, write_dictionary};
use std::fs;

/// Every command that reads images, with `@` for the image; learning and inpainting are kept short.
const READERS: [&str; 9] = [
    "encode @ -o out.npz",
    "learn @ -o out.npz --atoms 4 --size 5x5 --passes 1",
    "learn @ -o out.npz --atoms 4 --size 5x5 --stream",
    "inpaint @ -o out.png",
    "fuse @ good.png -o out.png",
    "fuse good.png @ -o out.png",
    "denoise @ -o out.png --noise gaussian:9",
    "separate @ --smooth-out out.png --texture-out out2.png",
    "compare @ good.png -o out.png",
];

/// Every command that takes a mask.
const MASKED: [&str; 3] = [
    "encode good.png -o out.npz",
    "learn good.png -o out.npz --atoms 4 --size 5x5 --passes 1",
    "inpaint good.png -o out.png",
];

/// Every command that takes a dictionary.
const WITH_DICTIONARY: [&str; 6] = [
    "encode good.png -o out.npz --dictionary @",
    "inpaint good.png --holes hole.png -o out.png --dictionary @",
    "fuse good.png other.png -o out.png --dictionary @",
    "denoise good.png -o out.png --noise gaussian:9 --dictionary @",
    "separate good.png --smooth-out out.png --texture-out out2.png --dictionary @",
    "show @ -o out.png",
];

/// Every command that takes a penalty.
const PENALISED: [&str; 7] = [
    "encode good.png -o out.npz --penalty @",
    "encode good.png -o out.npz --relative-penalty @",
    "learn good.png -o out.npz --atoms 4 --size 5x5 --passes 1 --penalty @",
    "inpaint good.png --holes hole.png -o out.png --penalty @",
    "fuse good.png other.png -o out.png --penalty @",
    "denoise good.png -o out.png --noise gaussian:9 --penalty @",
    "separate good.png --smooth-out out.png --texture-out out2.png --penalty @",
];

/// Every way to write a file, with `@` for its path, and its name.
const WRITERS: [(&str, &str); 12] = [
    ("encode good.png -o @", "out.npz"),
    ("encode good.png --report @", "out.html"),
    ("learn good.png --atoms 4 --size 5x5 --passes 1 -o @", "out.npz"),
    ("inpaint good.png --holes hole.png -o @", "out.png"),
    ("fuse good.png other.png -o @", "out.png"),
    ("fuse good.png other.png -o out.png --decision-map @", "map.png"),
    ("denoise good.png --noise gaussian:9 -o @", "out.png"),
    ("separate good.png --smooth-out out.png --texture-out @", "out2.png"),
    ("compare good.png other.png -o @", "out.png"),
    ("decode codes.npz -o @", "out.tif"),
    ("show natural -o @", "out.png"),
    ("demo -o @", "demo"),
];

/// Runs a command that must fail as specified above.
fn refused(desk: &Desk, line: &str, word: &str) {
    let before = desk.files();
    let output = desk.run(line);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let complaint = format!("lobcod {line}: {:?}\n{out}{err}", output.status.code());
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(
        err.starts_with("error: ") && err.lines().count() == 1 && err.ends_with('\n'),
        "{complaint}"
    );
    assert!(err.contains(word), "no {word}: {complaint}");
    assert!(
        ["; ", ", but must be"].iter().any(|turn| err.contains(turn)),
        "no advice: {complaint}"
    );
    assert_eq!(out, "", "{complaint}");
    assert_eq!(desk.files(), before, "left files behind: {complaint}");
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("good.png", &[24, 24], 1, 0.0);
    desk.image("other.png", &[24, 24], 1, 0.1);
    desk.image("small.png", &[12, 12], 1, 0.0);
    let mut hole = texture(&[24, 24], 1, 0.0);
    hole.data_mut().fill(0.0);
    desk.write("nothing.png", &hole, Depth::U8);
    hole.data_mut()[40..52].fill(255.0);
    desk.write("hole.png", &hole, Depth::U8);
    desk
}

/// Writes the first half of a file.
fn halve(desk: &Desk, whole: &str, half: &str) {
    let bytes = fs::read(desk.path(whole)).unwrap();
    desk.bytes(half, &bytes[..bytes.len() / 2]);
}

/// A numpy file whose header declares this shape, without data.
fn header(shape: &str) -> Vec<u8> {
    let mut file =
        format!("\x01\0\x76\0{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}")
            .into_bytes();
    file.splice(0..0, *b"\x93NUMPY");
    file.resize(127, b' ');
    file.push(b'\n');
    file
}

#[test]
fn bad_images_are_refused_by_every_command() {
    let desk = desk();
    desk.bytes("empty.png", b"");
    desk.bytes("text.png", b"this is not an image, whatever its name says");
    for kind in ["png", "jpg", "tif", "npy", "npz"] {
        desk.image(&format!("whole.{kind}"), &[24, 24], 1, 0.0);
        halve(&desk, &format!("whole.{kind}"), &format!("half.{kind}"));
    }
    let mut unknown = texture(&[24, 24], 1, 0.0);
    unknown.data_mut().fill(f32::NAN);
    desk.write("nan.npy", &unknown, Depth::F32);
    desk.write("stack.npy", &texture(&[3, 24, 24], 1, 0.0), Depth::F32);
    desk.bytes("flat.npy", &header("(0, 24)"));
    desk.bytes("huge.npy", &header("(1000000, 1000000)"));
    desk.bytes("wrapping.npy", &header("(18446744073709551615, 18446744073709551615)"));
    let mut huge = fs::read(desk.path("good.png")).unwrap();
    huge[16..24].fill(0x7f);
    desk.bytes("huge.png", &huge);
    fs::create_dir(desk.path("noimages")).unwrap();
    let faults = [
        "missing.png",
        "noimages",
        "empty.png",
        "text.png",
        "half.png",
        "half.jpg",
        "half.tif",
        "half.npy",
        "half.npz",
        "nan.npy",
        "stack.npy",
        "flat.npy",
        "huge.npy",
        "wrapping.npy",
        "huge.png",
    ];
    for command in READERS {
        for fault in faults {
            refused(&desk, &command.replace('@', fault), fault);
        }
    }
    for codes in
        ["missing.npz", "noimages", "empty.png", "text.png", "half.npz", "whole.npz", "good.png"]
    {
        refused(&desk, &format!("decode {codes} -o out.png"), codes);
    }
}

#[cfg(unix)]
#[test]
fn unreadable_images_are_refused_by_every_command() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = desk();
    desk.image("locked.png", &[24, 24], 1, 0.0);
    fs::set_permissions(desk.path("locked.png"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(desk.path("locked.png")).is_ok() {
        lobcod_conformance::skipped("skipped: this user can read every file");
        return;
    }
    READERS
        .iter()
        .for_each(|command| refused(&desk, &command.replace('@', "locked.png"), "locked.png"));
}

#[test]
fn bad_masks_are_refused_by_every_command() {
    let desk = desk();
    desk.bytes("empty.png", b"");
    for command in MASKED {
        for (mask, word) in [
            ("--known small.png", "resize the mask"),
            ("--holes small.png", "resize the mask"),
            ("--known nothing.png", "known"),
            ("--holes good.png", "known"),
            ("--known missing.png", "missing.png"),
            ("--holes empty.png", "empty.png"),
        ] {
            refused(&desk, &format!("{command} {mask}"), word);
        }
    }
}

#[test]
fn bad_dictionaries_are_refused_by_every_command() {
    let desk = desk();
    let dictionary = |name: &str, axes: &[usize], channels: usize| {
        let atoms = Dictionary::<f32>::random(Extent::new(axes).unwrap(), channels, 4, 1).unwrap();
        write_dictionary(&desk.path(name), &atoms, &[]).unwrap();
    };
    dictionary("rgb.npz", &[5, 5], 3);
    dictionary("line.npz", &[9], 1);
    dictionary("wide.npz", &[30, 30], 1);
    halve(&desk, "rgb.npz", "half.npz");
    desk.bytes("huge.npy", &header("(81, 1000000, 1000000)"));
    for command in WITH_DICTIONARY {
        for fault in ["missing.npz", "good.png", "half.npz", "huge.npy"] {
            refused(&desk, &command.replace('@', fault), fault);
        }
        if command.starts_with("show") {
            continue; // It shows atoms of any shape.
        }
        refused(&desk, &command.replace('@', "rgb.npz"), "channel");
        refused(&desk, &command.replace('@', "line.npz"), "ax");
        refused(&desk, &command.replace('@', "wide.npz"), "30x30");
    }
    refused(&desk, "learn good.png -o out.npz --atoms 4 --size 30x30", "30x30");
}

#[test]
fn bad_penalties_are_refused_by_every_command() {
    let desk = desk();
    for command in PENALISED {
        for penalty in ["0", "-3", "nan", "inf"] {
            refused(&desk, &command.replace('@', penalty), "penalty");
        }
    }
}

#[test]
fn unwritable_paths_are_refused_by_every_command() {
    let desk = desk();
    desk.succeed("encode good.png -o codes.npz --relative-penalty 0.3");
    for (command, name) in WRITERS {
        refused(&desk, &command.replace('@', &format!("nowhere/{name}")), "nowhere");
        // Not even the superuser can create files there.
        if cfg!(target_os = "linux") && fs::write(format!("/proc/{name}"), "").is_err() {
            refused(&desk, &command.replace('@', &format!("/proc/{name}")), "/proc");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_by_every_command() {
    let desk = desk();
    desk.succeed("encode good.png -o codes.npz --relative-penalty 0.3");
    // A first image that was written stays, complete; here it replaces an old one.
    desk.image("out.png", &[24, 24], 1, 0.0);
    for (command, name) in WRITERS {
        if name == "demo" {
            continue; // It creates a folder, and no device is a folder.
        }
        let full = format!("full-{name}");
        let _ = fs::remove_file(desk.path(&full));
        std::os::unix::fs::symlink("/dev/full", desk.path(&full)).unwrap();
        refused(&desk, &format!("{} --quiet", command.replace('@', &full)), &full);
    }
    for line in ["doctor", "completions bash", "encode good.png --json"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = desk.command(line).stdout(full).output().unwrap();
        let err = text(&output.stderr);
        assert!(
            output.status.code() == Some(1)
                && err.lines().count() == 1
                && err.contains("standard output"),
            "{line}: {err}"
        );
    }
}
