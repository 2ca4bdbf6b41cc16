//! Known samples: masks, alpha and NaN; and maps of numbers.

use crate::common::{Folder, assert_refused, ramp, tiny_tiff};
use image::{ExtendedColorType, save_buffer};
use lobcod::{Extent, Mask};
use lobcod_io::{
    Array, Axes, Polarity, ReadOptions, npy, read_image, read_map, read_mask, read_vector,
};
use std::path::Path;

fn extent() -> Extent {
    Extent::new(&[2, 2]).unwrap()
}

fn mask(path: &Path, polarity: Polarity) -> Vec<f32> {
    read_mask::<f32>(path, polarity, extent(), None).unwrap().weights().data().to_vec()
}

fn known(path: &Path) -> Option<Mask<f32>> {
    read_image(path, &ReadOptions::default()).unwrap().known
}

#[test]
fn nonzero_is_known_or_missing_by_polarity() {
    let folder = Folder::new();
    let files = [
        folder.with("u8.npy", &npy::encode(&Array::new(&[2, 2], [0u8, 1, 255, 0]))),
        folder.with("i32.npy", &npy::encode(&Array::new(&[2, 2], [0i32, -1, 1, 0]))),
        folder.with("f64.npy", &npy::encode(&Array::new(&[2, 2], [0.0f64, 7.0, 0.5, 0.0]))),
        folder.with("grey.png", &lobcod_io::encode_png(&[0, 9, 9, 0], 2, 2).unwrap()),
        folder.with(
            "colour.png",
            &lobcod_io::encode_png(&[0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0], 2, 2).unwrap(),
        ),
        folder.with("hwc.npy", &npy::encode(&Array::new(&[2, 2, 2], [0u8, 0, 0, 1, 1, 0, 0, 0]))),
        folder.with(
            "chw.npy",
            &npy::encode(&Array::new(&[3, 2, 2], [0u8, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0])),
        ),
    ];
    for file in files {
        assert_eq!(mask(&file, Polarity::Known), [0.0, 1.0, 1.0, 0.0], "{}", file.display());
        assert_eq!(mask(&file, Polarity::Holes), [1.0, 0.0, 0.0, 1.0], "{}", file.display());
    }
    // Opaque everywhere: alpha is not a colour.
    save_buffer(
        folder.file("rgba.png"),
        &[0, 0, 0, 255, 1, 0, 0, 255, 0, 0, 1, 255, 0, 0, 0, 255],
        2,
        2,
        ExtendedColorType::Rgba8,
    )
    .unwrap();
    assert_eq!(mask(&folder.file("rgba.png"), Polarity::Known), [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn fractions_are_weights_of_known_samples() {
    let folder = Folder::new();
    let file = folder.with("a.npy", &npy::encode(&Array::new(&[2, 2], [0.0f32, 0.25, 0.5, 1.0])));
    assert_eq!(mask(&file, Polarity::Known), [0.0, 0.25, 0.5, 1.0]);
    assert_eq!(mask(&file, Polarity::Holes), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn unusable_masks_are_refused() {
    let folder = Folder::new();
    let file = |array: Array| folder.with("m.npy", &npy::encode(&array));
    let read = |array: Array, polarity| read_mask::<f32>(&file(array), polarity, extent(), None);
    assert_refused(
        read(Array::new(&[2, 3], [1u8; 6]), Polarity::Known),
        &["m.npy", "3x2", "2x2", "resize the mask"],
    );
    assert_refused(read(Array::new(&[2, 2, 0], [0u8; 0]), Polarity::Known), &["m.npy"]);
    assert_refused(
        read(Array::new(&[2, 2], [0u8; 4]), Polarity::Known),
        &["m.npy", "every sample as missing"],
    );
    assert_refused(
        read(Array::new(&[2, 2], [1u8; 4]), Polarity::Holes),
        &["m.npy", "every sample as missing"],
    );
    assert_refused(
        read(Array::new(&[2, 2], [0.0, 1.0, f64::NAN, 1.0]), Polarity::Known),
        &["m.npy", "NaN"],
    );
    assert_refused(read(Array::from_text("x"), Polarity::Known), &["m.npy", "strings"]);
}

#[test]
fn volumes_and_sequences_have_masks_too() {
    let folder = Folder::new();
    let volume = Extent::new(&[2, 1, 3]).unwrap();
    let file = folder.with("v.npy", &npy::encode(&Array::new(&[2, 1, 3], [1u8, 0, 1, 0, 1, 0])));
    assert_eq!(
        read_mask::<f64>(&file, Polarity::Known, volume, None).unwrap().weights().data(),
        [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    );
    lobcod_io::write_image(
        &folder.file("v.tif"),
        &ramp::<f32>(&[2, 1, 3], 1, 1.0),
        &Default::default(),
    )
    .unwrap();
    assert_eq!(
        read_mask::<f64>(&folder.file("v.tif"), Polarity::Holes, volume, None)
            .unwrap()
            .weights()
            .data(),
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    let file = folder.with("t.npy", &npy::encode(&Array::new(&[3], [0u8, 1, 1])));
    let sequence = Extent::new(&[3]).unwrap();
    assert_eq!(
        read_mask::<f64>(&file, Polarity::Known, sequence, None).unwrap().weights().data(),
        [0.0, 1.0, 1.0]
    );
}

#[test]
fn transparent_pixels_are_missing() {
    let folder = Folder::new();
    let path = folder.file("a.png");
    save_buffer(&path, &[9, 255, 8, 0, 7, 255, 6, 128], 2, 2, ExtendedColorType::La8).unwrap();
    let image = read_image::<f32>(&path, &ReadOptions::default()).unwrap();
    assert_eq!((image.signal.channels(), image.axes), (1, Axes::Hw));
    assert_eq!(
        image.signal.data(),
        [9.0, 0.0, 7.0, 0.0],
        "partly transparent next to transparent is missing"
    );
    assert_eq!(image.known.unwrap().weights().data(), [1.0, 0.0, 1.0, 0.0]);

    // Alpha below one half is missing; partly transparent pixels are known if no transparent ones
    // are near.
    save_buffer(&path, &[9, 127, 8, 128, 7, 255, 6, 128, 5, 254], 5, 1, ExtendedColorType::La8)
        .unwrap();
    assert_eq!(known(&path).unwrap().weights().data(), [0.0, 0.0, 1.0, 1.0, 1.0]);

    save_buffer(&path, &[1, 2, 3, 0, 4, 5, 6, 255], 2, 1, ExtendedColorType::Rgba8).unwrap();
    let image = read_image::<f32>(&path, &ReadOptions::default()).unwrap();
    assert_eq!(image.signal.data(), [0.0, 4.0, 0.0, 5.0, 0.0, 6.0]);
    let mask = image.known.unwrap();
    assert_eq!((mask.weights().channels(), mask.weights().data()), (1, &[0.0, 1.0][..]));

    // 16-bit grey and alpha in a TIFF.
    let tags: &[(u16, &[u16])] = &[
        (256, &[2]),
        (257, &[1]),
        (258, &[16, 16]),
        (259, &[1]),
        (262, &[1]),
        (277, &[2]),
        (278, &[1]),
        (338, &[2]),
    ];
    let file = folder
        .with("a.tif", &tiny_tiff(tags, &[&[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff]]));
    assert_eq!(known(&file).unwrap().weights().data(), [0.0, 1.0]);
}

#[test]
fn transparency_is_the_same_row_by_row() {
    let folder = Folder::new();
    let pixels: Vec<u8> =
        (0..48usize).flat_map(|i| [i as u8, [255, 200, 90, 0][i * i / 7 % 4]]).collect();
    let tags: &[(u16, &[u16])] = &[
        (256, &[6]),
        (257, &[8]),
        (258, &[8, 8]),
        (259, &[1]),
        (262, &[1]),
        (277, &[2]),
        (278, &[8]),
        (338, &[2]),
    ];
    let file = folder.with("a.tif", &tiny_tiff(tags, &[&pixels]));
    let whole = known(&file).unwrap();
    let mut rows = lobcod_io::ImageRows::open(&file, &ReadOptions::default()).unwrap().unwrap();
    for range in [0..1, 1..3, 3..8, 0..8] {
        let weights = rows.rows::<f32>(range.clone()).unwrap().weights.unwrap();
        assert_eq!(
            weights.data(),
            &whole.weights().data()[6 * range.start..6 * range.end],
            "{range:?}"
        );
    }
}

#[test]
fn an_opaque_image_has_no_mask() {
    let folder = Folder::new();
    save_buffer(folder.file("a.png"), &[9, 255, 8, 255], 2, 1, ExtendedColorType::La8).unwrap();
    assert_eq!(known(&folder.file("a.png")), None);
}

#[test]
fn nan_is_missing_sample_by_sample() {
    let folder = Folder::new();
    let nan = f32::NAN;
    let file =
        folder.with("a.npy", &npy::encode(&Array::new(&[1, 2, 3], [1.0, nan, 3.0, 4.0, 5.0, 6.0])));
    let image = read_image::<f32>(&file, &ReadOptions::default()).unwrap();
    assert_eq!(image.signal.data(), [1.0, 4.0, 0.0, 5.0, 3.0, 6.0]);
    let mask = image.known.unwrap();
    assert_eq!(
        (mask.weights().channels(), mask.weights().data()),
        (3, &[1.0, 1.0, 0.0, 1.0, 1.0, 1.0][..])
    );

    let file =
        folder.with("a.npy", &npy::encode(&Array::new(&[1, 2, 3], [nan, nan, nan, 4.0, 5.0, 6.0])));
    assert_eq!(known(&file).unwrap().weights().data(), [0.0, 1.0], "one channel serves all");
}

#[test]
fn images_without_known_samples_are_refused() {
    let folder = Folder::new();
    let file = folder.with("a.npy", &npy::encode(&Array::new(&[1, 2], [f64::NAN; 2])));
    assert_refused(
        read_image::<f32>(&file, &ReadOptions::default()),
        &["a.npy", "every sample is NaN"],
    );
    save_buffer(folder.file("a.png"), &[9, 0, 8, 0], 2, 1, ExtendedColorType::La8).unwrap();
    assert_refused(
        read_image::<f32>(&folder.file("a.png"), &ReadOptions::default()),
        &["a.png", "transparent"],
    );
    let file = folder.with("a.npy", &npy::encode(&Array::new(&[1, 2], [1e300, 1.0])));
    assert_refused(
        read_image::<f32>(&file, &ReadOptions::default()),
        &["a.npy", "infinite", "NaN"],
    );
    assert!(read_image::<f64>(&file, &ReadOptions::default()).is_ok());
}

#[test]
fn maps_and_vectors_are_read_unscaled() {
    let folder = Folder::new();
    let file = folder.with("m.npy", &npy::encode(&Array::new(&[2, 2], [0u16, 1, 2, 65535])));
    assert_eq!(read_map::<f64>(&file, 2, None).unwrap().data(), [0.0, 1.0, 2.0, 65535.0]);
    let png = folder.with("m.png", &lobcod_io::encode_png(&[0, 1, 2, 3], 2, 2).unwrap());
    assert_eq!(read_map::<f32>(&png, 2, None).unwrap().data(), [0.0, 1.0, 2.0, 3.0]);
    let list = folder.with("v.npy", &npy::encode(&Array::new(&[3], [0.5f32, 1.0, 2.0])));
    assert_eq!(read_vector(&list).unwrap(), [0.5, 1.0, 2.0]);
    assert_refused(read_vector(&file), &["m.npy", "(2, 2)"]);
    assert_refused(read_map::<f32>(&file, 3, None), &["m.npy", "dhw"]);
    let infinite = folder.with("i.npy", &npy::encode(&Array::new(&[2], [1.0, f64::INFINITY])));
    assert_refused(read_vector(&infinite), &["i.npy", "finite"]);
}
