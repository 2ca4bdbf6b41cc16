//! EXIF orientation: all eight values are applied on input, and images are written upright.

use crate::common::{Folder, ramp};
use lobcod::{Extent, Signal};
use lobcod_io::{
    Axes, Grid, ImageRows, Metadata, Polarity, ReadOptions, WriteOptions, read_image, read_mask,
    write_image,
};
use std::path::Path;

/// An EXIF block with resolution 300 x 150 and this orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let entry = |tag: u16, kind: u16, value: [u8; 4]| {
        [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &1u32.to_le_bytes(), &value].concat()
    };
    let at = 8 + 2 + 3 * 12 + 4u32;
    let entries = [
        entry(274, 3, [orientation, 0, 0, 0]),
        entry(282, 5, at.to_le_bytes()),
        entry(283, 5, (at + 8).to_le_bytes()),
    ];
    let values = [300u32, 1, 150, 1].map(u32::to_le_bytes).concat();
    [b"II*\0\x08\0\0\0\x03\0", &entries.concat()[..], &[0; 4], &values].concat()
}

fn stored(path: &Path, signal: &Signal<f32>, orientation: u8) {
    let xmp = format!("<x tiff:Orientation=\"{orientation}\"/>").into_bytes();
    let metadata =
        Metadata { exif: Some(exif(orientation)), xmp: Some(xmp), ..Metadata::default() };
    write_image(path, signal, &WriteOptions { metadata, ..WriteOptions::default() }).unwrap();
}

/// The upright version of the stored image `0 1 2 / 3 4 5`, for orientations 1 to 8, as defined by
/// the EXIF standard.
const UPRIGHT: [&[[u8; 3]]; 4] = [
    &[[0, 1, 2], [3, 4, 5]],
    &[[2, 1, 0], [5, 4, 3]],
    &[[5, 4, 3], [2, 1, 0]],
    &[[3, 4, 5], [0, 1, 2]],
];
const UPRIGHT_TRANSPOSED: [&[[u8; 2]]; 4] = [
    &[[0, 3], [1, 4], [2, 5]],
    &[[3, 0], [4, 1], [5, 2]],
    &[[5, 2], [4, 1], [3, 0]],
    &[[2, 5], [1, 4], [0, 3]],
];

fn upright(orientation: u8) -> (Vec<usize>, Vec<u8>) {
    let i = usize::from(orientation) - 1;
    if i < 4 {
        (vec![2, 3], UPRIGHT[i].concat())
    } else {
        (vec![3, 2], UPRIGHT_TRANSPOSED[i - 4].concat())
    }
}

#[test]
fn all_eight_orientations_are_rotated_upright() {
    let folder = Folder::new();
    for (name, channels) in [("a.png", 1), ("a.png", 3), ("a.tif", 1), ("a.tif", 3)] {
        for orientation in 1..=8 {
            stored(&folder.file(name), &ramp(&[2, 3], channels, 1.0), orientation);
            let image = read_image::<f32>(&folder.file(name), &ReadOptions::default()).unwrap();
            let (size, samples) = upright(orientation);
            assert_eq!(image.signal.extent().axes(), size, "{name} {orientation}");
            for c in 0..channels {
                let expected: Vec<f32> =
                    samples.iter().map(|x| f32::from(*x) + 6.0 * c as f32).collect();
                assert_eq!(image.signal.channel(c), expected, "{name} {orientation}");
            }
            assert_eq!(
                image.metadata.xmp.as_deref(),
                Some(&b"<x tiff:Orientation=\"1\"/>"[..]),
                "{name} {orientation}"
            );
            if name == "a.tif" {
                // A TIFF stores its resolution elsewhere.
                assert_eq!(image.metadata.exif.unwrap()[10..22], exif(1)[10..22], "{orientation}");
                continue;
            }
            let mut expected = exif(1);
            if orientation > 4 {
                let values = expected.len() - 16;
                expected[values..].rotate_left(8);
            }
            assert_eq!(image.metadata.exif.as_deref(), Some(&expected[..]), "{name} {orientation}");
        }
    }
}

#[test]
fn jpegs_are_rotated_too() {
    let folder = Folder::new();
    // Four constant blocks survive compression: dark, bright / brighter, brightest.
    let level = |i: usize| [10.0, 90.0, 170.0, 250.0][2 * (i / 32 / 16) + i % 32 / 16];
    let signal =
        Signal::from_planar(Extent::new(&[32, 32]).unwrap(), 1, (0..1024).map(level).collect())
            .unwrap();
    for (orientation, corners) in [
        (1, [10, 90, 170, 250]),
        (2, [90, 10, 250, 170]),
        (3, [250, 170, 90, 10]),
        (4, [170, 250, 10, 90]),
        (5, [10, 170, 90, 250]),
        (6, [170, 10, 250, 90]),
        (7, [250, 90, 170, 10]),
        (8, [90, 250, 10, 170]),
    ] {
        stored(&folder.file("a.jpg"), &signal, orientation);
        let image =
            read_image::<f32>(&folder.file("a.jpg"), &ReadOptions::default()).unwrap().signal;
        let found = [4 * 32 + 4, 4 * 32 + 27, 27 * 32 + 4, 27 * 32 + 27]
            .map(|i| image.data()[i].round() as i32);
        assert!(
            found.iter().zip(corners).all(|(a, b): (&i32, i32)| (a - b).abs() < 4),
            "{orientation}: {found:?}"
        );
    }
}

#[test]
fn masks_are_rotated_like_images() {
    let folder = Folder::new();
    for orientation in 1..=8 {
        let mut holes = ramp::<f32>(&[2, 3], 1, 0.0);
        holes.data_mut()[2] = 255.0;
        stored(&folder.file("holes.png"), &holes, orientation);
        let (size, samples) = upright(orientation);
        let mask = read_mask::<f32>(
            &folder.file("holes.png"),
            Polarity::Holes,
            Extent::new(&size).unwrap(),
            None,
        )
        .unwrap();
        let expected: Vec<f32> = samples.iter().map(|x| if *x == 2 { 0.0 } else { 1.0 }).collect();
        assert_eq!(mask.weights().data(), expected, "{orientation}");
    }
}

#[test]
fn every_page_of_a_stack_is_rotated() {
    let folder = Folder::new();
    let grid =
        Grid { resolution: Some(([300, 1], [150, 1])), resolution_unit: 2, ..Grid::default() };
    let metadata = Metadata { exif: Some(exif(6)), grid: Some(grid), ..Metadata::default() };
    let options = WriteOptions { metadata, ..WriteOptions::default() };
    write_image(&folder.file("stack.tif"), &ramp::<f32>(&[2, 2, 3], 1, 1.0), &options).unwrap();
    let read = ReadOptions { axes: Some(Axes::Dhw), ..ReadOptions::default() };
    let stack = read_image::<f32>(&folder.file("stack.tif"), &read).unwrap();
    assert_eq!(stack.signal.extent().axes(), [2, 3, 2]);
    assert_eq!(stack.signal.data(), [3.0, 0.0, 4.0, 1.0, 5.0, 2.0, 9.0, 6.0, 10.0, 7.0, 11.0, 8.0]);
    assert_eq!(
        stack.metadata.grid.unwrap().resolution,
        Some(([150, 1], [300, 1])),
        "the axes of the resolution are swapped too"
    );
}

#[test]
fn images_that_are_not_stored_upright_are_read_as_a_whole() {
    let folder = Folder::new();
    let options = ReadOptions::default();
    for (orientation, by_rows) in [(1, true), (3, false), (6, false)] {
        stored(&folder.file("a.tif"), &ramp(&[20, 30], 1, 0.1), orientation);
        let rows = ImageRows::open(&folder.file("a.tif"), &options).unwrap();
        assert_eq!(rows.is_some(), by_rows, "{orientation}");
    }
}

#[test]
fn an_invalid_orientation_means_upright() {
    let folder = Folder::new();
    for orientation in [0, 9, 255] {
        stored(&folder.file("a.png"), &ramp(&[2, 3], 1, 1.0), orientation);
        let image = read_image::<f32>(&folder.file("a.png"), &ReadOptions::default()).unwrap();
        assert_eq!(image.signal.data(), ramp::<f32>(&[2, 3], 1, 1.0).data());
    }
}
