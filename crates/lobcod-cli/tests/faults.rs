//! Every bad input through every verb it can be given to: one sentence with a cure, exit code 1, and nothing left behind.

mod common;

use common::{Desk, text, texture};
use lobcod::{Dictionary, Extent};
use lobcod_image::{Depth, write_dictionary};
use std::fs;

/// Every verb that reads pictures, with the place of the picture; learning and filling are kept short.
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

/// Every verb that takes a mask.
const MASKED: [&str; 3] =
    ["encode good.png -o out.npz", "learn good.png -o out.npz --atoms 4 --size 5x5 --passes 1", "inpaint good.png -o out.png"];

/// Every verb that takes a dictionary, and one that shows it.
const WITH_DICTIONARY: [&str; 6] = [
    "encode good.png -o out.npz --dictionary @",
    "inpaint good.png --holes hole.png -o out.png --dictionary @",
    "fuse good.png other.png -o out.png --dictionary @",
    "denoise good.png -o out.png --noise gaussian:9 --dictionary @",
    "separate good.png --smooth-out out.png --texture-out out2.png --dictionary @",
    "show @ -o out.png",
];

/// Every verb that takes a penalty.
const PENALISED: [&str; 7] = [
    "encode good.png -o out.npz --penalty @",
    "encode good.png -o out.npz --relative-penalty @",
    "learn good.png -o out.npz --atoms 4 --size 5x5 --passes 1 --penalty @",
    "inpaint good.png --holes hole.png -o out.png --penalty @",
    "fuse good.png other.png -o out.png --penalty @",
    "denoise good.png -o out.png --noise gaussian:9 --penalty @",
    "separate good.png --smooth-out out.png --texture-out out2.png --penalty @",
];

/// Every way to write something, with the place and the ending of its name.
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

/// Runs a line that must fail as all failures do.
fn refused(desk: &Desk, line: &str, word: &str) {
    let before = desk.files();
    let output = desk.run(line);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let complaint = format!("lobcod {line}: {:?}\n{out}{err}", output.status.code());
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(err.starts_with("error: ") && err.lines().count() == 1 && err.ends_with('\n'), "{complaint}");
    assert!(err.contains(word), "no {word}: {complaint}");
    assert!(["; ", ", but must be"].iter().any(|turn| err.contains(turn)), "no cure: {complaint}");
    assert_eq!(out, "", "{complaint}");
    assert_eq!(desk.files(), before, "left something behind: {complaint}");
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.picture("good.png", &[24, 24], 1, 0.0);
    desk.picture("other.png", &[24, 24], 1, 0.1);
    desk.picture("small.png", &[12, 12], 1, 0.0);
    let mut hole = texture(&[24, 24], 1, 0.0);
    hole.data_mut().fill(0.0);
    desk.write("nothing.png", &hole, Depth::U8);
    hole.data_mut()[40..52].fill(255.0);
    desk.write("hole.png", &hole, Depth::U8);
    desk
}

/// Half of a file.
fn halve(desk: &Desk, whole: &str, half: &str) {
    let bytes = fs::read(desk.path(whole)).unwrap();
    desk.bytes(half, &bytes[..bytes.len() / 2]);
}

/// A numpy file that promises this shape and holds nothing.
fn header(shape: &str) -> Vec<u8> {
    let mut file = format!("\x01\0\x76\0{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    file.splice(0..0, *b"\x93NUMPY");
    file.resize(127, b' ');
    file.push(b'\n');
    file
}

#[test]
fn bad_pictures_are_refused_by_every_verb() {
    let desk = desk();
    desk.bytes("empty.png", b"");
    desk.bytes("text.png", b"this is no picture, whatever its name says");
    for kind in ["png", "jpg", "tif", "npy", "npz"] {
        desk.picture(&format!("whole.{kind}"), &[24, 24], 1, 0.0);
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
    fs::create_dir(desk.path("nopictures")).unwrap();
    let faults = [
        "missing.png",
        "nopictures",
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
    for verb in READERS {
        for fault in faults {
            refused(&desk, &verb.replace('@', fault), fault);
        }
    }
    for codes in ["missing.npz", "nopictures", "empty.png", "text.png", "half.npz", "whole.npz", "good.png"] {
        refused(&desk, &format!("decode {codes} -o out.png"), codes);
    }
}

#[cfg(unix)]
#[test]
fn pictures_that_may_not_be_read_are_refused_by_every_verb() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = desk();
    desk.picture("locked.png", &[24, 24], 1, 0.0);
    fs::set_permissions(desk.path("locked.png"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(desk.path("locked.png")).is_ok() {
        lobcod_conformance::skipped("this user may read everything");
        return;
    }
    READERS.iter().for_each(|verb| refused(&desk, &verb.replace('@', "locked.png"), "locked.png"));
}

#[test]
fn bad_masks_are_refused_by_every_verb() {
    let desk = desk();
    desk.bytes("empty.png", b"");
    for verb in MASKED {
        for (mask, word) in [
            ("--known small.png", "same size"),
            ("--holes small.png", "same size"),
            ("--known nothing.png", "known"),
            ("--holes good.png", "known"),
            ("--known missing.png", "missing.png"),
            ("--holes empty.png", "empty.png"),
        ] {
            refused(&desk, &format!("{verb} {mask}"), word);
        }
    }
}

#[test]
fn bad_dictionaries_are_refused_by_every_verb() {
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
    for verb in WITH_DICTIONARY {
        for fault in ["missing.npz", "good.png", "half.npz", "huge.npy"] {
            refused(&desk, &verb.replace('@', fault), fault);
        }
        if verb.starts_with("show") {
            continue; // It shows atoms of any shape.
        }
        refused(&desk, &verb.replace('@', "rgb.npz"), "channel");
        refused(&desk, &verb.replace('@', "line.npz"), "ax");
        refused(&desk, &verb.replace('@', "wide.npz"), "30x30");
    }
    refused(&desk, "learn good.png -o out.npz --atoms 4 --size 30x30", "30x30");
}

#[test]
fn bad_penalties_are_refused_by_every_verb() {
    let desk = desk();
    for verb in PENALISED {
        for penalty in ["0", "-3", "nan", "inf"] {
            refused(&desk, &verb.replace('@', penalty), "penalty");
        }
    }
}

#[test]
fn places_that_cannot_be_written_are_refused_by_every_verb() {
    let desk = desk();
    desk.succeed("encode good.png -o codes.npz --relative-penalty 0.3");
    for (verb, name) in WRITERS {
        refused(&desk, &verb.replace('@', &format!("nowhere/{name}")), "nowhere");
        // Not even the superuser may make files there.
        if cfg!(target_os = "linux") && fs::write(format!("/proc/{name}"), "").is_err() {
            refused(&desk, &verb.replace('@', &format!("/proc/{name}")), "/proc");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_by_every_verb() {
    let desk = desk();
    desk.succeed("encode good.png -o codes.npz --relative-penalty 0.3");
    // A first picture that could be written stays, whole; here it takes the place of an old one.
    desk.picture("out.png", &[24, 24], 1, 0.0);
    for (verb, name) in WRITERS {
        if name == "demo" {
            continue; // It makes a folder, which no device stands for.
        }
        let full = format!("full-{name}");
        let _ = fs::remove_file(desk.path(&full));
        std::os::unix::fs::symlink("/dev/full", desk.path(&full)).unwrap();
        refused(&desk, &format!("{} --quiet", verb.replace('@', &full)), &full);
    }
    for line in ["doctor", "completions bash", "encode good.png --json"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = desk.command(line).stdout(full).output().unwrap();
        let err = text(&output.stderr);
        assert!(output.status.code() == Some(1) && err.lines().count() == 1 && err.contains("standard output"), "{line}: {err}");
    }
}
