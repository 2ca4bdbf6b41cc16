//! Masks from paint programs: JPEG, feathered brushes, 16 bits, alpha, labels and inverted masks.

use crate::common::Folder;
use image::{ExtendedColorType, save_buffer};
use lobcod::{Extent, Signal};
use lobcod_io::{
    Array, Depth, MaskFile, MaskRule, Polarity, WriteOptions, npy, read_mask_file, write_image,
};
use std::path::Path;

const SIDE: usize = 64;

fn read(path: &Path, polarity: Polarity) -> MaskFile<f32> {
    read_mask_file(path, polarity, Extent::new(&[SIDE, SIDE]).unwrap(), None).unwrap()
}

/// Missing pixels under each polarity, and the rule.
fn missing(path: &Path) -> (usize, usize, MaskRule) {
    let count =
        |file: &MaskFile<f32>| file.mask.weights().data().iter().filter(|w| **w == 0.0).count();
    let (known, holes) = (read(path, Polarity::Known), read(path, Polarity::Holes));
    assert_eq!(known.rule, holes.rule);
    (count(&known), count(&holes), known.rule)
}

/// Values from a function of row and column.
fn image(value: impl Fn(usize, usize) -> f32) -> Signal<f32> {
    let values = (0..SIDE * SIDE).map(|i| value(i / SIDE, i % SIDE)).collect();
    Signal::from_planar(Extent::new(&[SIDE, SIDE]).unwrap(), 1, values).unwrap()
}

/// 255 in a diagonal stroke 9 columns wide, soft at its edges.
fn stroke(softness: f32) -> Signal<f32> {
    image(|y, x| {
        let inside = 4.5 - (x as f32 - y as f32 / 2.0 - 16.0).abs();
        (255.0 * (0.5 + inside / softness)).clamp(0.0, 255.0).round()
    })
}

fn save(path: &Path, signal: &Signal<f32>, depth: Depth) {
    write_image(path, signal, &WriteOptions { depth, ..WriteOptions::default() }).unwrap();
}

#[test]
fn hard_masks_and_labels_mark_every_non_zero_pixel() {
    let folder = Folder::new();
    let path = folder.file("mask.png");
    let square = |y: usize, x: usize| (8..24).contains(&y) && (8..24).contains(&x);
    for value in [1.0, 3.0, 100.0, 200.0, 239.0, 250.0, 255.0] {
        save(&path, &image(|y, x| if square(y, x) { value } else { 0.0 }), Depth::U8);
        assert_eq!(missing(&path), (SIDE * SIDE - 256, 256, MaskRule::NonZero), "0/{value}");
    }
    // Labels from 0 to 200, and a few dark grey values.
    save(&path, &image(|y, x| if square(y, x) { (y * 8 + x / 3) as f32 } else { 0.0 }), Depth::U8);
    assert_eq!(missing(&path), (SIDE * SIDE - 256, 256, MaskRule::NonZero));
    save(&path, &image(|y, x| if square(y, x) { 1.0 + (x % 2) as f32 } else { 0.0 }), Depth::U8);
    assert_eq!(missing(&path), (SIDE * SIDE - 256, 256, MaskRule::NonZero));
    // Labels up to white: too many are neither black nor white.
    save(&path, &image(|y, x| if y < 16 { 0.0 } else { (4 * x).min(255) as f32 }), Depth::U8);
    assert_eq!(missing(&path).2, MaskRule::NonZero);
}

#[test]
fn a_jpeg_mask_is_soft() {
    let folder = Folder::new();
    let path = folder.file("mask.jpg");
    // JPEG leaves no pixel exactly black or white.
    save(
        &path,
        &image(|y, x| if (20..40).contains(&y) && (20..44).contains(&x) { 252.0 } else { 3.0 }),
        Depth::U8,
    );
    assert_eq!(missing(&path), (SIDE * SIDE - 480, 480, MaskRule::Soft));
    save(&path, &stroke(0.001), Depth::U8);
    let hard = stroke(0.001).data().iter().filter(|x| **x > 0.0).count();
    let (known, holes, rule) = missing(&path);
    assert_eq!(rule, MaskRule::Soft);
    // Everything that may be damage is missing: --holes marks a little more than the stroke,
    // --known keeps a little less.
    assert!(holes >= hard && holes < 2 * hard, "{holes} of {hard}");
    assert!(SIDE * SIDE - known <= hard && SIDE * SIDE - known > hard / 2, "{known} of {hard}");
}

#[test]
fn feathered_brushes_are_soft_at_8_and_16_bits() {
    let folder = Folder::new();
    let strokes = stroke(2.0);
    let marked = strokes.data().iter().filter(|x| **x > 16.0).count();
    let kept = strokes.data().iter().filter(|x| **x > 239.0).count();
    for (name, depth) in [("8.png", Depth::U8), ("16.png", Depth::U16), ("16.tif", Depth::U16)] {
        save(&folder.file(name), &strokes, depth);
        assert_eq!(
            missing(&folder.file(name)),
            (SIDE * SIDE - kept, marked, MaskRule::Soft),
            "{name}"
        );
    }
    // The same values in an array are labels, not a soft mask.
    let values: Vec<u8> = strokes.data().iter().map(|x| *x as u8).collect();
    let nonzero = values.iter().filter(|x| **x > 0).count();
    let array = folder.with("8.npy", &npy::encode(&Array::new(&[SIDE, SIDE], values)));
    assert_eq!(missing(&array), (SIDE * SIDE - nonzero, nonzero, MaskRule::NonZero));
}

#[test]
fn a_mask_of_constant_colour_is_read_from_its_alpha() {
    let folder = Folder::new();
    let alpha: Vec<u8> =
        stroke(2.0).data().iter().map(|x| if *x > 127.0 { 255 } else { 0 }).collect();
    let marked = alpha.iter().filter(|a| **a > 0).count();
    for colour in [[0, 0, 0], [255, 0, 0], [255, 255, 255]] {
        let pixels: Vec<u8> =
            alpha.iter().flat_map(|a| [colour[0], colour[1], colour[2], *a]).collect();
        save_buffer(
            folder.file("a.png"),
            &pixels,
            SIDE as u32,
            SIDE as u32,
            ExtendedColorType::Rgba8,
        )
        .unwrap();
        let file = read(&folder.file("a.png"), Polarity::Holes);
        assert!(file.from_alpha, "{colour:?}");
        assert_eq!(
            missing(&folder.file("a.png")),
            (SIDE * SIDE - marked, marked, MaskRule::NonZero),
            "{colour:?}"
        );
    }
    // Feathered alpha is soft, also with 16-bit grey and alpha.
    let soft: Vec<u8> = stroke(2.0)
        .data()
        .iter()
        .flat_map(|a| [0, (*a as u16) * 257])
        .flat_map(u16::to_ne_bytes)
        .collect();
    save_buffer(folder.file("la.png"), &soft, SIDE as u32, SIDE as u32, ExtendedColorType::La16)
        .unwrap();
    let (_, holes, rule) = missing(&folder.file("la.png"));
    assert_eq!(
        (holes, rule),
        (stroke(2.0).data().iter().filter(|x| **x > 16.0).count(), MaskRule::Soft)
    );
    // Non-constant colours are the mask, and so are those of an opaque image.
    for opacity in [255u8, 128] {
        let pixels: Vec<u8> = alpha.iter().flat_map(|a| [*a, *a, *a, opacity]).collect();
        save_buffer(
            folder.file("c.png"),
            &pixels,
            SIDE as u32,
            SIDE as u32,
            ExtendedColorType::Rgba8,
        )
        .unwrap();
        assert!(!read(&folder.file("c.png"), Polarity::Holes).from_alpha);
        assert_eq!(missing(&folder.file("c.png")).1, marked);
    }
    let pixels = [0, 0, 0, 255].repeat(SIDE * SIDE);
    save_buffer(folder.file("k.png"), &pixels, SIDE as u32, SIDE as u32, ExtendedColorType::Rgba8)
        .unwrap();
    assert!(
        !read(&folder.file("k.png"), Polarity::Holes).from_alpha,
        "an opaque black mask marks nothing"
    );
}

#[test]
fn an_inverted_mask_is_detected() {
    let folder = Folder::new();
    let inverted = |signal: &Signal<f32>, polarity| {
        let path = folder.file("mask.png");
        write_image(&path, signal, &WriteOptions::default()).unwrap();
        let extent = signal.extent();
        read_mask_file::<f32>(&path, polarity, extent, None).unwrap().may_be_inverted()
    };
    let wide = |value: &dyn Fn(usize, usize) -> f32| {
        let (height, width) = (160, 200);
        let values = (0..height * width).map(|i| value(i / width, i % width)).collect();
        Signal::from_planar(Extent::new(&[height, width]).unwrap(), 1, values).unwrap()
    };
    let scratch = wide(&|y, x| if x.abs_diff(y) < 3 { 255.0 } else { 0.0 });
    assert!(inverted(&scratch, Polarity::Known));
    assert!(!inverted(&scratch, Polarity::Holes));
    let blotch =
        wide(&|y, x| if y.abs_diff(80).pow(2) + x.abs_diff(50).pow(2) < 900 { 255.0 } else { 0.0 });
    assert!(inverted(&blotch, Polarity::Known));
    assert!(!inverted(&blotch, Polarity::Holes));
    // A dense grid of text lines leaves nothing far from known pixels.
    let lines = wide(&|y, _| if y % 20 < 4 { 255.0 } else { 0.0 });
    assert!(!inverted(&lines, Polarity::Known));
    // Random loss at any rate.
    for rate in [0.5, 0.6, 0.8, 0.9, 0.97, 0.99, 0.999, 0.9999] {
        let random = |y: usize, x: usize| {
            let hash = (y * 200 + x + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let unit = ((hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64
                / (1u64 << 53) as f64;
            if unit > rate { 255.0 } else { 0.0 }
        };
        assert!(!inverted(&wide(&random), Polarity::Known), "{rate}");
    }
}
