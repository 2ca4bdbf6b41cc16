//! OME-Zarr folders, read and written.

#![cfg(feature = "zarr")]

use lobcod::bands::RowSource;
use lobcod::{Extent, Signal};
use lobcod_io::{
    Axes, Depth, Grid, ImageRows, Metadata, ReadOptions, WriteOptions, count_time_points,
    read_image, read_shape, time_point_of, write_image,
};
use std::process::Command;

fn signal(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).unwrap();
    let samples = (0..extent.volume() * channels).map(|i| (i * 37 % 251) as f32).collect();
    Signal::from_planar(extent, channels, samples).unwrap()
}

fn metadata() -> Metadata {
    let pixel = [Some(0.1), Some(0.2)];
    let grid = Grid { pixel, spacing: Some(0.5), unit: Some("µm".into()), ..Grid::default() };
    Metadata { grid: Some(grid), ..Metadata::default() }
}

/// Images and volumes, grey and with channels, come back with their samples and pixel sizes, whole
/// and row by row; some are larger than a chunk along every axis.
#[test]
fn images_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[usize], usize, Axes); 4] = [
        (&[300, 270], 1, Axes::Hw),
        (&[20, 30], 5, Axes::Hwc),
        (&[19, 30, 40], 1, Axes::Dhw),
        (&[9, 12, 10], 2, Axes::Dhwc),
    ];
    for (axes, channels, order) in cases {
        for depth in [Depth::U8, Depth::U16, Depth::F32, Depth::F64] {
            let path = folder.path().join("image.zarr");
            let original = signal(axes, channels);
            let options = WriteOptions { depth, metadata: metadata(), ..WriteOptions::default() };
            // The second time replaces the first.
            write_image(&path, &original, &options).unwrap();

            let back = read_image::<f32>(&path, &ReadOptions::default()).unwrap();
            assert_eq!((back.axes, back.depth), (order, depth));
            let difference = |(a, b): (&f32, &f32)| (a - b).abs();
            let pairs = original.data().iter().zip(back.signal.data());
            assert!(pairs.map(difference).fold(0.0, f32::max) < 1e-4);
            let grid = back.metadata.grid.unwrap();
            assert_eq!(grid.pixel, [Some(0.1), Some(0.2)]);
            assert_eq!(grid.spacing, (axes.len() == 3).then_some(0.5));
            assert_eq!(grid.unit.as_deref(), Some("µm"));

            let shape = read_shape(&path, &ReadOptions::default()).unwrap().unwrap();
            assert_eq!(shape, (original.extent(), channels));
            let mut rows = ImageRows::open(&path, &ReadOptions::default()).unwrap().unwrap();
            assert_eq!(RowSource::<f32>::extent(&rows), original.extent());
            let strip = rows.rows::<f32>(3..7).unwrap().samples;
            let row = original.extent().volume() / axes[0];
            for c in 0..channels {
                assert_eq!(strip.channel(c), &back.signal.channel(c)[3 * row..7 * row]);
            }
        }
    }
}

/// A folder that is something else stays untouched.
#[test]
fn another_folder_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.zarr");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("photo.jpg"), "dear").unwrap();
    let error = write_image(&path, &signal(&[8, 8], 1), &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("is not a Zarr folder; use another name"), "{error}");
    assert_eq!(std::fs::read(path.join("photo.jpg")).unwrap(), b"dear");
}

/// A folder of version 2 with five axes, as other programs write it: uncompressed chunks.
#[test]
fn time_points_of_version_two() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.zarr");
    std::fs::create_dir_all(path.join("s0")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    write(".zgroup", r#"{"zarr_format": 2}"#);
    write(
        ".zattrs",
        r#"{"multiscales": [{"version": "0.4", "datasets": [{"path": "s0"}], "axes": [
            {"name": "t", "type": "time"}, {"name": "c", "type": "channel"},
            {"name": "z", "type": "space"}, {"name": "y", "type": "space"},
            {"name": "x", "type": "space"}]}]}"#,
    );
    write(
        "s0/.zarray",
        r#"{"zarr_format": 2, "shape": [2, 3, 1, 4, 5], "chunks": [1, 3, 1, 4, 5], "dtype": "<u2",
            "compressor": null, "fill_value": 0, "order": "C", "filters": null,
            "dimension_separator": "/"}"#,
    );
    for t in 0..2u16 {
        let chunk = path.join(format!("s0/{t}/0/0/0"));
        std::fs::create_dir_all(&chunk).unwrap();
        let bytes = (0..60u16).flat_map(|i| (1000 * t + i).to_le_bytes()).collect::<Vec<_>>();
        std::fs::write(chunk.join("0"), bytes).unwrap();
    }
    let error = read_image::<f32>(&path, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("has 2 time points; set --axes"), "{error}");
    let options = ReadOptions { axes: Some(Axes::Thwc), scale: 65535.0, ..ReadOptions::default() };
    assert_eq!(count_time_points(&path, &options).unwrap(), 2);
    let image = read_image::<f32>(&time_point_of(&path, 1), &options).unwrap();
    assert_eq!(
        (image.signal.extent(), image.signal.channels()),
        (Extent::new(&[4, 5]).unwrap(), 3)
    );
    let expected: Vec<f32> = (1000..1060).map(|i| i as f32).collect();
    assert_eq!(image.signal.data(), expected);
}

/// zarr for Python reads what is written here, and what it writes is read here: compressed chunks
/// of version 2, shards of version 3, a plain array.
#[test]
fn folders_of_python() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        Command::new("python3").args(["-c", script]).current_dir(folder.path()).output()
    };
    if !run("import zarr").is_ok_and(|output| output.status.success()) {
        lobcod_conformance::skipped("skipped: python3 with zarr is not installed");
        return;
    }
    let ours = folder.path().join("ours.zarr");
    let options = WriteOptions { metadata: metadata(), ..WriteOptions::default() };
    write_image(&ours, &signal(&[9, 12, 10], 2), &options).unwrap();
    let script = r#"
import numpy as np, zarr
image = zarr.open("ours.zarr", mode="r")
assert image["0"].shape == (2, 9, 12, 10) and image["0"].dtype == np.uint8
assert (image["0"][:].ravel() == np.arange(2160) * 37 % 251).all()
ome = image.attrs["ome"]["multiscales"][0]
assert [axis["name"] for axis in ome["axes"]] == ["c", "z", "y", "x"]
assert ome["datasets"][0]["coordinateTransformations"][0]["scale"] == [1.0, 0.5, 0.2, 0.1]
values = (np.arange(2160) * 37 % 251).astype(np.uint8).reshape(2, 9, 12, 10)
axes = [dict(name=name, type="channel" if name == "c" else "space") for name in "czyx"]
scales = [dict(axes=axes, datasets=[dict(path="full")])]
two = zarr.open_group("two.zarr", mode="w", zarr_format=2)
two.attrs["multiscales"] = scales
two.create_array("full", data=values, chunks=(1, 4, 5, 6))
three = zarr.open_group("three.zarr", mode="w", zarr_format=3)
three.attrs["ome"] = dict(version="0.5", multiscales=scales)
three.create_array("full", data=values, chunks=(1, 3, 4, 5), shards=(2, 9, 12, 10))
zarr.create_array("plain.zarr", data=values[0].astype(np.float32), chunks=(2, 5, 7))
"#;
    let output = run(script).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = signal(&[9, 12, 10], 2);
    for name in ["two.zarr", "three.zarr"] {
        let image = read_image::<f32>(&folder.path().join(name), &ReadOptions::default()).unwrap();
        assert_eq!((image.axes, image.signal.data()), (Axes::Dhwc, expected.data()), "{name}");
    }
    let plain = ReadOptions { axes: Some(Axes::Dhw), ..ReadOptions::default() };
    let image = read_image::<f32>(&folder.path().join("plain.zarr"), &plain).unwrap();
    assert_eq!(image.signal.data(), expected.channel(0));
}
