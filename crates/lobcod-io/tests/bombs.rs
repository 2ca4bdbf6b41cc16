//! Small files that expand to huge ones are refused by their headers, before memory is allocated.

#[allow(dead_code, reason = "this test uses a part")]
#[path = "suite/common/mod.rs"]
mod common;

use common::{Folder, assert_refused, ramp, tiny_tiff};
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use lobcod_io::{
    Depth, Dialect, Grid, Metadata, ReadOptions, WriteOptions, encode_png, read_codes,
    read_dictionary, read_image, write_image,
};
use std::io::Write as _;
use std::path::Path;

const MEGABYTE: u64 = 1 << 20;

fn within(path: &Path, max_bytes: u64) -> lobcod_io::Result<()> {
    read_image::<f32>(path, &ReadOptions { max_bytes: Some(max_bytes), ..Default::default() })
        .map(drop)
}

/// Peak memory of this process in bytes; `None` if the system does not report it.
fn peak() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|k| k << 10)
}

/// A zip file with one deflated entry of `length` zeros after a numpy header.
fn packed_npz(name: &str, shape: &str, length: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 117 - header.len()).chain(['\n']));
    let head = [b"\x93NUMPY\x01\0\x76\0", header.as_bytes()].concat();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let mut checksum = crc32fast::Hasher::new();
    let zeros = vec![0; 1 << 16];
    let mut put = |bytes: &[u8]| {
        checksum.update(bytes);
        encoder.write_all(bytes).unwrap();
    };
    put(&head);
    for start in (0..length).step_by(zeros.len()) {
        put(&zeros[..zeros.len().min(length - start)]);
    }
    let packed = encoder.finish().unwrap();
    let mut facts = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
    facts.extend(checksum.finalize().to_le_bytes());
    facts.extend((packed.len() as u32).to_le_bytes());
    facts.extend(((head.len() + length) as u32).to_le_bytes());
    facts.extend((name.len() as u16).to_le_bytes());
    facts.extend([0, 0]);
    let mut file = [b"PK\x03\x04", &facts[..], name.as_bytes(), &packed[..]].concat();
    let directory = file.len() as u32;
    let line = [b"PK\x01\x02\x14\0", &facts[..], &[0; 14], name.as_bytes()].concat();
    file.extend(&line);
    file.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    file.extend((line.len() as u32).to_le_bytes());
    file.extend(directory.to_le_bytes());
    file.extend([0, 0]);
    file
}

#[test]
fn bombs_are_refused_before_they_expand() {
    let folder = Folder::new();
    // Four million grey pixels in a few kilobytes.
    let png = encode_png(&vec![7; 2000 * 2000], 2000, 2000).unwrap();
    let before = peak();
    assert!(png.len() < 30_000, "{} bytes", png.len());
    assert_refused(
        within(&folder.with("bomb.png", &png), MEGABYTE),
        &["bomb.png", "15.3 MiB", "limit is 1.0 MiB"],
    );
    for (name, shape, length) in
        [("a.npy", "(4000, 2000)", 32_000_000), ("a.npy", "(2, 2)", 32_000_000)]
    {
        let npz = packed_npz(name, shape, length);
        assert!(npz.len() < 300_000);
        assert_refused(within(&folder.with("bomb.npz", &npz), MEGABYTE), &["bomb.npz", "limit"]);
    }
    let mut strip = ZlibEncoder::new(Vec::new(), Compression::best());
    strip.write_all(&vec![0; 3000 * 1000]).unwrap();
    let strip = strip.finish().unwrap();
    let tags: &[(u16, &[u16])] = &[
        (256, &[3000]),
        (257, &[1000]),
        (258, &[8]),
        (259, &[8]),
        (262, &[1]),
        (277, &[1]),
        (278, &[1000]),
    ];
    let tiff = tiny_tiff(tags, &[&strip]);
    assert!(tiff.len() < 100_000);
    assert_refused(
        within(&folder.with("bomb.tif", &tiff), MEGABYTE),
        &["bomb.tif", "11.4 MiB", "limit"],
    );
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 12 << 20, "reading bombs took {} MiB", (after - before) >> 20);
    }
}

#[test]
fn false_headers_are_refused_whatever_the_limit() {
    let folder = Folder::new();
    let vast = 1 << 40;
    let mut png = encode_png(&[0], 1, 1).unwrap();
    png[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let checksum = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());
    assert_refused(
        within(&folder.with("vast.png", &png), vast),
        &["vast.png", "declares", "the file has"],
    );
    let tags: &[(u16, &[u16])] = &[
        (256, &[60_000]),
        (257, &[60_000]),
        (258, &[8]),
        (259, &[1]),
        (262, &[1]),
        (277, &[1]),
        (278, &[60_000]),
    ];
    assert_refused(
        within(&folder.with("vast.tif", &tiny_tiff(tags, &[&[0; 8]])), vast),
        &["vast.tif", "declares"],
    );
    assert!(lobcod_io::ImageRows::open(&folder.file("vast.tif"), &ReadOptions::default()).is_err());
    let npz = packed_npz("atoms.npy", "(100, 1000, 1000)", 1000);
    assert_refused(
        read_dictionary::<f32>(&folder.with("d.npz", &npz)),
        &["d.npz", "(100, 1000, 1000)"],
    );
    assert!(read_codes::<f32>(&folder.file("d.npz"), None).is_err());
}

/// TIFF tags that declare more values than fit in memory (found by fuzzing).
#[test]
fn a_tag_of_a_billion_values_takes_no_memory() {
    let folder = Folder::new();
    let grid = Grid {
        dialect: Dialect::ImageJ,
        resolution: Some(([3, 1], [3, 1])),
        resolution_unit: 2,
        ..Grid::default()
    };
    let metadata = Metadata { grid: Some(grid), ..Metadata::default() };
    let options = WriteOptions { depth: Depth::U8, metadata, ..WriteOptions::default() };
    write_image(&folder.file("a.tif"), &ramp::<f32>(&[7, 6], 1, 1.0), &options).unwrap();
    let whole = std::fs::read(folder.file("a.tif")).unwrap();
    let before = peak();
    // Each four-byte field in turn becomes a large number.
    for at in (0..whole.len() - 3).step_by(2) {
        let mut changed = whole.clone();
        changed[at..at + 4].copy_from_slice(&0x3800_0001u32.to_le_bytes());
        let _ = read_image::<f32>(&folder.with("changed.tif", &changed), &ReadOptions::default());
    }
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(
            after - before < 64 << 20,
            "reading false tags took {} MiB",
            (after - before) >> 20
        );
    }
}

/// Counts in ImageJ and OME descriptions that overflow or divide by zero (found by review and
/// fuzzing).
#[test]
fn counts_of_pages_may_be_any_number() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[3, 4, 5], 1, 1.0);
    for (dialect, from, to) in [
        (Dialect::ImageJ, "slices=3", "slices=9"),
        (Dialect::Ome, "SamplesPerPixel=\"1\"", "SamplesPerPixel=\"0\""),
        (
            Dialect::Ome,
            "SizeC=\"1\" SizeZ=\"3\" SizeT=\"1\"",
            "SizeC=\"9\" SizeZ=\"9\" SizeT=\"9\"",
        ),
    ] {
        let grid = Grid { dialect, ..Grid::default() };
        let metadata = Metadata { grid: Some(grid), ..Metadata::default() };
        let options =
            WriteOptions { axes: lobcod_io::Axes::Dhw, metadata, ..WriteOptions::default() };
        write_image(&folder.file("a.tif"), &stack, &options).unwrap();
        let mut file = std::fs::read(folder.file("a.tif")).unwrap();
        let at = file
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap_or_else(|| panic!("no {from}"));
        file[at..at + to.len()].copy_from_slice(to.as_bytes());
        let _ = read_image::<f32>(&folder.with("b.tif", &file), &ReadOptions::default());
    }
    let meant = format!("channels={0}\nslices={0}\nframes={0}\n", u32::MAX);
    let grid = Grid {
        dialect: Dialect::ImageJ,
        unit: Some("x".repeat(meant.len() - 5)),
        ..Grid::default()
    };
    let metadata = Metadata { grid: Some(grid), ..Metadata::default() };
    write_image(
        &folder.file("c.tif"),
        &ramp::<f32>(&[4, 5], 1, 1.0),
        &WriteOptions { metadata, ..WriteOptions::default() },
    )
    .unwrap();
    let mut file = std::fs::read(folder.file("c.tif")).unwrap();
    let at = file.windows(6).position(|w| w == b"unit=x").unwrap();
    file[at..at + meant.len()].copy_from_slice(meant.as_bytes());
    assert!(read_image::<f32>(&folder.with("c.tif", &file), &ReadOptions::default()).is_err());
}

/// A decoder whose error message has several lines (found by fuzzing).
#[test]
fn errors_of_decoders_are_one_line() {
    let folder = Folder::new();
    write_image(&folder.file("a.jpg"), &ramp::<f32>(&[9, 8], 3, 1.0), &WriteOptions::default())
        .unwrap();
    let whole = std::fs::read(folder.file("a.jpg")).unwrap();
    for at in (2..whole.len() - 2).step_by(3) {
        let mut short = whole.clone();
        short.drain(at..whole.len() - 2);
        if let Err(error) =
            read_image::<f32>(&folder.with("short.jpg", &short), &ReadOptions::default())
        {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}
