//! Signals as embedded images.

use anyhow::Result;
use lobcod::{Border, Dictionary, Mask, Needles, Real, Signal};
use lobcod_io::encode_png;
use maud::{Markup, html};

/// Largest side of an image in pixels; larger ones are downscaled.
const LARGEST: usize = 1600;
/// The style sheet enlarges images to the available width; narrower images than this keep sharp
/// pixels.
const SMOOTH: usize = 200;
/// Colour of missing pixels.
const HOLE: [f64; 3] = [190.0, 96.0, 150.0];
/// A perceptually uniform colour ramp that does not rely on hue.
const RAMP: [[f64; 3]; 5] = [
    [68.0, 1.0, 84.0],
    [59.0, 82.0, 139.0],
    [33.0, 145.0, 140.0],
    [94.0, 201.0, 98.0],
    [253.0, 231.0, 37.0],
];

/// An encoded image in memory.
pub struct Image {
    png: Vec<u8>,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Downscaling factor along each axis.
    pub shrunk: usize,
}

impl Image {
    /// The image as an embedded element; `alt` describes it.
    pub fn markup(&self, alt: &str) -> Markup {
        self.markup_as("", false, alt)
    }

    /// The image with a class of its own, possibly hidden at first.
    pub fn markup_as(&self, class: &str, hidden: bool, alt: &str) -> Markup {
        html! { img .(class) .pixels[self.width < SMOOTH] hidden[hidden] src=(data_uri(&self.png)) width=(self.width) height=(self.height) alt=(alt); }
    }
}

/// A PNG file as a data URI.
pub fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(png))
}

/// The middle slice of a signal; `low` is black, `high` is white. Three channels are shown in
/// colour, otherwise the first is shown.
pub fn photo<T: Real>(
    signal: &Signal<T>,
    [low, high]: [f64; 2],
    known: Option<&Mask<T>>,
) -> Result<Image> {
    let planes = shown_channels(signal).map(|c| middle_slice(signal, c));
    let range = if high > low { high - low } else { 1.0 };
    paint(signal.extent().padded(), |i| {
        let shade = |plane: &[T]| 255.0 * ((plane[i].to_f64() - low) / range).clamp(0.0, 1.0);
        if is_known(signal, known, i) { planes.map(shade) } else { HOLE }
    })
}

/// `|a - b|` on the middle slice, maximum over channels. Black is 0; white is the returned value,
/// which one pixel in a thousand exceeds.
pub fn difference<T: Real>(
    a: &Signal<T>,
    b: &Signal<T>,
    known: Option<&Mask<T>>,
) -> Result<(Image, f64)> {
    let planes = shown_channels(a).map(|c| (middle_slice(a, c), middle_slice(b, c)));
    let distance = |i: usize| {
        planes.iter().map(|(a, b)| (a[i].to_f64() - b[i].to_f64()).abs()).fold(0.0, f64::max)
    };
    let mut all: Vec<f64> =
        (0..planes[0].0.len()).filter(|&i| is_known(a, known, i)).map(distance).collect();
    let place = all.len().saturating_sub(1 + all.len() / 1000);
    let white =
        if all.is_empty() { 0.0 } else { *all.select_nth_unstable_by(place, f64::total_cmp).1 };
    let shade = |i: usize| [255.0 * (distance(i) / white.max(f64::MIN_POSITIVE)).min(1.0); 3];
    Ok((
        paint(a.extent().padded(), |i| if is_known(a, known, i) { shade(i) } else { HOLE })?,
        white,
    ))
}

/// Number of non-zeros at each position, summed over channels, and the maximum. For a volume, only
/// atoms that overlap the middle slice count.
pub fn sparsity<T: Real>(
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
) -> Result<(Image, usize)> {
    let counts = nonzeros_by_position(needles, dictionary);
    let most = counts.iter().copied().max().unwrap_or(0);
    let image = paint(needles.position_extent(dictionary).padded(), |i| {
        ramp(counts[i] as f64 / most.max(1) as f64)
    })?;
    Ok((image, most))
}

/// A one-channel map in colour, from `low` (dark) to `high` (bright).
pub fn map<T: Real>(signal: &Signal<T>, [low, high]: [f64; 2]) -> Result<Image> {
    let range = if high > low { high - low } else { 1.0 };
    let plane = middle_slice(signal, 0);
    paint(signal.extent().padded(), |i| ramp(((plane[i].to_f64() - low) / range).clamp(0.0, 1.0)))
}

/// Number of non-zeros at each position of the last two axes; see [`sparsity`].
pub fn nonzeros_by_position<T: Real>(
    needles: &Needles<T>,
    dictionary: &Dictionary<T>,
) -> Vec<usize> {
    let (grid, atom) = (needles.position_extent(dictionary).padded(), dictionary.extent().padded());
    let periodic = needles.border() == Border::Periodic;
    let first = needles.border().positions(needles.extent(), dictionary.extent()).start;
    let (depth, half) = (needles.extent().padded()[0] as i32, (atom[0] as i32 - 1) / 2);
    let middle = if periodic { (depth / 2 - half).rem_euclid(depth) } else { depth / 2 - half };
    let mut counts = vec![0; grid[1] * grid[2]];
    for code in needles.codes().iter().filter(|code| code.position[0] == middle) {
        let [y, x] = [1, 2].map(|axis| (i64::from(code.position[axis]) - first[axis]) as usize);
        counts[y * grid[2] + x] += 1;
    }
    counts
}

/// Channels shown as red, green and blue.
fn shown_channels<T: Real>(signal: &Signal<T>) -> [usize; 3] {
    if signal.channels() == 3 { [0, 1, 2] } else { [0; 3] }
}

fn middle_slice<T: Real>(signal: &Signal<T>, channel: usize) -> &[T] {
    middle(signal, signal.channel(channel))
}

/// The middle slice of the samples of a channel.
fn middle<'a, T: Real>(signal: &Signal<T>, channel: &'a [T]) -> &'a [T] {
    let [depth, height, width] = signal.extent().padded();
    &channel[depth / 2 * height * width..][..height * width]
}

/// Whether all shown samples of pixel `i` of the middle slice are known.
fn is_known<T: Real>(signal: &Signal<T>, known: Option<&Mask<T>>, i: usize) -> bool {
    known.is_none_or(|mask| {
        shown_channels(signal).iter().all(|&c| middle(signal, mask.channel(c))[i] > T::ZERO)
    })
}

/// Builds an image from a colour per pixel; downscaled if large, greyscale if all colours are.
fn paint([_, height, width]: [usize; 3], colour: impl Fn(usize) -> [f64; 3]) -> Result<Image> {
    let shrunk = height.max(width).div_ceil(LARGEST);
    let (rows, columns) = (height.div_ceil(shrunk), width.div_ceil(shrunk));
    let mut sums = vec![[0.0; 4]; rows * columns];
    for i in 0..height * width {
        let sum = &mut sums[i / width / shrunk * columns + i % width / shrunk];
        let [r, g, b] = colour(i);
        sum.iter_mut().zip([r, g, b, 1.0]).for_each(|(sum, part)| *sum += part);
    }
    let pixels: Vec<[u8; 3]> =
        sums.iter().map(|s| [s[0], s[1], s[2]].map(|part| (part / s[3]).round() as u8)).collect();
    let grey = pixels.iter().all(|[r, g, b]| r == g && g == b);
    let samples: Vec<u8> =
        if grey { pixels.iter().map(|p| p[0]).collect() } else { pixels.concat() };
    Ok(Image { png: encode_png(&samples, columns, rows)?, width: columns, height: rows, shrunk })
}

/// Colour for a value from 0 to 1.
fn ramp(share: f64) -> [f64; 3] {
    let place = share * (RAMP.len() - 1) as f64;
    let step = (place as usize).min(RAMP.len() - 2);
    let part = place - step as f64;
    std::array::from_fn(|c| RAMP[step][c] + part * (RAMP[step + 1][c] - RAMP[step][c]))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0, |word, &byte| word << 8 | usize::from(byte))
            << (8 * (3 - group.len()));
        for k in 0..4 {
            text.push(if k <= group.len() {
                char::from(DIGITS[word >> (18 - 6 * k) & 63])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::{Code, Extent};

    #[test]
    fn base64_as_in_rfc_4648() {
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn large_images_are_shrunk() {
        let image = paint([1, 10, 2 * LARGEST + 1], |_| [7.0; 3]).unwrap();
        assert_eq!(
            (image.shrunk, image.height, image.width),
            (3, 4, (2 * LARGEST + 1).div_ceil(3))
        );
    }

    #[test]
    fn codes_are_counted_by_position() {
        let dictionary =
            Dictionary::<f32>::random(Extent::new(&[3, 2, 2]).unwrap(), 1, 5, 0).unwrap();
        let code = |position, atom| Code { position, atom, channel: 0, value: 1.0 };
        // The middle of five slices is the third; atoms around it start at the second.
        let codes =
            vec![code([1, -1, -1], 0), code([1, 3, 4], 1), code([1, 3, 4], 2), code([0, 0, 0], 3)];
        let needles = Needles::new(Extent::new(&[5, 4, 5]).unwrap(), 1, Border::Free, codes);
        let counts = nonzeros_by_position(&needles, &dictionary);
        assert_eq!((counts.len(), counts.iter().sum::<usize>()), (5 * 6, 3));
        assert_eq!((counts[0], counts[4 * 6 + 5]), (1, 2));
        assert_eq!(sparsity(&needles, &dictionary).unwrap().1, 2);
    }
}
