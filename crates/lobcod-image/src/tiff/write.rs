//! Writing TIFF: plain strips, one page for every layer of a volume.

use super::grid::Written;
use crate::depth::Depth;
use ::tiff::TiffResult;
use ::tiff::encoder::colortype::{self, ColorType};
use ::tiff::encoder::{TiffEncoder, TiffKind, TiffValue};
use ::tiff::tags::Tag;
use lobcod::Real;
use std::io::{Cursor, Write};

/// Above this many bytes of samples, 64-bit offsets are needed.
const MAX_SMALL: usize = u32::MAX as usize - (1 << 20);

/// What is written: samples whose channels (1 or 3) vary fastest, and the factor to full scale of integers.
pub(crate) struct Pages<'a, T> {
    pub samples: &'a [T],
    pub width: usize,
    pub height: usize,
    pub channels: usize,
    pub factor: f64,
    /// Colour profile, repeated on every page.
    pub icc: Option<&'a [u8]>,
    /// Pixel size and the meaning of pages.
    pub grid: Option<Written>,
}

/// A TIFF file at depth U8, U16, F32 or, for all others, F64.
pub(crate) fn encode<T: Real>(pages: &Pages<'_, T>, depth: Depth) -> TiffResult<Vec<u8>> {
    let mut file = Vec::new();
    // Each sample takes 8 bytes at most.
    if pages.samples.len() > MAX_SMALL / 8 {
        pages.write_at(TiffEncoder::new_big(Cursor::new(&mut file))?, depth)?;
    } else {
        pages.write_at(TiffEncoder::new(Cursor::new(&mut file))?, depth)?;
    }
    Ok(file)
}

impl<T: Real> Pages<'_, T> {
    fn write_at<W: Write + std::io::Seek, K: TiffKind>(&self, encoder: TiffEncoder<W, K>, depth: Depth) -> TiffResult<()> {
        let integer = |full: f64| move |x: f64| (x * self.factor).round().clamp(0.0, full);
        match (depth, self.channels) {
            (Depth::U8, 1) => self.write::<colortype::Gray8, _, _>(encoder, |x| integer(255.0)(x) as u8),
            (Depth::U8, _) => self.write::<colortype::RGB8, _, _>(encoder, |x| integer(255.0)(x) as u8),
            (Depth::U16, 1) => self.write::<colortype::Gray16, _, _>(encoder, |x| integer(65535.0)(x) as u16),
            (Depth::U16, _) => self.write::<colortype::RGB16, _, _>(encoder, |x| integer(65535.0)(x) as u16),
            (Depth::F32, 1) => self.write::<colortype::Gray32Float, _, _>(encoder, |x| x as f32),
            (Depth::F32, _) => self.write::<colortype::RGB32Float, _, _>(encoder, |x| x as f32),
            (_, 1) => self.write::<colortype::Gray64Float, _, _>(encoder, |x| x),
            _ => self.write::<colortype::RGB64Float, _, _>(encoder, |x| x),
        }
    }

    fn write<C, W, K>(&self, mut encoder: TiffEncoder<W, K>, convert: impl Fn(f64) -> C::Inner) -> TiffResult<()>
    where
        C: ColorType,
        [C::Inner]: TiffValue,
        W: Write + std::io::Seek,
        K: TiffKind,
    {
        for (number, page) in self.samples.chunks_exact(self.width * self.height * self.channels).enumerate() {
            let page: Vec<C::Inner> = page.iter().map(|x| convert(x.to_f64())).collect();
            let mut image = encoder.new_image::<C>(self.width as u32, self.height as u32)?;
            if let Some(icc) = self.icc {
                image.encoder().write_tag(Tag::IccProfile, icc)?;
            }
            if let Some(Written { description, resolution, unit }) = &self.grid {
                if let Some([x, y]) = resolution {
                    image.encoder().write_tag(Tag::XResolution, x.clone())?;
                    image.encoder().write_tag(Tag::YResolution, y.clone())?;
                    image.encoder().write_tag(Tag::ResolutionUnit, *unit)?;
                }
                if let Some(text) = description.as_ref().filter(|_| number == 0) {
                    image.encoder().write_tag(Tag::ImageDescription, text.as_str())?;
                }
            }
            image.write_data(&page)?;
        }
        Ok(())
    }
}
