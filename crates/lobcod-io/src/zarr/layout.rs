//! The axes and pixel sizes of an OME-Zarr image, as its attributes describe them.

use crate::axes::Axes;
use crate::metadata::{Dialect, Grid};
use serde_json::{Map, Value, json};

/// Version of the OME-Zarr specification that is written. Versions from 0.1 on are read.
const VERSION: &str = "0.5";

/// Names of length units: in OME-Zarr, and as TIFF files write them.
const UNITS: [(&str, &str); 6] = [
    ("angstrom", "Å"),
    ("nanometer", "nm"),
    ("micrometer", "µm"),
    ("millimeter", "mm"),
    ("centimeter", "cm"),
    ("meter", "m"),
];

/// What the attributes of a group say about its image.
pub(super) struct Layout {
    /// The array of the largest resolution.
    pub array: String,
    /// Name of every axis: t, c, z, y or x.
    pub names: Vec<char>,
    /// Size of a sample along every axis.
    scales: Vec<f64>,
    unit: Option<String>,
}

impl Layout {
    /// The first image of a group; `None` if it has none.
    pub fn from_attributes(attributes: &Map<String, Value>) -> Option<Self> {
        let ome = attributes.get("ome").and_then(Value::as_object).unwrap_or(attributes);
        let image = ome.get("multiscales")?.get(0)?;
        let largest = image.get("datasets")?.get(0)?;
        // Before version 0.3 there were always five axes; in 0.3, axes were plain names.
        let axes = image.get("axes").and_then(Value::as_array);
        let name = |axis: &Value| axis.get("name").unwrap_or(axis).as_str()?.chars().next();
        let names = match axes {
            Some(axes) => axes.iter().map(name).collect::<Option<Vec<char>>>()?,
            None => vec!['t', 'c', 'z', 'y', 'x'],
        };
        let scale = |of: &Value| {
            let list = of.get("coordinateTransformations")?.as_array()?;
            let scale = list.iter().find_map(|step| step.get("scale"))?.as_array()?;
            scale.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()
        };
        // The scale of a resolution, times that of all.
        let mut scales = scale(largest).unwrap_or_default();
        if let Some(all) = scale(image) {
            scales.iter_mut().zip(all).for_each(|(own, common)| *own *= common);
        }
        let unit = axes.and_then(|axes| axes.last()?.get("unit")?.as_str()).map(|unit| {
            UNITS.iter().find(|(name, _)| *name == unit).map_or(unit, |(_, short)| *short).into()
        });
        Some(Self { array: format!("/{}", largest.get("path")?.as_str()?), names, scales, unit })
    }

    /// Pixel size and spacing, if there are any.
    pub fn grid(&self) -> Option<Grid> {
        let along = |axis: char| {
            let at = self.names.iter().position(|&name| name == axis)?;
            self.scales.get(at).copied()
        };
        let (pixel, spacing) = ([along('x'), along('y')], along('z'));
        let unit = self.unit.clone();
        pixel[0].map(|_| Grid { dialect: Dialect::Ome, pixel, spacing, unit, ..Grid::default() })
    }
}

/// The order that an image with these axes is read in: depth, height, width and channels, of which
/// those of length 1 are left out.
pub(super) fn axes_of(names: &[char], shape: &[usize]) -> Axes {
    let has = |name| names.iter().zip(shape).any(|(&n, &length)| n == name && length > 1);
    match (has('z'), has('c')) {
        (false, false) => Axes::Hw,
        (false, true) => Axes::Hwc,
        (true, false) => Axes::Dhw,
        (true, true) => Axes::Dhwc,
    }
}

/// The attributes of a group that contains one image with these axes.
pub(super) fn attributes(names: &[char], grid: Option<&Grid>, array: &str) -> Map<String, Value> {
    let short = grid.and_then(|grid| grid.unit.as_deref());
    let unit = UNITS.iter().find(|unit| Some(unit.1) == short).map(|unit| unit.0);
    let axis = |&name: &char| match (name, unit) {
        ('c', _) => json!({ "name": "c", "type": "channel" }),
        (_, None) => json!({ "name": name.to_string(), "type": "space" }),
        (_, Some(unit)) => json!({ "name": name.to_string(), "type": "space", "unit": unit }),
    };
    let scale = |&name: &char| {
        let given = grid.and_then(|grid| match name {
            'x' => grid.pixel[0],
            'y' => grid.pixel[1],
            'z' => grid.spacing,
            _ => None,
        });
        given.unwrap_or(1.0)
    };
    let image = json!({
        "axes": names.iter().map(axis).collect::<Vec<_>>(),
        "datasets": [{
            "path": array,
            "coordinateTransformations": [
                { "type": "scale", "scale": names.iter().map(scale).collect::<Vec<_>>() }
            ],
        }],
    });
    let ome = json!({ "version": VERSION, "multiscales": [image] });
    Map::from_iter([("ome".to_string(), ome)])
}
