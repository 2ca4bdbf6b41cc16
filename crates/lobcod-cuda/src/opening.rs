//! Opens a session: creates tables and allocates device memory.

use crate::buffers::{Buffers, OwnedBuffers};
use crate::code_store::CodeStore;
use crate::device::failed;
use crate::engine::Device;
use crate::kernel_args::KernelArgs;
use crate::layout::Layout;
use crate::schedule::{Schedule, table_threads};
use crate::session::{CudaSession, Known, Standing};
use crate::sizes::Sizes;
use crate::state::STAGING;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use lobcod::engine::{Plane, Problem};
use lobcod::geometry::{InSignal, Raster, Region};
use lobcod::{Border, Error, Result};
use std::sync::Arc;

impl Device {
    /// Concatenates one field of all planes: the data of each, or `otherwise` repeated. `None` if
    /// no plane has data.
    fn join<T: DeviceRepr + ValidAsZeroBits + Copy>(
        &self,
        planes: Vec<(Option<Vec<T>>, usize)>,
        otherwise: T,
    ) -> Result<Option<CudaSlice<T>>> {
        if planes.iter().all(|(data, _)| data.is_none()) {
            return Ok(None);
        }
        let mut all = self.empty(planes.iter().map(|plane| plane.1).sum())?;
        let mut from = 0;
        for (data, length) in planes {
            let data = data.unwrap_or_else(|| vec![otherwise; length]);
            self.write(&data, &mut all.slice_mut(from..from + length))?;
            from += length;
        }
        Ok(Some(all))
    }
}

impl CudaSession {
    pub(crate) fn first_capacity(sizes: &Sizes) -> usize {
        (sizes.most_needles * 3 / 4).next_multiple_of(32).max(64)
    }

    pub(crate) fn open(
        device: Arc<Device>,
        mut problem: Problem<f32>,
        positions: Option<&Region<InSignal>>,
    ) -> Result<Self> {
        if problem.dictionary.len() > usize::from(u16::MAX) {
            return Err(Error::Unavailable(
                "the CUDA engine supports at most 65535 atoms; use fewer or the cpu engine".into(),
            ));
        }
        let schedule = Schedule::new(&problem, positions)?;
        let sizes = &schedule.sizes;
        let channels = problem.dictionary.channels();
        let m = problem.dictionary.len();
        let layout = Layout::new(sizes, problem.dictionary.atom_len(), m, device.shared_memory);
        let recipe = layout.recipe(&problem, sizes);
        device.context.bind_to_thread().map_err(failed)?;
        let program = device.program(&recipe)?;
        let stride = recipe.stride();
        let tiles = sizes.tiles;
        let plane_count = schedule.planes.len();
        let cap = problem.cap.map_or(u32::MAX, |cap| u32::try_from(cap).unwrap_or(u32::MAX));
        let padded = |f: &dyn Fn(f32) -> f32, with: f32| -> Vec<f32> {
            (0..stride).map(|k| problem.atom_weights.get(k).map_or(with, |&w| f(w))).collect()
        };
        let atom_weights = [padded(&|w| w, f32::INFINITY), padded(&|w| 1.0 / w, 0.0)];
        let threads = table_threads();
        let mut fields = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (plane, grid) in std::mem::take(&mut problem.planes).into_iter().zip(&schedule.grids) {
            let Plane { extent, target, weights, position_weights, position_caps, held, .. } =
                plane;
            let given = Raster {
                periodic: grid.periodic,
                ..Raster::new(held.unwrap_or(extent.region()), channels)
            };
            let (samples, positions) = (grid.raster(channels).len(), grid.position_count());
            // The padding of the zero border holds zeros with weight 1.
            let squared = weights.map(|mut weights| {
                weights.iter_mut().for_each(|a| *a *= *a);
                grid.lay(&given, weights, 1.0, threads)
            });
            fields.0.push((Some(grid.lay(&given, target, 0.0, threads)), samples));
            fields.1.push((squared, samples));
            fields.2.push((position_weights, positions));
            fields.3.push((position_caps, positions));
        }
        let capacity = Self::first_capacity(sizes);
        let codes = CodeStore::new(&device, tiles, capacity)?;
        let mut owned = OwnedBuffers::default();
        let d = &*device;
        macro_rules! own {
            (up $data:expr) => {
                owned.add(d, d.up(&$data)?)
            };
            (empty $type:ty, $length:expr) => {
                owned.add(d, d.empty::<$type>($length)?)
            };
            (field $planes:expr, $otherwise:expr) => {
                d.join($planes, $otherwise)?.map_or(0, |field| owned.add(d, field))
            };
        }
        let step = recipe.reach_step();
        let reach_blocks: Vec<_> =
            (0..plane_count).flat_map(|plane| schedule.reach_blocks(plane, step)).collect();
        let mut args = KernelArgs {
            planes: own!(up schedule.planes),
            tiles: own!(up schedule.tiles),
            shapes: own!(up schedule.shapes),
            needles: own!(up schedule.needles),
            needle_layers: own!(up schedule.needle_layers),
            layers: own!(up schedule.layers),
            neighbours: own!(up schedule.neighbours),
            target: own!(field fields.0, 0.0),
            weights: own!(field fields.1, 1.0),
            position_weights: own!(field fields.2, 1.0),
            position_caps: own!(field fields.3, cap),
            reach: own!(empty f32, sizes.positions),
            stores: d.at(&codes.table),
            slot: own!(empty i32, tiles),
            packed_rows: own!(empty f32, recipe.packed_rows()),
            columns: own!(empty f32, recipe.columns()),
            gram: own!(empty f32, m * stride),
            atom_weights: own!(up atom_weights[0]),
            inverse_weights: own!(up atom_weights[1]),
            scratch: own!(empty f32, (layout.scratch * tiles).max(4)),
            scratch_size: layout.scratch as i64,
            tile_count: tiles as i32,
            periodic: i32::from(problem.border == Border::Periodic),
            nonnegative: i32::from(problem.nonnegative),
            cap,
            least_weight: problem.atom_weights.iter().copied().fold(f32::INFINITY, f32::min)
                * (1.0 - 1e-4),
            weighted: i32::from(sizes.clipped),
            ..KernelArgs::default()
        };
        let buffers = Buffers {
            coloured: own!(up schedule.coloured),
            reach_blocks: own!(up reach_blocks),
            runs: own!(up schedule.runs),
            first_run: own!(up schedule.first_run),
            run_sums: own!(empty f64, 2 * schedule.runs.len()),
            tile_sums: own!(empty f64, 2 * tiles),
            taps: own!(empty f32, recipe.taps()),
            residual: d.empty(sizes.samples)?,
            codes,
            counts: d.empty(tiles)?,
            wanted: d.empty(tiles)?,
            total: d.empty(tiles)?,
            own: d.empty(tiles)?,
            seen: d.empty(tiles)?,
            atoms: d.empty(problem.dictionary.data().len())?,
            counters: d.empty(1)?,
            plane_largest: d.empty(plane_count)?,
            plane_sums: d.empty(6 * plane_count)?,
            staging: d.empty(STAGING.min(capacity * tiles).max(capacity))?,
            starts: d.empty(tiles + 1)?,
            sorted: None,
            scaled: None,
            owned,
        };
        let b = &buffers;
        (args.residual, args.counts, args.wanted, args.atoms) =
            (d.at(&b.residual), d.at(&b.counts), d.at(&b.wanted), d.at(&b.atoms));
        (args.total, args.own, args.seen, args.counters) =
            (d.at(&b.total), d.at(&b.own), d.at(&b.seen), d.at(&b.counters));
        // SAFETY: written by the device before it is read.
        let host_counters = unsafe { device.context.alloc_pinned(1) }.map_err(failed)?;
        let mut session = Self {
            program,
            schedule,
            layout,
            recipe,
            buffers,
            args,
            reach_blocks: reach_blocks.len(),
            dictionary: problem.dictionary,
            host_counters,
            standing: Standing::Foreign,
            known: Known::default(),
            of_part: positions.is_some(),
            remembered: None,
            device,
        };
        session.take_dictionary()?;
        session.synthesise()?;
        Ok(session)
    }
}
