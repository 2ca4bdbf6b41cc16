//! Files of other programs that are refused with the name of a converter.

use crate::common::{Folder, assert_refused};
use lobcod_io::{ReadOptions, read_image};

#[test]
fn raw_and_heic_files_name_a_converter() {
    let folder = Folder::new();
    let tiff = b"II*\0\x08\0\0\0\0\0\0\0\0\0\0\0";
    for (name, content, cure) in [
        ("a.nef", &tiff[..], "darktable-cli"),
        ("a.dng", b"MM\0*\0\0\0\x08\0\0\0\0", "darktable-cli"),
        ("a.bin", b"II*\0\x10\0\0\0CR\x02\0\0\0\0\0", "darktable-cli"),
        ("a.cr3", b"\0\0\0\x18ftypcrx \0\0\0\x01", "darktable-cli"),
        ("a.raf", b"FUJIFILMCCD-RAW 0201", "darktable-cli"),
        ("a.rw2", b"IIU\0\x18\0\0\0", "darktable-cli"),
        ("a.orf", b"IIRO\x08\0\0\0", "darktable-cli"),
        ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0", "heif-convert"),
        ("a.avif", b"\0\0\0\x18ftypavif\0\0\0\0", "heif-convert"),
    ] {
        std::fs::write(folder.file(name), content).unwrap();
        assert_refused(
            read_image::<f32>(&folder.file(name), &ReadOptions::default()),
            &[name, cure],
        );
    }
}
