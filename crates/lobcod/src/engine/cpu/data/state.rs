//! Saves and restores the state of a session.

use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::tile::{LocalCode, TileState};
use crate::engine::cpu::session::CpuSession;
use crate::engine::cpu::workers::team::Team;
use crate::engine::ranks::wire::{self, WireCode};
use crate::engine::{Share, State};
use crate::geometry::Point;
use crate::grid::Locator;
use crate::needles::Code;
use crate::real::Real;

/// Adjacent tiles, and the range of their codes among those of the plane.
struct Row<'a, T> {
    tiles: &'a [TileState<T>],
    codes: &'a mut [Code<T>],
}

/// Sort key: position, atom and channel as one number.
fn key<T>(code: &Code<T>) -> u128 {
    let [z, y, x] = code.position.map(|at| u128::from(at as u32 ^ (1 << 31)));
    (z << 96) | (y << 64) | (x << 32) | u128::from(code.atom << 16 | code.channel)
}

/// The codes of a plane, sorted by position and atom; its tiles are given in order.
fn gather_codes<T: Real>(
    team: &Team<T>,
    plane: &PlaneState<T>,
    tiles: &[TileState<T>],
) -> Vec<Code<T>> {
    let count = |tiles: &[TileState<T>]| tiles.iter().map(|state| state.codes.len()).sum::<usize>();
    let nothing = Code { position: [0; 3], atom: 0, channel: 0, value: T::ZERO };
    let mut all = vec![nothing; count(tiles)];
    let mut left = &mut all[..];
    let mut rows: Vec<Row<'_, T>> = Vec::new();
    // Rows of tiles are in the order of their codes.
    for tiles in tiles.chunk_by(|a, b| plane.grid.in_one_row(a.index, b.index)) {
        let (codes, rest) = left.split_at_mut(count(tiles));
        rows.push(Row { tiles, codes });
        left = rest;
    }
    team.each(
        &mut rows,
        |row| row.codes.len(),
        |row, _| {
            let codes = row
                .tiles
                .iter()
                .flat_map(|state| state.codes.iter().map(|code| plane.code(&state.tile, code)));
            row.codes.iter_mut().zip(codes).for_each(|(into, code)| *into = code);
            row.codes.sort_unstable_by_key(key);
        },
    );
    all
}

impl<T: Real> CpuSession<T> {
    /// Sorted codes and pending changes of the tiles of all ranks.
    pub fn gather_state(&self, share: Share) -> State<T> {
        let planes = 0..self.planes.len();
        let own = planes
            .clone()
            .map(|p| gather_codes(&self.team, &self.planes[p], self.tiles_of(p)))
            .collect();
        let mut state = State { codes: own, pending: vec![Vec::new(); planes.len()] };
        for tile in &self.tiles {
            let (number, pending) =
                (self.planes[tile.plane].whole_index(tile.index), &mut state.pending[tile.plane]);
            pending.resize(pending.len().max(number + 1), f64::INFINITY);
            pending[number] = self.changes.pending(tile);
        }
        if !self.exchange.is_alone() {
            self.join(&mut state, share);
        }
        state
    }

    /// Merges the state of the other ranks.
    fn join(&self, state: &mut State<T>, share: Share) {
        let mut message = Vec::new();
        for (plane, pending) in state.pending.iter_mut().enumerate() {
            wire::put_list(&mut message, pending);
            let codes = if share == Share::All {
                std::mem::take(&mut state.codes[plane])
            } else {
                Vec::new()
            };
            let codes = codes.iter().map(|code| WireCode {
                position: code.position.map(i64::from),
                value: code.value.to_f64(),
                atom: self.planes[plane].number(code),
                clipped: 0,
                plane: plane as u64,
            });
            wire::put_list(&mut message, &codes.collect::<Vec<_>>());
        }
        for part in self.exchange.gather(message) {
            let mut rest = &part[..];
            let states = state.codes.iter_mut().zip(&mut state.pending);
            for ((codes, pending), plane) in states.zip(&self.planes) {
                let theirs: Vec<f64> = wire::take_list(&mut rest);
                pending.resize(pending.len().max(theirs.len()), f64::INFINITY);
                // Unknown values are infinite.
                pending.iter_mut().zip(theirs).for_each(|(own, other)| *own = own.min(other));
                let each = plane.codes_of_atom as u32;
                codes.extend(wire::take_list::<WireCode>(&mut rest).iter().map(|code| Code {
                    position: code.position.map(|x| x as i32),
                    atom: code.atom / each,
                    channel: code.atom % each,
                    value: T::from_f64(code.value),
                }));
            }
        }
        state.codes.iter_mut().for_each(|codes| codes.sort_unstable_by_key(key));
    }

    /// Assigns codes to tiles; those of other ranks are ignored.
    pub fn place_codes(&mut self, given: &[Vec<Code<T>>]) {
        let Self { team, planes, tiles, atoms, .. } = self;
        let mut left = &mut tiles[..];
        for (p, plane) in planes.iter().enumerate() {
            let codes = given.get(p).map_or(&[][..], |codes| codes);
            let own =
                left.split_off_mut(..plane.grid.tiles.len()).expect("tiles are sorted by plane");
            let (order, starts) = by_tile(plane, codes);
            let mut places: Vec<_> = own
                .iter_mut()
                .zip(starts.windows(2).map(|pair| &order[pair[0]..pair[1]]))
                .collect();
            team.each(
                &mut places,
                |(_, placed)| placed.len() + 8,
                |(state, placed), _| {
                    state.candidates.clear();
                    state.codes.clear();
                    // All curvatures are unknown.
                    state.curvatures = atoms.version.wrapping_sub(1);
                    state.codes.extend(placed.iter().map(|&(number, offset)| {
                        let code: &Code<T> = &codes[number];
                        let clipped =
                            plane.is_clipped(plane.grid.to_domain(Point::from(code.position)));
                        LocalCode {
                            offset,
                            atom: plane.number(code) as u16,
                            clipped,
                            value: code.value,
                            curvature: T::ONE,
                        }
                    }));
                    state.sort(plane);
                },
            );
        }
    }
}

/// Indices and offsets of the codes tile by tile, and the start of each tile.
fn by_tile<T: Real>(plane: &PlaneState<T>, codes: &[Code<T>]) -> (Vec<(usize, u32)>, Vec<usize>) {
    let locator = Locator::new(&plane.grid);
    let places = || codes.iter().map(|code| locator.locate(Point::from(code.position)));
    let mut starts = vec![0; plane.grid.tiles.len() + 1];
    places().flatten().for_each(|(tile, _)| starts[tile + 1] += 1);
    (1..starts.len()).for_each(|tile| starts[tile] += starts[tile - 1]);
    let (mut next, mut order) = (starts.clone(), vec![(0, 0); starts[plane.grid.tiles.len()]]);
    for (number, place) in places().enumerate() {
        if let Some((tile, at)) = place {
            order[next[tile]] = (number, plane.layout.offset(at) as u32);
            next[tile] += 1;
        }
    }
    (order, starts)
}
