//! Time points in the pages of a TIFF.

use super::grid::{self, Pages};
use super::read::{Page, describe, level, metadata, read_page, unreadable, weave};
use crate::axes::Axes;
use crate::bitmap::split_alpha;
use crate::error::{Error, Result};
use crate::raster::Raster;
use crate::source::Allowance;
use crate::time::check_number;
use ::tiff::decoder::{Decoder, Limits};
use ::tiff::tags::Tag;
use std::io::Cursor;
use std::path::Path;

/// How the pages of a file are divided into time points.
struct Division {
    page: Page,
    declared: Option<Pages>,
    /// Slices and channels of a time point that are pages of their own.
    slices: usize,
    channels: usize,
    time_points: usize,
}

impl Division {
    fn of(path: &Path, decoder: &mut Decoder<Cursor<&[u8]>>, frame: Axes) -> Result<Self> {
        let page = describe(path, decoder)?;
        let declared = grid::read(decoder).1;
        let mut count = 1;
        while decoder.more_images() {
            decoder.next_image().map_err(|error| unreadable(path, error))?;
            count += 1;
        }
        let colours = page.samples - usize::from(page.has_alpha);
        let (slices, channels) = match (frame, declared) {
            (Axes::Hw, _) => (1, 1),
            (Axes::Hwc, Some(pages)) if colours == 1 => (1, pages.channels),
            (Axes::Hwc, _) => (1, 1),
            (Axes::Dhw, Some(pages)) => (pages.slices, 1),
            (_, Some(pages)) => (pages.slices, if colours == 1 { pages.channels } else { 1 }),
            (_, None) => {
                let cure = "save it as OME-TIFF or ImageJ stack";
                let reason = format!("does not say how many slices a time point has; {cure}");
                return Err(Error::shape(path, reason));
            }
        };
        if declared.is_some_and(|pages| pages.time_first && pages.time_points > 1) {
            let reason = "stores time before slices or channels; save it in the order XYCZT";
            return Err(Error::shape(path, reason));
        }
        let each = slices.saturating_mul(channels);
        if each > count || count % each != 0 {
            let reason = format!(
                "contains {count} pages, which are not time points of {slices} slices and \
                 {channels} channels; use other axes"
            );
            return Err(Error::shape(path, reason));
        }
        Ok(Self { page, declared, slices, channels, time_points: count / each })
    }
}

/// Number of time points.
pub(crate) fn count_time_points(path: &Path, file: &[u8], frame: Axes) -> Result<usize> {
    let mut decoder = Decoder::new(Cursor::new(file)).map_err(|error| unreadable(path, error))?;
    Ok(Division::of(path, &mut decoder, frame)?.time_points)
}

/// Reads the pages of one time point.
pub(crate) fn decode_time_point(
    path: &Path,
    file: &[u8],
    frame: Axes,
    number: usize,
    allowance: Allowance,
) -> Result<Raster> {
    let failed = |error| unreadable(path, error);
    let mut decoder = Decoder::new(Cursor::new(file)).map_err(failed)?;
    let division = Division::of(path, &mut decoder, frame)?;
    let Division { page, slices, channels, .. } = division;
    check_number(path, number, division.time_points)?;
    allowance.check(path, &[slices * channels, page.height, page.width, page.samples])?;
    decoder.seek_to_image(0).map_err(failed)?;
    let mut grid = grid::read(&mut decoder).0;
    grid.time_points = false;
    let icc = decoder.get_tag_u8_vec(Tag::IccProfile).ok();
    let mut limits = Limits::default();
    limits.decoding_buffer_size = usize::try_from(allowance.on_disk()).unwrap_or(usize::MAX);
    limits.intermediate_buffer_size = limits.decoding_buffer_size;
    let each = slices * channels;
    let (mut dtype, mut bytes) = (None, Vec::new());
    for index in number * each..(number + 1) * each {
        decoder = decoder.with_limits(Limits::default());
        decoder.seek_to_image(index).map_err(failed)?;
        let differs = describe(path, &mut decoder)? != page;
        decoder = decoder.with_limits(limits.clone());
        let (kind, mut samples) = read_page(path, &mut decoder, page)?;
        if differs || *dtype.get_or_insert(kind) != kind {
            let reason = format!(
                "has a page {} that differs from the first; all pages must have the same size and \
                 type",
                index + 1
            );
            return Err(Error::shape(path, reason));
        }
        bytes.append(&mut samples);
    }
    let dtype = dtype.expect("a time point has a page");
    let mut shape = vec![slices, page.height, page.width, page.samples];
    if channels > 1 {
        let order = division.declared.map(|pages| pages.order).unwrap_or_default();
        bytes = weave(&bytes, channels, slices, order, dtype.size());
        shape[3] = channels;
        grid.channel_pages = Some(order);
    }
    if frame.rank() == 2 {
        shape.remove(0);
    }
    let metadata = metadata(&mut Cursor::new(file), icc, grid);
    let orientation = metadata.orientation();
    let bytes = orientation.turn(&mut shape, bytes, dtype.size());
    let metadata = metadata.turned_upright(orientation);
    let (array, alpha) = split_alpha(dtype, &shape, bytes, page.has_alpha);
    let (full, depth) = level(dtype, page);
    Ok(Raster {
        array,
        alpha,
        full,
        depth,
        is_image: true,
        axes: None,
        sample_rate: None,
        metadata,
    })
}
