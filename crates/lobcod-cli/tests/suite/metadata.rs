//! Colour profiles, EXIF and XMP are preserved.

use crate::common::{Desk, texture};
use lobcod_io::{
    Depth, Dialect, Grid, Metadata, PageOrder, ReadOptions, WriteOptions, read_image, write_image,
};

#[test]
fn profiles_exif_and_xmp_are_carried() {
    let desk = Desk::new();
    // EXIF with one tag, an upright orientation. The rest is passed through unread.
    let metadata = Metadata {
        icc: Some((0..=255).cycle().take(700).collect()),
        exif: Some(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec()),
        xmp: Some(b"<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".to_vec()),
        grid: None,
    };
    for from in ["png", "jpg", "tif"] {
        let options = WriteOptions { metadata: metadata.clone(), ..WriteOptions::default() };
        for (name, phase) in [("a", 0.0), ("b", 0.1)] {
            write_image(
                &desk.path(&format!("{name}.{from}")),
                &texture(&[24, 24], 1, phase),
                &options,
            )
            .unwrap();
        }
        for to in ["png", "jpg", "tif"] {
            for line in [
                "denoise a.@ --noise gaussian:9 -o",
                "fuse a.@ b.@ -o",
                "inpaint a.@ -o",
                "separate a.@ --texture-out t.png --smooth-out",
            ] {
                desk.run(&format!("{} out.{to} --quiet", line.replace('@', from)));
                let written =
                    read_image::<f32>(&desk.path(&format!("out.{to}")), &ReadOptions::default())
                        .unwrap()
                        .metadata;
                assert_eq!(written.icc, metadata.icc, "{line} {from} {to}");
                assert_eq!(
                    (&written.exif, &written.xmp),
                    (&metadata.exif, &metadata.xmp),
                    "{line} {from} {to}"
                );
                std::fs::remove_file(desk.path(&format!("out.{to}"))).unwrap();
            }
        }
    }
}

#[test]
fn codes_preserve_metadata() {
    let desk = Desk::new();
    let metadata = Metadata {
        icc: Some(vec![5; 300]),
        exif: Some(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec()),
        xmp: Some(b"<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".to_vec()),
        grid: Some(Grid {
            resolution: Some(([300, 1], [150, 1])),
            resolution_unit: 2,
            ..Grid::default()
        }),
    };
    let options =
        WriteOptions { metadata: metadata.clone(), depth: Depth::U16, ..WriteOptions::default() };
    write_image(&desk.path("a.tif"), &texture(&[40, 30], 1, 0.0), &options).unwrap();
    // EXIF also contains the resolution, for formats without a field for it.
    let read = read_image::<f32>(&desk.path("a.tif"), &ReadOptions::default()).unwrap().metadata;
    assert_eq!((&read.icc, &read.xmp, &read.grid), (&metadata.icc, &metadata.xmp, &metadata.grid));
    desk.succeed("encode a.tif -o codes.npz --quiet");
    desk.succeed("decode codes.npz -o back.tif --quiet");
    let back = read_image::<f32>(&desk.path("back.tif"), &ReadOptions::default()).unwrap();
    assert_eq!((&back.metadata, back.depth), (&read, Depth::U16));
    desk.succeed("decode codes.npz -o back.png --quiet");
    let png = read_image::<f32>(&desk.path("back.png"), &ReadOptions::default()).unwrap();
    assert_eq!(
        (&png.metadata.icc, &png.metadata.xmp, &png.metadata.exif),
        (&metadata.icc, &metadata.xmp, &read.exif)
    );
}

#[test]
fn stacks_of_slices_and_channels_survive_encoding() {
    let desk = Desk::new();
    let grid = Grid {
        dialect: Dialect::ImageJ,
        channel_pages: Some(PageOrder::ChannelsFirst),
        resolution_unit: 1,
        ..Grid::default()
    };
    let options = WriteOptions {
        metadata: Metadata { grid: Some(grid.clone()), ..Metadata::default() },
        ..WriteOptions::default()
    };
    write_image(&desk.path("a.tif"), &texture(&[9, 12, 11], 2, 0.0), &options).unwrap();
    let report = desk
        .json("encode a.tif -o codes.npz --dictionary dct --size 3x3x3 --relative-penalty 0.01");
    assert_eq!(report["pixels"], 9 * 12 * 11);
    desk.succeed("decode codes.npz -o back.tif --quiet");
    let [before, after] = ["a.tif", "back.tif"]
        .map(|name| read_image::<f32>(&desk.path(name), &ReadOptions::default()).unwrap());
    assert_eq!(
        (after.axes, after.signal.channels(), after.metadata.grid),
        (before.axes, 2, before.metadata.grid)
    );
    let worst = after
        .signal
        .minus(&before.signal)
        .unwrap()
        .data()
        .iter()
        .fold(0.0, |w: f32, x| w.max(x.abs()));
    assert!(worst < 60.0, "off by {worst}");
}
