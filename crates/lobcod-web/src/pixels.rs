//! Images as bytes, as browsers hold them, and as signals.

use crate::message::{Array, Draft, Kind};
use lobcod::{Error, Extent, Mask, Result, Signal};
use lobcod_io::known_by_alpha;
use lobcod_tasks::colour;

/// Sample value of white.
pub const WHITE: f64 = 255.0;
/// Bytes of a pixel in events: red, green, blue and alpha.
const RGBA: usize = 4;

/// An image of bytes: grey, RGB or RGBA.
#[derive(Clone, Debug)]
pub struct Pixels<'a> {
    bytes: &'a [u8],
    height: usize,
    width: usize,
    /// Bytes of a pixel.
    depth: usize,
    /// 1 if all pixels are grey, otherwise 3.
    pub channels: usize,
}

impl<'a> Pixels<'a> {
    /// Reads an array as an image; `name` is for errors.
    pub fn new(name: &str, array: Option<Array<'a>>) -> Result<Self> {
        let array = array.ok_or_else(|| Error::Data(format!("there is no {name}; send one")))?;
        let (height, width, depth) = match (array.kind, &array.shape[..]) {
            (Kind::U8, &[height, width]) => (height, width, 1),
            (Kind::U8, &[height, width, depth @ (3 | RGBA)]) => (height, width, depth),
            (_, shape) => {
                return Err(Error::Shape(format!(
                    "the {name} has the shape {shape:?}; send bytes of shape [height, width], \
                     [height, width, 3] or [height, width, 4]"
                )));
            }
        };
        if height == 0 || width == 0 {
            return Err(Error::Shape(format!("the {name} is empty; choose another image")));
        }
        let coloured = |pixel: &[u8]| pixel[0] != pixel[1] || pixel[0] != pixel[2];
        let is_grey = depth == 1 || !array.bytes.chunks_exact(depth).any(coloured);
        Ok(Self { bytes: array.bytes, height, width, depth, channels: if is_grey { 1 } else { 3 } })
    }

    /// Size of the image.
    pub fn extent(&self) -> Result<Extent> {
        Extent::new(&[self.height, self.width])
    }

    /// The samples of the first `channels` channels.
    pub fn signal(&self, channels: usize) -> Result<Signal<f32>> {
        let step = |c: usize| self.bytes[c.min(self.depth - 1)..].iter().step_by(self.depth);
        let data = (0..channels).flat_map(step).map(|&x| f32::from(x)).collect();
        Signal::from_planar(self.extent()?, channels, data)
    }

    /// The image in grey: its lightness, on the scale of the samples.
    pub fn lightness(&self) -> Result<Signal<f32>> {
        if self.channels == 1 {
            return self.signal(1);
        }
        let mut light = colour::lightness(&self.signal(3)?, WHITE, 1)?;
        light.data_mut().iter_mut().for_each(|x| *x *= (WHITE / 100.0) as f32);
        Ok(light)
    }

    /// Whether each pixel is opaque enough to be known.
    pub fn opaque(&self) -> Vec<bool> {
        if self.depth < RGBA {
            return vec![true; self.height * self.width];
        }
        let alpha = self.bytes.iter().skip(RGBA - 1).step_by(RGBA);
        let alpha: Vec<f32> = alpha.map(|&a| f32::from(a) / f32::from(u8::MAX)).collect();
        known_by_alpha(&alpha, [self.height, self.width])
    }

    /// Error if pixels are missing; `name` is for errors.
    pub fn check_opaque(&self, name: &str) -> Result<()> {
        if self.opaque().contains(&false) {
            return Err(Error::Data(format!(
                "the {name} has transparent pixels; fill them first (Restore)"
            )));
        }
        Ok(())
    }

    /// The known pixels: opaque, and zero in the mask.
    pub fn known(&self, mask: Option<&Array>) -> Result<Mask<f32>> {
        let mut known = self.opaque();
        if let Some(mask) = mask {
            if mask.kind != Kind::U8 || mask.shape != [self.height, self.width] {
                return Err(Error::Shape(format!(
                    "the mask has the shape {:?}, but the image {:?}; send a byte for each pixel",
                    mask.shape,
                    [self.height, self.width]
                )));
            }
            known.iter_mut().zip(mask.bytes).for_each(|(known, &m)| *known &= m == 0);
        }
        Mask::from_known(self.extent()?, &known)
    }
}

/// An opaque image for an event: rounded, clipped to bytes.
pub fn rgba(image: &Signal<f32>) -> Vec<u8> {
    let volume = image.extent().volume();
    let last = image.channels().min(3) - 1;
    let mut bytes = vec![u8::MAX; RGBA * volume];
    for c in 0..3 {
        let samples = image.channel(c.min(last));
        let bytes = bytes[c..].iter_mut().step_by(RGBA);
        // The conversion clips, and NaN becomes 0.
        bytes.zip(samples).for_each(|(byte, x)| *byte = x.round() as u8);
    }
    bytes
}

/// Appends an image to an event.
pub fn with_image(draft: Draft, image: &Signal<f32>) -> Draft {
    let [_, height, width] = image.extent().padded();
    draft.with_u8("image", &[height, width, RGBA], &rgba(image))
}
