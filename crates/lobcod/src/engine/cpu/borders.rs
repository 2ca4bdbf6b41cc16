//! The residual of a plane as ranks pass it on.

use super::plane::PlaneState;
use crate::engine::Part;
use crate::engine::ranks::Strip;
use crate::real::Real;

impl<T: Real> PlaneState<T> {
    /// Calls `f` for the rows of a strip of the residual, channel after channel.
    pub(super) fn each_row_of(&mut self, strip: &Strip, mut f: impl FnMut(&mut [T])) {
        let part = std::array::from_fn(|a| strip.at[a]..strip.at[a] + strip.size[a]);
        let mut rows = Vec::with_capacity(self.channels * strip.size[0] * strip.size[1]);
        self.for_rows(&part, |start, length| rows.push(start..start + length));
        let residual = self.residual.as_mut_slice();
        rows.into_iter().for_each(|row| f(&mut residual[row]));
    }

    /// The box of samples counted with this block, in samples of the signal, and their residual, as a message.
    pub(super) fn own_residual(&self) -> Vec<u8> {
        let part: Part = std::array::from_fn(|a| {
            // The padding of the zero border is no part of the signal.
            let signal = (self.grid.signal_at[a] as i64 - self.grid.start[a]).max(0) as usize;
            let end = (self.grid.signal_at[a] as i64 + self.signal[a] as i64 - self.grid.start[a]).max(0) as usize;
            signal.min(self.grid.own_end[a])..end.min(self.grid.own_end[a])
        });
        let mut bytes = Vec::new();
        for (a, range) in part.iter().enumerate() {
            bytes.extend((range.start as i64 + self.grid.start[a] - self.grid.signal_at[a] as i64).to_le_bytes());
            bytes.extend((range.len() as i64).to_le_bytes());
        }
        self.for_rows(&part, |start, length| {
            // SAFETY: `&self` of a session that is not at work: nobody writes.
            T::append_bytes(unsafe { self.residual.view(start..start + length) }, &mut bytes);
        });
        bytes
    }

    /// The residual over the whole signal from the messages of all ranks.
    pub(super) fn join_residual(&self, parts: &[Vec<u8>]) -> Vec<T> {
        let size = self.signal;
        let mut out = vec![T::ZERO; self.channels * size.iter().product::<usize>()];
        for part in parts {
            let (head, mut rest) = part.split_at(48);
            let number = |i: usize| i64::from_le_bytes(head[8 * i..8 * i + 8].try_into().expect("eight bytes")) as usize;
            let (at, length) = ([number(0), number(2), number(4)], [number(1), number(3), number(5)]);
            for row in 0..self.channels * length.iter().take(2).product::<usize>() {
                let (c, z, y) = (row / (length[0] * length[1]), row / length[1] % length[0], row % length[1]);
                let start = ((c * size[0] + at[0] + z) * size[1] + at[1] + y) * size[2] + at[2];
                T::take_bytes(&mut rest, &mut out[start..start + length[2]]);
            }
        }
        out
    }
}
