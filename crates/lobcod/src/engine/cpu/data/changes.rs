//! Tracks which tiles sweeps and measurements may skip.
//!
//! Every tile counts its own changes and reads those of its neighbours, which have other colours,
//! so the tiles of a colour can do both concurrently.

use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::ranks::wire;
use crate::real::Real;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Change counters of the tiles of all planes, by their index in the session.
pub struct Changes {
    /// Sum of all changes so far, relative to the threshold: the bits of an f64.
    moved: Vec<AtomicU64>,
    /// Sweeps so far that changed a code.
    times: Vec<AtomicU64>,
    /// Neighbours of tile `i`: the entries from `starts[i]` to `starts[i + 1]`.
    neighbours: Vec<u32>,
    starts: Vec<u32>,
}

/// State of the surroundings of a tile when it was last visited.
#[derive(Clone, Copy)]
pub struct Seen {
    /// Its own changes that are still pending; infinite: it was never swept.
    own: f64,
    /// Sum of the changes of its neighbours when all its codes were last swept.
    moved: f64,
    /// Changes in its neighbourhood when it was last measured; `None`: not measured.
    times: Option<u64>,
}

impl Seen {
    pub const NOTHING: Self = Self { own: f64::INFINITY, moved: 0.0, times: None };
}

impl Changes {
    pub fn new<T: Real>(planes: &[PlaneState<T>], threads: usize) -> Self {
        let mut neighbours = Vec::new();
        let mut starts = vec![0];
        let mut first = 0;
        for plane in planes {
            let own = plane.grid.neighbours(first, threads);
            starts.extend(own.starts[1..].iter().map(|start| neighbours.len() as u32 + start));
            neighbours.extend(own.list);
            first += plane.grid.tiles.len();
        }
        Self::with_slots(neighbours, starts, first)
    }

    /// Counters for tiles with these neighbouring slots; there may be more slots than tiles.
    pub fn of(around: &[Vec<u32>], slots: usize) -> Self {
        let mut starts = vec![0];
        starts.extend(around.iter().scan(0, |end, near| {
            *end += near.len() as u32;
            Some(*end)
        }));
        Self::with_slots(around.concat(), starts, slots)
    }

    fn with_slots(neighbours: Vec<u32>, starts: Vec<u32>, slots: usize) -> Self {
        let zeros = || (0..slots).map(|_| AtomicU64::new(0)).collect();
        Self { moved: zeros(), times: zeros(), neighbours, starts }
    }

    /// Bytes of a tile's counters in a message.
    pub const COUNTER_BYTES: usize = 16;

    /// Appends the counters of a tile to a message.
    pub fn write_counters(&self, slot: u32, into: &mut Vec<u8>) {
        wire::put(
            into,
            &[&self.moved, &self.times].map(|counter| counter[slot as usize].load(Relaxed)),
        );
    }

    /// Takes the counters of a tile from the front of a message.
    pub fn read_counters(&self, slot: u32, from: &mut &[u8]) {
        let mut counts = [0u64; 2];
        wire::take(from, &mut counts);
        self.moved[slot as usize].store(counts[0], Relaxed);
        self.times[slot as usize].store(counts[1], Relaxed);
    }

    /// Memory of one tile, including up to 26 neighbours.
    pub const BYTES: usize = 2 * size_of::<u64>() + 27 * size_of::<u32>();

    pub fn bytes(&self) -> usize {
        16 * self.moved.len() + 4 * (self.neighbours.len() + self.starts.len())
    }

    fn around(&self, tile: usize) -> &[u32] {
        &self.neighbours[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }

    fn moved_around(&self, tile: usize) -> f64 {
        self.around(tile)
            .iter()
            .map(|&i| f64::from_bits(self.moved[i as usize].load(Relaxed)))
            .sum()
    }

    fn times_around(&self, tile: usize) -> u64 {
        let of = |i: usize| self.times[i].load(Relaxed);
        of(tile) + self.around(tile).iter().map(|&i| of(i as usize)).sum::<u64>()
    }

    /// Changes, relative to the threshold, near the tile since its codes were last swept.
    pub fn pending<T>(&self, tile: &TileState<T>) -> f64 {
        tile.seen.own + (self.moved_around(tile.number) - tile.seen.moved)
    }

    /// Whether any code of the tile or a neighbour changed since the tile was last measured.
    pub fn since_measured<T>(&self, tile: &TileState<T>) -> bool {
        tile.seen.times != Some(self.times_around(tile.number))
    }

    /// Marks the tile as measured in its current state.
    pub fn note_measured<T>(&self, tile: &mut TileState<T>) {
        tile.seen.times = Some(self.times_around(tile.number));
    }

    /// Records the changes of a sweep; `whole`: all codes of the tile were swept.
    pub fn record_sweep<T>(&self, tile: &mut TileState<T>, whole: bool) {
        if whole {
            tile.seen.own = tile.last_change;
            tile.seen.moved = self.moved_around(tile.number);
        } else {
            // Changes pending for needles that were not visited remain pending.
            tile.seen.own += tile.last_change;
        }
        if tile.largest_change > 0.0 {
            let moved = &self.moved[tile.number];
            moved.store(
                (f64::from_bits(moved.load(Relaxed)) + tile.largest_change).to_bits(),
                Relaxed,
            );
            self.times[tile.number].fetch_add(1, Relaxed);
        }
    }

    /// Sets the pending change of a tile.
    pub fn set_pending<T>(&self, tile: &mut TileState<T>, pending: f64) {
        tile.seen.own = pending;
        tile.seen.moved = self.moved_around(tile.number);
    }
}
