//! What changed around the tiles: by this, sweeps and measurements pass tiles over.
//!
//! Every tile tells how much it has moved so far; who wants to know what happened around a tile looks at its neighbours. Neighbours
//! have other colours, so the tiles of a colour may tell and look at once.

use super::plane::PlaneState;
use super::tile::TileState;
use crate::real::Real;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The tiles of all planes, by their number in the session.
pub(super) struct Changes {
    /// Changes so far, in shares of the threshold, added up: the bits of an f64.
    moved: Vec<AtomicU64>,
    /// Sweeps so far that changed a code.
    times: Vec<AtomicU64>,
    /// Numbers of the neighbours of tile `i`: those from `starts[i]` to `starts[i + 1]`.
    neighbours: Vec<u32>,
    starts: Vec<u32>,
}

/// What a tile remembers of its surroundings.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// Its own changes that are still to be looked after; infinite: it was never swept.
    own: f64,
    /// How much its neighbours had moved when it was last swept as a whole.
    moved: f64,
    /// Changes of it and its neighbours when it was last measured; `None`: it must be measured anew.
    times: Option<u64>,
}

impl Seen {
    pub(super) const NOTHING: Self = Self { own: f64::INFINITY, moved: 0.0, times: None };
}

impl Changes {
    pub(super) fn new<T: Real>(planes: &[PlaneState<T>]) -> Self {
        let (mut neighbours, mut starts) = (Vec::new(), vec![0]);
        let mut first = 0;
        for plane in planes {
            for index in 0..plane.grid.tiles.len() {
                neighbours.extend(plane.grid.neighbours(index).into_iter().map(|i| (first + i) as u32));
                starts.push(neighbours.len() as u32);
            }
            first += plane.grid.tiles.len();
        }
        let zeros = || (0..first).map(|_| AtomicU64::new(0)).collect();
        Self { moved: zeros(), times: zeros(), neighbours, starts }
    }

    /// Memory of one tile, its up to 26 neighbours counted.
    pub(super) const BYTES: usize = 2 * size_of::<u64>() + 27 * size_of::<u32>();

    pub(super) fn bytes(&self) -> usize {
        16 * self.moved.len() + 4 * (self.neighbours.len() + self.starts.len())
    }

    fn around(&self, tile: usize) -> &[u32] {
        &self.neighbours[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }

    fn moved_around(&self, tile: usize) -> f64 {
        self.around(tile).iter().map(|&i| f64::from_bits(self.moved[i as usize].load(Relaxed))).sum()
    }

    fn times_around(&self, tile: usize) -> u64 {
        let of = |i: usize| self.times[i].load(Relaxed);
        of(tile) + self.around(tile).iter().map(|&i| of(i as usize)).sum::<u64>()
    }

    /// Changes (in shares of the threshold) since the tile's codes were last swept: its own last one and all of its neighbours.
    pub(super) fn pending<T>(&self, tile: &TileState<T>) -> f64 {
        tile.seen.own + (self.moved_around(tile.number) - tile.seen.moved)
    }

    /// Has any code of the tile or a neighbour changed since the tile was last measured?
    pub(super) fn since_measured<T>(&self, tile: &TileState<T>) -> bool {
        tile.seen.times != Some(self.times_around(tile.number))
    }

    /// The tile was measured as it and its neighbours are.
    pub(super) fn note_measured<T>(&self, tile: &mut TileState<T>) {
        tile.seen.times = Some(self.times_around(tile.number));
    }

    /// Notes what a sweep did to a tile; `whole`: all of its codes were swept.
    pub(super) fn note<T>(&self, tile: &mut TileState<T>, whole: bool) {
        if whole {
            tile.seen.own = tile.last_change;
            tile.seen.moved = self.moved_around(tile.number);
        } else {
            // Where only some needles were visited, what was pending for the others still is.
            tile.seen.own += tile.last_change;
        }
        if tile.largest_change > 0.0 {
            let moved = &self.moved[tile.number];
            moved.store((f64::from_bits(moved.load(Relaxed)) + tile.largest_change).to_bits(), Relaxed);
            self.times[tile.number].fetch_add(1, Relaxed);
        }
    }

    /// Sets what is pending for a tile.
    pub(super) fn set_pending<T>(&self, tile: &mut TileState<T>, pending: f64) {
        tile.seen.own = pending;
        tile.seen.moved = self.moved_around(tile.number);
    }
}
