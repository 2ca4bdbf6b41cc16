//! Memory for the codes of every tile: as much as each needs, in blocks that are freed once no tile
//! uses them.

use crate::engine::Device;
use crate::kernel_args::{DeviceCode, TileStore};
use crate::session::{CudaSession, launch};
use cudarc::driver::CudaSlice;
use lobcod::{Error, Result};

/// Lists of codes per tile: two that alternate, and one for new codes.
pub(crate) const LISTS: usize = 3;

/// A larger capacity for `needed` codes, given one that is full or nearly full.
fn larger(needed: usize, capacity: usize) -> usize {
    (needed + needed / 2).max(2 * capacity).next_multiple_of(16)
}

/// Whether a tile should grow along with those that must. Growing takes as long as a sweep of a
/// small image, so it should not happen in every sweep.
fn is_nearly_full(wanted: usize, capacity: usize) -> bool {
    2 * wanted > capacity
}

/// Capacity and block of every tile.
pub(crate) struct Capacities {
    /// Block and capacity of every tile.
    tiles: Vec<(u32, u32)>,
    /// Tiles in each block.
    tenants: Vec<usize>,
}

/// Tiles that get more memory, in a new block.
pub(crate) struct Growth {
    tiles: Vec<i32>,
    /// Start of the codes of each tile in the block, and its capacity.
    stores: Vec<(usize, usize)>,
    /// Capacity of the block in codes.
    codes: usize,
}

impl Capacities {
    /// Tiles of equal capacity, in one block.
    fn new(tiles: usize, capacity: usize) -> Self {
        Self { tiles: vec![(0, capacity as u32); tiles], tenants: vec![tiles] }
    }

    pub(crate) fn of(&self, tile: usize) -> usize {
        self.tiles[tile].1 as usize
    }

    /// The growth required for these numbers of codes; `None` if all tiles have enough.
    fn growth(&self, wanted: &[i32]) -> Option<Growth> {
        let too_small = |(tile, &wanted): (usize, &i32)| wanted as usize > self.of(tile);
        if !wanted.iter().enumerate().any(too_small) {
            return None;
        }
        let mut growth = Growth { tiles: Vec::new(), stores: Vec::new(), codes: 0 };
        for (tile, &wanted) in wanted.iter().enumerate() {
            let (wanted, capacity) = (wanted as usize, self.of(tile));
            if is_nearly_full(wanted, capacity) {
                let capacity = larger(wanted, capacity);
                growth.tiles.push(tile as i32);
                growth.stores.push((growth.codes, capacity));
                growth.codes += LISTS * capacity;
            }
        }
        Some(growth)
    }

    /// Records the move of tiles into a new block; returns the blocks that are now empty.
    fn record(&mut self, growth: &Growth) -> Vec<usize> {
        let block = self.tenants.len();
        for (&tile, &(_, capacity)) in growth.tiles.iter().zip(&growth.stores) {
            let left =
                std::mem::replace(&mut self.tiles[tile as usize], (block as u32, capacity as u32));
            self.tenants[left.0 as usize] -= 1;
        }
        self.tenants.push(growth.tiles.len());
        (0..block).filter(|&block| self.tenants[block] == 0).collect()
    }
}

/// The codes on the device.
pub(crate) struct CodeStore {
    pub(crate) capacities: Capacities,
    /// `None`: freed.
    blocks: Vec<Option<CudaSlice<DeviceCode>>>,
    pub(crate) table: CudaSlice<TileStore>,
}

/// Locations of the codes of tiles in a block that begins at this address.
fn table(first: u64, stores: impl Iterator<Item = (usize, usize)>) -> Vec<TileStore> {
    let store = |(start, capacity): (usize, usize)| TileStore {
        codes: first + (start * size_of::<DeviceCode>()) as u64,
        capacity: capacity as i32,
        unused: 0,
    };
    stores.map(store).collect()
}

impl CodeStore {
    /// Allocates this capacity for every tile.
    pub(crate) fn new(device: &Device, tiles: usize, capacity: usize) -> Result<Self> {
        let codes = device.empty(LISTS * tiles * capacity)?;
        let table =
            table(device.at(&codes), (0..tiles).map(|tile| (tile * LISTS * capacity, capacity)));
        Ok(Self {
            capacities: Capacities::new(tiles, capacity),
            blocks: vec![Some(codes)],
            table: device.up(&table)?,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().flatten().map(CudaSlice::num_bytes).sum::<usize>()
            + self.table.num_bytes()
    }
}

impl CudaSession {
    /// Gives tiles the memory for the codes they need, unless the session would exceed `limit`
    /// bytes. Codes are unchanged, even after an error.
    pub(crate) fn reserve(&mut self, wanted: &[i32], limit: Option<u64>) -> Result<()> {
        let Some(growth) = self.buffers.codes.capacities.growth(wanted) else { return Ok(()) };
        // The codes of a tile are transferred together.
        let most = growth.stores.iter().map(|store| store.1).max().unwrap_or(0);
        let more = growth.codes + most.saturating_sub(self.buffers.staging.len());
        let needed = self.buffers.bytes() + (more * size_of::<DeviceCode>()) as u64;
        if let Some(limit) = limit.filter(|&limit| needed > limit) {
            return Err(Error::Limits { needed, limit });
        }
        let device = &self.device;
        if self.buffers.staging.len() < most {
            self.buffers.staging = device.empty(most)?;
        }
        let block = device.empty(growth.codes)?;
        let tiles = device.up(&growth.tiles)?;
        let stores = device.up(&table(device.at(&block), growth.stores.iter().copied()))?;
        launch!(
            self,
            "move_codes",
            growth.tiles.len(),
            128,
            0,
            self.args,
            device.at(&tiles),
            device.at(&stores)
        );
        let own = &mut self.buffers.codes;
        for empty in own.capacities.record(&growth) {
            own.blocks[empty] = None;
        }
        own.blocks.push(Some(block));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves tiles, and records (block, first code) of each.
    fn grow(capacities: &mut Capacities, at: &mut [(usize, usize)], wanted: &[i32]) -> Vec<usize> {
        let growth = capacities.growth(wanted).expect("at least one tile is too small");
        let block = capacities.tenants.len();
        for (&tile, &(start, _)) in growth.tiles.iter().zip(&growth.stores) {
            at[tile as usize] = (block, start);
        }
        capacities.record(&growth)
    }

    #[test]
    fn tiles_have_enough_capacity_and_never_overlap() {
        let (tiles, capacity) = (50, 64);
        let mut capacities = Capacities::new(tiles, capacity);
        let mut at: Vec<(usize, usize)> = (0..tiles).map(|t| (0, LISTS * capacity * t)).collect();
        let mut most = vec![0; tiles];
        for round in 1..6usize {
            let wanted: Vec<i32> =
                (0..tiles).map(|t| (t * 37 * round % 90 * round) as i32).collect();
            let had: Vec<usize> = (0..tiles).map(|t| capacities.of(t)).collect();
            let empty = grow(&mut capacities, &mut at, &wanted);
            for t in 0..tiles {
                assert!(capacities.of(t) >= (wanted[t] as usize).max(had[t]), "{round}: tile {t}");
                let calm = 2 * wanted[t] as usize <= had[t];
                assert!(
                    !calm || capacities.of(t) == had[t],
                    "{round}: tile {t} moved unnecessarily"
                );
                most[t] = most[t].max(wanted[t] as usize);
                // At most twice as large as before, or 1.5 times the largest need so far.
                assert!(capacities.of(t) <= (most[t] * 3 / 2).max(had[t] * 2) + 16);
            }
            assert!(
                empty.iter().all(|&block| at.iter().all(|&(of, _)| of != block)),
                "{round}: a block in use was freed"
            );
            let mut stores: Vec<_> = (0..tiles)
                .map(|t| (at[t].0, at[t].1, at[t].1 + LISTS * capacities.of(t)))
                .collect();
            stores.sort_unstable();
            assert!(
                stores.windows(2).all(|two| two[0].0 < two[1].0 || two[0].2 <= two[1].1),
                "{round}: tiles overlap"
            );
        }
    }

    #[test]
    fn one_full_tile_does_not_grow_the_others() {
        let mut capacities = Capacities::new(1000, 64);
        let mut wanted = vec![20; 1000];
        assert!(capacities.growth(&wanted).is_none());
        wanted[3] = 220;
        let growth = capacities.growth(&wanted).unwrap();
        assert_eq!((growth.tiles.as_slice(), growth.codes), (&[3][..], LISTS * 336));
        assert!(capacities.record(&growth).is_empty());
        // Once all have moved, the old block is freed.
        assert_eq!(grow(&mut capacities, &mut [(0, 0); 1000], &[500; 1000]), [0, 1]);
    }
}
