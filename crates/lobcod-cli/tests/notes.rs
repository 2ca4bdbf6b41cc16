//! Colour profiles and EXIF go with the picture.

mod common;

use common::{Desk, texture};
use lobcod_image::{Notes, ReadOptions, WriteOptions, read_picture, write_picture};

#[test]
fn profiles_and_exif_are_carried_where_the_format_has_them() {
    let desk = Desk::new();
    // The content is nobody's matter on the way; EXIF begins with its byte order.
    let notes = Notes {
        icc: Some((0..=255).cycle().take(700).collect()),
        exif: Some(b"II*\0\x08\0\0\0\0\0\0\0\0\0".to_vec()),
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
                let exif = notes.exif.clone().filter(|_| from != "tif" && to != "tif");
                assert_eq!(written.exif, exif, "{line} {from} {to}");
                std::fs::remove_file(desk.path(&format!("out.{to}"))).unwrap();
            }
        }
    }
}
