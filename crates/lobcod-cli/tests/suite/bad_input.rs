//! Invalid requests fail with a one-sentence message and leave no files behind.

use crate::common::{Desk, text, texture};
use lobcod::{Dictionary, Extent};
use lobcod_io::{Depth, write_dictionary};
use std::fs;

/// A folder with one valid image and many invalid files.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.image("good.png", &[24, 24], 1, 0.0);
    desk.image("colour.png", &[24, 24], 3, 0.0);
    desk.image("small.png", &[12, 12], 1, 0.0);
    desk.bytes("empty.png", b"");
    desk.bytes("text.png", b"this is not an image, whatever its name says");
    let whole = fs::read(desk.path("good.png")).unwrap();
    desk.bytes("truncated.png", &whole[..whole.len() / 2]);
    let mut unknown = texture(&[24, 24], 1, 0.0);
    unknown.data_mut().fill(f32::NAN);
    desk.write("nan.npy", &unknown, Depth::F32);
    let mut nothing = texture(&[24, 24], 1, 0.0);
    nothing.data_mut().fill(0.0);
    desk.write("nothing.png", &nothing, Depth::U8);
    desk.write("zeros.npy", &nothing, Depth::F32);
    desk.write("stack.npy", &texture(&[3, 24, 24], 1, 0.0), Depth::F32);
    let mut huge = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }".to_vec();
    huge.resize(127, b' ');
    huge.push(b'\n');
    desk.bytes("huge.npy", &huge);
    let dictionary = |name: &str, axes: &[usize], channels: usize| {
        let atoms = Dictionary::<f32>::random(Extent::new(axes).unwrap(), channels, 4, 1).unwrap();
        write_dictionary(&desk.path(name), &atoms, &[]).unwrap();
    };
    dictionary("rgb.npz", &[5, 5], 3);
    dictionary("line.npz", &[9], 1);
    dictionary("wide.npz", &[30, 4], 1);
    desk.succeed("encode good.png -o kept.npz --relative-penalty 0.3");
    let codes = fs::read(desk.path("kept.npz")).unwrap();
    desk.bytes("cut.npz", &codes[..codes.len() / 2]);
    desk.succeed(
        "encode good.png --relative-penalty 0.02 --tolerance 1e-9 --max-sweeps 1 --checkpoint \
         run.npz",
    );
    let checkpoint = fs::read(desk.path("run.npz")).unwrap();
    desk.bytes("short.npz", &checkpoint[..checkpoint.len() / 2]);
    let mut changed = checkpoint.clone();
    changed[checkpoint.len() / 2] ^= 1;
    desk.bytes("changed.npz", &changed);
    desk.succeed(
        "learn good.png -o atoms.npz --atoms 6 --size 5x5 --passes 2 --checkpoint course.npz",
    );
    let checkpoint = fs::read(desk.path("course.npz")).unwrap();
    desk.bytes("short_course.npz", &checkpoint[..checkpoint.len() / 2]);
    let mut changed = checkpoint.clone();
    let name = changed.windows(14).position(|part| part == b"dictionary.npy").unwrap();
    changed[name + 200] ^= 1;
    desk.bytes("changed_course.npz", &changed);
    fs::create_dir(desk.path("folder.npz")).unwrap();
    desk
}

#[test]
fn every_error_is_one_sentence_and_leaves_no_file() {
    let desk = desk();
    // A command line, and a word its error message must contain.
    let faults = [
        ("encode missing.png -o out.npz", "missing.png"),
        ("encode folder.npz -o out.npz", "folder"),
        ("encode empty.png -o out.npz", "empty"),
        ("encode text.png -o out.npz", "text.png"),
        ("encode truncated.png -o out.npz", "truncated.png"),
        ("encode nan.npy -o out.npz", "NaN"),
        ("encode huge.npy -o out.npz", "huge.npy"),
        ("encode stack.npy -o out.npz", "--axes"),
        ("encode good.png good.png missing.png -o out", "missing.png"),
        ("encode good.png colour.png -o out", "separately"),
        ("encode good.png --known small.png -o out.npz", "resize the mask"),
        ("encode good.png --known nothing.png -o out.npz", "known"),
        ("encode good.png --holes good.png -o out.npz", "known"),
        ("encode good.png --known missing.png -o out.npz", "missing.png"),
        ("encode good.png --dictionary rgb.npz -o out.npz", "channel"),
        ("encode good.png --dictionary line.npz -o out.npz", "axes"),
        ("encode good.png --dictionary line.npz --base none -o out.npz", "axes"),
        ("encode good.png --dictionary wide.npz --border periodic -o out.npz", "periodic"),
        ("encode good.png --dictionary good.png -o out.npz", "dictionary"),
        ("encode good.png --dictionary missing.npz -o out.npz", "missing.npz"),
        ("encode good.png --dictionary natural --size 5x5 -o out.npz", "natural"),
        ("encode good.png --size 8 -o out.npz", "axes"),
        ("encode good.png --penalty 0 -o out.npz", "above 0"),
        ("encode good.png --penalty -3 -o out.npz", "above 0"),
        ("encode good.png --penalty nan -o out.npz", "above 0"),
        ("encode good.png --relative-penalty 0 -o out.npz", "above 0"),
        ("encode good.png --tolerance -1 -o out.npz", "tolerance"),
        ("encode good.png --time-limit -1 -o out.npz", "time limit"),
        ("encode good.png --max-sweeps 0 -o out.npz", "sweeps"),
        ("encode good.png --tile 0 -o out.npz", "tile"),
        ("encode good.png --scale 0 -o out.npz", "scale"),
        ("encode good.png --max-nonzeros 0 -o out.npz", "cap"),
        ("encode good.png --max-nonzeros missing.npy -o out.npz", "missing.npy"),
        ("encode good.png --penalty-map zeros.npy -o out.npz", "above 0"),
        ("encode good.png --penalty-map small.png -o out.npz", "penalty map"),
        ("encode good.png --atom-weights zeros.npy -o out.npz", "zeros.npy"),
        ("encode good.png --start cut.npz -o out.npz", "cut.npz"),
        ("encode small.png --start kept.npz -o out.npz", "24x24"),
        ("encode good.png good.png --start kept.npz -o out", "folder"),
        ("encode good.png --engine cuda --precision f64 -o out.npz", "CUDA"),
        ("encode good.png --engine mpi -o out.npz", "MPI"),
        ("encode good.png --max-memory 1k -o out.npz", "limit"),
        ("encode good.png --reference small.png -o out.npz", "small.png"),
        ("encode good.png --reference missing.png -o out.npz", "missing.png"),
        ("encode good.png good.png --reference good.png -o out", "--reference"),
        ("encode good.png --reference good.png --peak 0 -o out.npz", "peak"),
        ("encode good.png --resume missing.npz -o out.npz", "missing.npz"),
        ("encode good.png --resume text.png -o out.npz", "not a checkpoint"),
        ("encode good.png --resume kept.npz -o out.npz", "kept.npz"),
        ("encode good.png --resume short.npz -o out.npz", "short.npz"),
        ("encode good.png --resume changed.npz -o out.npz", "changed.npz"),
        (
            "encode good.png --relative-penalty 0.03 --tolerance 1e-9 --resume run.npz -o out.npz",
            "checkpoint",
        ),
        (
            "encode small.png --relative-penalty 0.02 --tolerance 1e-9 --resume run.npz -o out.npz",
            "checkpoint",
        ),
        ("encode good.png --checkpoint nowhere/run.npz -o out.npz", "nowhere"),
        ("encode good.png --checkpoint good.png -o out.npz", "not a checkpoint"),
        ("encode good.png --checkpoint ./out.npz -o out.npz", "another file"),
        (
            "encode good.png --resume course.npz -o out.npz",
            "is a learning checkpoint, not a pursuit checkpoint",
        ),
        ("encode good.png --checkpoint course.npz -o out.npz", "not a checkpoint of this kind"),
        ("encode good.png --report nowhere/out.html -o out.npz", "nowhere"),
        ("encode good.png --report out.png -o out.npz", ".html"),
        ("encode good.png -o nowhere/out.npz", "nowhere"),
        ("encode good.png small.png -o nowhere/out", "nowhere"),
        ("encode good.png small.png -o good.png", "folder"),
        ("encode good.png small.png -o out.npz", "folder"),
        ("encode good.png --joint -1 -o out.npz", "joint sparsity is -1"),
        ("encode good.png --elastic -1 -o out.npz", "-1"),
        ("encode good.png -o out.png", ".npz"),
        ("encode good.png -o -", "standard output"),
        ("learn good.png -o out.npz --resume missing.npz", "missing.npz"),
        ("learn good.png -o out.npz --resume text.png", "not a checkpoint"),
        ("learn good.png -o out.npz --resume atoms.npz", "not a checkpoint"),
        (
            "learn good.png -o out.npz --resume run.npz",
            "is a pursuit checkpoint, not a learning checkpoint",
        ),
        ("learn good.png -o out.npz --resume short_course.npz", "short_course.npz"),
        ("learn good.png -o out.npz --resume changed_course.npz", "changed_course.npz"),
        (
            "learn good.png -o out.npz --atoms 6 --size 5x5 --penalty 3 --resume course.npz",
            "other parameters",
        ),
        (
            "learn good.png -o out.npz --atoms 6 --size 5x5 --seed 1 --resume course.npz",
            "other parameters",
        ),
        ("learn small.png -o out.npz --atoms 6 --size 5x5 --resume course.npz", "other signals"),
        (
            "learn good.png -o out.npz --atoms 6 --size 5x5 --precision f64 --resume course.npz",
            "checkpoint",
        ),
        ("learn good.png -o out.npz --checkpoint run.npz", "not a checkpoint of this kind"),
        ("learn good.png -o out.npz --checkpoint good.png", "not a checkpoint"),
        ("learn good.png -o out.npz --checkpoint nowhere/run.npz", "nowhere"),
        ("learn good.png -o out.npz --checkpoint ./out.npz", "another file"),
        ("learn good.png -o atoms.npz --resume atoms.npz", "another file"),
        ("learn good.png -o out.npz --report out.html --checkpoint out.html", "another file"),
        ("learn good.png -o out.npz --report nowhere/out.html", "nowhere"),
        ("learn good.png -o out.npz --report out.png", ".html"),
        ("learn good.png -o out.npz --peak 0", "peak"),
        ("learn good.png -o out.npz --peak nan", "peak"),
        ("decode missing.npz -o out.png", "missing.npz"),
        ("decode cut.npz -o out.png", "cut.npz"),
        ("decode good.png -o out.png", "good.png"),
        ("decode kept.npz -o nowhere/out.png", "nowhere"),
        ("decode kept.npz -o out.xyz", "out.xyz"),
        ("decode kept.npz -o folder.npz", "folder"),
        ("decode kept.npz -o out.wav", "out.wav"),
        ("show good.png -o out.png", "good.png"),
        ("show missing.npz -o out.png", "missing.npz"),
        ("show natural --size 5x5 -o out.png", "natural"),
        ("show dct -o nowhere/out.png", "nowhere"),
        ("demo -o good.png", "folder"),
        ("demo -o nowhere/demo", "nowhere"),
    ];
    let no_zarr = ("decode kept.npz -o out.zarr", "this build does not support");
    let faults = faults.into_iter().chain((!cfg!(feature = "zarr")).then_some(no_zarr));
    let before = desk.files();
    for (line, word) in faults {
        for line in [line.to_string(), format!("{line} --quiet"), format!("{line} --json")] {
            if line == "encode good.png -o - --json" {
                continue; // A usage error, below.
            }
            let output = desk.run(&line);
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(1), "lobcod {line}\n{out}{err}");
            assert!(
                err.starts_with("error: ") && err.lines().count() == 1 && err.ends_with('\n'),
                "lobcod {line}\n{err}"
            );
            assert!(err.contains(word), "lobcod {line}: no {word} in {err}");
            assert_eq!(out, "", "lobcod {line}");
            assert_eq!(desk.files(), before, "lobcod {line} left a file behind");
        }
    }
}

/// No command replaces one of its inputs.
#[test]
fn inputs_are_never_replaced() {
    let desk = desk();
    desk.image("other.png", &[24, 24], 1, 1.0);
    desk.write("atoms.npy", &texture(&[4, 8, 8], 1, 0.0), Depth::F32);
    let lines = [
        "denoise good.png -o good.png",
        "denoise good.png -o other.png --reference other.png",
        "inpaint good.png --holes nothing.png -o ./good.png",
        "inpaint good.png --holes nothing.png -o nothing.png",
        "separate good.png --smooth-out good.png --texture-out texture.png",
        "fuse good.png other.png -o other.png",
        "fuse good.png other.png -o out.png --decision-map good.png",
        "compare good.png other.png -o good.png",
        "find-damage good.png -o good.png",
        "show atoms.npy -o atoms.npy",
        "decode kept.npz -o kept.npz",
        "learn good.png --init atoms.npz --size 5x5 -o atoms.npz",
        "learn good.png --freeze atoms.npz --size 5x5 --atoms 3 -o atoms.npz",
        "encode good.png --dictionary atoms.npz -o atoms.npz",
    ];
    let contents = || {
        let names = desk.files().into_iter().filter(|name| desk.path(name).is_file());
        names.map(|name| (fs::read(desk.path(&name)).unwrap(), name)).collect::<Vec<_>>()
    };
    let before = contents();
    for line in lines {
        let output = desk.run(line);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "lobcod {line}\n{err}");
        assert!(err.contains("is both input and output"), "lobcod {line}\n{err}");
        assert!(contents() == before, "lobcod {line} changed a file");
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let desk = Desk::new();
    desk.image("good.png", &[24, 24], 1, 0.0);
    for line in [
        "",
        "frobnicate",
        "encode",
        "encode good.png --frobnicate",
        "encode good.png --penalty much",
        "encode good.png --penalty 1 --relative-penalty 0.1",
        "encode good.png --known good.png --holes good.png",
        "encode good.png --border round",
        "encode good.png --base mean",
        "encode good.png --base smooth:-1",
        "encode good.png --axes xyz",
        "encode good.png --size 8by8",
        "encode good.png --schedule random",
        "encode good.png --local omp",
        "encode good.png --engine steam",
        "encode good.png --precision f16",
        "encode good.png --max-memory lots",
        "encode good.png --json -o -",
        "learn good.png",
        "learn -o out.npz",
        "learn good.png -o out.npz --atoms 0",
        "learn good.png --json -o -",
        "learn good.png -o out.npz --method magic",
        "learn good.png -o out.npz --step adam",
        "learn good.png -o out.npz --step-size 0.1",
        "learn good.png -o out.npz --decay online",
        "learn good.png -o out.npz --method atomwise --step sgd",
        "learn good.png -o out.npz --method batch --decay none",
        "learn good.png -o out.npz --method stochastic --step newton",
        "learn good.png -o out.npz --method stochastic --step-size small",
        "learn good.png -o out.npz --method stochastic --decay online:0",
        "learn good.png -o out.npz --method stochastic --decay exponential",
        "decode codes.npz",
        "decode codes.npz --json -o -",
        "show dct",
        "show dct -o out.png --zoom 0",
    ] {
        let output = desk.run(line);
        assert_eq!(output.status.code(), Some(2), "lobcod {line}");
        assert_eq!(text(&output.stdout), "", "lobcod {line}");
        assert!(!output.stderr.is_empty(), "lobcod {line}");
    }
    assert_eq!(desk.files(), ["good.png"]);
}
