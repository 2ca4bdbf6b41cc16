//! Codes files round-trip, and invalid ones are refused.

use crate::common::{Folder, assert_refused, ramp};
use lobcod::{Border, Code, Dictionary, Extent, Needles};
use lobcod_io::npz::Npz;
use lobcod_io::{
    Array, Axes, CodesFile, DataType, Depth, Dialect, Grid, Metadata, PageOrder, npz, read_codes,
    write_codes,
};

fn code(position: [i32; 3], atom: u32, channel: u32, value: f64) -> Code<f64> {
    Code { position, atom, channel, value }
}

/// Two 3 x 2 atoms, and a 6 x 5 image with three channels coded separately.
fn example() -> CodesFile<f64> {
    let codes = vec![
        code([0, 5, 4], 1, 2, -1.5),
        code([0, -2, -1], 0, 0, 2.0),
        code([0, -2, -1], 0, 1, 3.0),
    ];
    let numbers = (0..12).map(|i| (i as f64).cos()).collect();
    CodesFile {
        needles: Needles::new(Extent::new(&[6, 5]).unwrap(), 3, Border::Free, codes),
        axes: Axes::Hwc,
        penalty: 0.25,
        scale: 255.0,
        depth: Depth::U16,
        sample_rate: None,
        dictionary: Dictionary::new(Extent::new(&[3, 2]).unwrap(), 1, numbers).unwrap(),
        base: Some(ramp(&[6, 5], 3, 0.5)),
        metadata: metadata(),
    }
}

fn metadata() -> Metadata {
    let grid = Grid {
        dialect: Dialect::Ome,
        resolution: Some(([300, 1], [7, 3])),
        resolution_unit: 3,
        pixel: [Some(0.1), None],
        spacing: Some(1e-7),
        unit: Some("µm".into()),
        time_points: true,
        channel_pages: Some(PageOrder::SlicesFirst),
    };
    Metadata {
        icc: Some(vec![1, 2, 0]),
        exif: Some(b"II*\0".to_vec()),
        xmp: Some("<ü/>".into()),
        grid: Some(grid),
    }
}

/// Compares with a tolerance for the atoms, which are normalised again when read.
fn assert_same(a: &CodesFile<f64>, b: &CodesFile<f64>) {
    assert_eq!(
        (&a.needles, &a.base, a.axes, a.depth, a.sample_rate),
        (&b.needles, &b.base, b.axes, b.depth, b.sample_rate)
    );
    assert_eq!((a.penalty, a.scale), (b.penalty, b.scale));
    assert_eq!(
        (a.dictionary.extent(), a.dictionary.channels()),
        (b.dictionary.extent(), b.dictionary.channels())
    );
    assert!(
        a.dictionary.data().iter().zip(b.dictionary.data()).all(|(x, y)| (x - y).abs() < 1e-15)
    );
}

fn open(folder: &Folder) -> Npz {
    Npz::new("c.npz".as_ref(), std::fs::read(folder.file("c.npz")).unwrap(), 1 << 20).unwrap()
}

#[test]
fn codes_survive_a_round_trip_for_every_rank() {
    let folder = Folder::new();
    let mut files = vec![example()];
    for (axes, extent, atom) in [
        (Axes::T, &[9][..], &[4][..]),
        (Axes::Hw, &[4, 5], &[2, 2]),
        (Axes::Dhw, &[4, 5, 6], &[2, 2, 2]),
    ] {
        let atom = Extent::new(atom).unwrap();
        let numbers = (0..2 * atom.volume()).map(|i| (i as f64).cos()).collect();
        files.push(CodesFile {
            needles: Needles::new(
                Extent::new(extent).unwrap(),
                1,
                Border::Periodic,
                vec![code([0, 0, 3], 1, 0, 4.0)],
            ),
            axes,
            dictionary: Dictionary::new(atom, 1, numbers).unwrap(),
            base: None,
            metadata: Metadata::default(),
            sample_rate: Some(8000),
            ..example()
        });
    }
    for file in files {
        write_codes(&folder.file("c.npz"), &file).unwrap();
        assert_same(&read_codes(&folder.file("c.npz"), None).unwrap(), &file);
        let first = std::fs::read(folder.file("c.npz")).unwrap();
        write_codes(&folder.file("c.npz"), &file).unwrap();
        assert_eq!(
            first,
            std::fs::read(folder.file("c.npz")).unwrap(),
            "equal codes give equal bytes"
        );
    }
}

#[test]
fn the_arrays_match_the_documented_format() {
    let folder = Folder::new();
    write_codes(&folder.file("c.npz"), &example()).unwrap();
    let npz = open(&folder);
    let names: Vec<&str> = npz.names().collect();
    let wanted = [
        "position",
        "atom",
        "value",
        "format_version",
        "shape",
        "axes",
        "border",
        "penalty",
        "scale",
        "depth",
        "dictionary",
        "icc",
        "exif",
        "xmp",
        "grid",
        "channel",
        "base",
    ];
    assert_eq!(names, wanted);
    let position = npz.get("position").unwrap();
    assert_eq!((position.dtype(), position.shape()), (DataType::I32, &[3, 2][..]));
    assert_eq!(position.to_integers().unwrap(), [-2, -1, -2, -1, 5, 4]);
    assert_eq!(
        (npz.get("atom").unwrap().dtype(), npz.get("value").unwrap().dtype()),
        (DataType::I32, DataType::F64)
    );
    assert_eq!(npz.get("shape").unwrap().to_integers().unwrap(), [6, 5, 3]);
    assert_eq!(npz.get("border").unwrap().to_text().unwrap(), "free");
    assert_eq!(npz.get("channel").unwrap().to_integers().unwrap(), [0, 1, 2]);
    assert_eq!(npz.get("dictionary").unwrap().shape(), [2, 3, 2]);
    assert_eq!(npz.get("base").unwrap().shape(), [6, 5, 3]);
}

#[test]
fn channels_are_written_only_if_coded_separately() {
    let folder = Folder::new();
    let numbers = (0..36).map(|i| (i as f64).cos()).collect();
    let codes = vec![code([0, 1, 1], 0, 0, 1.0)];
    let file = CodesFile {
        needles: Needles::new(Extent::new(&[6, 5]).unwrap(), 3, Border::Zero, codes),
        dictionary: Dictionary::new(Extent::new(&[3, 2]).unwrap(), 3, numbers).unwrap(),
        base: None,
        metadata: Metadata::default(),
        axes: Axes::Chw,
        ..example()
    };
    write_codes(&folder.file("c.npz"), &file).unwrap();
    let npz = open(&folder);
    assert!(npz.names().all(|n| n != "channel" && n != "base"));
    assert_eq!(npz.get("shape").unwrap().to_integers().unwrap(), [3, 6, 5]);
    assert_same(&read_codes(&folder.file("c.npz"), None).unwrap(), &file);
}

#[test]
fn empty_codes_are_valid() {
    let folder = Folder::new();
    let file = CodesFile {
        needles: Needles::new(Extent::new(&[6, 5]).unwrap(), 3, Border::Free, vec![]),
        ..example()
    };
    write_codes(&folder.file("c.npz"), &file).unwrap();
    assert_same(&read_codes(&folder.file("c.npz"), None).unwrap(), &file);
}

#[test]
fn the_other_precision_can_be_read() {
    let folder = Folder::new();
    write_codes(&folder.file("c.npz"), &example()).unwrap();
    let codes = read_codes::<f32>(&folder.file("c.npz"), None).unwrap();
    assert_eq!(codes.needles.codes()[0].value, 2.0f32);
}

#[test]
fn invalid_arrays_are_refused() {
    let folder = Folder::new();
    write_codes(&folder.file("c.npz"), &example()).unwrap();
    let npz = open(&folder);
    let with = |name: &str, array: Option<Array>| {
        let arrays: Vec<(&str, Array)> = npz
            .names()
            .filter_map(|n| {
                if n == name {
                    array.clone().map(|a| (n, a))
                } else {
                    Some((n, npz.get(n).unwrap()))
                }
            })
            .collect();
        read_codes::<f64>(&folder.with("bad.npz", &npz::encode(&arrays)), None)
    };
    with("base", None).unwrap();
    // Files written before there was a version are read; files of a newer format are not.
    with("format_version", None).unwrap();
    let newer = with("format_version", Some(Array::scalar(2i64)));
    assert_refused(newer, &["bad.npz", "format version 2", "newer version"]);
    for name in [
        "position",
        "atom",
        "value",
        "shape",
        "axes",
        "border",
        "penalty",
        "scale",
        "depth",
        "dictionary",
    ] {
        assert_refused(with(name, None), &["bad.npz", "has no array", name]);
        assert_refused(with(name, Some(Array::from_text("?"))), &["bad.npz"]);
        assert_refused(with(name, Some(Array::scalar(f64::NAN))), &["bad.npz"]);
    }
    let integers = |values: &[i64]| Some(Array::new(&[values.len()], values.iter().copied()));
    assert_refused(with("atom", integers(&[0, 0, 2])), &["bad.npz", "atom 2"]);
    assert_refused(with("atom", integers(&[0, 0, -1])), &["bad.npz", "array atom"]);
    assert_refused(with("atom", integers(&[0, 0])), &["bad.npz", "array atom"]);
    assert_refused(with("channel", integers(&[0, 1, 3])), &["bad.npz"]);
    assert_refused(with("channel", integers(&[0, 0, 0])), &["bad.npz", "two codes"]);
    assert_refused(with("channel", None), &["bad.npz", "two codes"]);
    let positions = |values: [i64; 6]| Some(Array::new(&[3, 2], values));
    assert_refused(with("position", positions([-3, 0, 0, 0, 0, 0])), &["bad.npz", "does not fit"]);
    assert_refused(with("position", positions([0, 0, 6, 0, 0, 0])), &["bad.npz", "does not fit"]);
    assert_refused(
        with("position", positions([0, 0, 1 << 40, 0, 0, 0])),
        &["bad.npz", "array position"],
    );
    assert_refused(with("position", integers(&[0; 6])), &["bad.npz", "array position"]);
    assert_refused(with("value", Some(Array::new(&[3], [1.0, f64::INFINITY, 1.0]))), &["bad.npz"]);
    assert_refused(with("value", integers(&[1, 2, 3])), &["bad.npz", "array value"]);
    assert_refused(with("shape", integers(&[6, 5])), &["bad.npz"]);
    assert_refused(with("shape", integers(&[6, 0, 3])), &["bad.npz"]);
    assert_refused(with("shape", integers(&[1 << 30, 1 << 30, 3])), &["bad.npz", "limit"]);
    assert_refused(with("shape", integers(&[i64::MAX, i64::MAX, i64::MAX])), &["bad.npz", "limit"]);
    assert_refused(with("base", Some(Array::new(&[6, 5], [0.0; 30]))), &["bad.npz", "base layer"]);
    assert_refused(
        with("base", Some(Array::new(&[6, 5, 3], [f64::NAN; 90]))),
        &["bad.npz", "base layer", "finite"],
    );
    assert_refused(
        with("dictionary", Some(Array::new(&[2, 2, 3, 2], [1.0; 24]))),
        &["bad.npz", "dictionary"],
    );
}

#[test]
fn the_coded_image_must_fit_the_limit() {
    let folder = Folder::new();
    write_codes(&folder.file("c.npz"), &CodesFile { base: None, ..example() }).unwrap();
    assert_refused(
        read_codes::<f64>(&folder.file("c.npz"), Some(6 * 5 * 3 * 8 - 1)),
        &["c.npz", "720 B", "719 B"],
    );
    assert!(read_codes::<f64>(&folder.file("c.npz"), Some(6 * 5 * 3 * 8)).is_ok());
}

#[test]
fn inconsistent_parts_are_not_written() {
    let folder = Folder::new();
    let path = folder.file("c.npz");
    let bad = CodesFile { base: Some(ramp(&[6, 4], 3, 1.0)), ..example() };
    assert_refused(write_codes(&path, &bad), &["c.npz", "base layer"]);
    let bad = CodesFile {
        dictionary: Dictionary::new(Extent::new(&[2]).unwrap(), 1, vec![1.0, 0.0]).unwrap(),
        ..example()
    };
    assert_refused(write_codes(&path, &bad), &["c.npz", "dictionary"]);
    assert!(folder.names().is_empty());
}
