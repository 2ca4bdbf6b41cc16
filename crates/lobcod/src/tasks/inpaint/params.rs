//! Parameters of inpainting, and their check.

use super::Inpaint;
use crate::error::{Error, Result};
use std::time::Duration;

/// Parameters of inpainting.
///
/// | name | default | range | purpose |
/// |---|---|---|---|
/// | `penalty` | none: chosen | > 0 | penalty the codes end at, in units of the signal |
/// | `learn` | false | | also learn the atoms on the damaged signal |
/// | `variants` | 1 | 1 to 8 | mirrored and turned copies of every dictionary whose answers are averaged |
/// | `windows` | `[1]` | each > 0 | windows of the base layer, in lengths of an atom; the answers of all are averaged |
/// | `density` | 0.5 | > 0 | penalty of the dense first codes, in standard deviations of the details: smaller is denser and slower |
/// | `held_out` | 0.02 | 0 to 0.5 | share of the known samples that is held out to judge penalties and answers |
/// | `seed` | 0 | | choice of the held-out samples |
/// | `time_limit` | none | | wall time allowed |
/// | `threads` | 0 = all cores | | worker threads |
/// | `max_memory` | none | | bytes the work may take beside what it is given |
#[derive(Clone, Debug, PartialEq)]
pub struct InpaintParams {
    /// Penalty the codes end at; `None`: chosen by held-out samples.
    pub penalty: Option<f64>,
    /// Also learn the atoms on the damaged signal itself.
    pub learn: bool,
    /// Mirrored and turned copies of every dictionary.
    pub variants: usize,
    /// Windows of the base layer, in lengths of an atom; the answers of all are averaged.
    pub windows: Vec<f64>,
    /// Penalty of the dense first codes, in standard deviations of the details.
    pub density: f64,
    /// Share of the known samples that is held out.
    pub held_out: f64,
    /// Seed of the choice of the held-out samples.
    pub seed: u64,
    /// Wall time allowed.
    pub time_limit: Option<Duration>,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// Bytes the work may take beside what it is given.
    pub max_memory: Option<u64>,
}

impl Default for InpaintParams {
    fn default() -> Self {
        Self {
            penalty: None,
            learn: false,
            variants: 1,
            windows: vec![1.0],
            density: 0.5,
            held_out: 0.02,
            seed: 0,
            time_limit: None,
            threads: 0,
            max_memory: None,
        }
    }
}

impl InpaintParams {
    /// The parameters, if each lies in its range.
    pub fn check(self) -> Result<Inpaint> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(x) = self.penalty.filter(|x| !positive(*x)) {
            return Err(Error::parameter("the penalty", x, "a number above 0"));
        }
        if !positive(self.density) {
            return Err(Error::parameter("the density of the first codes", self.density, "a number above 0"));
        }
        if !(1..=8).contains(&self.variants) {
            return Err(Error::parameter("the number of variants of a dictionary", self.variants, "from 1 to 8"));
        }
        if self.windows.is_empty() {
            return Err(Error::parameter("the number of base windows", 0, "at least 1"));
        }
        if let Some(x) = self.windows.iter().find(|x| !positive(**x)) {
            return Err(Error::parameter("a window of the base layer", x, "a number above 0"));
        }
        if !(0.0..=0.5).contains(&self.held_out) {
            return Err(Error::parameter("the share of samples held out", self.held_out, "between 0 and 0.5"));
        }
        Ok(Inpaint { params: self })
    }
}
