//! Files are written atomically.

use crate::common::{Folder, assert_refused, ramp};
use lobcod_io::{WriteOptions, check_writable, write_atomically, write_image};
use std::path::Path;

#[test]
fn a_new_file_replaces_the_old_one() {
    let folder = Folder::new();
    let path = folder.with("a", b"old and longer");
    write_atomically(&path, b"new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(folder.names(), ["a"], "no temporary file is left");
}

#[test]
fn a_failed_write_keeps_the_old_file() {
    let folder = Folder::new();
    let path = folder.with("a.png", b"old");
    let volume = ramp::<f32>(&[2, 2, 2], 1, 1.0);
    assert_refused(write_image(&path, &volume, &WriteOptions::default()), &["a.png"]);
    assert_eq!(
        (std::fs::read(&path).unwrap(), folder.names()),
        (b"old".to_vec(), vec!["a.png".to_string()])
    );
}

#[test]
fn a_protected_file_is_not_replaced() {
    let folder = Folder::new();
    let path = folder.with("a", b"old");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    assert_refused(write_atomically(&path, b"new"), &["permission denied", "permissions"]);
    assert_eq!(
        (std::fs::read(&path).unwrap(), folder.names()),
        (b"old".to_vec(), vec!["a".to_string()])
    );
}

#[test]
fn unwritable_paths_are_refused() {
    let folder = Folder::new();
    assert_refused(
        write_atomically(&folder.file("none/a.png"), b""),
        &["none/a.png", "does not exist", "create it first"],
    );
    folder.with("file", b"");
    assert_refused(
        write_atomically(&folder.file("file/a.png"), b""),
        &["file/a.png", "does not exist"],
    );
    assert_refused(write_atomically(folder.file("a").parent().unwrap(), b""), &["is a folder"]);
    assert_refused(check_writable(Path::new("")), &["cannot be written"]);
    assert!(check_writable(Path::new("surely-not-there.png")).is_ok());
    let long = folder.file(&"x".repeat(300));
    assert_refused(write_atomically(&long, b""), &["cannot be written"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_are_kept() {
    let folder = Folder::new();
    let target = folder.with("target", b"old");
    std::os::unix::fs::symlink(&target, folder.file("link")).unwrap();
    write_atomically(&folder.file("link"), b"new").unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), b"new");
    assert!(folder.file("link").is_symlink());
    write_atomically(Path::new("/dev/null"), b"gone").unwrap();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}
