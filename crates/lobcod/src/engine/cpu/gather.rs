//! The codes of all tiles as codes of the signal.

use super::plane::PlaneState;
use super::team::Team;
use super::tile::TileState;
use crate::needles::Code;
use crate::real::Real;

/// Tiles side by side, and the place of their codes among those of the plane.
struct Row<'a, T> {
    tiles: &'a [TileState<T>],
    codes: &'a mut [Code<T>],
}

/// Position and atom of a code as one number in their order, which is quicker to compare.
fn place<T>(code: &Code<T>) -> u128 {
    let [z, y, x] = code.position.map(|at| u128::from(at as u32 ^ (1 << 31)));
    (z << 96) | (y << 64) | (x << 32) | u128::from(code.atom)
}

/// The codes of a plane, sorted by position and atom; its tiles are given in order.
pub(super) fn gather_codes<T: Real>(team: &Team<T>, plane: &PlaneState<T>, tiles: &[TileState<T>]) -> Vec<Code<T>> {
    let count = |tiles: &[TileState<T>]| tiles.iter().map(|state| state.codes.len()).sum::<usize>();
    let nothing = Code { position: [0; 3], atom: 0, channel: 0, value: T::ZERO };
    let mut all = vec![nothing; count(tiles)];
    let mut left = &mut all[..];
    let mut rows: Vec<Row<'_, T>> = Vec::new();
    // On the first axis that is cut, the codes of one row of tiles come before those of the next.
    for tiles in tiles.chunk_by(|a, b| plane.grid.in_one_row(a.index, b.index)) {
        let (codes, rest) = left.split_at_mut(count(tiles));
        rows.push(Row { tiles, codes });
        left = rest;
    }
    team.each(
        &mut rows,
        |row| row.codes.len(),
        |row, _| {
            let codes = row.tiles.iter().flat_map(|state| state.codes.iter().map(|code| plane.code(&state.tile, code)));
            row.codes.iter_mut().zip(codes).for_each(|(into, code)| *into = code);
            row.codes.sort_unstable_by_key(place);
        },
    );
    all
}
