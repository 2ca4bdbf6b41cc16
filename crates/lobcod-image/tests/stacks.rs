//! ImageJ and OME stacks: axes and pixel size are read, and written again.

mod common;

use common::{Folder, assert_refused, ramp};
use lobcod_image::{Axes, Depth, Dialect, Grid, Notes, ReadOptions, WriteOptions, read_picture, write_picture};

fn grid(dialect: Dialect) -> Grid {
    Grid {
        dialect,
        resolution: Some(([7_692_308, 1_000_000], [5_000_000, 1_000_000])),
        resolution_unit: 1,
        pixel: if dialect == Dialect::Ome { [Some(0.13), Some(0.2)] } else { [None; 2] },
        spacing: (dialect != Dialect::Plain).then_some(0.5),
        unit: (dialect != Dialect::Plain).then(|| "µm".into()),
        moments: false,
    }
}

fn options(grid: Grid) -> WriteOptions {
    let notes = Notes { grid: Some(grid), ..Notes::default() };
    WriteOptions { axes: Axes::Dhw, depth: Depth::U16, notes, ..WriteOptions::default() }
}

#[test]
fn stacks_say_what_they_are() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    for dialect in [Dialect::ImageJ, Dialect::Ome] {
        for moments in [false, true] {
            let grid = Grid { moments, ..grid(dialect) };
            write_picture(&folder.file("a.tif"), &stack, &options(grid.clone())).unwrap();
            let back = read_picture::<f32>(&folder.file("a.tif"), &ReadOptions::default()).unwrap();
            assert_eq!((back.axes, back.signal.extent().axes()), (Axes::Dhw, &[4, 5, 6][..]), "{dialect:?}");
            assert_eq!(back.notes.grid, Some(grid));
            let worst = back.signal.minus(&stack).unwrap().data().iter().fold(0.0, |w: f32, x| w.max(x.abs()));
            assert!(worst < 0.01);
        }
    }
    // Colour pages of a stack.
    let colours = ramp::<f32>(&[3, 5, 6], 3, 0.5);
    write_picture(&folder.file("c.tif"), &colours, &options(grid(Dialect::Ome))).unwrap();
    let back = read_picture::<f32>(&folder.file("c.tif"), &ReadOptions::default()).unwrap();
    assert_eq!((back.axes, back.signal.channels()), (Axes::Dhwc, 3));
}

#[test]
fn a_plain_stack_still_needs_a_word_but_keeps_its_resolution() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    write_picture(&folder.file("a.tif"), &stack, &options(grid(Dialect::Plain))).unwrap();
    assert_refused(read_picture::<f32>(&folder.file("a.tif"), &ReadOptions::default()), &["--axes dhw"]);
    let asked = ReadOptions { axes: Some(Axes::Dhw), ..ReadOptions::default() };
    let back = read_picture::<f32>(&folder.file("a.tif"), &asked).unwrap();
    assert_eq!(back.notes.grid, Some(grid(Dialect::Plain)));
}

#[test]
fn a_word_overrules_the_file() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    write_picture(&folder.file("a.tif"), &stack, &options(grid(Dialect::ImageJ))).unwrap();
    for (axes, shape, channels) in [(Axes::Chw, &[5, 6][..], 4), (Axes::Hw, &[5, 6][..], 1)] {
        let asked = ReadOptions { axes: Some(axes), ..ReadOptions::default() };
        let back = read_picture::<f32>(&folder.file("a.tif"), &asked).unwrap();
        assert_eq!((back.signal.extent().axes(), back.signal.channels()), (shape, channels));
    }
}

#[test]
fn single_pictures_and_cut_stacks() {
    let folder = Folder::new();
    let one = ramp::<f32>(&[5, 6], 1, 1.0);
    write_picture(&folder.file("a.tif"), &one, &WriteOptions { axes: Axes::Hw, ..options(grid(Dialect::ImageJ)) }).unwrap();
    let back = read_picture::<f32>(&folder.file("a.tif"), &ReadOptions::default()).unwrap();
    assert_eq!((back.axes, back.notes.grid), (Axes::Hw, Some(grid(Dialect::ImageJ))));
    // A note of more pages than there are (ImageJ's way with files above 4 GB) must not pass for a single picture.
    let mut bytes = std::fs::read(folder.file("a.tif")).unwrap();
    let place = bytes.windows(9).position(|w| w == b"images=1\n").unwrap();
    bytes[place + 7] = b'3';
    std::fs::write(folder.file("a.tif"), bytes).unwrap();
    assert_refused(read_picture::<f32>(&folder.file("a.tif"), &ReadOptions::default()), &["speaks of 3 pages but holds 1"]);
}
