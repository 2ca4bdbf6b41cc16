//! Updates of the dictionary, and its gradient.

use crate::buffers::OwnedBuffers;
use crate::kernel_args::{AtomPassArgs, CodePosition};
use crate::session::{CudaSession, Standing, launch};
use cudarc::driver::CudaSlice;
use lobcod::dictionary::Constraints;
use lobcod::engine::{Context, Learning, PlaneLayer, Session, State};
use lobcod::geometry::volume;
use lobcod::{Dictionary, Error, Result};

/// Numbers that a block of the scan adds.
const SCAN_PART: usize = 4096;
/// Warps of a block that processes an atom.
const INSPECT_WARPS: usize = 8;

/// Codes sorted by atom, and the sums of a pass over the atoms.
pub(crate) struct Sorted {
    pub(crate) owned: OwnedBuffers,
    first: CudaSlice<i32>,
    next: CudaSlice<i32>,
    gradient: CudaSlice<i64>,
    correlation: CudaSlice<i64>,
    improved: CudaSlice<f32>,
    /// Capacity in codes.
    capacity: usize,
    /// Address of the sums of a scan.
    sums: u64,
    args: AtomPassArgs,
}

impl CudaSession {
    /// Copies the dictionary to the device.
    pub(crate) fn take_dictionary(&mut self) -> Result<()> {
        self.known.atoms = false;
        self.device.write(self.dictionary.data(), &mut self.buffers.atoms)?;
        self.prepare_atoms()?;
        self.known.atoms = true;
        Ok(())
    }

    /// Derives the layouts used by kernels from the atoms on the device, and discards what belongs
    /// to other atoms.
    fn prepare_atoms(&mut self) -> Result<()> {
        (self.known.curvature, self.known.candidates) = (false, None);
        let (args, recipe) = (self.args, &self.recipe);
        self.pack_rows(args.atoms, args.packed_rows)?;
        let most = recipe.columns().max(recipe.taps());
        launch!(
            self,
            "pack_columns",
            most.div_ceil(256),
            256,
            0,
            args,
            args.columns,
            self.buffers.taps
        );
        launch!(
            self,
            "make_gram",
            (recipe.atoms * recipe.stride()).div_ceil(256),
            256,
            0,
            args,
            args.gram
        );
        self.forget()
    }

    fn pack_rows(&self, rows: u64, packed: u64) -> Result<()> {
        launch!(
            self,
            "pack_rows",
            self.recipe.packed_rows().div_ceil(256),
            256,
            0,
            self.args,
            rows,
            packed
        );
        Ok(())
    }

    /// Replaces the dictionary, after which the residual has at most this standing. On an error the
    /// session keeps its dictionary.
    fn replace_dictionary(
        &mut self,
        dictionary: Dictionary<f32>,
        standing: Standing,
    ) -> Result<()> {
        let standing = self.standing.min(standing);
        let before = std::mem::replace(&mut self.dictionary, dictionary);
        self.standing = Standing::Foreign;
        if let Err(error) = self.take_dictionary() {
            self.dictionary = before;
            return Err(error);
        }
        self.standing = standing;
        Ok(())
    }

    /// Allocates memory for this many codes sorted by atom.
    fn new_sorted(&self, codes: usize) -> Result<Sorted> {
        let (m, n) = (self.dictionary.len(), self.dictionary.atom_len());
        let cells = m * self.schedule.tiles.len();
        let span = volume(self.dictionary.extent().padded().map(|h| 2 * h - 1));
        let device = &self.device;
        let mut owned = OwnedBuffers::default();
        let capacity = (codes + codes / 4).max(1024);
        let (first, next) = (device.empty(cells + 1)?, device.empty(cells + 1)?);
        let gradient = device.empty(m * n)?;
        let correlation = device.empty(m * span)?;
        let improved = device.empty(m * n)?;
        let args = AtomPassArgs {
            first: device.at(&first),
            places: owned.add(device, device.empty::<CodePosition>(capacity)?),
            values: owned.add(device, device.empty::<f32>(capacity)?),
            numbers: owned.add(device, device.empty::<u32>(capacity)?),
            planes: device.at(&self.buffers.plane_sums),
            plane_count: self.schedule.planes.len() as i32,
            gradient: device.at(&gradient),
            correlation: device.at(&correlation),
            improved: device.at(&improved),
        };
        let sums = owned.add(device, device.empty::<i32>(cells.div_ceil(SCAN_PART))?);
        owned.bytes += 2 * first.num_bytes()
            + gradient.num_bytes()
            + correlation.num_bytes()
            + improved.num_bytes();
        Ok(Sorted { owned, first, next, gradient, correlation, improved, capacity, sums, args })
    }

    /// Takes the codes sorted by atom, sorting them if necessary. Unless they are put back, they
    /// are sorted again next time.
    fn sort_codes(&mut self) -> Result<Sorted> {
        let is_sorted = std::mem::take(&mut self.known.sorted);
        let mut old = self.buffers.sorted.take();
        if let Some(sorted) = old.take_if(|_| is_sorted) {
            return Ok(sorted);
        }
        let total =
            self.device.down(&self.buffers.counts)?.iter().map(|&count| count as usize).sum();
        let mut sorted = match old.filter(|old| old.capacity >= total) {
            Some(old) => old,
            None => self.new_sorted(total)?,
        };
        let tiles = self.schedule.tiles.len();
        let cells = self.dictionary.len() * tiles;
        self.device.clear(&mut sorted.first)?;
        let AtomPassArgs { first, places, values, numbers, .. } = sorted.args;
        let (parts, length) = (cells.div_ceil(SCAN_PART), cells as i64);
        launch!(self, "count_atoms", tiles, 128, 0, self.args, first);
        launch!(self, "scan_parts", parts, 256, 0, first, length, sorted.sums);
        launch!(self, "scan_sums", 1, 1024, 0, sorted.sums, parts as i32);
        launch!(self, "scan_within", parts, 256, 0, first, length, sorted.sums);
        self.device.copy(&sorted.first, &mut sorted.next)?;
        let next = self.device.at(&sorted.next);
        launch!(
            self,
            "place_codes",
            tiles.div_ceil(4),
            128,
            0,
            self.args,
            next,
            places,
            values,
            numbers
        );
        Ok(sorted)
    }

    fn put_back(&mut self, sorted: Sorted) {
        self.buffers.sorted = Some(sorted);
        self.known.sorted = true;
    }
}

impl Learning<f32> for CudaSession {
    fn set_dictionary(&mut self, dictionary: Dictionary<f32>) -> Result<()> {
        self.replace_dictionary(dictionary, Standing::Foreign)
    }

    fn step_dictionary(&mut self, dictionary: Dictionary<f32>) -> Result<()> {
        self.replace_dictionary(dictionary, Standing::Swept)
    }

    fn remember(&mut self) -> Result<()> {
        self.remembered = Some((self.dictionary.clone(), State::of_codes(self.fetch_codes()?)));
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        let Some((dictionary, state)) = self.remembered.take() else { return Ok(()) };
        let taken = self.restore(&state).and_then(|()| self.set_dictionary(dictionary.clone()));
        self.remembered = Some((dictionary, state));
        taken
    }

    fn improve_atoms(&mut self, constraints: &Constraints, _: &Context) -> Result<f64> {
        if !constraints.is_none() {
            return Err(Error::Unavailable(
                "the CUDA engine learns atom by atom without constraints on the atoms; use the \
                 CPU engine or the batch method"
                    .into(),
            ));
        }
        self.follow()?;
        let mut sorted = self.sort_codes()?;
        self.add_up()?;
        self.clear_counters()?;
        self.device.clear(&mut sorted.gradient)?;
        self.device.clear(&mut sorted.correlation)?;
        self.device.copy(&self.buffers.atoms, &mut sorted.improved)?;
        // Until all atoms have moved, the residual belongs to neither dictionary.
        self.standing = Standing::Foreign;
        let blocks = self.device.facts.multiprocessors;
        for k in 0..self.dictionary.len() as i32 {
            launch!(self, "inspect_atom", blocks, 32 * INSPECT_WARPS, 0, self.args, sorted.args, k);
            launch!(self, "move_atom", blocks, 32 * INSPECT_WARPS, 0, self.args, sorted.args, k);
        }
        let data = self.device.down(&sorted.improved)?;
        let moved = f64::from_bits(self.read_counters()?.atom_move);
        let dictionary =
            Dictionary::new(self.dictionary.extent(), self.dictionary.channels(), data)?;
        self.known.atoms = false;
        self.device.copy(&sorted.improved, &mut self.buffers.atoms)?;
        self.prepare_atoms()?;
        self.known.atoms = true;
        self.dictionary = dictionary;
        self.standing = Standing::Swept;
        self.put_back(sorted);
        Ok(moved)
    }

    fn layers(&mut self, plane: usize) -> usize {
        self.schedule.layers(plane)
    }

    fn gradient(&mut self, of: Option<PlaneLayer>) -> Result<Vec<f64>> {
        self.follow()?;
        let sorted = self.sort_codes()?;
        let (m, n) = (self.dictionary.len(), self.dictionary.atom_len());
        let out = self.device.empty::<f64>(m * n)?;
        let (plane, layer) = of.map_or((0, -1), |of| (of.plane as i32, of.layer as i32));
        let (bytes, at) = (INSPECT_WARPS * n * 8, self.device.at(&out));
        launch!(
            self,
            "gradient",
            m,
            32 * INSPECT_WARPS,
            bytes,
            self.args,
            sorted.args,
            plane,
            layer,
            at
        );
        self.put_back(sorted);
        self.device.down(&out)
    }

    fn energy_along(&mut self, direction: &[f64]) -> Result<f64> {
        let rows = self.device.up(&direction.iter().map(|&x| x as f32).collect::<Vec<f32>>())?;
        let packed = self.device.empty::<f32>(self.recipe.packed_rows())?;
        let (rows_at, packed_at) = (self.device.at(&rows), self.device.at(&packed));
        self.pack_rows(rows_at, packed_at)?;
        self.synthesise_from(packed_at, true)?;
        Ok(self.tally()?.iter().map(|sums| sums[0]).sum())
    }
}
