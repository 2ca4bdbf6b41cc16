//! Location of patches in a signal.

use lobcod::{Border, Dictionary, Error, Extent, Observed, Result};

/// The samples with a data term, and the positions whose patches touch them.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// Length of the domain along each axis.
    domain: [usize; 3],
    atom: [usize; 3],
    /// Number of positions along each axis.
    grid: [usize; 3],
    /// First position, in samples of the domain.
    first: [i64; 3],
    /// First position, in samples of the signal.
    first_in_signal: [i32; 3],
}

/// A signal on its domain.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) geometry: Geometry,
    /// `Y - B`, 0 where it is not observed.
    pub(crate) samples: Vec<f64>,
    /// Squared weights `A^2`.
    pub(crate) weights: Vec<f64>,
}

impl Target {
    /// The signal on the domain of a pursuit with this border. An error for periodic borders and
    /// several channels.
    pub(crate) fn new(
        observed: &Observed<f64>,
        border: Border,
        dictionary: &Dictionary<f64>,
    ) -> Result<Self> {
        let signal = &observed.signal;
        if signal.channels() != 1
            || dictionary.channels() != 1
            || signal.extent().rank() != dictionary.extent().rank()
        {
            return Err(Error::Shape(
                "the baselines need signals and atoms with one channel and equally many axes"
                    .into(),
            ));
        }
        let geometry = Geometry::new(signal.extent(), dictionary.extent(), border)?;
        let size: usize = geometry.domain.iter().product();
        let padding = if border == Border::Zero { geometry.atom.map(|h| h - 1) } else { [0; 3] };
        // The padding is observed, and zero.
        let (mut samples, mut weights) = (vec![0.0; size], vec![1.0; size]);
        let [depth, height, width] = signal.extent().padded();
        for i in 0..depth * height * width {
            let at = [i / (height * width), i / width % height, i % width];
            let place = geometry.index(std::array::from_fn(|a| at[a] + padding[a]));
            let weight = observed.mask.as_ref().map_or(1.0, |mask| mask.channel(0)[i]);
            weights[place] = weight * weight;
            samples[place] = if weight > 0.0 { signal.data()[i] } else { 0.0 };
        }
        Ok(Self { geometry, samples, weights })
    }

    /// `1/2 || A (Y - X) ||^2`.
    pub(crate) fn data_term(&self, synthesis: &[f64]) -> f64 {
        let squares = self
            .samples
            .iter()
            .zip(synthesis)
            .zip(&self.weights)
            .map(|((y, x), w)| w * (y - x).powi(2));
        0.5 * squares.sum::<f64>()
    }
}

impl Geometry {
    fn new(signal: Extent, atom: Extent, border: Border) -> Result<Self> {
        let (l, h) = (signal.padded(), atom.padded());
        let grid = std::array::from_fn(|a| l[a] + h[a] - 1);
        let first_in_signal = h.map(|h| 1 - h as i32);
        let (domain, first) = match border {
            Border::Free => (l, h.map(|h| 1 - h as i64)),
            Border::Zero => (std::array::from_fn(|a| l[a] + 2 * (h[a] - 1)), [0; 3]),
            Border::Periodic | Border::Inside => {
                return Err(Error::Shape(format!(
                    "the baselines do not support the {border} border"
                )));
            }
        };
        Ok(Self { domain, atom: h, grid, first, first_in_signal })
    }

    fn index(&self, at: [usize; 3]) -> usize {
        (at[0] * self.domain[1] + at[1]) * self.domain[2] + at[2]
    }

    /// Number of positions.
    pub(crate) fn positions(&self) -> usize {
        self.grid.iter().product()
    }

    /// Number of samples in the domain.
    pub(crate) fn samples(&self) -> usize {
        self.domain.iter().product()
    }

    fn position(&self, position: usize) -> [usize; 3] {
        let [_, height, width] = self.grid;
        [position / (height * width), position / width % height, position % width]
    }

    /// First sample of the signal that a patch covers, in the coordinates of codes.
    pub(crate) fn in_signal(&self, position: usize) -> [i32; 3] {
        let at = self.position(position);
        std::array::from_fn(|a| at[a] as i32 + self.first_in_signal[a])
    }

    /// Index of a position in the coordinates of codes.
    pub(crate) fn number(&self, position: [i32; 3]) -> usize {
        let at: [usize; 3] =
            std::array::from_fn(|a| (position[a] - self.first_in_signal[a]) as usize);
        (at[0] * self.grid[1] + at[1]) * self.grid[2] + at[2]
    }

    /// Calls `visit` with every sample of an atom at this position that is in the domain: its index
    /// in the atom and in the domain.
    pub(crate) fn covered(&self, position: usize, mut visit: impl FnMut(usize, usize)) {
        let at = self.position(position);
        let [depth, height, width] = self.atom;
        for i in 0..depth * height * width {
            let offset = [i / (height * width), i / width % height, i % width];
            let sample: [i64; 3] =
                std::array::from_fn(|a| self.first[a] + (at[a] + offset[a]) as i64);
            if (0..3).all(|a| (0..self.domain[a] as i64).contains(&sample[a])) {
                visit(i, self.index(sample.map(|s| s as usize)));
            }
        }
    }

    /// Number of patches that cover every sample.
    pub(crate) fn cover(&self) -> Vec<f64> {
        let mut count = vec![0.0; self.samples()];
        (0..self.positions())
            .for_each(|position| self.covered(position, |_, sample| count[sample] += 1.0));
        count
    }
}
