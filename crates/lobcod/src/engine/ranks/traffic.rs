//! What a rank and its neighbours tell each other after every colour.

use super::blocks::Blocks;
use crate::grid::{Frame, TileRange};
use std::collections::{BTreeMap, HashMap};

/// A box of samples of the domain of a rank's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Number of the plane.
    pub plane: usize,
    /// First sample.
    pub at: [usize; 3],
    /// Samples along each axis.
    pub size: [usize; 3],
}

impl Strip {
    /// Number of samples.
    pub fn volume(&self) -> usize {
        self.size.iter().product()
    }
}

/// What goes to and comes from a neighbour after a colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parcel {
    /// Samples of which the new residual is sent.
    pub send: Vec<Strip>,
    /// Own tiles whose counters are sent.
    pub tell: Vec<u32>,
    /// Samples of which it is received.
    pub receive: Vec<Strip>,
    /// Slots of the neighbour's tiles whose counters are received.
    pub hear: Vec<u32>,
}

/// A rank that has tiles beside our own.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Its number.
    pub rank: usize,
    /// What is exchanged after every colour.
    pub colours: Vec<Parcel>,
}

/// All exchanges of one rank.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// The neighbours.
    pub neighbours: Vec<Neighbour>,
    /// For every own tile (those of all planes, in order) the slots of the tiles around it, in the order of the whole grid: own tiles
    /// have their number as slot, those of others the numbers behind.
    pub around: Vec<Vec<u32>>,
    /// Number of slots.
    pub slots: usize,
}

impl Traffic {
    /// The exchanges of a rank.
    pub fn new(planes: &[Blocks], rank: usize) -> Self {
        let mut first = Vec::new();
        let mut own_tiles = 0;
        for blocks in planes {
            first.push(own_tiles);
            own_tiles += blocks.of(rank).iter().map(|range| range.len()).product::<usize>();
        }
        let mut traffic = Self { slots: own_tiles, ..Self::default() };
        let mut foreign: HashMap<(usize, usize), u32> = HashMap::new();
        let colours = planes.iter().map(|blocks| blocks.frame().colours()).max().unwrap_or(1);
        let mut ranks: BTreeMap<usize, Vec<Parcel>> = BTreeMap::new();
        for (p, blocks) in planes.iter().enumerate() {
            let (frame, own) = (blocks.frame(), blocks.of(rank));
            for at in tiles_of(&own) {
                let around = frame.neighbours(at).into_iter().map(|near| match inside(&own, near) {
                    Some(index) => (first[p] + index) as u32,
                    None => *foreign.entry((p, frame.number(near))).or_insert_with(|| {
                        ranks.entry(blocks.owner(near)).or_insert_with(|| vec![Parcel::default(); colours]);
                        traffic.slots += 1;
                        traffic.slots as u32 - 1
                    }),
                });
                traffic.around.push(around.collect());
            }
        }
        for (&other, parcels) in &mut ranks {
            for (p, blocks) in planes.iter().enumerate() {
                let (frame, own, theirs) = (blocks.frame(), blocks.of(rank), blocks.of(other));
                if own[0].is_empty() || theirs[0].is_empty() {
                    continue;
                }
                for crossing in crossings(frame, &own, &theirs) {
                    let parcel = &mut parcels[frame.tile(crossing.tile).colour];
                    parcel.tell.push((first[p] + inside(&own, crossing.tile).expect("an own tile")) as u32);
                    parcel.send.extend(crossing.boxes.iter().map(|b| Strip { plane: p, at: b.from, size: b.size }));
                }
                for crossing in crossings(frame, &theirs, &own) {
                    let parcel = &mut parcels[frame.tile(crossing.tile).colour];
                    parcel.hear.push(foreign[&(p, frame.number(crossing.tile))]);
                    parcel.receive.extend(crossing.boxes.iter().map(|b| Strip { plane: p, at: b.to, size: b.size }));
                }
            }
        }
        traffic.neighbours = ranks.into_iter().map(|(rank, colours)| Neighbour { rank, colours }).collect();
        traffic
    }

    /// Does a tile have a neighbour of another rank?
    pub fn is_at_border(&self, tile: usize) -> bool {
        self.around[tile].iter().any(|&slot| slot as usize >= self.around.len())
    }

    /// Samples of one channel sent in a sweep.
    pub fn samples_sent(&self) -> usize {
        self.neighbours.iter().flat_map(|n| &n.colours).flat_map(|parcel| &parcel.send).map(Strip::volume).sum()
    }
}

/// The tiles of a range, in order.
fn tiles_of(range: &TileRange) -> impl Iterator<Item = [usize; 3]> + '_ {
    let [z, y, x] = range.clone();
    z.flat_map(move |z| y.clone().map(move |y| (z, y))).flat_map(move |(z, y)| x.clone().map(move |x| [z, y, x]))
}

/// Number of a tile in a range, if it is in it.
fn inside(range: &TileRange, tile: [usize; 3]) -> Option<usize> {
    let at: [usize; 3] = std::array::from_fn(|a| tile[a].wrapping_sub(range[a].start));
    (0..3).all(|a| at[a] < range[a].len()).then(|| (at[0] * range[1].len() + at[1]) * range[2].len() + at[2])
}

/// A tile of one block beside another block, and the samples of both that it touches.
struct Crossing {
    tile: [usize; 3],
    boxes: Vec<Shared>,
}

/// Samples that two blocks keep: where they begin in either domain.
struct Shared {
    from: [usize; 3],
    to: [usize; 3],
    size: [usize; 3],
}

/// The tiles of `from` that have neighbours in `to`, in order.
fn crossings(frame: &Frame, from: &TileRange, to: &TileRange) -> Vec<Crossing> {
    let counts = frame.tile_counts();
    let near: [Vec<usize>; 3] = std::array::from_fn(|a| {
        let beside = |tile: usize| {
            (0..3).any(|step| {
                let place = tile + counts[a] + step - 1;
                let inside = frame.periodic || (counts[a]..2 * counts[a]).contains(&place);
                inside && to[a].contains(&(place % counts[a]))
            })
        };
        from[a].clone().filter(|&tile| beside(tile)).collect()
    });
    let axes: [Vec<Vec<AxisShared>>; 3] =
        std::array::from_fn(|a| near[a].iter().map(|&tile| shared_along(frame, a, tile, from, to)).collect());
    let mut found = Vec::new();
    for (z, tz) in near[0].iter().enumerate() {
        for (y, ty) in near[1].iter().enumerate() {
            for (x, tx) in near[2].iter().enumerate() {
                let mut boxes = Vec::new();
                for sz in &axes[0][z] {
                    for sy in &axes[1][y] {
                        for sx in &axes[2][x] {
                            let s = [sz, sy, sx];
                            boxes.push(Shared { from: s.map(|s| s.from), to: s.map(|s| s.to), size: s.map(|s| s.length) });
                        }
                    }
                }
                found.push(Crossing { tile: [*tz, *ty, *tx], boxes });
            }
        }
    }
    found
}

/// Samples along an axis that two blocks keep.
struct AxisShared {
    from: usize,
    to: usize,
    length: usize,
}

/// The samples along an axis that a tile of `from` touches and `to` keeps too.
fn shared_along(frame: &Frame, axis: usize, tile: usize, from: &TileRange, to: &TileRange) -> Vec<AxisShared> {
    let length = frame.domain[axis] as i64;
    let mut at = [0; 3];
    at[axis] = tile;
    let tile = frame.tile(at);
    let (start, end) = (tile.origin[axis], tile.origin[axis] + (tile.size[axis] + frame.atom[axis]) as i64 - 1);
    let whole = from[axis] == (0..frame.tile_counts()[axis]);
    if whole && frame.periodic {
        // Both keep the whole axis, and the tile may reach around the corner.
        let wrapped = (end - length).clamp(0, start);
        let runs = [(0, wrapped), (start, end.min(length))];
        let runs = runs.into_iter().filter(|(start, end)| start < end);
        return runs
            .map(|(start, end)| AxisShared { from: start as usize, to: start as usize, length: (end - start) as usize })
            .collect();
    }
    let (mine, theirs) = (frame.footprint(from)[axis].clone(), frame.footprint(to)[axis].clone());
    let turns = if frame.periodic { -1..2 } else { 0..1 };
    let shared = turns.filter_map(|turn| {
        let first = start.max(mine.start).max(theirs.start + turn * length);
        let last = end.min(mine.end).min(theirs.end + turn * length);
        let (from, to) = ((first - mine.start) as usize, (first - turn * length - theirs.start) as usize);
        (first < last).then(|| AxisShared { from, to, length: (last - first) as usize })
    });
    shared.collect()
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
