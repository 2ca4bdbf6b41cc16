//! Which tiles a tile must look out for.

use crate::parallel;
use lobcod::grid::Grid;

/// For every tile those whose footprints overlap its own: what [`Grid::neighbours`] lists, in another order, for there may be a million
/// tiles. Where those of each begin, counted from `start`, and all of them.
pub(crate) fn all_neighbours(grid: &Grid, first_tile: usize, start: usize) -> (Vec<i32>, Vec<i32>) {
    let counts = grid.tile_counts;
    // Places along an axis, the tile's own among them, each once.
    let along: [Vec<Vec<usize>>; 3] = std::array::from_fn(|axis| {
        let count = counts[axis];
        let near = |at: usize| {
            let around = if grid.periodic[axis] {
                [at + count - 1, at, at + 1].map(|place| Some(place % count))
            } else {
                [at.checked_sub(1), Some(at), Some(at + 1).filter(|&place| place < count)]
            };
            let mut places: Vec<usize> = Vec::with_capacity(3);
            around.into_iter().flatten().for_each(|place| {
                if !places.contains(&place) {
                    places.push(place);
                }
            });
            places
        };
        (0..count).map(near).collect()
    });
    let place = |index: usize| [index / (counts[1] * counts[2]), index / counts[2] % counts[1], index % counts[2]];
    let mut at = Vec::with_capacity(grid.tiles.len() + 1);
    at.push(start as i32);
    for index in 0..grid.tiles.len() {
        let place = place(index);
        at.push(at[index] + (0..3).map(|a| along[a][place[a]].len() as i32).product::<i32>() - 1);
    }
    let mut near = vec![0; (at[grid.tiles.len()] - at[0]) as usize];
    parallel::groups(&mut near, &at, |tiles, part| {
        let mut into = part.iter_mut();
        for index in tiles {
            let [z, y, x] = place(index);
            for &z in &along[0][z] {
                for &y in &along[1][y] {
                    for near in along[2][x].iter().map(|x| (z * counts[1] + y) * counts[2] + x).filter(|&near| near != index) {
                        *into.next().expect("as many as were counted") = (first_tile + near) as i32;
                    }
                }
            }
        }
    });
    (at, near)
}
