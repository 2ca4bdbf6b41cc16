//! Row-by-row reading and piecewise writing agree with processing the whole.

use crate::common::tiled_tiff;
use lobcod::bands::{CodeStore, RowSource, Strip};
use lobcod::{Border, Code, Dictionary, Extent, Needles, Signal};
use lobcod_io::{
    Array, Axes, CodesFacts, CodesFile, CodesList, CodesOnDisk, Depth, ImageRows, Metadata,
    ReadOptions, WriteOptions, npy, read_image, stream_codes, write_codes, write_image,
};
use std::path::Path;
use tiff::encoder::{TiffEncoder, colortype};

fn options(axes: Option<Axes>) -> ReadOptions {
    ReadOptions { axes, ..ReadOptions::default() }
}

/// Checks that rows read in pieces of several heights match the whole image.
fn check(path: &Path, axes: Option<Axes>) {
    let whole = read_image::<f32>(path, &options(axes)).unwrap();
    let mut rows =
        ImageRows::open(path, &options(axes)).unwrap().expect("a file that can be read row by row");
    assert_eq!((rows.axes(), rows.depth()), (whole.axes, whole.depth));
    assert_eq!(RowSource::<f32>::extent(&rows), whole.signal.extent());
    assert_eq!(RowSource::<f32>::channels(&rows), whole.signal.channels());
    let length = whole.signal.extent().axes()[0];
    let weights = whole.known.map(|mask| mask.weights().clone());
    let mut expected = Strip { samples: whole.signal, weights };
    for height in [1, 7, 64] {
        for start in (0..length).step_by(height) {
            let range = start..length.min(start + height);
            let (found, expected) =
                (rows.rows::<f32>(range.clone()).unwrap(), expected.read(range.clone()).unwrap());
            assert_eq!(found.samples, expected.samples, "{} {range:?}", path.display());
            let (found, expected) = (found.weights, expected.weights);
            let known = |weights: &Option<Signal<f32>>, i: usize| {
                weights.as_ref().is_none_or(|w| w.data()[i] > 0.0)
            };
            let some = found.as_ref().or(expected.as_ref()).map_or(0, |w| w.data().len());
            assert!((0..some).all(|i| known(&found, i) == known(&expected, i)));
        }
    }
}

fn ramp(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).unwrap();
    let sample = |i: usize| (i * 37 % 251) as f32;
    Signal::from_planar(extent, channels, (0..channels * extent.volume()).map(sample).collect())
        .unwrap()
}

#[test]
fn arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    for (axes, shape, channels) in [
        (Axes::Hw, &[41, 13][..], 1),
        (Axes::Hwc, &[41, 13], 3),
        (Axes::Chw, &[41, 13], 3),
        (Axes::T, &[300], 1),
        (Axes::Dhw, &[11, 6, 5], 1),
    ] {
        write_image(
            &path,
            &ramp(shape, channels),
            &WriteOptions { axes, ..WriteOptions::default() },
        )
        .unwrap();
        check(&path, Some(axes));
    }
    let bytes = (0..41 * 13).map(|i| (i * 7 % 251) as u8);
    std::fs::write(&path, npy::encode(&Array::new(&[41, 13], bytes))).unwrap();
    check(&path, None);
    let words = (0..41 * 13).map(|i| (i * 701 % 65521) as u16);
    std::fs::write(&path, npy::encode(&Array::new(&[41, 13], words))).unwrap();
    check(&path, None);
    let mut missing = ramp(&[41, 13], 1);
    missing.data_mut()[100..140].fill(f32::NAN);
    write_image(&path, &missing, &WriteOptions::default()).unwrap();
    check(&path, None);
}

#[test]
fn tiffs_in_strips_and_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tif");
    for (depth, channels) in
        [(Depth::U8, 1), (Depth::U8, 3), (Depth::U16, 1), (Depth::F32, 1), (Depth::F64, 1)]
    {
        write_image(
            &path,
            &ramp(&[91, 40], channels),
            &WriteOptions { depth, ..WriteOptions::default() },
        )
        .unwrap();
        check(&path, None);
    }
    let mut file = std::fs::File::create(&path).unwrap();
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    let mut image = encoder.new_image::<colortype::Gray16>(40, 91).unwrap();
    image.rows_per_strip(10).unwrap();
    let samples: Vec<u16> = (0..40 * 91).map(|i| (i * 17 % 60000) as u16).collect();
    image.write_data(&samples).unwrap();
    drop(file);
    check(&path, None);
    std::fs::write(&path, tiled_tiff(91, 40, 16)).unwrap();
    check(&path, None);
}

#[test]
fn other_formats_are_not_read_by_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    write_image(&path, &ramp(&[9, 9], 1), &WriteOptions::default()).unwrap();
    assert!(ImageRows::open(&path, &options(None)).unwrap().is_none());
    let cut = folder.path().join("cut.npy");
    write_image(&cut, &ramp(&[9, 9], 1), &WriteOptions::default()).unwrap();
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 3]).unwrap();
    assert!(ImageRows::open(&cut, &options(None)).err().unwrap().to_string().contains("truncated"));
}

/// The file is the same whether codes and base layer were in memory or not.
#[test]
fn streamed_codes_are_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    for (axes, channels, with_base) in
        [(Axes::Hw, 1, true), (Axes::Hwc, 3, true), (Axes::Chw, 3, true), (Axes::Hw, 1, false)]
    {
        let (base, dictionary) = (
            ramp(&[150, 11], channels),
            Dictionary::<f32>::dct(Extent::new(&[4, 4]).unwrap(), 1, 16).unwrap(),
        );
        let code = |i: usize| Code {
            position: [0, (i / 9) as i32 - 3, (i % 9) as i32],
            atom: (i % 16) as u32,
            channel: (i % channels) as u32,
            value: 0.5 + i as f32,
        };
        let codes: Vec<Code<f32>> = (0..1000).map(code).collect();
        let mut store = CodesOnDisk::new(folder.path()).unwrap();
        // Stored out of order, twice, and larger the second time.
        store.keep(1, &codes[600..]).unwrap();
        store.keep(0, &codes[..10]).unwrap();
        store.keep(0, &codes[..600]).unwrap();
        assert_eq!(CodesList::<f32>::count(&store), 1000);
        let metadata = Metadata { icc: Some(vec![7; 9]), ..Metadata::default() };
        let file = CodesFile {
            needles: Needles::new(base.extent(), channels, Border::Free, codes),
            axes,
            penalty: 1.5,
            scale: 255.0,
            depth: Depth::U8,
            sample_rate: None,
            dictionary: dictionary.clone(),
            base: with_base.then(|| base.clone()),
            metadata: metadata.clone(),
        };
        let of = CodesFacts {
            extent: base.extent(),
            channels,
            border: Border::Free,
            axes,
            penalty: 1.5,
            scale: 255.0,
            depth: Depth::U8,
            sample_rate: None,
            dictionary: &dictionary,
            metadata: &metadata,
        };
        let (whole, pieces) = (folder.path().join("whole.npz"), folder.path().join("pieces.npz"));
        write_codes(&whole, &file).unwrap();
        let mut piece = Strip { samples: base, weights: None };
        let mut layer = |rows| piece.read(rows).map(|piece| piece.samples);
        stream_codes(&pieces, &of, &mut store, with_base.then_some(&mut layer as _)).unwrap();
        assert!(
            std::fs::read(&whole).unwrap() == std::fs::read(&pieces).unwrap(),
            "{axes} {with_base}"
        );
    }
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 2, "nothing but the two files is left");
}
