//! What a session keeps of the samples and maps it is given.

use crate::grid::{Frame, Grid};
use std::ops::Range;

/// The way from the samples of a signal to those of the tiles that are worked on.
pub(super) struct Cut<'a> {
    /// All tiles.
    pub(super) frame: &'a Frame,
    /// Those worked on.
    pub(super) grid: &'a Grid,
    /// The box of the signal that is given; `None`: all.
    pub(super) held: Option<&'a [Range<i64>; 3]>,
    /// Size of the signal.
    pub(super) signal: [usize; 3],
}

impl Cut<'_> {
    /// Samples of the domain from those given, channel after channel; `with` around the signal.
    pub(super) fn samples<T: Copy>(&self, data: Vec<T>, with: T) -> Vec<T> {
        let (grid, signal) = (self.grid, self.signal);
        if self.held.is_none() && grid.domain == signal && grid.start == [0; 3] {
            return data;
        }
        let all = signal.map(|length| 0..length as i64);
        let held = self.held.unwrap_or(&all);
        let size = held.each_ref().map(|range| (range.end - range.start) as usize);
        let volume = size.iter().product::<usize>();
        let channels = data.len().checked_div(volume).unwrap_or(0);
        let mut out = Vec::with_capacity(channels * grid.domain.iter().product::<usize>());
        // Where sample `i` of the domain lies in the box; `None`: outside the signal.
        let place = |axis: usize, i: usize| {
            let (at, length) = (grid.start[axis] + i as i64 - grid.signal_at[axis] as i64, signal[axis] as i64);
            if self.frame.periodic {
                Some((at - held[axis].start).rem_euclid(length) as usize)
            } else {
                (0..length).contains(&at).then(|| (at - held[axis].start) as usize)
            }
        };
        let along: Vec<Option<usize>> = (0..grid.domain[2]).map(|x| place(2, x)).collect();
        for c in 0..channels {
            for z in (0..grid.domain[0]).map(|z| place(0, z)) {
                for y in (0..grid.domain[1]).map(|y| place(1, y)) {
                    let (Some(z), Some(y)) = (z, y) else {
                        out.resize(out.len() + along.len(), with);
                        continue;
                    };
                    let row = &data[((c * size[0] + z) * size[1] + y) * size[2]..][..size[2]];
                    out.extend(along.iter().map(|x| x.map_or(with, |x| row[x])));
                }
            }
        }
        out
    }

    /// Values at the positions of the tiles, from those of all positions.
    pub(super) fn positions<T: Copy>(&self, data: Vec<T>) -> Vec<T> {
        let (own, all) = (self.grid.positions, self.frame.positions);
        if own == all {
            return data;
        }
        let first: [usize; 3] = std::array::from_fn(|a| (self.grid.start[a] + self.grid.first[a] - self.frame.first[a]) as usize);
        let mut out = Vec::with_capacity(own.iter().product());
        for z in first[0]..first[0] + own[0] {
            for y in first[1]..first[1] + own[1] {
                let row = (z * all[1] + y) * all[2] + first[2];
                out.extend_from_slice(&data[row..row + own[2]]);
            }
        }
        out
    }
}
