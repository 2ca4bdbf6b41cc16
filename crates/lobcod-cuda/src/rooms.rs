//! Room for the codes of every tile: as much as each needs, in blocks of memory that are given back once all tiles have left them.

use crate::buffers::{Address, empty, up};
use crate::session::{CudaSession, launch, must};
use crate::world::{DeviceCode, Room};
use cudarc::driver::CudaSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Regions of a room: two take turns, one is for what is being found.
pub(crate) const REGIONS: usize = 3;

/// A room for `needed` codes in place of one that is too small for them, or nearly so.
fn larger(needed: usize, capacity: usize) -> usize {
    (needed + needed / 2).max(2 * capacity).next_multiple_of(16)
}

/// Is a room so full that it had better be changed along with those that are too small? Making room takes as long as a sweep of a
/// small picture, so it should not happen in every sweep.
fn is_nearly_full(wanted: usize, capacity: usize) -> bool {
    2 * wanted > capacity
}

/// Which tile has which room.
pub(crate) struct Ledger {
    /// Block and capacity of every tile's room.
    rooms: Vec<(u32, u32)>,
    /// Tiles that live in each block.
    tenants: Vec<usize>,
}

/// Rooms in a new block.
pub(crate) struct Moves {
    pub(crate) tiles: Vec<i32>,
    /// Where the room of each begins, in codes, and its capacity.
    rooms: Vec<(usize, usize)>,
    /// Codes that the block holds.
    codes: usize,
}

impl Ledger {
    /// Rooms of one capacity, in one block.
    pub(crate) fn new(tiles: usize, capacity: usize) -> Self {
        Self { rooms: vec![(0, capacity as u32); tiles], tenants: vec![tiles] }
    }

    pub(crate) fn capacity(&self, tile: usize) -> usize {
        self.rooms[tile].1 as usize
    }

    /// Codes that all tiles together have room for.
    pub(crate) fn codes(&self) -> usize {
        self.rooms.iter().map(|&(_, capacity)| capacity as usize).sum()
    }

    /// What tiles that want so many codes need: none where all have room.
    pub(crate) fn moves(&self, wanted: &[i32]) -> Option<Moves> {
        let too_small = |(tile, &wanted): (usize, &i32)| wanted as usize > self.capacity(tile);
        if !wanted.iter().enumerate().any(too_small) {
            return None;
        }
        let mut moves = Moves { tiles: Vec::new(), rooms: Vec::new(), codes: 0 };
        for (tile, &wanted) in wanted.iter().enumerate() {
            let (wanted, capacity) = (wanted as usize, self.capacity(tile));
            if is_nearly_full(wanted, capacity) {
                let capacity = larger(wanted, capacity);
                moves.tiles.push(tile as i32);
                moves.rooms.push((moves.codes, capacity));
                moves.codes += REGIONS * capacity;
            }
        }
        Some(moves)
    }

    /// The tiles move into a new block; gives the blocks that are empty now.
    fn note(&mut self, moves: &Moves) -> Vec<usize> {
        let block = self.tenants.len();
        for (&tile, &(_, capacity)) in moves.tiles.iter().zip(&moves.rooms) {
            let left = std::mem::replace(&mut self.rooms[tile as usize], (block as u32, capacity as u32));
            self.tenants[left.0 as usize] -= 1;
        }
        self.tenants.push(moves.tiles.len());
        (0..block).filter(|&block| self.tenants[block] == 0).collect()
    }
}

/// The rooms on the device.
pub(crate) struct Rooms {
    pub(crate) ledger: Ledger,
    /// `None`: given back.
    pub(crate) blocks: Vec<Option<CudaSlice<DeviceCode>>>,
    pub(crate) table: CudaSlice<Room>,
}

impl Rooms {
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().flatten().map(CudaSlice::num_bytes).sum::<usize>() + self.table.num_bytes()
    }
}

/// Bytes that a session may take, and where it writes what it would have needed beyond.
pub(crate) struct Allowance {
    pub(crate) bytes: u64,
    pub(crate) wanted: Arc<AtomicU64>,
}

impl CudaSession {
    /// Room for what tiles want, unless it is not allowed. `forced`: also then, for codes that are there must be kept somewhere.
    pub(crate) fn make_room(&mut self, wanted: &[i32], forced: bool) -> bool {
        let Some(moves) = self.buffers.rooms.ledger.moves(wanted) else { return true };
        if let Some(allowance) = &self.allowance {
            let needed = self.bytes() + (moves.codes * size_of::<DeviceCode>()) as u64;
            if needed > allowance.bytes {
                allowance.wanted.fetch_max(needed, Ordering::Relaxed);
                if !forced {
                    return false;
                }
            }
        }
        let stream = self.device.stream.clone();
        let block: CudaSlice<DeviceCode> = must(empty(&stream, moves.codes));
        let at = Address(&self.device);
        let first = at.of(&block);
        let room = |&(start, capacity): &(usize, usize)| Room {
            codes: first + (start * size_of::<DeviceCode>()) as u64,
            capacity: capacity as i32,
            unused: 0,
        };
        let tiles = must(up(&stream, &moves.tiles));
        let rooms = must(up(&stream, &moves.rooms.iter().map(room).collect::<Vec<_>>()));
        let (world, tiles_at, rooms_at) = (self.world, at.of(&tiles), at.of(&rooms));
        launch!(self, "move_codes", moves.tiles.len() as u32, 128, 0, world, tiles_at, rooms_at);
        let own = &mut self.buffers.rooms;
        for empty in own.ledger.note(&moves) {
            own.blocks[empty] = None;
        }
        own.blocks.push(Some(block));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where every room lies, as (block, first code, codes).
    fn places(ledger: &mut Ledger, at: &mut [(usize, usize)], wanted: &[i32]) -> Vec<usize> {
        let moves = ledger.moves(wanted).expect("some room is too small");
        let block = ledger.tenants.len();
        for (&tile, &(start, _)) in moves.tiles.iter().zip(&moves.rooms) {
            at[tile as usize] = (block, start);
        }
        ledger.note(&moves)
    }

    #[test]
    fn rooms_hold_what_is_wanted_and_never_overlap() {
        let (tiles, capacity) = (50, 64);
        let mut ledger = Ledger::new(tiles, capacity);
        let mut at: Vec<(usize, usize)> = (0..tiles).map(|t| (0, REGIONS * capacity * t)).collect();
        let mut most = vec![0; tiles];
        for round in 1..6usize {
            let wanted: Vec<i32> = (0..tiles).map(|t| (t * 37 * round % 90 * round) as i32).collect();
            let had: Vec<usize> = (0..tiles).map(|t| ledger.capacity(t)).collect();
            let empty = places(&mut ledger, &mut at, &wanted);
            for t in 0..tiles {
                assert!(ledger.capacity(t) >= (wanted[t] as usize).max(had[t]), "{round}: tile {t}");
                let calm = 2 * wanted[t] as usize <= had[t];
                assert!(!calm || ledger.capacity(t) == had[t], "{round}: tile {t} moved for nothing");
                most[t] = most[t].max(wanted[t] as usize);
                // A room is at most twice as large as the last, or half as large again as was ever wanted.
                assert!(ledger.capacity(t) <= (most[t] * 3 / 2).max(had[t] * 2) + 16);
            }
            assert!(empty.iter().all(|&block| at.iter().all(|&(of, _)| of != block)), "{round}: a block in use is given back");
            let mut rooms: Vec<_> = (0..tiles).map(|t| (at[t].0, at[t].1, at[t].1 + REGIONS * ledger.capacity(t))).collect();
            rooms.sort_unstable();
            assert!(rooms.windows(2).all(|two| two[0].0 < two[1].0 || two[0].2 <= two[1].1), "{round}: rooms overlap");
        }
    }

    #[test]
    fn one_full_tile_makes_no_room_for_the_others() {
        let mut ledger = Ledger::new(1000, 64);
        let mut wanted = vec![20; 1000];
        assert!(ledger.moves(&wanted).is_none());
        wanted[3] = 220;
        let moves = ledger.moves(&wanted).unwrap();
        assert_eq!((moves.tiles.as_slice(), moves.codes), (&[3][..], REGIONS * 336));
        assert!(ledger.note(&moves).is_empty());
        // Once all have moved, what they left is given back.
        assert_eq!(places(&mut ledger, &mut [(0, 0); 1000], &[500; 1000]), [0, 1]);
    }
}
