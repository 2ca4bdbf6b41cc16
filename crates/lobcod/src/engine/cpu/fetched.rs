//! The state of a session as it leaves it and comes back.

use super::gather::gather_codes;
use super::plane::PlaneState;
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
    pub(super) fn place_codes(&mut self, given: &[Vec<Code<T>>]) {
        let Self { team, planes, tiles, .. } = self;
        let mut left = &mut tiles[..];
        for (p, plane) in planes.iter().enumerate() {
            let codes = given.get(p).map_or(&[][..], |codes| codes);
            let own = left.split_off_mut(..plane.grid.tiles.len()).expect("tiles stand in the order of planes");
            let (order, starts) = by_tile(plane, codes);
            let mut places: Vec<_> = own.iter_mut().zip(starts.windows(2).map(|pair| &order[pair[0]..pair[1]])).collect();
            team.each(
                &mut places,
                |(_, numbers)| numbers.len() + 8,
                |(state, numbers), _| {
                    state.codes.clear();
                    state.candidates.clear();
                    state.curvature_holds = false;
                    let origin = state.tile.origin;
                    state.codes.extend(numbers.iter().map(|&number| {
                        let code = &codes[number];
                        let at = plane.in_domain(code.position);
                        let offset = plane.layout.offset(std::array::from_fn(|a| (at[a] - origin[a]) as usize)) as u32;
                        LocalCode { offset, atom: code.atom as u16, cut: false, value: code.value, curvature: T::ONE }
                    }));
                    state.sort(&plane.grid, &plane.layout);
                },
            );
        }
    }
}

/// Numbers of the codes tile by tile, and where those of every tile begin.
fn by_tile<T: Real>(plane: &PlaneState<T>, codes: &[Code<T>]) -> (Vec<usize>, Vec<usize>) {
    let grid = &plane.grid;
    // Where the tiles begin along every axis.
    let begins: [Vec<i64>; 3] = std::array::from_fn(|a| {
        let mut begins: Vec<i64> = grid.tiles.iter().map(|t| t.origin[a]).collect();
        begins.sort_unstable();
        begins.dedup();
        begins
    });
    let mut cell = [0; 3];
    let mut tile_of = |code: &Code<T>| {
        let at = plane.in_domain(code.position);
        if !(0..3).all(|a| (grid.first[a]..grid.first[a] + grid.positions[a] as i64).contains(&at[a])) {
            return None;
        }
        for (cell, (begins, at)) in cell.iter_mut().zip(begins.iter().zip(at)) {
            // Neighbours in the list are mostly neighbours in the plane.
            if begins[*cell] > at || begins.get(*cell + 1).is_some_and(|&next| next <= at) {
                *cell = begins.partition_point(|&begin| begin <= at) - 1;
            }
        }
        Some((cell[0] * begins[1].len() + cell[1]) * begins[2].len() + cell[2])
    };
    let mut starts = vec![0; grid.tiles.len() + 1];
    codes.iter().filter_map(&mut tile_of).for_each(|tile| starts[tile + 1] += 1);
    (1..starts.len()).for_each(|tile| starts[tile] += starts[tile - 1]);
    let (mut next, mut order) = (starts.clone(), vec![0; starts[grid.tiles.len()]]);
    for (number, code) in codes.iter().enumerate() {
        if let Some(tile) = tile_of(code) {
            order[next[tile]] = number;
            next[tile] += 1;
        }
    }
    (order, starts)
}
