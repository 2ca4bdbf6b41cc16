//! The state of a session as it leaves it and comes back.

use super::gather::gather_codes;
use super::session::CpuSession;
use super::tile::LocalCode;
use crate::engine::State;
use crate::needles::Code;
use crate::real::Real;

/// What a session knows of its own tiles.
pub(super) struct OwnState<T> {
    /// The codes of every plane.
    pub(super) codes: Vec<Vec<Code<T>>>,
    /// Numbers of the tiles of every plane in its whole grid, and the changes pending around them.
    pub(super) pending: Vec<Vec<(usize, f64)>>,
}

impl<T: Real> OwnState<T> {
    /// The state as a message.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (codes, pending) in self.codes.iter().zip(&self.pending) {
            bytes.extend((codes.len() as u64).to_le_bytes());
            for code in codes {
                code.position.iter().for_each(|p| bytes.extend(p.to_le_bytes()));
                bytes.extend(code.atom.to_le_bytes());
                T::append_bytes(&[code.value], &mut bytes);
            }
            bytes.extend((pending.len() as u64).to_le_bytes());
            for (tile, pending) in pending {
                bytes.extend((*tile as u64).to_le_bytes());
                bytes.extend(pending.to_le_bytes());
            }
        }
        bytes
    }

    /// The whole state from the messages of all ranks.
    pub(super) fn join(parts: &[Vec<u8>], planes: usize) -> State<T> {
        let mut state = State { codes: vec![Vec::new(); planes], pending: vec![Vec::new(); planes] };
        for part in parts {
            let mut rest = &part[..];
            for (codes, pending) in state.codes.iter_mut().zip(&mut state.pending) {
                for _ in 0..u64::from_le_bytes(take(&mut rest)) {
                    let position = std::array::from_fn(|_| i32::from_le_bytes(take(&mut rest)));
                    let atom = u32::from_le_bytes(take(&mut rest));
                    let mut value = [T::ZERO];
                    T::take_bytes(&mut rest, &mut value);
                    codes.push(Code { position, atom, channel: 0, value: value[0] });
                }
                for _ in 0..u64::from_le_bytes(take(&mut rest)) {
                    let tile = u64::from_le_bytes(take(&mut rest)) as usize;
                    pending.resize(pending.len().max(tile + 1), f64::INFINITY);
                    pending[tile] = f64::from_le_bytes(take(&mut rest));
                }
            }
        }
        state.codes.iter_mut().for_each(|codes| codes.sort_unstable_by_key(|code| (code.position, code.atom)));
        state
    }
}

/// Takes bytes from the front of a message.
fn take<const N: usize>(from: &mut &[u8]) -> [u8; N] {
    let (bytes, rest) = from.split_first_chunk().expect("a message is whole");
    *from = rest;
    *bytes
}

impl<T: Real> CpuSession<T> {
    /// Codes of the session's own tiles, sorted, and what is pending around them.
    pub(super) fn own_state(&self) -> OwnState<T> {
        let planes = 0..self.planes.len();
        let codes = planes.clone().map(|p| gather_codes(&self.team, &self.planes[p], self.tiles_of(p))).collect();
        let pending = planes.map(|p| {
            let tiles = self.tiles_of(p).iter();
            tiles.map(|state| (self.planes[p].whole_index(state.index), self.changes.pending(state))).collect()
        });
        OwnState { codes, pending: pending.collect() }
    }

    /// Gives every tile its codes of those given; codes at positions of no tile are another rank's.
    pub(super) fn place_codes(&mut self, planes: &[Vec<Code<T>>]) {
        for state in self.tiles.iter_mut() {
            state.codes.clear();
            state.candidates.clear();
            state.curvature_holds = false;
        }
        for (p, codes) in planes.iter().enumerate() {
            let plane = &self.planes[p];
            let mut sorted: Vec<(usize, LocalCode<T>)> = Vec::with_capacity(codes.len());
            // Where the tiles begin along every axis, to find the tile of a position.
            let starts: [Vec<i64>; 3] = std::array::from_fn(|a| {
                let mut s: Vec<i64> = plane.grid.tiles.iter().map(|t| t.origin[a]).collect();
                s.sort_unstable();
                s.dedup();
                s
            });
            let (grid, first) = (&plane.grid, plane.grid.first);
            for code in codes {
                let at: [i64; 3] =
                    std::array::from_fn(|a| i64::from(code.position[a]) + grid.signal_at[a] as i64 - grid.start[a]);
                if !(0..3).all(|a| (first[a]..first[a] + grid.positions[a] as i64).contains(&at[a])) {
                    continue;
                }
                let cell: [usize; 3] = std::array::from_fn(|a| starts[a].partition_point(|&s| s <= at[a]) - 1);
                let tile = (cell[0] * starts[1].len() + cell[1]) * starts[2].len() + cell[2];
                let local = std::array::from_fn(|a| (at[a] - starts[a][cell[a]]) as usize);
                let offset = plane.layout.offset(local) as u32;
                let atom = code.atom as u16;
                sorted.push((tile, LocalCode { offset, atom, cut: false, value: code.value, curvature: T::ONE }));
            }
            sorted.sort_by_key(|(tile, _)| *tile);
            let mut rest = &sorted[..];
            for state in self.tiles.iter_mut().filter(|state| state.plane == p) {
                let (own, behind) = rest.split_at(rest.partition_point(|(tile, _)| *tile <= state.index));
                state.codes.extend(own.iter().map(|(_, code)| *code));
                state.sort(&plane.grid, &plane.layout);
                rest = behind;
            }
        }
    }
}
