//! Writing TIFF: uncompressed strips, one page per layer of a volume.

use super::grid::Written;
use crate::depth::Depth;
use crate::exif::{CAMERA, DESCRIPTION, Entry, Exif, INTEROPERABILITY, PLACE, XMP};
use ::tiff::encoder::colortype::{self, ColorType};
use ::tiff::encoder::{DirectoryEncoder, TiffEncoder, TiffKind, TiffValue};
use ::tiff::tags::{ByteOrder, Tag};
use ::tiff::{Directory, TiffError, TiffResult};
use lobcod::Real;
use std::io::{Cursor, Seek, Write};

/// Above this many bytes of samples, 64-bit offsets are used.
const MAX_SMALL: usize = u32::MAX as usize - (1 << 20);

/// The samples to write, channels (1 or 3) fastest, and the factor to full scale of integers.
pub(crate) struct Pages<'a, T> {
    pub samples: &'a [T],
    pub width: usize,
    pub height: usize,
    pub channels: usize,
    pub factor: f64,
    /// Colour profile, written on every page.
    pub icc: Option<&'a [u8]>,
    /// Camera metadata and image description, on the first page.
    pub exif: Exif,
    pub xmp: Option<&'a [u8]>,
    /// Pixel size and the meaning of pages.
    pub grid: Option<Written>,
}

/// Encodes a TIFF file at depth U8, U16, F32 or, for all others, F64.
pub(crate) fn encode<T: Real>(pages: &Pages<'_, T>, depth: Depth) -> TiffResult<Vec<u8>> {
    let mut file = Vec::new();
    // Each sample takes at most 8 bytes.
    if pages.samples.len() > MAX_SMALL / 8 {
        pages.write_at(TiffEncoder::new_big(Cursor::new(&mut file))?, depth)?;
    } else {
        pages.write_at(TiffEncoder::new(Cursor::new(&mut file))?, depth)?;
    }
    Ok(file)
}

impl<T: Real> Pages<'_, T> {
    fn write_at<W: Write + Seek, K: TiffKind>(
        &self,
        encoder: TiffEncoder<W, K>,
        depth: Depth,
    ) -> TiffResult<()> {
        let integer = |full: f64| move |x: f64| (x * self.factor).round().clamp(0.0, full);
        match (depth, self.channels) {
            (Depth::U8, 1) => {
                self.write::<colortype::Gray8, _, _>(encoder, |x| integer(255.0)(x) as u8)
            }
            (Depth::U8, _) => {
                self.write::<colortype::RGB8, _, _>(encoder, |x| integer(255.0)(x) as u8)
            }
            (Depth::U16, 1) => {
                self.write::<colortype::Gray16, _, _>(encoder, |x| integer(65535.0)(x) as u16)
            }
            (Depth::U16, _) => {
                self.write::<colortype::RGB16, _, _>(encoder, |x| integer(65535.0)(x) as u16)
            }
            (Depth::F32, 1) => self.write::<colortype::Gray32Float, _, _>(encoder, |x| x as f32),
            (Depth::F32, _) => self.write::<colortype::RGB32Float, _, _>(encoder, |x| x as f32),
            (_, 1) => self.write::<colortype::Gray64Float, _, _>(encoder, |x| x),
            _ => self.write::<colortype::RGB64Float, _, _>(encoder, |x| x),
        }
    }

    fn write<C, W, K>(
        &self,
        mut encoder: TiffEncoder<W, K>,
        convert: impl Fn(f64) -> C::Inner,
    ) -> TiffResult<()>
    where
        C: ColorType,
        [C::Inner]: TiffValue,
        W: Write + Seek,
        K: TiffKind,
    {
        let noted = self.write_exif(&mut encoder)?;
        for (number, page) in
            self.samples.chunks_exact(self.width * self.height * self.channels).enumerate()
        {
            let page: Vec<C::Inner> = page.iter().map(|x| convert(x.to_f64())).collect();
            let mut image = encoder.new_image::<C>(self.width as u32, self.height as u32)?;
            if let Some(icc) = self.icc {
                image.encoder().write_tag(Tag::IccProfile, icc)?;
            }
            if number == 0 {
                self.write_first_page(image.encoder(), &noted)?;
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

    /// Writes the sub-directories of the first page; returns the tags that point to them.
    fn write_exif<W: Write + Seek, K: TiffKind>(
        &self,
        encoder: &mut TiffEncoder<W, K>,
    ) -> TiffResult<Vec<(u16, u64)>> {
        let Exif { camera, place, interoperability, .. } = &self.exif;
        let mut below = |entries: &[Entry], further: &[(u16, u64)]| {
            if entries.is_empty() && further.is_empty() {
                return Ok(None);
            }
            let mut directory = encoder.extra_directory()?;
            write_entries(&mut directory, entries, |_| true)?;
            write_pointers(&mut directory, further)?;
            Ok::<_, TiffError>(Some(directory.finish_with_offsets()?.pointer.0))
        };
        let further: Vec<_> =
            below(interoperability, &[])?.map(|at| (INTEROPERABILITY, at)).into_iter().collect();
        let camera = below(camera, &further)?.map(|at| (CAMERA, at));
        let place = below(place, &[])?.map(|at| (PLACE, at));
        Ok(camera.into_iter().chain(place).collect())
    }

    fn write_first_page<W: Write + Seek, K: TiffKind>(
        &self,
        directory: &mut DirectoryEncoder<'_, W, K>,
        noted: &[(u16, u64)],
    ) -> TiffResult<()> {
        // The grid takes precedence.
        let described = self.grid.as_ref().is_some_and(|grid| grid.description.is_some());
        let resolved = self.grid.as_ref().is_some_and(|grid| grid.resolution.is_some());
        write_entries(directory, &self.exif.image, |e| {
            !(e.tag == DESCRIPTION && described || e.is_resolution() && resolved)
        })?;
        write_pointers(directory, noted)?;
        self.xmp.map_or(Ok(()), |xmp| directory.write_tag(Tag::from_u16_exhaustive(XMP), xmp))
    }
}

/// Writes the selected entries.
fn write_entries<W: Write + Seek, K: TiffKind>(
    directory: &mut DirectoryEncoder<'_, W, K>,
    entries: &[Entry],
    wanted: impl Fn(&Entry) -> bool,
) -> TiffResult<()> {
    for entry in entries.iter().filter(|entry| wanted(entry)) {
        let mut data = entry.data.clone();
        ByteOrder::LittleEndian.convert(entry.kind, &mut data, ByteOrder::native());
        let written = directory.write_entry_bytes(entry.kind, &data)?;
        let mut one = Directory::empty();
        one.extend([(Tag::from_u16_exhaustive(entry.tag), written)]);
        directory.extend_from(&one);
    }
    Ok(())
}

fn write_pointers<W: Write + Seek, K: TiffKind>(
    directory: &mut DirectoryEncoder<'_, W, K>,
    to: &[(u16, u64)],
) -> TiffResult<()> {
    for &(tag, at) in to {
        let tag = Tag::from_u16_exhaustive(tag);
        // Readers of classic TIFF expect 32 bits.
        match u32::try_from(at) {
            Ok(at) => directory.write_tag(tag, at)?,
            Err(_) => directory.write_tag(tag, at)?,
        }
    }
    Ok(())
}
