//! Images round-trip through every format.

use crate::common::{Folder, assert_refused, ramp, tiny_tiff};
use lobcod::{Extent, Real, Signal};
use lobcod_io::{
    Array, Axes, Depth, FileKind, Image, ReadOptions, WriteOptions, npy, npz, read_image,
    write_image,
};
use std::path::Path;

fn read<T: Real>(path: &Path) -> Image<T> {
    read_image(path, &ReadOptions::default()).unwrap()
}

fn read_as(path: &Path, axes: Axes) -> lobcod_io::Result<Image<f64>> {
    read_image(path, &ReadOptions { axes: Some(axes), ..Default::default() })
}

fn options(depth: Depth) -> WriteOptions {
    WriteOptions { depth, ..Default::default() }
}

#[test]
fn integer_images_survive_at_both_depths() {
    let folder = Folder::new();
    for (name, depth, step) in [
        ("a.png", Depth::U8, 1.0),
        ("a.png", Depth::U16, 255.0 / 65535.0),
        ("a.tif", Depth::U8, 1.0),
        ("a.TIFF", Depth::U16, 255.0 / 65535.0),
    ] {
        for (channels, axes) in [(1, Axes::Hw), (3, Axes::Hwc)] {
            let signal = ramp::<f64>(&[5, 7], channels, step);
            write_image(&folder.file(name), &signal, &options(depth)).unwrap();
            let back = read::<f64>(&folder.file(name));
            assert_eq!((back.depth, back.axes, &back.known), (depth, axes, &None), "{name}");
            let worst = back
                .signal
                .minus(&signal)
                .unwrap()
                .data()
                .iter()
                .fold(0.0, |w: f64, x| w.max(x.abs()));
            assert!(worst < 1e-12, "{name}: {worst}");
        }
    }
}

#[test]
fn every_16_bit_value_survives_in_f32() {
    let folder = Folder::new();
    let signal = ramp::<f32>(&[256, 256], 1, 255.0 / 65535.0);
    write_image(&folder.file("a.png"), &signal, &options(Depth::U16)).unwrap();
    let back = read::<f32>(&folder.file("a.png"));
    write_image(&folder.file("b.png"), &back.signal, &options(Depth::U16)).unwrap();
    assert_eq!(
        std::fs::read(folder.file("a.png")).unwrap(),
        std::fs::read(folder.file("b.png")).unwrap()
    );
    let values = image::open(folder.file("a.png")).unwrap().into_luma16().into_raw();
    assert!(values.iter().enumerate().all(|(i, &v)| i == usize::from(v)));
}

#[test]
fn the_full_range_maps_to_the_scale() {
    let folder = Folder::new();
    let extent = Extent::new(&[1, 4]).unwrap();
    let signal = Signal::<f32>::from_planar(extent, 1, vec![-0.2, 0.5, 1.0, 7.0]).unwrap();
    let unit = WriteOptions { scale: 1.0, ..Default::default() };
    write_image(&folder.file("a.png"), &signal, &unit).unwrap();
    assert_eq!(read::<f32>(&folder.file("a.png")).signal.data(), [0.0, 128.0, 255.0, 255.0]);
    let back =
        read_image::<f32>(&folder.file("a.png"), &ReadOptions { scale: 1.0, ..Default::default() })
            .unwrap();
    assert_eq!(back.signal.data(), [0.0, 128.0 / 255.0, 1.0, 1.0]);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_refused(
            read_image::<f32>(&folder.file("a.png"), &ReadOptions { scale, ..Default::default() }),
            &["scale", "above 0"],
        );
        assert_refused(
            write_image(
                &folder.file("a.png"),
                &signal,
                &WriteOptions { scale, ..Default::default() },
            ),
            &["scale"],
        );
    }
}

#[test]
fn jpeg_round_trips_approximately() {
    let folder = Folder::new();
    for channels in [1, 3] {
        let signal = ramp::<f32>(&[16, 16], channels, 255.0 / (256 * channels) as f64);
        write_image(&folder.file("a.jpg"), &signal, &options(Depth::U8)).unwrap();
        let back = read::<f32>(&folder.file("a.jpg"));
        assert_eq!(back.signal.channels(), channels);
        assert!(back.signal.minus(&signal).unwrap().data().iter().all(|x| x.abs() < 12.0));
    }
}

#[test]
fn floats_are_used_unchanged() {
    let folder = Folder::new();
    for channels in [1, 3] {
        let signal = ramp::<f64>(&[4, 3], channels, -1.0 / 3.0);
        for name in ["a.tif", "a.npy", "a.npz"] {
            write_image(&folder.file(name), &signal, &options(Depth::F64)).unwrap();
            let back = read::<f64>(&folder.file(name));
            assert_eq!((back.signal, back.depth), (signal.clone(), Depth::F64), "{name}");
        }
        write_image(&folder.file("a.tif"), &signal, &options(Depth::F32)).unwrap();
        let back = read::<f32>(&folder.file("a.tif"));
        assert_eq!((back.signal, back.depth), (signal.cast(), Depth::F32));
    }
}

#[test]
fn arrays_of_every_type_are_images() {
    let folder = Folder::new();
    let read = |array: Array| read::<f64>(&folder.with("a.npy", &npy::encode(&array)));
    let image = read(Array::new(&[1, 2], [51u8, 255]));
    assert_eq!((image.signal.data(), image.depth), (&[51.0, 255.0][..], Depth::U8));
    let image = read(Array::new(&[1, 2], [257u16, 65535]));
    assert_eq!((image.signal.data(), image.depth), (&[1.0, 255.0][..], Depth::U16));
    assert_eq!(read(Array::new(&[1, 2], [-7i8, 3])).signal.data(), [-7.0, 3.0]);
    assert_eq!(read(Array::new(&[1, 2], [-700i16, 3])).signal.data(), [-700.0, 3.0]);
    assert_eq!(read(Array::new(&[1, 2], [-70000i32, 3])).signal.data(), [-70000.0, 3.0]);
    assert_eq!(read(Array::new(&[1, 2], [70000u32, 3])).signal.data(), [70000.0, 3.0]);
    assert_eq!(
        read(Array::new(&[1, 2], [1i64 << 40, 3])).signal.data(),
        [(1i64 << 40) as f64, 3.0]
    );
    assert_eq!(
        read(Array::new(&[1, 2], [1u64 << 40, 3])).signal.data(),
        [(1i64 << 40) as f64, 3.0]
    );
    assert_eq!(read(Array::new(&[1, 2], [0.25f32, 3.0])).signal.data(), [0.25, 3.0]);
    assert_refused(
        read_image::<f32>(
            &folder.with("t.npy", &npy::encode(&Array::from_text("x"))),
            &ReadOptions::default(),
        ),
        &["strings"],
    );
}

#[test]
fn axes_are_inferred_only_if_unambiguous() {
    let folder = Folder::new();
    let file = |shape: &[usize]| {
        folder.with("a.npy", &npy::encode(&Array::new(shape, vec![1.0f32; shape.iter().product()])))
    };
    for (shape, axes) in
        [(&[5][..], Axes::T), (&[5, 4], Axes::Hw), (&[5, 4, 3], Axes::Hwc), (&[5, 2, 4], Axes::Hwc)]
    {
        assert_eq!(read::<f32>(&file(shape)).axes, axes);
    }
    for shape in [&[3, 5, 4, 4][..], &[3, 5, 6], &[1, 1, 1, 1, 1], &[]] {
        assert_refused(
            read_image::<f32>(&file(shape), &ReadOptions::default()),
            &["a.npy", "--axes"],
        );
    }
    for (shape, axes, extent, channels) in [
        (&[3, 5, 4][..], Axes::Chw, "5x4", 3),
        (&[3, 5, 4], Axes::Hwc, "3x5", 4),
        (&[3, 5, 4], Axes::Dhw, "3x5x4", 1),
        (&[3, 5, 4, 2], Axes::Dhwc, "3x5x4", 2),
        (&[5, 4], Axes::Hwc, "5x4", 1),
        (&[5, 4], Axes::T, "5", 4),
    ] {
        let image = read_as(&file(shape), axes).unwrap();
        assert_eq!(
            (image.signal.extent().to_string().as_str(), image.signal.channels()),
            (extent, channels)
        );
    }
    assert_refused(read_as(&file(&[5, 4, 3]), Axes::Hw), &["(5, 4, 3)", "axes hw", "--axes"]);
    assert_refused(read_as(&file(&[0, 4]), Axes::Hw), &["a.npy", "nothing to code"]);
    assert_refused(read_as(&file(&[5, 4, 0]), Axes::Hwc), &["a.npy", "nothing to code"]);
}

#[test]
fn arrays_keep_the_order_of_their_axes() {
    let folder = Folder::new();
    for (axes, extent, channels, shape) in [
        (Axes::T, &[6][..], 1, &[6][..]),
        (Axes::T, &[6], 2, &[6, 2]),
        (Axes::Hw, &[4, 5], 1, &[4, 5]),
        (Axes::Hw, &[4, 5], 3, &[4, 5, 3]),
        (Axes::Hwc, &[4, 5], 3, &[4, 5, 3]),
        (Axes::Chw, &[4, 5], 3, &[3, 4, 5]),
        (Axes::Dhw, &[2, 4, 5], 1, &[2, 4, 5]),
        (Axes::Dhwc, &[2, 4, 5], 2, &[2, 4, 5, 2]),
    ] {
        let signal = ramp::<f64>(extent, channels, 1.0);
        let path = folder.file("a.npy");
        write_image(&path, &signal, &WriteOptions { axes, ..Default::default() }).unwrap();
        assert_eq!(npy::decode(&path, &std::fs::read(&path).unwrap()).unwrap().shape(), shape);
        let axes = if channels > 1 && axes == Axes::Hw { Axes::Hwc } else { axes };
        assert_eq!(read_as(&path, axes).unwrap().signal, signal);
    }
}

#[test]
fn names_of_axes_and_depths_round_trip() {
    for axes in Axes::ALL {
        assert_eq!(axes.to_string().parse::<Axes>().unwrap(), axes);
    }
    for depth in Depth::ALL {
        assert_eq!(depth.to_string().parse::<Depth>().unwrap(), depth);
    }
    assert_refused("wh".parse::<Axes>(), &["wh", "hwc"]);
    assert_refused("u7".parse::<Depth>(), &["u7", "u16"]);
}

#[test]
fn an_image_in_npz_is_the_only_array_or_has_a_name() {
    let folder = Folder::new();
    let array = |x: f32| Array::new(&[1, 1], [x]);
    let read = |arrays: &[(&str, Array)]| {
        read_image::<f32>(&folder.with("a.npz", &npz::encode(arrays)), &ReadOptions::default())
    };
    assert_eq!(read(&[("x", array(1.0))]).unwrap().signal.data(), [1.0]);
    assert_eq!(read(&[("x", array(1.0)), ("image", array(2.0))]).unwrap().signal.data(), [2.0]);
    assert_eq!(read(&[("x", array(1.0)), ("signal", array(3.0))]).unwrap().signal.data(), [3.0]);
    assert_refused(read(&[("x", array(1.0)), ("y", array(2.0))]), &["a.npz", "2 arrays", "image"]);
    assert_refused(read(&[("position", array(1.0)), ("atom", array(2.0))]), &["codes", "decode"]);
    assert_refused(read(&[]), &["0 arrays"]);
}

#[test]
fn tiff_pages_are_volumes_or_channels_on_request() {
    let folder = Folder::new();
    let path = folder.file("a.tif");
    let volume = ramp::<f64>(&[3, 4, 5], 1, 1.0);
    write_image(&path, &volume, &options(Depth::U16)).unwrap();
    let near =
        |a: &Signal<f64>, b: &[f64]| a.data().iter().zip(b).all(|(a, b)| (a - b).abs() < 0.01);
    assert!(near(&read_as(&path, Axes::Dhw).unwrap().signal, volume.data()));
    let planes = read_as(&path, Axes::Chw).unwrap();
    assert_eq!((planes.signal.extent().to_string().as_str(), planes.signal.channels()), ("4x5", 3));
    assert!(near(&planes.signal, volume.data()));
    assert!(near(&read_as(&path, Axes::Hw).unwrap().signal, &volume.data()[..20]));
    assert_refused(
        read_image::<f64>(&path, &ReadOptions::default()),
        &["a.tif", "pages", "--axes dhw"],
    );

    let colour = ramp::<f64>(&[2, 3, 4], 3, 1.0);
    write_image(&path, &colour, &options(Depth::F32)).unwrap();
    assert_eq!(read_as(&path, Axes::Dhwc).unwrap().signal, colour);
}

#[test]
fn colour_images_can_be_read_with_channels_first() {
    let folder = Folder::new();
    let signal = ramp::<f64>(&[4, 5], 3, 1.0);
    for name in ["a.png", "a.tif"] {
        write_image(&folder.file(name), &signal, &options(Depth::U8)).unwrap();
        let image = read_as(&folder.file(name), Axes::Chw).unwrap();
        assert_eq!((image.signal, image.axes), (signal.clone(), Axes::Chw));
        assert_refused(read_as(&folder.file(name), Axes::Hw), &["(4, 5, 3)", "axes hw"]);
    }
}

#[test]
fn tiff_with_few_bits_and_separate_planes_is_unpacked() {
    let folder = Folder::new();
    // 10 x 2 pixels of one bit, each row in two bytes; 1 is white.
    let tags: &[(u16, &[u16])] = &[
        (256, &[10]),
        (257, &[2]),
        (258, &[1]),
        (259, &[1]),
        (262, &[1]),
        (277, &[1]),
        (278, &[2]),
    ];
    let rows: &[u8] = &[0b1000_0001, 0b0100_0000, 0, 0b1000_0000];
    let image = read::<f32>(&folder.with("bits.tif", &tiny_tiff(tags, &[rows])));
    let white: Vec<usize> = (0..20).filter(|&i| image.signal.data()[i] == 255.0).collect();
    assert_eq!(white, [0, 7, 9, 18]);

    // 2 x 1 pixels of three 8-bit colours: interleaved, then planar.
    let tags = |planes: &'static [u16]| -> Vec<(u16, &[u16])> {
        vec![
            (256, &[2]),
            (257, &[1]),
            (258, &[8, 8, 8]),
            (259, &[1]),
            (262, &[2]),
            (277, &[3]),
            (278, &[1]),
            (284, planes),
        ]
    };
    let pixels =
        read::<f32>(&folder.with("pixels.tif", &tiny_tiff(&tags(&[1]), &[&[1, 2, 3, 4, 5, 6]])));
    let planes = read::<f32>(
        &folder.with("planes.tif", &tiny_tiff(&tags(&[2]), &[&[1, 4], &[2, 5], &[3, 6]])),
    );
    assert_eq!(pixels.signal.data(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(planes.signal, pixels.signal);
}

#[test]
fn sound_keeps_its_samples_channels_and_rate() {
    let folder = Folder::new();
    let path = folder.file("a.wav");
    for (depth, full) in [
        (Depth::U8, 128.0),
        (Depth::I16, 32768.0),
        (Depth::I24, 8388608.0),
        (Depth::I32, 2147483648.0),
    ] {
        for channels in [1, 2] {
            let signal = ramp::<f64>(&[50], channels, -255.0 / full);
            let options = WriteOptions {
                axes: Axes::T,
                depth,
                sample_rate: Some(8000),
                ..Default::default()
            };
            write_image(&path, &signal, &options).unwrap();
            let back = read::<f64>(&path);
            assert_eq!(
                (back.signal, back.depth, back.axes, back.sample_rate),
                (signal, depth, Axes::T, Some(8000))
            );
        }
    }
    let loud =
        Signal::from_planar(Extent::new(&[3]).unwrap(), 1, vec![-999.0f32, 0.0, 999.0]).unwrap();
    write_image(&path, &loud, &options(Depth::I16)).unwrap();
    assert_eq!(read::<f64>(&path).signal.data(), [-255.0, 0.0, 255.0 * 32767.0 / 32768.0]);
    write_image(&path, &loud, &options(Depth::F32)).unwrap();
    assert_eq!(read::<f32>(&path).signal, loud);
}

#[test]
fn formats_that_cannot_store_a_signal_refuse_it() {
    let folder = Folder::new();
    let grey = ramp::<f32>(&[4, 4], 1, 1.0);
    let write = |name: &str, signal: &Signal<f32>, depth| {
        write_image(&folder.file(name), signal, &options(depth))
    };
    assert_refused(write("a.png", &grey, Depth::F32), &["a.png", "depth f32", "u16"]);
    assert_refused(write("a.jpg", &grey, Depth::U16), &["a.jpg", "depth u16", "u8"]);
    assert_refused(write("a.wav", &grey, Depth::I16), &["a.wav", "4x4", ".npy"]);
    assert_refused(write("a.wav", &ramp(&[4], 1, 1.0), Depth::F64), &["a.wav", "depth f64", "f32"]);
    assert_refused(
        write("a.png", &ramp(&[4, 4], 2, 1.0), Depth::U8),
        &["a.png", "2 channels", ".npy"],
    );
    assert_refused(
        write("a.png", &ramp(&[2, 4, 4], 1, 1.0), Depth::U8),
        &["a.png", "2x4x4", ".tif"],
    );
    assert_refused(write("a.bmp", &grey, Depth::U8), &["a.bmp", ".png"]);
    assert_refused(write("image", &grey, Depth::U8), &["image", ".png"]);
    assert!(folder.names().is_empty(), "nothing may be left: {:?}", folder.names());
}

#[test]
fn the_nearest_depth_can_always_be_written() {
    let folder = Folder::new();
    for name in ["a.png", "a.jpg", "a.tif", "a.npy", "a.npz"] {
        for depth in Depth::ALL {
            let path = folder.file(name);
            let depth = FileKind::from_path(&path).unwrap().nearest_depth(depth);
            write_image(&path, &ramp::<f32>(&[4, 4], 1, 1.0), &options(depth)).unwrap();
        }
    }
    for depth in Depth::ALL {
        write_image(
            &folder.file("a.wav"),
            &ramp::<f32>(&[4], 1, 1.0),
            &options(FileKind::Wav.nearest_depth(depth)),
        )
        .unwrap();
    }
}

#[test]
fn bytes_become_png() {
    let folder = Folder::new();
    let grey = lobcod_io::encode_png(&[0, 10, 20, 30, 40, 50], 3, 2).unwrap();
    let image = read::<f32>(&folder.with("a.png", &grey));
    assert_eq!((image.signal.extent().to_string().as_str(), image.signal.data()[5]), ("2x3", 50.0));
    let colour = lobcod_io::encode_png(&[1, 2, 3, 4, 5, 6], 2, 1).unwrap();
    assert_eq!(read::<f32>(&folder.with("a.png", &colour)).signal.channel(0), [1.0, 4.0]);
    assert_refused(lobcod_io::encode_png(&[1, 2], 3, 1), &["3 x 1"]);
    assert_refused(lobcod_io::encode_png(&[], 0, 1), &["0 x 1"]);
}
