//! Image metadata, preserved from one file to the next.

use crate::exif::Exif;
use crate::orientation::Orientation;
use crate::xmp;

/// Metadata of an image file. Only the EXIF orientation affects how samples are read: they are
/// rotated upright, and the orientation is set accordingly.
///
/// | format | colour profile, XMP | EXIF | grid |
/// |---|---|---|---|
/// | png, jpeg | read and written | read and written; in jpeg without the maker's own note where it is too large | not carried |
/// | tiff | read and written | read and written: tags on the image, the camera and the place; on the first page | read and written |
/// | npy, npz, wav | have none | have none | have none |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// The EXIF block, beginning with its byte order.
    pub exif: Option<Vec<u8>>,
    /// The XMP packet, which is text.
    pub xmp: Option<Vec<u8>>,
    /// Pixel size and the meaning of pages.
    pub grid: Option<Grid>,
}

impl Metadata {
    /// Metadata of pixels that were rotated upright from this orientation.
    pub(crate) fn turned_upright(mut self, from: Orientation) -> Self {
        if from.is_upright() {
            return self;
        }
        self.exif = self.exif.map(|block| Exif::read(&block).turned_upright().to_block());
        self.xmp = self.xmp.map(xmp::with_upright_orientation);
        if let (Some(grid), true) = (&mut self.grid, from.is_transposed()) {
            grid.resolution = grid.resolution.map(|(x, y)| (y, x));
            grid.pixel.swap(0, 1);
        }
        self
    }

    /// Orientation of the stored pixels.
    pub(crate) fn orientation(&self) -> Orientation {
        self.exif.as_deref().map(|block| Exif::read(block).orientation()).unwrap_or_default()
    }
}

/// The metadata convention of a TIFF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Tags only.
    #[default]
    Plain,
    /// Lines of text, as ImageJ writes them.
    ImageJ,
    /// OME-XML.
    Ome,
}

/// The sample grid described by a TIFF.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// The metadata convention.
    pub dialect: Dialect,
    /// Horizontal and vertical resolution in pixels per unit, as fractions.
    pub resolution: Option<([u32; 2], [u32; 2])>,
    /// Resolution unit: 1 none (or that of ImageJ), 2 inch, 3 centimetre.
    pub resolution_unit: u16,
    /// Width and height of a pixel (OME).
    pub pixel: [Option<f64>; 2],
    /// Distance between slices (ImageJ, OME).
    pub spacing: Option<f64>,
    /// Length unit (ImageJ, OME).
    pub unit: Option<String>,
    /// Whether pages are time points rather than slices.
    pub time_points: bool,
    /// Order of pages if each channel has separate pages; `None` if channels are interleaved in
    /// the pixels.
    pub channel_pages: Option<PageOrder>,
}

/// Page order of a stack with one page per channel and slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// All channels of a slice, then those of the next (`XYCZT`, as in ImageJ).
    #[default]
    ChannelsFirst,
    /// All slices of a channel, then those of the next (`XYZCT`).
    SlicesFirst,
}

impl PageOrder {
    /// Index of a page among `channels` and `slices`.
    pub(crate) fn page(
        self,
        (channel, channels): (usize, usize),
        (slice, slices): (usize, usize),
    ) -> usize {
        match self {
            PageOrder::ChannelsFirst => slice * channels + channel,
            PageOrder::SlicesFirst => channel * slices + slice,
        }
    }
}
