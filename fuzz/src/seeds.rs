//! Valid inputs to start from, generated in code.

use crate::scratch;
use lobcod::checkpoint::{Checkpoint, LearnCheckpoint};
use lobcod::{
    Border, Code, Control, Dictionary, Extent, LearnParams, Learner, Needles, Observed, Observer,
    Penalty, Progress, Pursuit, PursuitParams, Signal,
};
use lobcod_conformance::cpu;
use lobcod_io::{
    Array, Axes, CodesFile, Depth, Dialect, Grid, Metadata, WriteOptions, npy, npz,
    write_checkpoint, write_codes, write_dictionary, write_image, write_learn_checkpoint,
};
use std::io::{Cursor, Write as _};
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, colortype::Gray8, colortype::RGB16};

/// An EXIF block: the camera maker and a location.
const EXIF: &[u8] = b"II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x04\0\0\0abc\0\x25\x88\x04\0\x01\0\0\0\x26\0\0\0\0\0\0\0\x01\0\x01\0\x02\0\x02\0\0\0N\0\0\0\0\0\0\0";

/// Empty input, and inputs of several lengths: for targets that interpret bytes as choices.
pub fn plain() -> Vec<Vec<u8>> {
    let bytes = |length: usize, step: usize| (0..length).map(|i| (i * step) as u8).collect();
    vec![vec![0; 40], bytes(64, 37), bytes(200, 91), bytes(600, 53), bytes(2000, 149)]
}

/// Image files, each preceded by the byte that leaves the axes to the file.
pub fn images() -> Vec<Vec<u8>> {
    let write = |name: &str, axes: &[usize], channels: usize, options: WriteOptions| {
        let path = scratch::place(name);
        write_image(&path, &ramp(axes, channels), &options).expect("a seed");
        std::fs::read(path).expect("a seed")
    };
    let at = |depth| WriteOptions { depth, ..WriteOptions::default() };
    let noted = Metadata {
        icc: Some(b"no real profile".to_vec()),
        exif: Some(EXIF.to_vec()),
        xmp: Some(b"<x/>".to_vec()),
        grid: None,
    };
    let stack = |dialect| {
        let grid = Grid {
            dialect,
            resolution: Some(([3, 1], [3, 1])),
            resolution_unit: 2,
            ..Grid::default()
        };
        let grid = Grid {
            spacing: Some(0.5),
            unit: Some("µm".into()),
            pixel: [Some(0.1), Some(0.1)],
            ..grid
        };
        WriteOptions {
            axes: Axes::Dhw,
            metadata: Metadata { grid: Some(grid), ..noted.clone() },
            ..at(Depth::U8)
        }
    };
    let files = vec![
        write("a.png", &[6, 5], 1, at(Depth::U8)),
        write("a.png", &[3, 4], 3, WriteOptions { metadata: noted.clone(), ..at(Depth::U16) }),
        write("a.jpg", &[9, 8], 1, at(Depth::U8)),
        write("a.jpg", &[9, 17], 3, WriteOptions { metadata: noted.clone(), ..at(Depth::U8) }),
        write("a.tif", &[6, 5], 1, at(Depth::U8)),
        write("a.tif", &[2, 3], 3, at(Depth::F32)),
        write("a.tif", &[3, 4, 2], 1, stack(Dialect::ImageJ)),
        write("a.tif", &[3, 4, 2], 1, stack(Dialect::Ome)),
        write("a.tif", &[2, 4, 2], 3, stack(Dialect::Plain)),
        packed_tiff(Compression::Deflate(DeflateLevel::Fast)),
        packed_tiff(Compression::Lzw),
        packed_tiff(Compression::Packbits),
        write("a.npy", &[3, 4], 1, at(Depth::F32)),
        write("a.npz", &[3, 4], 3, at(Depth::F32)),
        write("a.wav", &[20], 2, at(Depth::I16)),
        write("a.wav", &[20], 1, at(Depth::I24)),
        write("a.wav", &[20], 1, at(Depth::F32)),
        write("a.wav", &[20], 1, at(Depth::U8)),
        deflated_npz(&npy::encode(&Array::new(&[2, 3], [1.0f32, 2.0, 3.0, f32::NAN, 5.0, 6.0]))),
    ];
    behind(6, files)
}

/// Files of arrays, dictionaries, codes and checkpoints, with corrected checksums.
pub fn archives() -> Vec<Vec<u8>> {
    let path = scratch::place("seed.npz");
    let read = || std::fs::read(&path).expect("a seed");
    let mut files = vec![
        npy::encode(&Array::new(&[2, 2, 2], (0..8).map(|i| i as f32))),
        npy::encode(&Array::new(&[5], [1u8, 2, 3, 4, 5])),
        npy::encode(&Array::from_text("mhw")),
        deflated_npz(&npy::encode(&Array::new(&[3], [1.0f64, 2.0, 3.0]))),
        npz::encode(&[("a", Array::scalar(1i64)), ("b", Array::from_text("free"))]),
    ];
    let atoms = Dictionary::<f32>::random(Extent::new(&[2, 2]).unwrap(), 1, 3, 1).unwrap();
    write_dictionary(&path, &atoms, &[]).expect("a seed");
    files.push(read());
    for (axes, base) in [(Axes::Hw, true), (Axes::Hwc, false)] {
        let channels = if axes == Axes::Hwc { 3 } else { 1 };
        let code = |x: i32, channel| Code { position: [0, 1, x], atom: 2, channel, value: 0.5 };
        let needles = Needles::new(
            Extent::new(&[3, 4]).unwrap(),
            channels,
            Border::Free,
            vec![code(-1, 0), code(2, channels as u32 - 1)],
        );
        let base = base.then(|| ramp(&[3, 4], channels));
        let (depth, dictionary) = (Depth::U8, atoms.clone());
        let metadata = Metadata { exif: Some(EXIF.to_vec()), ..Metadata::default() };
        let (penalty, scale, sample_rate) = (1.0, 255.0, Some(8000));
        let file = CodesFile {
            needles,
            axes,
            penalty,
            scale,
            depth,
            sample_rate,
            dictionary,
            base,
            metadata,
        };
        write_codes(&path, &file).expect("a seed");
        files.push(read());
    }
    let (signal, dictionary) = pursuit_signal();
    let mut kept = Last::default();
    pursuit().run(&cpu(1), &[signal], &dictionary, &mut kept).expect("a run");
    write_checkpoint(&path, &kept.pursuit.expect("a pass"), None).expect("a seed");
    files.push(read());
    let (signals, first) = learning_signal();
    let mut kept = Last::default();
    learner().run(&cpu(1), &signals, &first, &mut kept).expect("a run");
    write_learn_checkpoint(&path, &kept.learning.expect("a pass"), None).expect("a seed");
    files.push(read());
    behind(0x80, files)
}

/// Mask files of the sizes that the target needs.
pub fn masks() -> Vec<Vec<u8>> {
    let mask = |axes: &[usize], name: &str| {
        let path = scratch::place(name);
        write_image(&path, &ramp(axes, 1), &WriteOptions::default()).expect("a seed");
        std::fs::read(path).expect("a seed")
    };
    let weights = npy::encode(&Array::new(&[7, 6], (0..42).map(|i| (i % 5) as f32 / 4.0)));
    let files = [
        mask(&[7, 6], "m.png"),
        mask(&[7, 6], "m.tif"),
        mask(&[3, 4], "m.npy"),
        mask(&[20], "m.npy"),
        mask(&[2, 3, 4], "m.npy"),
        weights,
    ];
    let choices = [0u8, 1, 2, 4, 6, 16];
    files
        .into_iter()
        .zip(choices)
        .map(|(file, choice)| [vec![0x80 | choice], file].concat())
        .collect()
}

/// The pursuit of the checkpoints of [`archives`].
pub fn pursuit() -> Pursuit {
    let params = PursuitParams::new(Penalty::Relative(0.1)).with(|p| {
        p.tolerance = 1e-9;
        p.max_sweeps = 4;
        p.tile = Some(4);
    });
    params.check().expect("valid")
}

/// Its input.
pub fn pursuit_signal() -> (Observed<f32>, Dictionary<f32>) {
    (ramp(&[7, 6], 1).into(), Dictionary::random(Extent::new(&[3, 2]).unwrap(), 1, 4, 2).unwrap())
}

/// The learner of the checkpoints of [`archives`].
pub fn learner() -> Learner {
    LearnParams::new(Penalty::Relative(0.1))
        .with(|p| {
            p.passes = 2;
            p.rounds = 1;
        })
        .check()
        .expect("valid")
}

/// Its input.
pub fn learning_signal() -> (Vec<Observed<f32>>, Dictionary<f32>) {
    (
        vec![ramp(&[7, 6], 1).into()],
        Dictionary::random(Extent::new(&[3, 2]).unwrap(), 1, 3, 2).unwrap(),
    )
}

/// Stores the first checkpoint.
#[derive(Default)]
struct Last {
    pursuit: Option<Checkpoint>,
    learning: Option<LearnCheckpoint>,
}

impl Observer for Last {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }
    fn between_passes(&mut self, take: &mut dyn FnMut() -> lobcod::Result<Checkpoint>) {
        self.pursuit = self.pursuit.take().or_else(|| take().ok());
    }
    fn between_learning_passes(
        &mut self,
        take: &mut dyn FnMut() -> lobcod::Result<LearnCheckpoint>,
    ) {
        self.learning = self.learning.take().or_else(|| take().ok());
    }
}

fn behind(options: u8, files: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    files.into_iter().map(|file| [vec![options], file].concat()).collect()
}

/// An irregular signal.
fn ramp(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).expect("a shape");
    let samples = (0..extent.volume() * channels).map(|i| (i * 37 % 101) as f32).collect();
    Signal::from_planar(extent, channels, samples).expect("one value per sample")
}

fn packed_tiff(how: Compression) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder =
        TiffEncoder::new(Cursor::new(&mut file)).expect("a seed").with_compression(how);
    encoder.write_image::<Gray8>(5, 4, &(0..20).collect::<Vec<u8>>()).expect("a seed");
    encoder.write_image::<RGB16>(2, 2, &(0..12).collect::<Vec<u16>>()).expect("a seed");
    file
}

/// A zip file of one deflated entry, as written by `numpy.savez_compressed`.
fn deflated_npz(npy: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    let packed = encoder.write_all(npy).and_then(|()| encoder.finish()).expect("memory");
    let mut facts = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
    facts.extend(crc32fast::hash(npy).to_le_bytes());
    facts.extend((packed.len() as u32).to_le_bytes());
    facts.extend((npy.len() as u32).to_le_bytes());
    facts.extend([5, 0, 0, 0]);
    let mut file = [b"PK\x03\x04", &facts[..], b"a.npy", &packed[..]].concat();
    let directory = file.len() as u32;
    let line = [b"PK\x01\x02\x14\0", &facts[..], &[0; 14], b"a.npy"].concat();
    file.extend(&line);
    file.extend(
        [
            b"PK\x05\x06\0\0\0\0\x01\0\x01\0",
            &(line.len() as u32).to_le_bytes()[..],
            &directory.to_le_bytes(),
            &[0, 0],
        ]
        .concat(),
    );
    file
}
