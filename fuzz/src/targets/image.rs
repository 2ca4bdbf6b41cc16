//! Images, stacks and sounds: read as a whole and row by row.

use super::{LIMIT, split};
use crate::scratch;
use lobcod::Real;
use lobcod::bands::RowSource;
use lobcod_io::{Axes, Image, ImageRows, ReadOptions, WriteOptions, read_image, write_image};
use std::path::Path;

/// Input: a byte that selects the axes, then a file.
pub fn run(input: &[u8]) {
    let Some((choice, file)) = split(input) else { return };
    let axes = Axes::ALL.get(usize::from(choice % 7)).copied();
    let options = ReadOptions { axes, max_bytes: Some(LIMIT), ..ReadOptions::default() };
    let path = scratch::file("image", &file);
    let whole = read_image::<f32>(&path, &options);
    match &whole {
        Ok(image) => {
            sound(image);
            survives(image);
        }
        Err(error) => one_line(&error.to_string()),
    }
    by_rows(&path, &options, whole.as_ref().ok());
}

/// An error is one line.
pub(crate) fn one_line(error: &str) {
    assert!(!error.contains('\n') && !error.is_empty(), "an error of several lines: {error:?}");
}

fn sound<T: Real>(image: &Image<T>) {
    let signal = &image.signal;
    assert_eq!(signal.data().len(), signal.extent().volume() * signal.channels());
    assert!(signal.data().len() as u64 * 4 <= LIMIT, "more samples than the limit allows");
    assert!(signal.data().iter().all(|x| x.is_finite()), "a sample is NaN or infinite");
    if let Some(known) = &image.known {
        known.check_fits(signal).expect("the mask fits its image");
        assert!(known.weights().data().iter().any(|w| *w > T::ZERO), "nothing is known");
    }
}

/// What was read can be written, and is unchanged when read again.
fn survives(image: &Image<f32>) {
    let path = scratch::place("again.npy");
    write_image(
        &path,
        &image.signal,
        &WriteOptions { axes: image.axes, ..WriteOptions::default() },
    )
    .expect("a copy");
    let axes = Some(image.axes.fitting(image.signal.extent().rank(), image.signal.channels()));
    let again = read_image::<f32>(&path, &ReadOptions { axes, ..ReadOptions::default() })
        .expect("the copy can be read");
    assert_eq!(again.signal, image.signal);
}

fn by_rows(path: &Path, options: &ReadOptions, whole: Option<&Image<f32>>) {
    let mut rows = match ImageRows::open(path, options) {
        Ok(Some(rows)) => rows,
        Ok(None) => return,
        Err(error) => return one_line(&error.to_string()),
    };
    let (extent, channels) = (RowSource::<f32>::extent(&rows), RowSource::<f32>::channels(&rows));
    let height = extent.axes()[0];
    let stride = extent.volume() / height;
    if stride.saturating_mul(channels) as u64 > LIMIT {
        return;
    }
    for start in (0..height).step_by(3).take(100) {
        let end = height.min(start + 3);
        let piece = match (rows.rows::<f32>(start..end), whole) {
            (Ok(piece), _) => piece,
            (Err(error), None) => return one_line(&error.to_string()),
            (Err(error), Some(_)) => panic!("read whole but not row by row: {error}"),
        };
        let Some(whole) = whole else { continue };
        for c in 0..channels {
            assert_eq!(
                piece.samples.channel(c),
                &whole.signal.channel(c)[start * stride..end * stride],
                "rows {start}..{end}"
            );
        }
    }
}
