//! Metadata in a file of codes: blocks of bytes as arrays, the grid as lines of text.

use crate::array::{Array, DataType};
use crate::error::Result;
use crate::fields::Fields;
use crate::metadata::{Dialect, Grid, Metadata, PageOrder};
use std::fmt;
use std::str::FromStr;

/// The arrays that store the metadata; absent entries have no array.
pub(crate) fn arrays(metadata: &Metadata) -> Vec<(&'static str, Array)> {
    let blocks = [("icc", &metadata.icc), ("exif", &metadata.exif), ("xmp", &metadata.xmp)];
    let block = |(name, block): (&'static str, &Option<Vec<u8>>)| {
        Some((name, Array::new(&[block.as_ref()?.len()], block.clone()?)))
    };
    let mut arrays: Vec<_> = blocks.into_iter().filter_map(block).collect();
    let said = metadata.grid.as_ref().filter(|grid| **grid != Grid::default());
    arrays.extend(said.map(|grid| ("grid", Array::from_text(&grid.to_string()))));
    arrays
}

impl Fields<'_> {
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        let block = |name: &str| match self.npz.find(name)? {
            Some(array) if array.dtype() == DataType::U8 && array.shape().len() == 1 => {
                Ok(Some(array.bytes().to_vec()))
            }
            Some(_) => Err(self.unsound(name)),
            None => Ok(None),
        };
        let grid = if self.npz.names().any(|name| name == "grid") {
            Some(self.word::<Grid>("grid")?)
        } else {
            None
        };
        Ok(Metadata { icc: block("icc")?, exif: block("exif")?, xmp: block("xmp")?, grid })
    }
}

/// One `name=value` per line; unknown values have no line.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dialect = match self.dialect {
            Dialect::Plain => "plain",
            Dialect::ImageJ => "imagej",
            Dialect::Ome => "ome",
        };
        write!(f, "dialect={dialect}\nresolution_unit={}", self.resolution_unit)?;
        if let Some(([a, b], [c, d])) = self.resolution {
            write!(f, "\nresolution={a}/{b} {c}/{d}")?;
        }
        let numbers =
            [("width", self.pixel[0]), ("height", self.pixel[1]), ("spacing", self.spacing)];
        for (name, number) in numbers.iter().filter_map(|(name, number)| Some((name, (*number)?))) {
            write!(f, "\n{name}={number}")?;
        }
        if self.time_points {
            write!(f, "\npages=time_points")?;
        }
        match self.channel_pages {
            Some(PageOrder::ChannelsFirst) => write!(f, "\nchannel_pages=xyczt")?,
            Some(PageOrder::SlicesFirst) => write!(f, "\nchannel_pages=xyzct")?,
            None => {}
        }
        self.unit.as_ref().map_or(Ok(()), |unit| write!(f, "\nunit={}", unit.replace('\n', " ")))
    }
}

impl FromStr for Grid {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let number = |name: &str| value(name).map(|n| n.parse::<f64>().map_err(drop)).transpose();
        let ratio = |text: &str| {
            let (n, d) = text.split_once('/')?;
            Some([n.parse().ok()?, d.parse().ok()?])
        };
        let resolution = value("resolution")
            .map(|both| both.split_once(' ').and_then(|(x, y)| ratio(x).zip(ratio(y))).ok_or(()));
        Ok(Self {
            dialect: match value("dialect") {
                Some("plain") => Dialect::Plain,
                Some("imagej") => Dialect::ImageJ,
                Some("ome") => Dialect::Ome,
                _ => return Err(()),
            },
            resolution: resolution.transpose()?,
            resolution_unit: value("resolution_unit").unwrap_or("0").parse().map_err(drop)?,
            pixel: [number("width")?, number("height")?],
            spacing: number("spacing")?,
            unit: value("unit").map(Into::into),
            // Earlier versions wrote another word.
            time_points: matches!(value("pages"), Some("time_points" | "moments")),
            channel_pages: match value("channel_pages") {
                None => None,
                Some("xyczt") => Some(PageOrder::ChannelsFirst),
                Some("xyzct") => Some(PageOrder::SlicesFirst),
                Some(_) => return Err(()),
            },
        })
    }
}
