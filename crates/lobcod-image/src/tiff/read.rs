//! Reading TIFF.

use super::grid::{self, Pages};
use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::bitmap::split_alpha;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::exif::{DESCRIPTION, Exif};
use crate::notes::{Dialect, Grid, Notes, PageOrder};
use crate::raster::Raster;
use crate::source::{Allowance, check_promise};
use ::tiff::decoder::{Decoder, DecodingResult, Limits};
use ::tiff::tags::Tag;
use ::tiff::{ColorType, TiffError};
use std::io::{Cursor, Read, Seek};
use std::path::Path;

/// More than any packing of TIFF makes of a byte (LZW some 2,700).
pub(super) const MOST_PACKED: u64 = 4096;

/// What must agree between the pages of a stack.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Page {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) samples: usize,
    pub(super) bits: u8,
    pub(super) has_alpha: bool,
}

impl Page {
    fn shape(self) -> [usize; 3] {
        [self.height, self.width, self.samples]
    }

    /// Bytes of its samples, unpacked.
    pub(super) fn bytes(self) -> u64 {
        let samples = self.shape().iter().fold(1, |n: u64, &axis| n.saturating_mul(axis as u64));
        samples.saturating_mul(u64::from(self.bits)) / 8
    }
}

/// Reads all pages if `axes` has room for them, otherwise the first.
pub(crate) fn decode(path: &Path, file: &[u8], axes: Option<Axes>, allowance: Allowance) -> Result<Raster> {
    let failed = |error| unreadable(path, error);
    // Tags are read within the decoder's own limits: each takes memory for as many values as it claims to have.
    let mut decoder = Decoder::new(Cursor::new(file)).map_err(failed)?;
    let mut limits = Limits::default();
    limits.decoding_buffer_size = usize::try_from(allowance.on_disk()).unwrap_or(usize::MAX);
    limits.intermediate_buffer_size = limits.decoding_buffer_size;

    let page = describe(path, &mut decoder)?;
    allowance.check(path, &page.shape())?;
    check_promise(path, page.bytes(), file.len() as u64, MOST_PACKED)?;
    let (mut grid, declared) = grid::read(&mut decoder);
    let icc = decoder.get_tag_u8_vec(Tag::IccProfile).ok();
    let said = match (axes, declared) {
        (None, Some(pages)) => pages.axes(path, page.samples - usize::from(page.has_alpha))?,
        _ => None,
    };
    let axes = axes.or(said);
    decoder = decoder.with_limits(limits.clone());
    let (dtype, mut bytes) = read_page(path, &mut decoder, page)?;
    let all = matches!(axes, Some(Axes::Dhw | Axes::Dhwc | Axes::Chw));
    let mut pages = 1;
    if axes.is_none() && decoder.more_images() {
        check_next_page(path, &mut decoder, page)?;
    }
    while all && decoder.more_images() {
        decoder = decoder.with_limits(Limits::default());
        decoder.next_image().map_err(failed)?;
        let next = describe(path, &mut decoder)?;
        if next != page {
            return Err(Error::shape(path, format!("has a page {} unlike its first; make all pages alike", pages + 1)));
        }
        pages += 1;
        allowance.check(path, &[pages, page.height, page.width, page.samples])?;
        decoder = decoder.with_limits(limits.clone());
        let (kind, mut more) = read_page(path, &mut decoder, page)?;
        if kind != dtype {
            return Err(Error::shape(path, format!("has a page {pages} of another type of samples; make all pages alike")));
        }
        bytes.append(&mut more);
    }
    if let (Some(_), Some(declared)) = (said, declared)
        && declared.count() != pages
    {
        let reason =
            format!("speaks of {} pages but holds {pages}; save it again as a plain stack, or name --axes", declared.count());
        return Err(Error::shape(path, reason));
    }
    let stacked = matches!(axes, Some(Axes::Dhw | Axes::Dhwc)) || pages > 1;
    let mut shape: Vec<usize> = stacked.then_some(pages).into_iter().chain(page.shape()).collect();
    // Slices and channels, each with a page of its own.
    let woven = declared.filter(|declared| said == Some(Axes::Dhwc) && declared.channels > 1);
    if let Some(Pages { channels, slices, order, .. }) = woven {
        bytes = weave(&bytes, channels, slices, order, dtype.size());
        shape = vec![slices, page.height, page.width, channels];
    }
    if woven.is_some() || axes == Some(Axes::Chw) && pages > 1 {
        grid.channel_pages = Some(declared.map_or(PageOrder::default(), |declared| declared.order));
    }
    let notes = notes(&mut Cursor::new(file), icc, grid);
    let (array, opaque) = split_alpha(dtype, &shape, bytes, page.has_alpha);
    let (full, depth) = level(dtype, page);
    // Pages as channels are an array of planes, not a colour picture.
    let is_picture = !(axes == Some(Axes::Chw) && pages > 1);
    Ok(Raster { array, opaque, full, depth, is_picture, axes: said, sample_rate: None, notes })
}

/// What the first page says beside its samples.
pub(super) fn notes(file: &mut (impl Read + Seek), icc: Option<Vec<u8>>, grid: Grid) -> Notes {
    let (mut exif, xmp) = Exif::read_with_xmp(file);
    if grid.dialect != Dialect::Plain {
        // The description is that of the grid.
        exif.picture.retain(|entry| entry.tag != DESCRIPTION);
    }
    if grid.resolution_unit == 1 {
        // Without a unit it tells the shape of a pixel at most; only a TIFF can say that.
        exif.picture.retain(|entry| !entry.is_resolution());
    }
    // Resolution alone is no note of a camera; the grid has it.
    let only_grid = exif.camera.is_empty() && exif.place.is_empty() && exif.picture.iter().all(|entry| entry.is_resolution());
    Notes { icc, exif: (!only_grid).then(|| exif.to_block()), xmp, grid: Some(grid) }
}

/// Goes to the next page; error if it is of the size of the first, for then it is not clear what is meant.
pub(super) fn check_next_page<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>, page: Page) -> Result<()> {
    decoder.next_image().map_err(|error| unreadable(path, error))?;
    // A smaller picture, such as a preview, is not the matter of the file.
    if describe(path, decoder)?.shape() != page.shape() {
        return Ok(());
    }
    let cure = "say --axes dhw for a volume, chw for channels, or hw (hwc in colour) for the first page alone";
    Err(Error::shape(path, format!("has several pages of one size; {cure}")))
}

/// The sample value that stands for full scale, if any, and the depth.
pub(super) fn level(dtype: DataType, page: Page) -> (Option<f64>, Depth) {
    match dtype {
        DataType::U8 => (Some((1u32 << page.bits) as f64 - 1.0), Depth::U8),
        DataType::U16 => (Some(65535.0), Depth::U16),
        DataType::F64 | DataType::I32 | DataType::U32 | DataType::I64 | DataType::U64 => (None, Depth::F64),
        _ => (None, Depth::F32),
    }
}

pub(super) fn describe<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>) -> Result<Page> {
    let failed = |error| unreadable(path, error);
    let (width, height) = decoder.dimensions().map_err(failed)?;
    let color = decoder.colortype().map_err(failed)?;
    let (samples, has_alpha) = match color {
        ColorType::Gray(_) => (1, false),
        ColorType::GrayA(_) => (2, true),
        ColorType::RGB(_) => (3, false),
        ColorType::RGBA(_) => (4, true),
        ColorType::Multiband { num_samples, .. } => {
            // Values 1 and 2 of the tag are the two sorts of alpha.
            let extra = decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).map_err(failed)?.unwrap_or_default();
            (usize::from(num_samples), num_samples == 2 && matches!(extra[..], [1 | 2]))
        }
        other => {
            let cure = "convert it to grey or RGB";
            return Err(Error::format(path, format!("is a tiff of colours {other:?}, which is not supported; {cure}")));
        }
    };
    let bits = color.bit_depth();
    if ![1, 2, 4, 8, 16, 32, 64].contains(&bits) {
        return Err(Error::format(
            path,
            format!("is a tiff of {bits}-bit samples, which is not supported; convert it to 8 or 16 bits"),
        ));
    }
    Ok(Page { width: width as usize, height: height as usize, samples, bits, has_alpha })
}

/// Samples of the current page, channels fastest, one item a sample.
fn read_page(path: &Path, decoder: &mut Decoder<Cursor<&[u8]>>, page: Page) -> Result<(DataType, Vec<u8>)> {
    let mut read = DecodingResult::U8(vec![]);
    let layout = decoder.read_image_to_buffer(&mut read).map_err(|e| unreadable(path, e))?;
    let array = to_array(read);
    let dtype = array.dtype();
    let mut bytes = if page.bits < 8 { unpack(array.bytes(), page) } else { array.bytes().to_vec() };
    if layout.planes > 1 {
        bytes = interleave(&bytes, page.samples, dtype.size());
    }
    let needed = page.shape().iter().product::<usize>() * dtype.size();
    if bytes.len() != needed {
        let reason =
            format!("is damaged: {needed} bytes of samples were promised, but {} are there; make the file again", bytes.len());
        return Err(Error::format(path, reason));
    }
    Ok((dtype, bytes))
}

/// Samples as an array of one axis.
pub(super) fn to_array(read: DecodingResult) -> Array {
    match read {
        DecodingResult::U8(v) => Array::new(&[v.len()], v),
        DecodingResult::U16(v) => Array::new(&[v.len()], v),
        DecodingResult::U32(v) => Array::new(&[v.len()], v),
        DecodingResult::U64(v) => Array::new(&[v.len()], v),
        DecodingResult::I8(v) => Array::new(&[v.len()], v),
        DecodingResult::I16(v) => Array::new(&[v.len()], v),
        DecodingResult::I32(v) => Array::new(&[v.len()], v),
        DecodingResult::I64(v) => Array::new(&[v.len()], v),
        DecodingResult::F32(v) => Array::new(&[v.len()], v),
        DecodingResult::F64(v) => Array::new(&[v.len()], v),
        DecodingResult::F16(v) => Array::new(&[v.len()], v.into_iter().map(|x| x.to_f32())),
    }
}

/// Samples of less than 8 bits, one a byte; every row starts at a byte.
fn unpack(packed: &[u8], page: Page) -> Vec<u8> {
    let row = page.width * page.samples;
    let per_byte = 8 / usize::from(page.bits);
    let sample = |bytes: &[u8], i: usize| {
        let shift = 8 - usize::from(page.bits) * (i % per_byte + 1);
        bytes[i / per_byte] >> shift & ((1 << page.bits) - 1)
    };
    packed.chunks_exact(row.div_ceil(per_byte).max(1)).flat_map(|bytes| (0..row).map(move |i| sample(bytes, i))).collect()
}

/// Pages of one sample a pixel made into slices whose pixels have all channels.
fn weave(pages: &[u8], channels: usize, slices: usize, order: PageOrder, size: usize) -> Vec<u8> {
    let length = pages.len() / (channels * slices);
    let mut woven = Vec::with_capacity(pages.len());
    for slice in 0..slices {
        let starts: Vec<usize> = (0..channels).map(|c| length * order.page((c, channels), (slice, slices))).collect();
        for pixel in (0..length).step_by(size) {
            starts.iter().for_each(|start| woven.extend_from_slice(&pages[start + pixel..start + pixel + size]));
        }
    }
    woven
}

/// Planes one after the other, made into pixels.
fn interleave(planes: &[u8], samples: usize, size: usize) -> Vec<u8> {
    let plane = planes.len() / samples / size;
    let item = |i: usize| &planes[((i % samples) * plane + i / samples) * size..][..size];
    (0..plane * samples).flat_map(item).copied().collect()
}

pub(super) fn unreadable(path: &Path, error: TiffError) -> Error {
    match error {
        TiffError::UnsupportedError(e) => Error::format(
            path,
            format!("is a tiff of a kind that is not supported ({e}); convert it to grey or RGB of 8 or 16 bits"),
        ),
        e => Error::format(path, format!("is damaged or truncated ({e}); copy or make the file again")),
    }
}
