//! Kernels over the tiles of a session, and what they tell.

use crate::buffers::{Address, up};
use crate::layout::Blocks;
use crate::rooms::REGIONS;
use crate::session::{CudaSession, launch, must};
use crate::world::{DeviceCode, MAIL, MAIL_CHANGE, MAIL_OVERFLOW, MAIL_VISITED, VisitSweep};
use cudarc::driver::result::mem_get_info;
use lobcod::engine::Sweep;

/// Tiles of which a sweep takes a tenth of a second or more.
const MANY_TILES: usize = 1 << 20;
/// Codes of a needle among dense first codes, with some to spare.
const DENSE_CODES: usize = 16;

impl CudaSession {
    /// Runs a kernel over the tiles, colour after colour: `run(list, tiles, blocks, threads, bytes on chip)`.
    pub(crate) fn colours(&self, blocks: Blocks, run: impl FnMut(u64, i32, u32, u32, u32)) {
        self.parts(Address(&self.device).of(&self.buffers.coloured), &self.schedule.colours, blocks, run);
    }

    /// Is the rest of a sweep still wanted? Where colours take long, waits for those on their way before it looks.
    pub(crate) fn goes_on(&self) -> bool {
        if self.schedule.tiles.len() < MANY_TILES {
            return true;
        }
        must(self.device.stream.synchronize());
        !self.stop.is_due()
    }

    /// The same over parts of a list of tiles, each up to the next end.
    fn parts(&self, list: u64, ends: &[usize], blocks: Blocks, mut run: impl FnMut(u64, i32, u32, u32, u32)) {
        for ends in ends.windows(2) {
            let tiles = ends[1] - ends[0];
            if tiles > 0 {
                let (grid, threads, bytes) = blocks.cut(tiles, self.device.facts.multiprocessors);
                run(list + 4 * ends[0] as u64, tiles as i32, grid, threads, bytes);
            }
        }
    }

    /// Takes what the codes make of atoms (packed) off the residual.
    pub(crate) fn synthesise(&mut self, rows: u64) {
        let (world, tile, kept) = (self.world, self.layout.support.tile as i32, self.layout.kept_codes as i32);
        self.colours(self.layout.support, |list, tiles, grid, threads, bytes| {
            launch!(self, "synthesise", grid, threads, bytes, world, list, tiles, rows, tile, kept);
        });
    }

    pub(crate) fn reset_residual(&mut self, to_zero: bool) {
        let (world, samples, to_zero) = (self.world, self.schedule.sizes.samples as i64, i32::from(to_zero));
        let grid = self.schedule.sizes.samples.div_ceil(1024).min(8 * self.device.facts.multiprocessors) as u32;
        launch!(self, "reset_residual", grid, 256, 0, world, samples, to_zero);
        self.known.reach = false;
    }

    /// Largest correlations of all needles, unless they are known.
    pub(crate) fn find_reach(&mut self, recipe_memory: (usize, usize)) {
        if self.known.reach {
            return;
        }
        must(self.device.stream.memset_zeros(&mut self.buffers.plane_largest));
        let (world, at) = (self.world, Address(&self.device));
        let b = &self.buffers;
        let (regions, taps, largest) = (at.of(&b.regions), at.of(&b.taps), at.of(&b.plane_largest));
        let (threads, bytes) = (recipe_memory.0 as u32, recipe_memory.1 as u32);
        launch!(self, "find_reach", b.regions.len() as u32, threads, bytes, world, regions, taps, largest);
        self.known.reach = true;
    }

    pub(crate) fn reach(&mut self) {
        let (threads, bytes) = self.recipe.region();
        self.find_reach((threads.iter().product(), bytes));
    }

    pub(crate) fn clear_mail(&mut self) {
        must(self.device.stream.memset_zeros(&mut self.buffers.mail));
    }

    /// What the kernels have to tell.
    pub(crate) fn read_mail(&mut self) -> [u64; MAIL] {
        must(self.device.stream.memcpy_dtoh(&self.buffers.mail, &mut self.letters));
        must(self.device.stream.synchronize());
        let letters = must(self.letters.as_slice());
        std::array::from_fn(|i| letters[i])
    }

    pub(crate) fn sweep_of(mail: &[u64; MAIL]) -> Sweep {
        Sweep { largest_change: f64::from(f32::from_bits(mail[MAIL_CHANGE] as u32)), visited: mail[MAIL_VISITED] as usize }
    }

    /// Visits needles of the tiles in these parts of the list, and again where there was no room for what was found.
    pub(crate) fn visit(&mut self, ends: &[usize], told: VisitSweep) -> [u64; MAIL] {
        self.visit_listed(Address(&self.device).of(&self.buffers.coloured), ends, told);
        let mut mail = self.read_mail();
        while mail[MAIL_OVERFLOW] != 0 && self.goes_on() {
            // Tiles that found more codes than they have room for did nothing; they get another turn.
            let wanted = must(self.device.stream.clone_dtoh(&self.buffers.wanted));
            let (tiles, ends) = self.without_room(&wanted, ends);
            if !self.make_room(&wanted, false) {
                break;
            }
            let kept = [mail[MAIL_CHANGE], mail[MAIL_VISITED], 0, 0, 0, 0, 0, 0];
            must(self.device.stream.memcpy_htod(&kept[..], &mut self.buffers.mail));
            let list = must(up(&self.device.stream, &tiles));
            self.visit_listed(Address(&self.device).of(&list), &ends, told);
            mail = self.read_mail();
        }
        mail
    }

    fn visit_listed(&self, list: u64, ends: &[usize], told: VisitSweep) {
        let (group, on_chip, world) = (self.layout.visit.tile as i32, self.layout.atoms_on_chip as i32, self.world);
        self.parts(list, ends, self.layout.visit, |list, tiles, grid, threads, bytes| {
            if self.goes_on() {
                launch!(self, "visit", grid, threads, bytes, world, list, tiles, told, group, on_chip);
            }
        });
    }

    /// Of the tiles in parts of the list, those that want more codes than they have room for, and where the parts of these end.
    fn without_room(&self, wanted: &[i32], ends: &[usize]) -> (Vec<i32>, Vec<usize>) {
        let (mut tiles, mut own_ends) = (Vec::new(), vec![0]);
        let ledger = &self.buffers.rooms.ledger;
        for part in ends.windows(2) {
            let listed = self.schedule.coloured[part[0]..part[1]].iter().copied();
            tiles.extend(listed.filter(|&t| wanted[t as usize] as usize > ledger.capacity(t as usize)));
            own_ends.push(tiles.len());
        }
        (tiles, own_ends)
    }

    /// Where there is memory enough, room for as many codes as dense first ones usually are: a tile without room works in vain.
    pub(crate) fn make_room_for_dense_codes(&mut self) {
        let room = DENSE_CODES * self.schedule.sizes.most_needles;
        let tiles = self.schedule.tiles.len();
        let bytes = REGIONS * tiles * room * size_of::<DeviceCode>();
        if mem_get_info().is_ok_and(|(free, _)| bytes <= free / 4) {
            self.make_room(&vec![(room * 2 / 3) as i32; tiles], false);
        }
    }
}
