//! The sample grid of a TIFF: pixel size and meaning of pages, in the conventions of ImageJ and
//! OME.

use crate::axes::Axes;
use crate::error::{Error, Result};
use crate::metadata::{Dialect, Grid, PageOrder};
use ::tiff::decoder::{Decoder, ifd::Value};
use ::tiff::encoder::Rational;
use ::tiff::tags::Tag;
use roxmltree::{Document, Node};
use std::io::{Read, Seek};
use std::path::Path;

/// Number of pages along the axes of ImageJ and OME.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pages {
    pub channels: usize,
    pub slices: usize,
    pub time_points: usize,
    pub order: PageOrder,
    /// Whether time varies faster than slices or channels.
    pub time_first: bool,
    /// Independent image series.
    pub series: usize,
}

impl Pages {
    pub(crate) fn count(self) -> usize {
        // The numbers are untrusted.
        self.channels.saturating_mul(self.slices).saturating_mul(self.time_points)
    }

    /// The axes of these pages, with `samples` samples per pixel.
    pub(crate) fn axes(self, path: &Path, samples: usize) -> Result<Option<Axes>> {
        if self.series > 1 {
            let found = format!("contains {} image series", self.series);
            return Err(Error::shape(
                path,
                format!("{found}; save the one to use as a separate file, or set --axes"),
            ));
        }
        match (self.channels, self.slices, self.time_points) {
            (1, 1, 1) => Ok(None),
            (1, _, 1) | (1, 1, _) => Ok(Some(if samples == 1 { Axes::Dhw } else { Axes::Dhwc })),
            (_, 1, 1) if samples == 1 => Ok(Some(Axes::Chw)),
            (_, _, 1) if samples == 1 => Ok(Some(Axes::Dhwc)),
            (c, z, t) => {
                let found = format!(
                    "has {c} channels, {z} slices and {t} time points in pages of {}",
                    plural(samples, "sample")
                );
                let volumes = if z > 1 { "tdhw" } else { "thw" };
                let axes = if c * samples > 1 { format!("{volumes}c") } else { volumes.into() };
                let cure = format!("use --axes {axes} to process each time point separately");
                Err(Error::shape(path, format!("{found}, which is one axis too many; {cure}")))
            }
        }
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Reads the grid of the current page, and the pages if it describes them.
pub(crate) fn read<R: Read + Seek>(decoder: &mut Decoder<R>) -> (Grid, Option<Pages>) {
    let mut ratio = |tag| match decoder.find_tag(tag) {
        Ok(Some(Value::Rational(n, d))) => Some([n, d]),
        _ => None,
    };
    let resolution = ratio(Tag::XResolution).zip(ratio(Tag::YResolution));
    let resolution_unit =
        decoder.find_tag_unsigned(Tag::ResolutionUnit).ok().flatten().unwrap_or(2);
    let text = decoder.get_tag_ascii_string(Tag::ImageDescription).unwrap_or_default();
    let mut grid = Grid { resolution, resolution_unit, ..Grid::default() };
    let pages = if text.starts_with("ImageJ=") {
        Some(read_imagej(&text, &mut grid))
    } else if text.contains("OME") && text.trim_start().starts_with('<') {
        read_ome(&text, &mut grid)
    } else {
        None
    };
    (grid, pages)
}

/// Parses lines of `name=value`.
fn read_imagej(text: &str, grid: &mut Grid) -> Pages {
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::trim)
    };
    let count = |name: &str| value(name).and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    grid.dialect = Dialect::ImageJ;
    grid.unit = value("unit").map(unescaped);
    grid.spacing = value("spacing").and_then(|s| s.parse().ok());
    let pages = Pages {
        channels: count("channels").unwrap_or(1),
        slices: count("slices").unwrap_or(1),
        time_points: count("frames").unwrap_or(1),
        order: PageOrder::ChannelsFirst,
        time_first: false,
        series: 1,
    };
    grid.time_points = pages.time_points > 1;
    // Old plain stacks contain only the number of images.
    if pages.count() == 1 { Pages { slices: count("images").unwrap_or(1), ..pages } } else { pages }
}

/// Parses the attributes of the first `Pixels` element of OME-XML; `None` if there is none.
fn read_ome(text: &str, grid: &mut Grid) -> Option<Pages> {
    let document = Document::parse(text.trim_end_matches('\0').trim()).ok()?;
    let is_pixels = |node: &Node| node.tag_name().name() == "Pixels";
    let element = document.descendants().find(is_pixels)?;
    let number = |node: Node, name: &str| node.attribute(name).and_then(|s| s.trim().parse().ok());
    let count = |node: Node, name: &str| {
        let count: Option<usize> = node.attribute(name).and_then(|n| n.trim().parse().ok());
        count.filter(|n| *n > 0).unwrap_or(1)
    };
    grid.dialect = Dialect::Ome;
    grid.pixel = ["PhysicalSizeX", "PhysicalSizeY"].map(|name| number(element, name));
    grid.spacing = number(element, "PhysicalSizeZ");
    grid.unit = element.attribute("PhysicalSizeXUnit").map(Into::into);
    // The colours of a page count as channels too.
    let channel = element.descendants().find(|node| node.tag_name().name() == "Channel");
    let samples = channel.map_or(1, |channel| count(channel, "SamplesPerPixel"));
    let order = element.attribute("DimensionOrder").unwrap_or_default();
    let slices_first = order.find('Z') < order.find('C');
    let time_first =
        order.find('T').is_some_and(|t| Some(t) < order.find('Z').max(order.find('C')));
    let pages = Pages {
        channels: usize::max(count(element, "SizeC") / samples, 1),
        slices: count(element, "SizeZ"),
        time_points: count(element, "SizeT"),
        order: if slices_first { PageOrder::SlicesFirst } else { PageOrder::ChannelsFirst },
        time_first,
        series: document.descendants().filter(is_pixels).count(),
    };
    grid.time_points = pages.time_points > 1;
    Some(pages)
}

/// The written form of the grid: the description of the first page, and the resolution of all.
pub(crate) struct Written {
    pub description: Option<String>,
    pub resolution: Option<[Rational; 2]>,
    pub unit: u16,
}

impl Written {
    /// Formats the grid in its convention, for a number of slices of this size, channels and type.
    pub(crate) fn of(
        grid: &Grid,
        slices: usize,
        [height, width, channels]: [usize; 3],
        kind: &str,
    ) -> Self {
        let description = match grid.dialect {
            Dialect::Plain => None,
            Dialect::ImageJ => {
                Some(escaped(&imagej(grid, slices, channels), |c| format!("\\u{:04X}", c as u32)))
            }
            Dialect::Ome => {
                Some(escaped(&ome(grid, slices, [height, width, channels], kind), |c| {
                    format!("&#{};", c as u32)
                }))
            }
        };
        let resolution = grid.resolution.map(|(x, y)| [x, y].map(|[n, d]| Rational { n, d }));
        Self { description, resolution, unit: grid.resolution_unit }
    }
}

/// Tags are ASCII, so other characters (such as the micron) are escaped as the convention requires.
fn escaped(text: &str, how: impl Fn(char) -> String) -> String {
    text.chars().map(|c| if c.is_ascii() { c.into() } else { how(c) }).collect()
}

/// Reverses [`escaped`] for a single character of ImageJ.
fn unescaped(text: &str) -> String {
    let whole = || {
        let (before, rest) = text.split_once("\\u")?;
        let (digits, after) = rest.split_at_checked(4)?;
        let meant = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        Some(format!("{before}{meant}{after}"))
    };
    whole().unwrap_or_else(|| text.into())
}

/// Text in an attribute of XML.
fn in_attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn imagej(grid: &Grid, slices: usize, channels: usize) -> String {
    let axis = if grid.time_points { "frames" } else { "slices" };
    let channels = if grid.channel_pages.is_some() { channels } else { 1 };
    let mut text = format!("ImageJ=1.53a\nimages={}\n", slices * channels);
    if channels > 1 {
        text += &format!("channels={channels}\n");
    }
    if slices > 1 {
        text += &format!("{axis}={slices}\n");
    }
    if channels > 1 {
        text += "hyperstack=true\nmode=grayscale\n";
    }
    text += &grid.unit.as_ref().map_or(String::new(), |unit| format!("unit={unit}\n"));
    text += &grid.spacing.map_or(String::new(), |spacing| format!("spacing={spacing}\n"));
    text + "loop=false\n"
}

fn ome(grid: &Grid, slices: usize, [height, width, channels]: [usize; 3], kind: &str) -> String {
    let unit = in_attribute(grid.unit.as_deref().unwrap_or("µm"));
    let size = |axis: char, size: Option<f64>| {
        size.map_or(String::new(), |size| {
            format!(" PhysicalSize{axis}=\"{size}\" PhysicalSize{axis}Unit=\"{unit}\"")
        })
    };
    let sizes = size('X', grid.pixel[0]) + &size('Y', grid.pixel[1]) + &size('Z', grid.spacing);
    let (z, t) = if grid.time_points { (1, slices) } else { (slices, 1) };
    let (order, elements, samples) = match grid.channel_pages {
        None => ("XYCZT", 1, channels),
        Some(PageOrder::ChannelsFirst) => ("XYCZT", channels, 1),
        Some(PageOrder::SlicesFirst) => ("XYZCT", channels, 1),
    };
    let element =
        |i: usize| format!("<Channel ID=\"Channel:0:{i}\" SamplesPerPixel=\"{samples}\"/>");
    let elements: String = (0..elements).map(element).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image ID=\"Image:0\"><Pixels \
         ID=\"Pixels:0\" DimensionOrder=\"{order}\" Type=\"{kind}\" SizeX=\"{width}\" SizeY=\"{height}\" SizeC=\"{channels}\" SizeZ=\"{z}\" \
         SizeT=\"{t}\"{sizes}>{elements}<TiffData/></Pixels></Image></OME>"
    )
}
