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
        let mut around = Vec::new();
        let mut first = 0;
        for plane in planes {
            for index in 0..plane.grid.tiles.len() {
                around.push(plane.grid.neighbours(index).into_iter().map(|i| (first + i) as u32).collect());
            }
            first += plane.grid.tiles.len();
        }
        Self::of(&around, first)
    }

    /// Changes of tiles with these tiles around them, each named by its slot; there may be more slots than tiles.
    pub(super) fn of(around: &[Vec<u32>], slots: usize) -> Self {
        let mut starts = vec![0];
        starts.extend(around.iter().scan(0, |end, near| {
            *end += near.len() as u32;
            Some(*end)
        }));
        let zeros = || (0..slots).map(|_| AtomicU64::new(0)).collect();
        Self { moved: zeros(), times: zeros(), neighbours: around.concat(), starts }
    }

    /// Bytes of a tile's counters in a message.
    pub(super) const TOLD: usize = 16;

    /// Appends the counters of a tile to a message.
    pub(super) fn tell(&self, slot: u32, into: &mut Vec<u8>) {
        into.extend(self.moved[slot as usize].load(Relaxed).to_le_bytes());
        into.extend(self.times[slot as usize].load(Relaxed).to_le_bytes());
    }

    /// Takes the counters of a tile from the front of a message.
    pub(super) fn hear(&self, slot: u32, from: &mut &[u8]) {
        for counter in [&self.moved, &self.times] {
            let (number, rest) = from.split_first_chunk::<8>().expect("both sides know the size of a message");
            counter[slot as usize].store(u64::from_le_bytes(*number), Relaxed);
            *from = rest;
        }
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
