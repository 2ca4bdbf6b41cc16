//! Synthetic images in many file formats.

use lobcod::{Extent, Signal};
use lobcod_io::{Axes, Depth, Grid, Metadata, WriteOptions, write_image};
use std::path::Path;

/// Waves, a gradient and some grain: about one non-zero code per three samples at the penalty of
/// the runs.
fn sample(position: [usize; 3], channel: usize) -> f32 {
    let [z, y, x] = position.map(|i| i as f32);
    let grain =
        (position[2] * 7919 + position[1] * 104_729 + position[0] * 1299 + channel * 31) % 509;
    let wave = (x * (0.2 + y * 1e-4)).sin() * 40.0
        + (y * 0.37 + z * 0.2).cos() * (20.0 + channel as f32 * 9.0);
    (118.0 + wave + (x + y) * 0.004 + grain as f32 * 0.08).clamp(0.0, 255.0)
}

fn signal(axes: &[usize], channels: usize) -> Signal<f32> {
    let extent = Extent::new(axes).expect("sizes above 0");
    let [_, height, width] = extent.padded();
    let at = |i: usize| [i / width / height, i / width % height, i % width];
    let data = (0..channels).flat_map(|c| (0..extent.volume()).map(move |i| sample(at(i), c)));
    Signal::from_planar(extent, channels, data.collect()).expect("as many samples as the extent")
}

fn write(path: &Path, signal: &Signal<f32>, axes: Axes, depth: Depth) {
    let options = WriteOptions {
        axes,
        depth,
        metadata: Metadata { grid: None::<Grid>, ..Metadata::default() },
        ..WriteOptions::default()
    };
    write_image(path, signal, &options).expect("an image");
}

/// Creates the file of this name, which encodes its contents: `grey`, `colour`, `sound`, `volume`
/// or `mask`, the side length, the bits per sample, and the format.
pub fn make(folder: &Path, name: &str) {
    let words: Vec<&str> = name.split(['-', '.']).collect();
    let [kind, side, bits, _] = words[..] else { panic!("{name} does not say what it contains") };
    let side: usize = side.parse().expect("a number");
    let depth = match bits {
        "8" => Depth::U8,
        "16" => Depth::U16,
        _ => Depth::F32,
    };
    let path = folder.join(name);
    match kind {
        "grey" => write(&path, &signal(&[side, side], 1), Axes::Hw, depth),
        "colour" => write(&path, &signal(&[side, side], 3), Axes::Hwc, depth),
        "sound" => write(&path, &signal(&[side], 1), Axes::T, depth),
        "volume" => write(&path, &signal(&[side, side, side], 1), Axes::Dhw, depth),
        _ => {
            let extent = Extent::new(&[side, side]).expect("sizes above 0");
            let hole = |i: usize| if (i % side * 31 + i / side * 17) % 7 < 2 { 255.0 } else { 0.0 };
            let mask = Signal::from_planar(extent, 1, (0..side * side).map(hole).collect())
                .expect("a mask");
            write(&path, &mask, Axes::Hw, depth);
        }
    }
}
