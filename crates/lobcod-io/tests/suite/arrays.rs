//! `.npy` and `.npz`: every type, order and compression round-trips.

use crate::common::assert_refused;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use lobcod_io::npz::Npz;
use lobcod_io::{Array, DataType, Element, npy, npz};
use std::io::Write;
use std::path::Path;

const NAME: &str = "array.npy";

fn decode(file: &[u8]) -> lobcod_io::Result<Array> {
    npy::decode(Path::new(NAME), file)
}

/// A version 1 file with this header and these bytes.
fn file(header: &str, samples: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(samples);
    file
}

fn assert_round_trip<E: Element + TryFrom<i8>>(values: &[i8]) {
    let values: Vec<E> = values.iter().filter_map(|&v| v.try_into().ok()).collect();
    let array = Array::new(&[1, values.len()], values);
    assert_eq!(decode(&npy::encode(&array)).unwrap(), array);
}

#[test]
fn every_type_survives_a_round_trip() {
    let values = [-128, -1, 0, 1, 127];
    assert_round_trip::<i8>(&values);
    assert_round_trip::<u8>(&values);
    assert_round_trip::<i16>(&values);
    assert_round_trip::<u16>(&values);
    assert_round_trip::<i32>(&values);
    assert_round_trip::<u32>(&values);
    assert_round_trip::<i64>(&values);
    assert_round_trip::<u64>(&values);
    assert_round_trip::<f32>(&values);
    assert_round_trip::<f64>(&values);
    for text in ["", "a", "hwc", "Grüße, 世界 🦀"] {
        assert_eq!(decode(&npy::encode(&Array::from_text(text))).unwrap().to_text().unwrap(), text);
    }
}

#[test]
fn numbers_are_read_unchanged() {
    assert_eq!(Array::new(&[2], [-3i16, 4]).to_reals::<f32>(0.5).unwrap(), [-1.5, 2.0]);
    assert_eq!(Array::new(&[2], [-3i64, 1 << 40]).to_integers().unwrap(), [-3, 1 << 40]);
    assert_eq!(Array::new(&[1], [u64::MAX]).to_integers(), None);
    assert_eq!(Array::new(&[1], [1.0f32]).to_integers(), None);
    assert_eq!(Array::from_text("7").to_reals::<f64>(1.0), None);
}

#[test]
fn samples_start_at_a_multiple_of_64_bytes() {
    for axes in 0..6 {
        let array = Array::new(&vec![1; axes], [1.0f64]);
        assert_eq!(npy::encode(&array).len() % 64, 8);
    }
}

#[test]
fn booleans_big_endians_and_fortran_order_are_understood() {
    let array =
        decode(&file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", &[0, 1, 1]))
            .unwrap();
    assert_eq!(
        (array.dtype(), array.to_reals::<f64>(1.0).unwrap()),
        (DataType::Bool, vec![0.0, 1.0, 1.0])
    );

    let big: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let array =
        decode(&file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", &big)).unwrap();
    assert_eq!(array.to_reals::<f32>(1.0).unwrap(), [1.5, -2.0]);

    // (2, 3, 2) in Fortran order: the item (i, j, k) is at i + 2 j + 6 k.
    let samples: Vec<u8> = (0u16..12).flat_map(u16::to_le_bytes).collect();
    let array =
        decode(&file("{'shape': (2, 3, 2), 'fortran_order': True, 'descr': '<u2'}", &samples))
            .unwrap();
    assert_eq!(array.to_integers().unwrap(), [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
}

#[test]
fn headers_of_old_and_new_writers_are_understood() {
    let array = decode(&file(
        "{\"descr\":\"|u1\",\"fortran_order\":False,\"shape\":(2L, 1L)}   \n",
        &[5, 6],
    ))
    .unwrap();
    assert_eq!(array.shape(), [2, 1]);
    let mut version_2 = b"\x93NUMPY\x02\x00".to_vec();
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': ()}";
    version_2.extend((header.len() as u32).to_le_bytes());
    version_2.extend(header.as_bytes());
    version_2.push(9);
    assert_eq!(decode(&version_2).unwrap().to_integers().unwrap(), [9]);
}

#[test]
fn false_headers_are_refused() {
    let shapes = [
        "(3,)",
        "(1,)",
        "(0,)",
        "(1099511627776, 1099511627776)",
        "(18446744073709551615, 2)",
        "(-2,)",
        "(2",
        "2",
        "(99999999999999999999,)",
    ];
    for shape in shapes {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}}}");
        assert_refused(decode(&file(&header, &[1, 2])), &[NAME, "recreate"]);
    }
    for descr in [
        "'<c16'",
        "'|O'",
        "'<f2'",
        "'<U0'",
        "'<U99999999999999999999'",
        "'é'",
        "[('a', '<f4'), ('b', '<i4')]",
    ] {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,)}}");
        assert_refused(decode(&file(&header, &[1, 2])), &[NAME, "not supported", "float32"]);
    }
    let huge_text = "{'descr': '<U4611686018427387904', 'fortran_order': False, 'shape': ()}";
    assert_refused(decode(&file(huge_text, &[])), &["truncated"]);
    for header in [
        "",
        "{}",
        "{'descr': '|u1', 'shape': (2,)}",
        "{'descr': '|u1', 'fortran_order': 1, 'shape': (2,)}",
        "{'a': 1}",
    ] {
        assert_refused(decode(&file(header, &[1, 2])), &[NAME, "damaged"]);
    }
}

#[test]
fn named_arrays_survive_a_round_trip() {
    let arrays = [
        ("b", Array::new(&[2], [1i32, 2])),
        ("a", Array::from_text("hw")),
        ("größe", Array::scalar(2.5f64)),
    ];
    let file = npz::encode(&arrays);
    assert_eq!(file, npz::encode(&arrays), "equal arrays give equal bytes");
    let npz = Npz::new(Path::new("x.npz"), file, 1 << 20).unwrap();
    assert_eq!(npz.names().collect::<Vec<_>>(), ["b", "a", "größe"]);
    for (name, array) in &arrays {
        assert_eq!(&npz.get(name).unwrap(), array);
    }
    assert_eq!(npz.find("c").unwrap(), None);
    assert_refused(npz.get("c"), &["x.npz", "has no array c", "b, a, größe"]);
}

/// A zip file as other programs write it: 32-bit sizes, one deflated entry, a comment.
fn deflated(name: &str, data: &[u8], promised: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    let packed = encoder.finish().unwrap();
    let mut common = Vec::new();
    [20u16, 0, 8, 0, 33].iter().for_each(|x| common.extend(x.to_le_bytes()));
    [crc32fast::hash(data), packed.len() as u32, promised]
        .iter()
        .for_each(|x| common.extend(x.to_le_bytes()));
    [name.len() as u16, 0].iter().for_each(|x| common.extend(x.to_le_bytes()));
    let mut file = [b"PK\x03\x04", &common[..], name.as_bytes(), &packed].concat();
    let start = file.len() as u32;
    file.extend(
        [b"PK\x01\x02", &20u16.to_le_bytes()[..], &common, &[0; 14], name.as_bytes()].concat(),
    );
    let size = file.len() as u32 - start;
    file.extend(
        [
            &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
            &size.to_le_bytes(),
            &start.to_le_bytes(),
            b"\x05\0hello",
        ]
        .concat(),
    );
    file
}

#[test]
fn deflated_arrays_are_unpacked_within_the_limit() {
    let array = Array::new(&[1000], (0..1000).map(|i| i as f32));
    let data = npy::encode(&array);
    let open = |promised: usize, limit| {
        Npz::new(Path::new("x.npz"), deflated("a.npy", &data, promised as u32), limit)
            .unwrap()
            .get("a")
    };
    assert_eq!(open(data.len(), 1 << 20).unwrap(), array);
    assert_refused(open(data.len(), 100), &["x.npz", "limit is 100 B"]);
    assert_refused(open(data.len() - 1, 1 << 20), &["damaged in the array a"]);
    assert_refused(open(u32::MAX as usize - 1, u64::MAX), &["damaged in the array a"]);
}

#[test]
fn a_flipped_sample_is_noticed() {
    let mut file = npz::encode(&[("a", Array::new(&[1], [7i32]))]);
    let at = file.windows(4).position(|w| w == [7, 0, 0, 0]).unwrap();
    file[at] = 8;
    assert_refused(Npz::new(Path::new("x.npz"), file, 1 << 20).unwrap().get("a"), &["damaged"]);
}
