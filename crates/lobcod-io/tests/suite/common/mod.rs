//! Test support.

use lobcod::{Extent, Real, Signal};
use std::path::PathBuf;
use tempfile::TempDir;

/// A temporary folder, removed after the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// The same in memory if possible, for thousands of files.
    pub fn in_memory() -> Self {
        tempfile::tempdir_in("/dev/shm").map_or_else(|_| Self::new(), Self)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with this content.
    pub fn with(&self, name: &str, content: &[u8]) -> PathBuf {
        std::fs::write(self.file(name), content).expect("the temporary folder is writable");
        self.file(name)
    }

    /// Names of all files in the folder, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .0
            .path()
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A signal with samples 0, 1, 2, ... times `step`, channel by channel.
pub fn ramp<T: Real>(axes: &[usize], channels: usize, step: f64) -> Signal<T> {
    let extent = Extent::new(axes).unwrap();
    let samples = (0..extent.volume() * channels).map(|i| T::from_f64(i as f64 * step)).collect();
    Signal::from_planar(extent, channels, samples).unwrap()
}

/// Asserts that a result is an error of one sentence with all these words.
#[track_caller]
pub fn assert_refused<T: std::fmt::Debug>(answer: lobcod_io::Result<T>, words: &[&str]) {
    let message = answer.expect_err("expected an error").to_string();
    assert!(!message.contains('\n'), "more than one line: {message}");
    for word in words {
        assert!(message.contains(word), "\"{word}\" is missing in: {message}");
    }
}

/// A TIFF file with these strips of samples and these tags (16-bit values).
pub fn tiny_tiff(tags: &[(u16, &[u16])], strips: &[&[u8]]) -> Vec<u8> {
    tiff_of_chunks(tags, strips, [273, 279])
}

/// An 8-bit greyscale TIFF in square tiles, samples 0, 1, 2, ... (modulo 251).
pub fn tiled_tiff(height: usize, width: usize, side: usize) -> Vec<u8> {
    let sample = |y: usize, x: usize| {
        if y < height && x < width { ((y * width + x) % 251) as u8 } else { 0 }
    };
    let across = width.div_ceil(side);
    let tile = |t: usize| -> Vec<u8> {
        (0..side * side)
            .map(|i| sample(t / across * side + i / side, t % across * side + i % side))
            .collect()
    };
    let tiles: Vec<Vec<u8>> = (0..height.div_ceil(side) * across).map(tile).collect();
    let tiles: Vec<&[u8]> = tiles.iter().map(Vec::as_slice).collect();
    let w = [width as u16];
    let h = [height as u16];
    let side = [side as u16];
    let tags: &[(u16, &[u16])] = &[
        (256, &w),
        (257, &h),
        (258, &[8]),
        (259, &[1]),
        (262, &[1]),
        (277, &[1]),
        (322, &side),
        (323, &side),
    ];
    tiff_of_chunks(tags, &tiles, [324, 325])
}

/// The same with the tags for the offsets of strips or tiles.
fn tiff_of_chunks(
    tags: &[(u16, &[u16])],
    strips: &[&[u8]],
    [offsets_tag, lengths_tag]: [u16; 2],
) -> Vec<u8> {
    let mut file = b"II*\0\0\0\0\0".to_vec();
    let mut offsets = Vec::new();
    for strip in strips {
        offsets.push(file.len() as u32);
        file.extend(*strip);
    }
    let lengths: Vec<u32> = strips.iter().map(|s| s.len() as u32).collect();
    let short = |values: &[u16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let long = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut entries: Vec<(u16, u16, usize, Vec<u8>)> =
        tags.iter().map(|(tag, v)| (*tag, 3, v.len(), short(v))).collect();
    entries.push((offsets_tag, 4, strips.len(), long(&offsets)));
    entries.push((lengths_tag, 4, strips.len(), long(&lengths)));
    entries.sort_unstable();
    // Lists of more than four bytes are stored outside the directory.
    for (_, _, _, value) in &mut entries {
        if value.len() > 4 {
            let at = file.len() as u32;
            file.append(value);
            *value = at.to_le_bytes().to_vec();
        }
        value.resize(4, 0);
    }
    let directory = file.len() as u32;
    file[4..8].copy_from_slice(&directory.to_le_bytes());
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, count, value) in entries {
        file.extend(
            [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &(count as u32).to_le_bytes(), &value]
                .concat(),
        );
    }
    file.extend(0u32.to_le_bytes());
    file
}
