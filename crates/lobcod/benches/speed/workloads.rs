//! Benchmark inputs: the reference images if available, and a procedural image of any size.

use lobcod::{Dictionary, Extent, Observed, Result, Signal};
use lobcod_conformance::fruit;
use lobcod_conformance::gratings::{Grating, grating};

/// Signals, a dictionary and a penalty.
pub struct Workload {
    pub name: String,
    pub signals: Vec<Observed<f32>>,
    pub dictionary: Dictionary<f32>,
    pub penalty: f64,
    /// The lowest objective, if known.
    pub optimum: Option<f64>,
}

impl Workload {
    pub fn pixels(&self) -> usize {
        self.signals.iter().map(|s| s.signal.extent().volume()).sum()
    }
}

/// Fruit and Barbara of the tables, if available; always a procedural image.
pub fn all() -> Result<Vec<Workload>> {
    let mut loads = Vec::new();
    if let Some(data) = fruit::data_folder() {
        let dictionary = fruit::initial_dictionary(&data).cast::<f32>();
        let fruits: Vec<Observed<f32>> =
            fruit::images(&data).iter().map(|s| s.cast().into()).collect();
        let barbara: Observed<f32> =
            fruit::less_mean(fruit::image(&data.join("standard/barbara.png")))?.cast().into();
        let load = |name: &str, signals: &[Observed<f32>], penalty, optimum| Workload {
            name: name.into(),
            signals: signals.to_vec(),
            dictionary: dictionary.clone(),
            penalty,
            optimum: Some(optimum),
        };
        loads.push(load("fruit-20", &fruits, 20.0, 9138849.4));
        loads.push(load("barbara-20", std::slice::from_ref(&barbara), 20.0, 15180814.0));
        loads.push(load("barbara-5", &[barbara], 5.0, 4745069.3));
    }
    loads.push(procedural(512)?);
    Ok(loads)
}

/// A square of fields with different gratings, some smooth, minus its local mean; with the embedded
/// dictionary.
pub fn procedural(side: usize) -> Result<Workload> {
    let value = |i: usize| {
        let Grating { level, detail } = grating(side, i);
        level + detail
    };
    let extent = Extent::new(&[side, side])?;
    let image = Signal::from_planar(extent, 1, (0..side * side).map(value).collect())?;
    Ok(Workload {
        name: format!("procedural-{side}"),
        signals: vec![fruit::less_mean(image)?.cast().into()],
        dictionary: Dictionary::dct(Extent::new(&[8, 8])?, 1, 81)?,
        penalty: 20.0,
        optimum: None,
    })
}
