//! Reading TIFF strip by strip or tile by tile.

use super::grid;
use super::read::{
    MOST_PACKED, Page, check_next_page, describe, level, metadata, to_array, unreadable,
};
use crate::alpha::Alpha;
use crate::array::{Array, DataType};
use crate::axes::Axes;
use crate::bitmap::split_alpha;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::raster::Raster;
use crate::source::check_promise;
use ::tiff::decoder::Decoder;
use ::tiff::tags::Tag;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// The first page of a TIFF file.
pub(crate) struct TiffRows {
    decoder: Decoder<BufReader<File>>,
    page: Page,
    /// Width and height of a strip or tile.
    chunk: (usize, usize),
    metadata: Metadata,
}

impl TiffRows {
    /// `None` if the layout can only be read as a whole: volumes or channels in pages, planar
    /// channels, several samples per byte, or pixels that are not stored upright.
    pub(crate) fn open(path: &Path, mut file: File, axes: Option<Axes>) -> Result<Option<Self>> {
        let failed = |error| unreadable(path, error);
        let length = file.seek(SeekFrom::End(0)).map_err(|source| Error::read(path, source))?;
        file.seek(SeekFrom::Start(0)).map_err(|source| Error::read(path, source))?;
        let again = File::open(path).map_err(|source| Error::read(path, source))?;
        let mut decoder = Decoder::new(BufReader::new(file)).map_err(failed)?;
        let page = describe(path, &mut decoder)?;
        check_promise(path, page.bytes(), length, MOST_PACKED)?;
        let icc = decoder.get_tag_u8_vec(Tag::IccProfile).ok();
        let planar =
            decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration).map_err(failed)? == Some(2);
        if matches!(axes, Some(Axes::Dhw | Axes::Dhwc | Axes::Chw))
            || (planar && page.samples > 1)
            || page.bits < 8
        {
            return Ok(None);
        }
        let (grid, pages) = grid::read(&mut decoder);
        if axes.is_none() && pages.is_some_and(|pages| pages.count() > 1) {
            return Ok(None);
        }
        if axes.is_none() && decoder.more_images() {
            check_next_page(path, &mut decoder, page)?;
            decoder.seek_to_image(0).map_err(failed)?;
        }
        let (width, height) = decoder.chunk_dimensions();
        let metadata = metadata(&mut BufReader::new(again), icc, grid);
        if !metadata.orientation().is_upright() {
            return Ok(None);
        }
        Ok(Some(Self { decoder, page, chunk: (width as usize, height as usize), metadata }))
    }

    pub(crate) fn height(&self) -> usize {
        self.page.height
    }

    /// Metadata of the page.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    pub(crate) fn has_alpha(&self) -> bool {
        self.page.has_alpha
    }

    /// The samples of these rows.
    pub(crate) fn read(&mut self, path: &Path, rows: Range<usize>) -> Result<Raster> {
        let page = self.page;
        if !page.has_alpha {
            let (dtype, bytes) = self.read_samples(path, &rows)?;
            return Ok(raster(
                dtype,
                page,
                split_alpha(dtype, &[rows.len(), page.width, page.samples], bytes, false),
            ));
        }
        // Whether a pixel is transparent enough to be missing depends on its neighbours.
        let around = rows.start.saturating_sub(1)..(rows.end + 1).min(page.height);
        let (dtype, bytes) = self.read_samples(path, &around)?;
        let within = rows.start - around.start..rows.end - around.start;
        let row = page.width * page.samples * dtype.size();
        let wanted = bytes[within.start * row..within.end * row].to_vec();
        let (_, alpha) = split_alpha(dtype, &[around.len(), page.width, page.samples], bytes, true);
        let (array, _) = split_alpha(dtype, &[rows.len(), page.width, page.samples], wanted, true);
        Ok(raster(dtype, page, (array, alpha.map(|alpha| alpha.rows(within, page.width)))))
    }

    /// The samples of these rows as they are stored, and their type.
    fn read_samples(&mut self, path: &Path, rows: &Range<usize>) -> Result<(DataType, Vec<u8>)> {
        let (page, (width, height)) = (self.page, self.chunk);
        let damaged = || {
            Error::format(
                path,
                "is damaged: a part of it differs in size from what is declared; recreate the file",
            )
        };
        let across = page.width.div_ceil(width);
        let mut kind = None;
        let mut bytes: Vec<u8> = Vec::new();
        for down in rows.start / height..rows.end.div_ceil(height) {
            for column in 0..across {
                let number = (down * across + column) as u32;
                let (wide, high) = self.decoder.chunk_data_dimensions(number);
                let (wide, high) = (wide as usize, high as usize);
                let array =
                    to_array(self.decoder.read_chunk(number).map_err(|e| unreadable(path, e))?);
                let pixel = page.samples * array.dtype().size();
                if *kind.get_or_insert(array.dtype()) != array.dtype()
                    || array.bytes().len() != wide * high * pixel
                {
                    return Err(damaged());
                }
                bytes.resize(rows.len() * page.width * pixel, 0);
                for (i, line) in array.bytes().chunks_exact(wide * pixel).enumerate() {
                    let row = down * height + i;
                    if rows.contains(&row) {
                        let start = ((row - rows.start) * page.width + column * width) * pixel;
                        bytes
                            .get_mut(start..start + line.len())
                            .ok_or_else(damaged)?
                            .copy_from_slice(line);
                    }
                }
            }
        }
        Ok((kind.unwrap_or(DataType::U8), bytes))
    }
}

fn raster(dtype: DataType, page: Page, (array, alpha): (Array, Option<Alpha>)) -> Raster {
    let (full, depth) = level(dtype, page);
    Raster {
        array,
        alpha,
        full,
        depth,
        is_image: true,
        sample_rate: None,
        axes: None,
        metadata: Metadata::default(),
    }
}
