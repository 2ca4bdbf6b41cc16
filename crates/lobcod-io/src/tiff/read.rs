//! Reading TIFF.

use super::grid::{self, Pages};
use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::bitmap::split_alpha;
use crate::depth::Depth;
use crate::error::{Error, Result};
use crate::exif::{DESCRIPTION, Exif};
use crate::header::Shape;
use crate::metadata::{Dialect, Grid, Metadata, PageOrder};
use crate::raster::Raster;
use crate::source::{Allowance, check_promise};
use ::tiff::decoder::{Decoder, DecodingResult, Limits};
use ::tiff::tags::Tag;
use ::tiff::{ColorType, TiffError};
use std::io::{Cursor, Read, Seek};
use std::path::Path;

/// Upper bound on the expansion of TIFF compression (LZW: about 2,700).
pub(super) const MOST_PACKED: u64 = 4096;

/// Properties that all pages of a stack must share.
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

    /// Size of its uncompressed samples in bytes.
    pub(super) fn bytes(self) -> u64 {
        let samples = self.shape().iter().fold(1, |n: u64, &axis| n.saturating_mul(axis as u64));
        samples.saturating_mul(u64::from(self.bits)) / 8
    }
}

/// Reads all pages if `axes` has an axis for them, otherwise the first.
pub(crate) fn decode(
    path: &Path,
    file: &[u8],
    axes: Option<Axes>,
    allowance: Allowance,
) -> Result<Raster> {
    let failed = |error| unreadable(path, error);
    // Tags are read within the decoder's limits, because each allocates as many values as it
    // declares.
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
            return Err(Error::shape(
                path,
                format!(
                    "has a page {} that differs from the first; all pages must have the same size \
                     and type",
                    pages + 1
                ),
            ));
        }
        pages += 1;
        allowance.check(path, &[pages, page.height, page.width, page.samples])?;
        decoder = decoder.with_limits(limits.clone());
        let (kind, mut more) = read_page(path, &mut decoder, page)?;
        if kind != dtype {
            return Err(Error::shape(
                path,
                format!(
                    "has a page {pages} with a different sample type; all pages must have the \
                     same type"
                ),
            ));
        }
        bytes.append(&mut more);
    }
    if let (Some(_), Some(declared)) = (said, declared)
        && declared.count() != pages
    {
        let reason = format!(
            "declares {} pages but contains {pages}; save it again as a plain stack, or set --axes",
            declared.count()
        );
        return Err(Error::shape(path, reason));
    }
    let stacked = matches!(axes, Some(Axes::Dhw | Axes::Dhwc)) || pages > 1;
    let mut shape: Vec<usize> = stacked.then_some(pages).into_iter().chain(page.shape()).collect();
    // One page per slice and channel.
    let woven = declared.filter(|declared| said == Some(Axes::Dhwc) && declared.channels > 1);
    if let Some(Pages { channels, slices, order, .. }) = woven {
        bytes = weave(&bytes, channels, slices, order, dtype.size());
        shape = vec![slices, page.height, page.width, channels];
    }
    if woven.is_some() || axes == Some(Axes::Chw) && pages > 1 {
        grid.channel_pages = Some(declared.map_or(PageOrder::default(), |declared| declared.order));
    }
    let metadata = metadata(&mut Cursor::new(file), icc, grid);
    let orientation = metadata.orientation();
    let bytes = orientation.turn(&mut shape, bytes, dtype.size());
    let metadata = metadata.turned_upright(orientation);
    let (array, alpha) = split_alpha(dtype, &shape, bytes, page.has_alpha);
    let (full, depth) = level(dtype, page);
    // Pages read as channels are an array of planes, not a colour image.
    let is_image = !(axes == Some(Axes::Chw) && pages > 1);
    Ok(Raster { array, alpha, full, depth, is_image, axes: said, sample_rate: None, metadata })
}

/// The shape of a TIFF, from its tags.
pub(crate) fn shape(
    path: &Path,
    mut file: impl Read + Seek,
    length: u64,
    axes: Option<Axes>,
) -> Result<Shape> {
    let failed = |error| unreadable(path, error);
    let orientation = Exif::read_with_xmp(&mut file).0.orientation();
    file.rewind().map_err(|source| Error::read(path, source))?;
    let mut decoder = Decoder::new(file).map_err(failed)?;
    let page = describe(path, &mut decoder)?;
    check_promise(path, page.bytes(), length, MOST_PACKED)?;
    let colours = page.samples - usize::from(page.has_alpha);
    let declared = grid::read(&mut decoder).1;
    let said = match (axes, declared) {
        (None, Some(pages)) => pages.axes(path, colours)?,
        _ => None,
    };
    let axes = axes.or(said);
    let mut pages = 1;
    while matches!(axes, Some(Axes::Dhw | Axes::Dhwc | Axes::Chw)) && decoder.more_images() {
        decoder.next_image().map_err(failed)?;
        pages += 1;
    }
    let is_woven =
        said == Some(Axes::Dhwc) && declared.is_some_and(|declared| declared.channels > 1);
    let (pages, colours) = match declared {
        Some(declared) if is_woven => (declared.slices, declared.channels),
        _ => (pages, colours),
    };
    let stacked = matches!(axes, Some(Axes::Dhw | Axes::Dhwc)) || pages > 1;
    let size = if orientation.is_transposed() {
        [page.width, page.height]
    } else {
        [page.height, page.width]
    };
    let colours = (colours > 1).then_some(colours);
    let shape = stacked.then_some(pages).into_iter().chain(size).chain(colours).collect();
    Ok(Shape {
        axes: shape,
        said,
        is_image: !(axes == Some(Axes::Chw) && pages > 1),
        is_sound: false,
    })
}

/// Metadata of the first page.
pub(super) fn metadata(
    file: &mut (impl Read + Seek),
    icc: Option<Vec<u8>>,
    grid: Grid,
) -> Metadata {
    let (mut exif, xmp) = Exif::read_with_xmp(file);
    if grid.dialect != Dialect::Plain {
        // The description belongs to the grid.
        exif.image.retain(|entry| entry.tag != DESCRIPTION);
    }
    if grid.resolution_unit == 1 {
        // Without a unit the resolution gives only the aspect ratio of pixels, which only TIFF can
        // store.
        exif.image.retain(|entry| !entry.is_resolution());
    }
    // Resolution alone is not camera metadata; the grid contains it.
    let only_grid = exif.camera.is_empty()
        && exif.place.is_empty()
        && exif.image.iter().all(|entry| entry.is_resolution());
    Metadata { icc, exif: (!only_grid).then(|| exif.to_block()), xmp, grid: Some(grid) }
}

/// Advances to the next page; error if it has the size of the first, because the meaning is then
/// ambiguous.
pub(super) fn check_next_page<R: Read + Seek>(
    path: &Path,
    decoder: &mut Decoder<R>,
    page: Page,
) -> Result<()> {
    decoder.next_image().map_err(|error| unreadable(path, error))?;
    // Smaller images, such as previews, are ignored.
    if describe(path, decoder)?.shape() != page.shape() {
        return Ok(());
    }
    let cure = "use --axes dhw for a volume, chw for channels, or hw (hwc in colour) for the \
                first page only";
    Err(Error::shape(path, format!("has several pages of the same size; {cure}")))
}

/// The sample value of full scale, if any, and the depth.
pub(super) fn level(dtype: DataType, page: Page) -> (Option<f64>, Depth) {
    match dtype {
        DataType::U8 => (Some((1u32 << page.bits) as f64 - 1.0), Depth::U8),
        DataType::U16 => (Some(65535.0), Depth::U16),
        DataType::F64 | DataType::I32 | DataType::U32 | DataType::I64 | DataType::U64 => {
            (None, Depth::F64)
        }
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
            // Values 1 and 2 of the tag are the two kinds of alpha.
            let extra = decoder
                .find_tag_unsigned_vec::<u16>(Tag::ExtraSamples)
                .map_err(failed)?
                .unwrap_or_default();
            (usize::from(num_samples), num_samples == 2 && matches!(extra[..], [1 | 2]))
        }
        other => {
            let cure = "convert it to greyscale or RGB";
            return Err(Error::format(
                path,
                format!("is a tiff with the colour type {other:?}, which is not supported; {cure}"),
            ));
        }
    };
    let bits = color.bit_depth();
    if ![1, 2, 4, 8, 16, 32, 64].contains(&bits) {
        return Err(Error::format(
            path,
            format!(
                "is a tiff with {bits}-bit samples, which is not supported; convert it to 8 or 16 \
                 bits"
            ),
        ));
    }
    Ok(Page { width: width as usize, height: height as usize, samples, bits, has_alpha })
}

/// Samples of the current page, channels fastest, one item per sample.
pub(super) fn read_page(
    path: &Path,
    decoder: &mut Decoder<Cursor<&[u8]>>,
    page: Page,
) -> Result<(DataType, Vec<u8>)> {
    let mut read = DecodingResult::U8(vec![]);
    let layout = decoder.read_image_to_buffer(&mut read).map_err(|e| unreadable(path, e))?;
    let array = to_array(read);
    let dtype = array.dtype();
    let mut bytes =
        if page.bits < 8 { unpack(array.bytes(), page) } else { array.bytes().to_vec() };
    if layout.planes > 1 {
        bytes = interleave(&bytes, page.samples, dtype.size());
    }
    let needed = page.shape().iter().product::<usize>() * dtype.size();
    if bytes.len() != needed {
        let reason = format!(
            "is damaged: {needed} bytes of samples are declared, but it contains {}; recreate the \
             file",
            bytes.len()
        );
        return Err(Error::format(path, reason));
    }
    Ok((dtype, bytes))
}

/// Samples as a 1-D array.
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

/// Unpacks samples of less than 8 bits to one per byte; each row starts at a byte.
fn unpack(packed: &[u8], page: Page) -> Vec<u8> {
    let row = page.width * page.samples;
    let per_byte = 8 / usize::from(page.bits);
    let sample = |bytes: &[u8], i: usize| {
        let shift = 8 - usize::from(page.bits) * (i % per_byte + 1);
        bytes[i / per_byte] >> shift & ((1 << page.bits) - 1)
    };
    packed
        .chunks_exact(row.div_ceil(per_byte).max(1))
        .flat_map(|bytes| (0..row).map(move |i| sample(bytes, i)))
        .collect()
}

/// Combines single-sample pages into slices with all channels.
pub(super) fn weave(
    pages: &[u8],
    channels: usize,
    slices: usize,
    order: PageOrder,
    size: usize,
) -> Vec<u8> {
    let length = pages.len() / (channels * slices);
    let mut woven = Vec::with_capacity(pages.len());
    for slice in 0..slices {
        let starts: Vec<usize> =
            (0..channels).map(|c| length * order.page((c, channels), (slice, slices))).collect();
        for pixel in (0..length).step_by(size) {
            starts.iter().for_each(|start| {
                woven.extend_from_slice(&pages[start + pixel..start + pixel + size])
            });
        }
    }
    woven
}

/// Interleaves consecutive planes into pixels.
fn interleave(planes: &[u8], samples: usize, size: usize) -> Vec<u8> {
    let plane = planes.len() / samples / size;
    let item = |i: usize| &planes[((i % samples) * plane + i / samples) * size..][..size];
    (0..plane * samples).flat_map(item).copied().collect()
}

pub(super) fn unreadable(path: &Path, error: TiffError) -> Error {
    match error {
        TiffError::UnsupportedError(e) => Error::format(
            path,
            format!(
                "is a tiff with an unsupported format ({e}); convert it to 8-bit or 16-bit \
                 greyscale or RGB"
            ),
        ),
        e => {
            Error::format(path, format!("is damaged or truncated ({e}); copy or recreate the file"))
        }
    }
}
