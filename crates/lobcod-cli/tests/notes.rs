//! Colour profiles, EXIF and XMP go with the picture.

mod common;

use common::{Desk, texture};
use lobcod_image::{Notes, ReadOptions, WriteOptions, read_picture, write_picture};

#[test]
fn profiles_exif_and_xmp_are_carried() {
    let desk = Desk::new();
    // EXIF of one tag: a picture that lies on its side. The other content is nobody's matter on the way.
    let notes = Notes {
        icc: Some((0..=255).cycle().take(700).collect()),
        exif: Some(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec()),
        xmp: Some(b"<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".to_vec()),
        grid: None,
    };
    for from in ["png", "jpg", "tif"] {
        let options = WriteOptions { notes: notes.clone(), ..WriteOptions::default() };
        for (name, phase) in [("a", 0.0), ("b", 0.1)] {
            write_picture(&desk.path(&format!("{name}.{from}")), &texture(&[24, 24], 1, phase), &options).unwrap();
        }
        for to in ["png", "jpg", "tif"] {
            for line in [
                "denoise a.@ --noise gaussian:9 -o",
                "fuse a.@ b.@ -o",
                "inpaint a.@ -o",
                "separate a.@ --texture-out t.png --smooth-out",
            ] {
                desk.run(&format!("{} out.{to} --quiet", line.replace('@', from)));
                let written = read_picture::<f32>(&desk.path(&format!("out.{to}")), &ReadOptions::default()).unwrap().notes;
                assert_eq!(written.icc, notes.icc, "{line} {from} {to}");
                assert_eq!((&written.exif, &written.xmp), (&notes.exif, &notes.xmp), "{line} {from} {to}");
                std::fs::remove_file(desk.path(&format!("out.{to}"))).unwrap();
            }
        }
    }
}
