//! A session is opened: tables are made, and memory is taken on the device.

use crate::buffers::{Address, Buffers, Tables, empty, up};
use crate::device::failed;
use crate::engine::Device;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::rooms::{Ledger, REGIONS, Rooms};
use crate::schedule::Schedule;
use crate::session::{CudaSession, Known};
use crate::sizes::{OpenPositions, Sizes};
use crate::world::{DeviceCode, MAIL, Room, World};
use cudarc::driver::{CudaSlice, DriverError};
use lobcod::engine::{Problem, Session};
use lobcod::{Border, Error, Result, Stop};
use std::sync::Arc;

impl CudaSession {
    pub(crate) fn first_capacity(sizes: &Sizes) -> usize {
        (sizes.most_needles * 3 / 4).next_multiple_of(32).max(64)
    }

    pub(crate) fn open(device: Arc<Device>, problem: Problem<f32>, positions: OpenPositions) -> Result<Self> {
        if problem.dictionary.len() > usize::from(u16::MAX) {
            return Err(Error::Unavailable("the CUDA engine takes at most 65535 atoms; use fewer or the cpu engine".into()));
        }
        let schedule = Schedule::new(&problem, positions)?;
        let (n, m) = (problem.dictionary.atom_len(), problem.dictionary.len());
        let layout = Layout::new(&schedule.sizes, n, m, device.chip);
        let recipe = layout.recipe(&problem, &schedule.sizes);
        let program = device.program(&recipe)?;
        device.context.bind_to_thread().map_err(failed)?;
        let fields = Fields::gather(&problem, &schedule);
        let stream = &device.stream;
        let short = |error: DriverError| {
            let needed = "the device has too little free memory for this problem";
            Error::Unavailable(format!("{needed} ({error}); use a smaller signal or the cpu engine"))
        };
        let capacity = Self::first_capacity(&schedule.sizes);
        let tiles = schedule.tiles.len();
        let stride = recipe.stride();
        let padded = |f: &dyn Fn(f32) -> f32, with: f32| -> Vec<f32> {
            (0..stride).map(|k| problem.atom_weights.get(k).map_or(with, |&w| f(w))).collect()
        };
        let tables = Tables {
            planes: up(stream, &schedule.planes).map_err(short)?,
            tiles: up(stream, &schedule.tiles).map_err(short)?,
            shapes: up(stream, &schedule.shapes).map_err(short)?,
            needles: up(stream, &schedule.needles).map_err(short)?,
            needle_layers: up(stream, &schedule.needle_layers).map_err(short)?,
            layers: up(stream, &schedule.layers).map_err(short)?,
            neighbours: up(stream, &schedule.neighbours).map_err(short)?,
        };
        let codes: CudaSlice<DeviceCode> = empty(stream, REGIONS * tiles * capacity).map_err(short)?;
        let (first, room_bytes) = (Address(&device).of(&codes), (REGIONS * capacity * size_of::<DeviceCode>()) as u64);
        let room = |tile: usize| Room { codes: first + tile as u64 * room_bytes, capacity: capacity as i32, unused: 0 };
        let rooms = Rooms {
            ledger: Ledger::new(tiles, capacity),
            blocks: vec![Some(codes)],
            table: up(stream, &(0..tiles).map(room).collect::<Vec<_>>()).map_err(short)?,
        };
        let buffers = Buffers {
            coloured: up(stream, &schedule.coloured).map_err(short)?,
            regions: up(stream, &schedule.regions(&recipe)).map_err(short)?,
            parts: up(stream, &schedule.parts).map_err(short)?,
            first_part: up(stream, &schedule.first_part).map_err(short)?,
            _target: up(stream, &fields.target).map_err(short)?,
            _weights: fields.weights.as_ref().map(|w| up(stream, w)).transpose().map_err(short)?,
            _position_weights: fields.position_weights.as_ref().map(|w| up(stream, w)).transpose().map_err(short)?,
            _position_caps: fields.position_caps.as_ref().map(|w| up(stream, w)).transpose().map_err(short)?,
            residual: empty(stream, schedule.sizes.samples).map_err(short)?,
            reach: empty(stream, schedule.sizes.positions).map_err(short)?,
            rooms,
            counts: empty(stream, tiles).map_err(short)?,
            _slot: empty(stream, tiles).map_err(short)?,
            wanted: empty(stream, tiles).map_err(short)?,
            total: empty(stream, tiles).map_err(short)?,
            own: empty(stream, tiles).map_err(short)?,
            seen: empty(stream, tiles).map_err(short)?,
            atoms: empty(stream, m * n).map_err(short)?,
            packed_rows: empty(stream, m * recipe.lanes() * recipe.lane_fours() * 4).map_err(short)?,
            columns: empty(stream, n.div_ceil(4) * (stride + 1) * 4).map_err(short)?,
            taps: empty(stream, recipe.taps()).map_err(short)?,
            gram: empty(stream, m * stride).map_err(short)?,
            _atom_weights: up(stream, &padded(&|w| w, f32::INFINITY)).map_err(short)?,
            _inverse_weights: up(stream, &padded(&|w| 1.0 / w, 0.0)).map_err(short)?,
            _scratch: empty(stream, (layout.scratch * tiles).max(4)).map_err(short)?,
            mail: empty(stream, MAIL).map_err(short)?,
            plane_largest: empty(stream, schedule.planes.len()).map_err(short)?,
            part_sums: empty(stream, 2 * schedule.parts.len()).map_err(short)?,
            tile_sums: empty(stream, 2 * tiles).map_err(short)?,
            plane_sums: empty(stream, 6 * schedule.planes.len()).map_err(short)?,
            sorted: None,
            scaled: None,
            _tables: tables,
        };
        // SAFETY: written by the device before it is read.
        let letters = unsafe { device.context.alloc_pinned(MAIL) }.map_err(short)?;
        let at = Address(&device);
        let (b, t) = (&buffers, &buffers._tables);
        let world = World {
            planes: at.of(&t.planes),
            tiles: at.of(&t.tiles),
            shapes: at.of(&t.shapes),
            needles: at.of(&t.needles),
            needle_layers: at.of(&t.needle_layers),
            layers: at.of(&t.layers),
            neighbours: at.of(&t.neighbours),
            target: at.of(&b._target),
            weights: b._weights.as_ref().map_or(0, |w| at.of(w)),
            residual: at.of(&b.residual),
            position_weights: b._position_weights.as_ref().map_or(0, |w| at.of(w)),
            position_caps: b._position_caps.as_ref().map_or(0, |w| at.of(w)),
            reach: at.of(&b.reach),
            rooms: at.of(&b.rooms.table),
            counts: at.of(&b.counts),
            slot: at.of(&b._slot),
            wanted: at.of(&b.wanted),
            total: at.of(&b.total),
            own: at.of(&b.own),
            seen: at.of(&b.seen),
            atoms: at.of(&b.atoms),
            packed_rows: at.of(&b.packed_rows),
            columns: at.of(&b.columns),
            gram: at.of(&b.gram),
            atom_weights: at.of(&b._atom_weights),
            inverse_weights: at.of(&b._inverse_weights),
            mail: at.of(&b.mail),
            scratch: at.of(&b._scratch),
            scratch_size: layout.scratch as i64,
            tile_count: tiles as i32,
            periodic: i32::from(problem.border == Border::Periodic),
            nonnegative: i32::from(problem.nonnegative),
            cap: problem.cap.map_or(u32::MAX, |cap| u32::try_from(cap).unwrap_or(u32::MAX)),
            least_weight: problem.atom_weights.iter().copied().fold(f32::INFINITY, f32::min) * (1.0 - 1e-4),
            weighted: i32::from(schedule.sizes.cut),
        };
        let extents = problem.planes.iter().map(|p| p.extent.padded()).collect();
        let dictionary = problem.dictionary;
        let mut session = Self {
            device,
            program,
            schedule,
            layout,
            recipe,
            buffers,
            world,
            dictionary,
            letters,
            extents,
            known: Known::default(),
            stop: Stop::default(),
            allowance: None,
            of_part: positions.is_some(),
            remembered: None,
        };
        session.take_dictionary();
        session.forget();
        session.refresh();
        Ok(session)
    }
}
