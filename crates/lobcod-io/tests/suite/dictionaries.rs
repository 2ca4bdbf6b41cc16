//! Dictionaries round-trip through `.npy` and `.npz`.

use crate::common::{Folder, assert_refused};
use lobcod::{Dictionary, Extent};
use lobcod_io::npz::Npz;
use lobcod_io::{Array, MetaValue, npy, npz, read_dictionary, write_dictionary};

fn dictionary(axes: &[usize], channels: usize) -> Dictionary<f64> {
    let extent = Extent::new(axes).unwrap();
    let numbers =
        (0..4 * extent.volume() * channels).map(|i| (i as f64 * 0.7).sin() + 0.1).collect();
    Dictionary::new(extent, channels, numbers).unwrap()
}

fn assert_same(a: &Dictionary<f64>, b: &Dictionary<f64>) {
    assert_eq!((a.extent(), a.channels(), a.len()), (b.extent(), b.channels(), b.len()));
    assert!(a.data().iter().zip(b.data()).all(|(x, y)| (x - y).abs() < 1e-15));
}

#[test]
fn every_shape_survives_a_round_trip() {
    let folder = Folder::new();
    for (axes, channels, npz_axes, npy_shape) in [
        (&[5][..], 1, "mt", &[4, 5][..]),
        (&[3, 5], 1, "mhw", &[4, 3, 5]),
        (&[3, 5], 3, "mchw", &[4, 3, 3, 5]),
        (&[2, 3, 5], 1, "mdhw", &[4, 1, 2, 3, 5]),
        (&[2, 3, 5], 2, "mcdhw", &[4, 2, 2, 3, 5]),
    ] {
        let dictionary = dictionary(axes, channels);
        for name in ["d.npy", "d.npz"] {
            write_dictionary(&folder.file(name), &dictionary, &[]).unwrap();
            assert_same(&read_dictionary(&folder.file(name)).unwrap(), &dictionary);
        }
        let file = std::fs::read(folder.file("d.npy")).unwrap();
        assert_eq!(npy::decode("d.npy".as_ref(), &file).unwrap().shape(), npy_shape);
        let npz = Npz::new("d.npz".as_ref(), std::fs::read(folder.file("d.npz")).unwrap(), 1 << 20)
            .unwrap();
        assert_eq!(npz.get("axes").unwrap().to_text().unwrap(), npz_axes);
    }
}

#[test]
fn files_of_an_older_format_are_read_and_newer_ones_refused() {
    let folder = Folder::new();
    let dictionary = dictionary(&[3, 5], 1);
    write_dictionary(&folder.file("d.npz"), &dictionary, &[]).unwrap();
    let npz =
        Npz::new("d.npz".as_ref(), std::fs::read(folder.file("d.npz")).unwrap(), 1 << 20).unwrap();
    let with_version = |version: Option<Array>| {
        let mut arrays = vec![("atoms", npz.get("atoms").unwrap())];
        arrays.push(("axes", npz.get("axes").unwrap()));
        arrays.extend(version.map(|version| ("format_version", version)));
        read_dictionary::<f64>(&folder.with("other.npz", &npz::encode(&arrays)))
    };
    assert_eq!(npz.get("format_version").unwrap().to_integers().unwrap(), [1]);
    assert_same(&with_version(None).unwrap(), &dictionary);
    assert_refused(
        with_version(Some(Array::scalar(7i64))),
        &["other.npz", "format version 7", "newer version"],
    );
}

#[test]
fn one_dimensional_atoms_with_several_channels_need_npz() {
    let folder = Folder::new();
    let dictionary = dictionary(&[5], 2);
    write_dictionary(&folder.file("d.npz"), &dictionary, &[]).unwrap();
    assert_same(&read_dictionary(&folder.file("d.npz")).unwrap(), &dictionary);
    assert_refused(
        write_dictionary(&folder.file("d.npy"), &dictionary, &[]),
        &["d.npy", "use .npz"],
    );
}

#[test]
fn metadata_is_kept_and_needs_distinct_names() {
    let folder = Folder::new();
    let remarks = [
        ("method", MetaValue::Text("atomwise".into())),
        ("passes", MetaValue::Integer(7)),
        ("penalty", MetaValue::Number(0.5)),
    ];
    write_dictionary(&folder.file("d.npz"), &dictionary(&[2, 2], 1), &remarks).unwrap();
    let npz =
        Npz::new("d.npz".as_ref(), std::fs::read(folder.file("d.npz")).unwrap(), 1 << 20).unwrap();
    assert_eq!(npz.get("method").unwrap().to_text().unwrap(), "atomwise");
    assert_eq!(npz.get("passes").unwrap().to_integers().unwrap(), [7]);
    assert_eq!(npz.get("penalty").unwrap().to_reals::<f64>(1.0).unwrap(), [0.5]);
    for name in ["atoms", "axes"] {
        let answer = write_dictionary(
            &folder.file("e.npz"),
            &dictionary(&[2, 2], 1),
            &[(name, MetaValue::Integer(1))],
        );
        assert_refused(answer, &["e.npz", name, "rename"]);
    }
}

#[test]
fn single_precision_stays_single() {
    let folder = Folder::new();
    write_dictionary(&folder.file("d.npy"), &dictionary(&[2, 2], 1).cast::<f32>(), &[]).unwrap();
    let file = std::fs::read(folder.file("d.npy")).unwrap();
    assert_eq!(npy::decode("d.npy".as_ref(), &file).unwrap().dtype().size(), 4);
}

#[test]
fn plain_atoms_are_normalised_and_counted() {
    let folder = Folder::new();
    let file = folder.with("d.npy", &npy::encode(&Array::new(&[2, 1, 2], [3i64, 4, 0, 1])));
    let dictionary = read_dictionary::<f64>(&file).unwrap();
    assert_eq!((dictionary.data(), dictionary.normalised()), (&[0.6, 0.8, 0.0, 1.0][..], 1));
}

#[test]
fn files_that_are_not_dictionaries_are_refused() {
    let folder = Folder::new();
    let read = |array: Array| read_dictionary::<f32>(&folder.with("d.npy", &npy::encode(&array)));
    assert_refused(read(Array::new(&[1, 1, 2], [0.0; 2])), &["d.npy", "atom 0", "zeros"]);
    assert_refused(read(Array::new(&[1, 1, 2], [f64::NAN; 2])), &["d.npy", "atom 0", "not finite"]);
    assert_refused(read(Array::new(&[0, 8, 8], [0.0; 0])), &["d.npy"]);
    assert_refused(read(Array::new(&[1, 0, 8], [0.0; 0])), &["d.npy"]);
    assert_refused(read(Array::new(&[1, 0, 8, 8], [0.0; 0])), &["d.npy"]);
    assert_refused(read(Array::new(&[3], [1.0; 3])), &["d.npy", "(3)", "(m, h, w)"]);
    assert_refused(read(Array::from_text("x")), &["d.npy"]);
    let read = |arrays: &[(&str, Array)]| {
        read_dictionary::<f32>(&folder.with("d.npz", &npz::encode(arrays)))
    };
    let atoms = || ("atoms", Array::new(&[1, 1, 2], [1.0, 2.0]));
    assert_eq!(read(&[atoms()]).unwrap().extent().to_string(), "1x2");
    assert_refused(
        read(&[("other", Array::scalar(1.0))]),
        &["d.npz", "has no array atoms", "other"],
    );
    assert_refused(
        read(&[atoms(), ("axes", Array::from_text("mchw"))]),
        &["d.npz", "(1, 1, 2)", "mchw"],
    );
    assert_refused(read(&[atoms(), ("axes", Array::from_text("hwm"))]), &["d.npz", "hwm", "mhw"]);
    assert_refused(read(&[atoms(), ("axes", Array::scalar(3.0))]), &["d.npz", "axes"]);
    assert_refused(
        read_dictionary::<f32>(&folder.with("d.png", &lobcod_io::encode_png(&[1], 1, 1).unwrap())),
        &["d.png", ".npz"],
    );
    assert_refused(
        write_dictionary(&folder.file("d.png"), &dictionary(&[2, 2], 1), &[]),
        &["d.png", ".npz"],
    );
}
