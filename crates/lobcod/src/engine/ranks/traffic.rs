//! Messages between a rank and its neighbours after every colour.

use super::blocks::Blocks;
use crate::geometry::{self, InDomain, Point, Region};
use crate::grid::{TileRange, Tiling};
use std::array::from_fn;
use std::collections::{BTreeMap, HashMap};

/// Samples of the residual of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BorderSamples {
    /// Index of the plane.
    pub plane: usize,
    /// The samples.
    pub region: Region<InDomain>,
}

/// Data exchanged with a neighbour after a colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct Parcel {
    /// Samples whose residual is sent.
    pub send: Vec<BorderSamples>,
    /// Own tiles whose counters are sent.
    pub send_counters: Vec<u32>,
    /// Samples whose residual is received.
    pub receive: Vec<BorderSamples>,
    /// Slots of the neighbour's tiles whose counters are received.
    pub receive_counters: Vec<u32>,
}

/// A rank with tiles adjacent to our own.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Its rank.
    pub rank: usize,
    /// The data exchanged after every colour.
    pub colours: Vec<Parcel>,
}

/// All exchanges of one rank.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// The neighbours.
    pub neighbours: Vec<Neighbour>,
    /// Slots of the neighbours of every own tile, over all planes. Own tiles use their index as
    /// slot, those of other ranks follow.
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
            own_tiles += tiles_of(&blocks.of(rank)).count();
        }
        let mut traffic = Self { slots: own_tiles, ..Self::default() };
        let mut foreign: HashMap<(usize, usize), u32> = HashMap::new();
        let colours = planes.iter().map(|blocks| blocks.tiling().colours()).max().unwrap_or(1);
        let mut ranks: BTreeMap<usize, Vec<Parcel>> = BTreeMap::new();
        for (p, blocks) in planes.iter().enumerate() {
            let (tiling, own) = (blocks.tiling(), blocks.of(rank));
            for at in tiles_of(&own) {
                let around = tiling.neighbours(at).map(|near| match inside(&own, near) {
                    Some(index) => (first[p] + index) as u32,
                    None => *foreign.entry((p, tiling.number(near))).or_insert_with(|| {
                        ranks
                            .entry(blocks.owner(near))
                            .or_insert_with(|| vec![Parcel::default(); colours]);
                        traffic.slots += 1;
                        traffic.slots as u32 - 1
                    }),
                });
                traffic.around.push(around.collect());
            }
        }
        for (&other, parcels) in &mut ranks {
            for (p, blocks) in planes.iter().enumerate() {
                let tiling = blocks.tiling();
                let own = blocks.of(rank);
                let theirs = blocks.of(other);
                if own[0].is_empty() || theirs[0].is_empty() {
                    continue;
                }
                for crossing in crossings(tiling, &own, &theirs) {
                    let parcel = &mut parcels[tiling.colour(crossing.tile)];
                    parcel.send_counters.push(
                        (first[p]
                            + inside(&own, crossing.tile).expect("the tile belongs to this rank"))
                            as u32,
                    );
                    parcel.send.extend(
                        crossing.boxes.iter().map(|b| BorderSamples { plane: p, region: b.from }),
                    );
                }
                for crossing in crossings(tiling, &theirs, &own) {
                    let parcel = &mut parcels[tiling.colour(crossing.tile)];
                    parcel.receive_counters.push(foreign[&(p, tiling.number(crossing.tile))]);
                    parcel.receive.extend(
                        crossing.boxes.iter().map(|b| BorderSamples { plane: p, region: b.to }),
                    );
                }
            }
        }
        traffic.neighbours =
            ranks.into_iter().map(|(rank, colours)| Neighbour { rank, colours }).collect();
        traffic
    }

    /// Whether a tile has a neighbour on another rank.
    pub fn is_at_border(&self, tile: usize) -> bool {
        self.around[tile].iter().any(|&slot| slot as usize >= self.around.len())
    }
}

/// The tiles of a range, in order.
fn tiles_of(range: &TileRange) -> impl Iterator<Item = [usize; 3]> + '_ {
    geometry::cells(range.each_ref().map(|range| range.len()))
        .map(|at| from_fn(|a| range[a].start + at[a]))
}

/// Index of a tile in a range, if it is inside.
fn inside(range: &TileRange, tile: [usize; 3]) -> Option<usize> {
    let at: [usize; 3] = from_fn(|a| tile[a].wrapping_sub(range[a].start));
    (0..3)
        .all(|a| at[a] < range[a].len())
        .then(|| geometry::index(at, range.each_ref().map(|range| range.len())))
}

/// A tile of one block adjacent to another block, and the samples of both that it touches.
struct Crossing {
    tile: [usize; 3],
    boxes: Vec<Shared>,
}

/// Samples stored by two blocks, in the domain of either.
struct Shared {
    from: Region<InDomain>,
    to: Region<InDomain>,
}

/// The tiles of `from` that have neighbours in `to`, in order.
fn crossings(tiling: &Tiling, from: &TileRange, to: &TileRange) -> Vec<Crossing> {
    let counts = tiling.tile_counts();
    let near: [Vec<usize>; 3] = from_fn(|a| {
        let adjacent = |tile: usize| {
            (0..3).any(|step| {
                let place = tile + counts[a] + step - 1;
                let inside = tiling.periodic || (counts[a]..2 * counts[a]).contains(&place);
                inside && to[a].contains(&(place % counts[a]))
            })
        };
        from[a].clone().filter(|&tile| adjacent(tile)).collect()
    });
    let axes: [Vec<Vec<AxisShared>>; 3] =
        from_fn(|a| near[a].iter().map(|&tile| shared_along(tiling, a, tile, from, to)).collect());
    let crossing = |at: [usize; 3]| {
        let along: [&[AxisShared]; 3] = from_fn(|a| &axes[a][at[a]][..]);
        let boxes = geometry::cells(along.map(<[_]>::len)).map(|part| {
            let s: [&AxisShared; 3] = from_fn(|a| &along[a][part[a]]);
            let region = |first: [usize; 3]| {
                Region::new(Point::new(first.map(|x| x as i64)), s.map(|s| s.length))
            };
            Shared { from: region(s.map(|s| s.from)), to: region(s.map(|s| s.to)) }
        });
        Crossing { tile: from_fn(|a| near[a][at[a]]), boxes: boxes.collect() }
    };
    geometry::cells(near.each_ref().map(Vec::len)).map(crossing).collect()
}

/// Samples along an axis stored by two blocks.
struct AxisShared {
    from: usize,
    to: usize,
    length: usize,
}

/// The samples along an axis that a tile of `from` touches and `to` also stores.
fn shared_along(
    tiling: &Tiling,
    axis: usize,
    tile: usize,
    from: &TileRange,
    to: &TileRange,
) -> Vec<AxisShared> {
    let length = tiling.domain.size[axis] as i64;
    let mut at = [0; 3];
    at[axis] = tile;
    let touched = tiling.tile(at).touched(tiling.atom);
    let (start, end) = (touched.start[axis], touched.end(axis));
    let whole = from[axis] == (0..tiling.tile_counts()[axis]);
    if whole && tiling.periodic {
        // Both store the whole axis, and the tile may wrap around.
        let wrapped = (end - length).clamp(0, start);
        let runs = [(0, wrapped), (start, end.min(length))];
        let runs = runs.into_iter().filter(|(start, end)| start < end);
        return runs
            .map(|(start, end)| AxisShared {
                from: start as usize,
                to: start as usize,
                length: (end - start) as usize,
            })
            .collect();
    }
    let (mine, theirs) = (tiling.footprint(from).range(axis), tiling.footprint(to).range(axis));
    let turns = if tiling.periodic { -1..2 } else { 0..1 };
    let shared = turns.filter_map(|turn| {
        let first = start.max(mine.start).max(theirs.start + turn * length);
        let last = end.min(mine.end).min(theirs.end + turn * length);
        let (from, to) =
            ((first - mine.start) as usize, (first - turn * length - theirs.start) as usize);
        (first < last).then(|| AxisShared { from, to, length: (last - first) as usize })
    });
    shared.collect()
}
