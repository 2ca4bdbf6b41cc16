//! Damaged and malicious files cause an error, never a panic or unbounded memory use.

use crate::common::{Folder, assert_refused, ramp};
use lobcod::{Border, Code, Dictionary, Extent, Needles};
use lobcod_io::{
    Axes, CodesFile, Depth, Metadata, Polarity, ReadOptions, WriteOptions, read_codes,
    read_dictionary, read_image, read_mask, write_codes, write_dictionary, write_image,
};
use std::path::Path;

type Reader = fn(&Path) -> lobcod_io::Result<()>;

fn image(path: &Path) -> lobcod_io::Result<()> {
    // A header may declare some gigabytes; anything within the limit is attempted, so the limit is
    // low.
    read_image::<f32>(path, &ReadOptions { max_bytes: Some(1 << 20), ..Default::default() })
        .map(drop)
}

fn codes(path: &Path) -> lobcod_io::Result<()> {
    read_codes::<f32>(path, None).map(drop)
}

fn dictionary(path: &Path) -> lobcod_io::Result<()> {
    read_dictionary::<f32>(path).map(drop)
}

/// A small valid file of each kind, and its reader.
fn samples(folder: &Folder) -> Vec<(String, Vec<u8>, Reader)> {
    let mut files: Vec<(&str, Reader)> = Vec::new();
    let mut write = |name: &'static str, axes: &[usize], channels, depth| {
        let signal = ramp::<f32>(axes, channels, 1.0);
        write_image(&folder.file(name), &signal, &WriteOptions { depth, ..Default::default() })
            .unwrap();
        files.push((name, image));
    };
    write("grey.png", &[6, 5], 1, Depth::U8);
    write("deep.png", &[3, 4], 3, Depth::U16);
    write("a.jpg", &[9, 8], 3, Depth::U8);
    write("grey.tif", &[6, 5], 1, Depth::U8);
    write("float.tif", &[2, 3], 3, Depth::F32);
    write("a.npy", &[3, 4], 1, Depth::F32);
    write("a.npz", &[3, 4], 3, Depth::F32);
    write("a.wav", &[20], 2, Depth::I16);
    let atoms =
        Dictionary::<f32>::new(Extent::new(&[2, 2]).unwrap(), 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    write_dictionary(&folder.file("d.npz"), &atoms, &[]).unwrap();
    files.push(("d.npz", dictionary));
    let list = vec![Code { position: [0, 1, 1], atom: 0, channel: 0, value: 2.0 }];
    let file = CodesFile {
        needles: Needles::new(Extent::new(&[3, 4]).unwrap(), 1, Border::Free, list),
        axes: Axes::Hw,
        penalty: 1.0,
        scale: 255.0,
        depth: Depth::U8,
        sample_rate: None,
        dictionary: atoms,
        base: Some(ramp(&[3, 4], 1, 1.0)),
        metadata: Metadata {
            exif: Some(vec![1]),
            grid: Some(Default::default()),
            ..Metadata::default()
        },
    };
    write_codes(&folder.file("c.npz"), &file).unwrap();
    files.push(("c.npz", codes));
    files
        .into_iter()
        .map(|(name, reader)| (name.into(), std::fs::read(folder.file(name)).unwrap(), reader))
        .collect()
}

#[test]
fn a_file_truncated_anywhere_is_refused() {
    let folder = Folder::in_memory();
    for (name, content, read) in samples(&folder) {
        read(&folder.file(&name)).unwrap_or_else(|e| panic!("{name} is valid: {e}"));
        for length in 0..content.len() {
            let answer = read(&folder.with("cut", &content[..length]));
            let message = answer
                .expect_err(&format!("{name} cut at {length} of {}", content.len()))
                .to_string();
            assert!(
                message.contains("cut") && !message.contains('\n'),
                "{name} cut at {length}: {message}"
            );
        }
    }
}

#[test]
fn a_changed_byte_never_panics() {
    let folder = Folder::in_memory();
    for (_, content, read) in samples(&folder) {
        for at in 0..content.len() {
            for change in [0xff, 0x80, 0x01] {
                let mut changed = content.clone();
                changed[at] ^= change;
                // A valid result is possible (a pixel of another colour); it only must not panic.
                let _ = read(&folder.with("changed", &changed));
            }
        }
    }
}

#[test]
fn images_above_the_limit_are_refused_by_their_headers() {
    let folder = Folder::new();
    let limit = |bytes| ReadOptions { max_bytes: Some(bytes), ..Default::default() };
    for (name, depth, bytes) in [
        ("a.png", Depth::U8, 4),
        ("a.jpg", Depth::U8, 4),
        ("a.tif", Depth::U16, 4),
        ("a.npy", Depth::U8, 4),
    ] {
        write_image(
            &folder.file(name),
            &ramp::<f32>(&[10, 10], 3, 1.0),
            &WriteOptions { depth, ..Default::default() },
        )
        .unwrap();
        let needed = 300 * bytes;
        assert_refused(
            read_image::<f32>(&folder.file(name), &limit(needed - 1)),
            &[name, "1.2 KiB", "limit", "smaller"],
        );
        assert!(read_image::<f32>(&folder.file(name), &limit(needed)).is_ok(), "{name}");
        assert_refused(read_image::<f64>(&folder.file(name), &limit(needed)), &[name, "2.3 KiB"]);
    }
    write_image(
        &folder.file("a.wav"),
        &ramp::<f32>(&[100], 1, 1.0),
        &WriteOptions { depth: Depth::I16, ..Default::default() },
    )
    .unwrap();
    assert_refused(read_image::<f32>(&folder.file("a.wav"), &limit(399)), &["a.wav", "limit"]);
}

#[test]
fn a_png_that_claims_to_be_huge_is_refused() {
    let folder = Folder::new();
    let mut file = lobcod_io::encode_png(&[0], 1, 1).unwrap();
    file[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let checksum = crc32fast::hash(&file[12..29]);
    file[29..33].copy_from_slice(&checksum.to_be_bytes());
    assert_refused(image(&folder.with("vast.png", &file)), &["vast.png", "limit is 1.0 MiB"]);
}

#[test]
fn a_sound_that_claims_to_be_long_is_refused() {
    let folder = Folder::new();
    write_image(
        &folder.file("a.wav"),
        &ramp::<f32>(&[20], 1, 1.0),
        &WriteOptions { depth: Depth::I16, ..Default::default() },
    )
    .unwrap();
    let mut file = std::fs::read(folder.file("a.wav")).unwrap();
    let at = file.windows(4).position(|w| w == b"data").unwrap() + 4;
    file[at..at + 4].copy_from_slice(&0x7fff_fff0u32.to_le_bytes());
    let answer = read_image::<f32>(&folder.with("long.wav", &file), &ReadOptions::default());
    assert_refused(answer, &["long.wav", "damaged or truncated"]);
}

#[test]
fn files_that_are_not_images_are_refused() {
    let folder = Folder::new();
    assert_refused(image(&folder.with("empty.png", b"")), &["empty.png", "is empty"]);
    assert_refused(
        image(&folder.with("text.png", b"hello, world")),
        &["text.png", "not an image", "png, jpeg, tiff"],
    );
    assert_refused(
        image(&folder.with("zip.npz", b"PK\x03\x04 no directory")),
        &["zip.npz", "not a valid npz"],
    );
    assert_refused(
        image(&folder.file("nowhere.png")),
        &["nowhere.png", "does not exist", "check its name"],
    );
    assert_refused(image(folder.file("x").parent().unwrap()), &["is a folder"]);
    assert_refused(codes(&folder.with("text.npz", b"hello")), &["text.npz", "not a codes file"]);
    assert_refused(dictionary(&folder.with("text.npz", b"hello")), &["text.npz"]);
    let extent = Extent::new(&[2, 2]).unwrap();
    assert_refused(
        read_mask::<f32>(&folder.file("nowhere.png"), Polarity::Known, extent, None),
        &["nowhere.png", "does not exist"],
    );
}

#[test]
fn a_name_may_lie_about_the_format() {
    let folder = Folder::new();
    let file = folder.with("really_png.jpg", &lobcod_io::encode_png(&[7], 1, 1).unwrap());
    assert_eq!(read_image::<f32>(&file, &ReadOptions::default()).unwrap().signal.data(), [7.0]);
}
