//! The Fruit set, if available: ten 100x100 images and the initial dictionary of the paper.

use image::ImageReader;
use lobcod::base::local_mean;
use lobcod::{Dictionary, Extent, Result, Signal};
use std::path::{Path, PathBuf};

/// The data folder: `LOBCOD_DATA`, or `shared/data` next to the workspace; `None` if neither
/// exists.
pub fn data_folder() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let named = std::env::var_os("LOBCOD_DATA").map(PathBuf::from);
    named.into_iter().chain([default]).find(|folder| folder.join("fruit").is_dir())
}

/// The ten images in 0..255, each minus its local mean.
pub fn images(data: &Path) -> Vec<Signal<f64>> {
    let images = (1..=10).map(|i| less_mean(image(&data.join(format!("fruit/{i:02}.png")))));
    images.collect::<Result<_>>().expect("a window smaller than the images")
}

/// `D_initial`: 81 atoms of 8x8.
pub fn initial_dictionary(data: &Path) -> Dictionary<f64> {
    let path = data.join("dictionaries/D_initial_81x8x8.npy");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(&bytes[10..header]);
    assert!(
        text.contains("'<f8'") && text.contains("(81, 8, 8)") && text.contains("False"),
        "unexpected header {text}"
    );
    let numbers =
        bytes[header..].as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number));
    Dictionary::new(Extent::new(&[8, 8]).expect("a shape"), 1, numbers.collect()).expect("81 atoms")
}

/// An image minus its local mean over 8x8 samples.
pub fn less_mean(image: Signal<f64>) -> Result<Signal<f64>> {
    image.minus(&local_mean(&image, None, Extent::new(&[8, 8])?)?)
}

/// The grey values of an image file, 0..255.
pub fn image(path: &Path) -> Signal<f64> {
    let open = || ImageReader::open(path)?.decode();
    let grey = open().unwrap_or_else(|error| panic!("{}: {error}", path.display())).into_luma8();
    let extent = Extent::new(&[grey.height() as usize, grey.width() as usize])
        .expect("an image with pixels");
    Signal::from_planar(extent, 1, grey.into_raw().into_iter().map(f64::from).collect())
        .expect("one sample per pixel")
}
