//! The global dictionary as a dense matrix, built from its definition.

use lobcod::{Border, Dictionary, Extent, Real};

/// The samples with a data term and the positions with a needle, for a border condition.
#[derive(Clone, Debug)]
pub struct Domain {
    border: Border,
    signal: [usize; 3],
    atom: [usize; 3],
}

impl Domain {
    /// The domain for a signal and atoms of these sizes.
    pub fn new(border: Border, signal: Extent, atom: Extent) -> Self {
        Self { border, signal: signal.padded(), atom: atom.padded() }
    }

    /// Every position with a needle, last axis fastest.
    pub fn positions(&self) -> Vec<[i32; 3]> {
        let range = |axis: usize| {
            let (length, overlap) = (self.signal[axis] as i32, self.atom[axis] as i32 - 1);
            match self.border {
                Border::Free | Border::Zero => -overlap..length,
                Border::Periodic => 0..length,
                Border::Inside => 0..length - overlap,
            }
        };
        let mut positions = Vec::new();
        for z in range(0) {
            for y in range(1) {
                positions.extend(range(2).map(|x| [z, y, x]));
            }
        }
        positions
    }

    /// Zeros with a data term before and after the signal along each axis.
    fn padding(&self) -> [usize; 3] {
        if self.border == Border::Zero { self.atom.map(|h| h - 1) } else { [0; 3] }
    }

    /// Number of rows of one channel.
    pub fn rows(&self) -> usize {
        let padding = self.padding();
        (0..3).map(|a| self.signal[a] + 2 * padding[a]).product()
    }

    /// Row of a sample of the signal, given by its coordinates; `None` if it is not observed.
    pub fn row(&self, sample: [i32; 3]) -> Option<usize> {
        let padding = self.padding();
        let mut row = 0;
        for a in 0..3 {
            let length = (self.signal[a] + 2 * padding[a]) as i32;
            let shifted = sample[a] + padding[a] as i32;
            let inside =
                if self.border == Border::Periodic { shifted.rem_euclid(length) } else { shifted };
            if !(0..length).contains(&inside) {
                return None;
            }
            row = row * length as usize + inside as usize;
        }
        Some(row)
    }

    /// Index of the sample nearest to the centre of the patch at a position (offset `h / 2`).
    pub fn centre(&self, position: [i32; 3]) -> usize {
        (0..3).fold(0, |index, a| {
            let centre = position[a] + (self.atom[a] / 2) as i32;
            let last = self.signal[a] as i32 - 1;
            let sample = if self.border == Border::Periodic {
                centre.rem_euclid(last + 1)
            } else {
                centre.clamp(0, last)
            };
            index * self.signal[a] + sample as usize
        })
    }

    /// Row of every sample of the signal, in the order a signal stores them.
    pub fn signal_rows(&self) -> Vec<usize> {
        let [depth, height, width] = self.signal.map(|l| l as i32);
        let mut rows = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                rows.extend(
                    (0..width)
                        .map(|x| self.row([z, y, x]).expect("samples of the signal are observed")),
                );
            }
        }
        rows
    }
}

/// The global dictionary of one plane, by column: position by position, and atom by atom at each.
#[derive(Clone, Debug)]
pub struct GlobalDictionary {
    rows: usize,
    data: Vec<f64>,
}

impl GlobalDictionary {
    /// Every atom placed at every position, pixel by pixel.
    pub fn new<T: Real>(domain: &Domain, dictionary: &Dictionary<T>) -> Self {
        let per_channel = domain.rows();
        let rows = per_channel * dictionary.channels();
        let positions = domain.positions();
        let mut data = vec![0.0; positions.len() * dictionary.len() * rows];
        let [depth, height, width] = dictionary.extent().padded();
        let mut columns = data.chunks_exact_mut(rows);
        for position in positions {
            for k in 0..dictionary.len() {
                let column = columns.next().expect("one column per position and atom");
                for (i, value) in dictionary.atom(k).iter().enumerate() {
                    let offset = [i / (height * width) % depth, i / width % height, i % width];
                    let sample = std::array::from_fn(|a| position[a] + offset[a] as i32);
                    if let Some(row) = domain.row(sample) {
                        column[i / (depth * height * width) * per_channel + row] += value.to_f64();
                    }
                }
            }
        }
        Self { rows, data }
    }

    /// The same matrix with every row multiplied by its weight.
    pub fn weighted(&self, weights: &[f64]) -> Self {
        let data = self.data.iter().enumerate().map(|(i, x)| x * weights[i % self.rows]).collect();
        Self { rows: self.rows, data }
    }

    /// The same matrix with every column changed.
    pub fn changed(mut self, change: impl Fn(&mut [f64])) -> Self {
        self.data.chunks_exact_mut(self.rows).for_each(change);
        self
    }

    /// The same matrix for every channel, without connections between them.
    pub fn of_channels(&self, channels: usize) -> Self {
        let mut data = Vec::with_capacity(self.data.len() * channels * channels);
        for channel in 0..channels {
            for column in self.data.chunks_exact(self.rows) {
                let start = data.len();
                data.resize(start + channels * self.rows, 0.0);
                data[start + channel * self.rows..][..self.rows].copy_from_slice(column);
            }
        }
        Self { rows: channels * self.rows, data }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.data.len() / self.rows
    }

    /// One column.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Matrix times codes.
    pub fn times(&self, codes: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.rows];
        for (j, &code) in codes.iter().enumerate().filter(|(_, code)| **code != 0.0) {
            sum.iter_mut().zip(self.column(j)).for_each(|(s, x)| *s += code * x);
        }
        sum
    }

    /// Transposed matrix times rows.
    pub fn transposed_times(&self, rows: &[f64]) -> Vec<f64> {
        self.data.chunks_exact(self.rows).map(|column| dot(column, rows)).collect()
    }
}

/// Inner product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
