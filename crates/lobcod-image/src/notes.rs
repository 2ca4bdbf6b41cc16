//! What a picture file says beside its samples, carried from one file to the next.

/// What a picture file says beside its samples; nothing of it changes how samples are read.
///
/// | format | colour profile, XMP | EXIF | grid |
/// |---|---|---|---|
/// | png, jpeg | read and written | read and written; in jpeg without the maker's own note where it is too large | not carried |
/// | tiff | read and written | read and written: tags on the picture, the camera and the place; on the first page | read and written |
/// | npy, npz, wav | have none | have none | have none |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// The EXIF block, beginning with its byte order.
    pub exif: Option<Vec<u8>>,
    /// The packet of XMP, which is text.
    pub xmp: Option<Vec<u8>>,
    /// Pixel size and the meaning of pages.
    pub grid: Option<Grid>,
}

/// Whose way of saying things a TIFF follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Tags alone.
    #[default]
    Plain,
    /// Lines of text, as ImageJ writes them.
    ImageJ,
    /// OME-XML.
    Ome,
}

/// What a TIFF says of the grid of its samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// How it is said.
    pub dialect: Dialect,
    /// Pixels a unit to the right and down, as fractions.
    pub resolution: Option<([u32; 2], [u32; 2])>,
    /// That unit: 1 none (or that of ImageJ), 2 inch, 3 centimetre.
    pub resolution_unit: u16,
    /// Width and height of a pixel (OME).
    pub pixel: [Option<f64>; 2],
    /// Distance of two slices (ImageJ, OME).
    pub spacing: Option<f64>,
    /// Unit of lengths (ImageJ, OME).
    pub unit: Option<String>,
    /// Whether pages are moments in time, not slices.
    pub moments: bool,
    /// Where channels lie if each has pages of its own; `None`: they lie in the pixels.
    pub channel_pages: Option<PageOrder>,
}

/// Order of the pages of a stack that has a page for every channel of every slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// All channels of a slice, then those of the next (`XYCZT`, the way of ImageJ).
    #[default]
    ChannelsFirst,
    /// All slices of a channel, then those of the next (`XYZCT`).
    SlicesFirst,
}

impl PageOrder {
    /// Number of a page among `channels` and `slices`.
    pub(crate) fn page(self, (channel, channels): (usize, usize), (slice, slices): (usize, usize)) -> usize {
        match self {
            PageOrder::ChannelsFirst => slice * channels + channel,
            PageOrder::SlicesFirst => channel * slices + slice,
        }
    }
}
