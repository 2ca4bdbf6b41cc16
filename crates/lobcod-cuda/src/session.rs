//! A session on the device: the sweeps of a pursuit.

use crate::buffers::Buffers;
use crate::engine::Device;
use crate::kernel_args::{Counters, KernelArgs, VisitArgs};
use crate::launches::{TileLaunch, together};
use crate::layout::Layout;
use crate::program::Program;
use crate::recipe::Recipe;
use crate::schedule::Schedule;
use cudarc::driver::{LaunchConfig, PinnedHostSlice};
use lobcod::engine::{
    Context, Discovery, Learning, Measure, Measurement, PlaneLayer, ScaledResidual, Session, Share,
    State, Support, Sweep, Visit,
};
use lobcod::{Dictionary, Result};
use std::sync::Arc;

/// Launches a kernel, or returns an error: `launch!(session, name, blocks, threads, shared memory,
/// arguments...)`.
macro_rules! launch {
    ($session:expr, $name:literal, $blocks:expr, $threads:expr, $bytes:expr $(, $argument:expr)*) => {{
        let config = $crate::session::config($blocks, $threads, $bytes);
        let mut arguments = $session.device.stream.launch_builder($session.program.kernel($name));
        $( let argument = $argument; cudarc::driver::PushKernelArg::arg(&mut arguments, &argument); )*
        // SAFETY: the arguments match the declaration of the kernel, and every address is that of a
        // buffer that this session owns.
        unsafe { arguments.launch(config) }.map_err($crate::device::failed)?
    }};
}
pub(crate) use launch;

/// A pursuit on the device.
pub(crate) struct CudaSession {
    pub(crate) device: Arc<Device>,
    pub(crate) program: Arc<Program>,
    pub(crate) schedule: Schedule,
    pub(crate) layout: Layout,
    pub(crate) recipe: Recipe,
    pub(crate) buffers: Buffers,
    pub(crate) args: KernelArgs,
    /// Blocks of the reach kernel for all planes.
    pub(crate) reach_blocks: usize,
    pub(crate) dictionary: Dictionary<f32>,
    pub(crate) host_counters: PinnedHostSlice<Counters>,
    pub(crate) standing: Standing,
    pub(crate) known: Known,
    /// Whether it is a session on a part of a larger signal.
    pub(crate) of_part: bool,
    pub(crate) remembered: Option<(Dictionary<f32>, State<f32>)>,
}

/// Relation of the residual to codes and dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It belongs to other codes or atoms.
    Foreign,
    /// Sweeps updated it, each with a small rounding error.
    Swept,
    /// It was synthesised from them.
    Synthesised,
    /// In addition, its largest correlations were computed.
    Correlated,
}

/// What is known about codes and atoms on the device.
#[derive(Default)]
pub(crate) struct Known {
    /// Needles whose last measured correlation exceeds this are candidates.
    pub(crate) candidates: Option<f32>,
    /// Whether the atoms are those of the dictionary.
    pub(crate) atoms: bool,
    /// Whether curvatures belong to the current atoms.
    pub(crate) curvature: bool,
    /// Whether the sorted codes are the current ones.
    pub(crate) sorted: bool,
}

impl CudaSession {
    /// Begins a sweep: the residual belongs to the codes, and is updated with them.
    fn begin_sweep(&mut self) -> Result<()> {
        self.follow()?;
        self.find_curvatures()?;
        self.standing = Standing::Swept;
        (self.known.candidates, self.known.sorted) = (None, false);
        Ok(())
    }
}

impl Session<f32> for CudaSession {
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep> {
        let (penalty, tolerance) = (sweep.penalty as f32, sweep.local_tolerance as f32);
        let mut args = VisitArgs { penalty, tolerance, ..VisitArgs::default() };
        self.follow()?;
        match sweep.visit {
            Visit::All => {
                self.correlate()?;
                (args.visit, args.bound) = (0, penalty * (1.0 + tolerance));
            }
            Visit::Candidates => {
                let Some(bound) = self.known.candidates else { return Ok(Sweep::default()) };
                (args.visit, args.bound) = (1, bound);
            }
            Visit::Spread => args.visit = 2,
            Visit::Layer(PlaneLayer { plane, layer }) => {
                (args.visit, args.plane, args.layer) = (3, plane as i32, layer as i32)
            }
        }
        let order = sweep.layer_seed.map(|seed| self.schedule.layer_order(seed));
        let order = order
            .map(|(order, starts)| Ok([self.device.up(&order)?, self.device.up(&starts)?]))
            .transpose()?;
        if let Some([order, starts]) = &order {
            (args.order, args.order_at) = (self.device.at(order), self.device.at(starts));
        }
        self.begin_sweep()?;
        if sweep.visit == Visit::Spread {
            self.standing = Standing::Foreign;
            self.reserve_dense(context);
            // Needles are independent here, so colours need not wait for each other.
            let sum = self.visit(&[0, self.schedule.tiles.len()], args, context);
            self.forget()?;
            return sum;
        }
        let colours = self.schedule.colours.clone();
        let mut sum = self.visit(&colours, args, context)?;
        if sweep.visit == Visit::All {
            if self.args.weights != 0 {
                // Candidates were chosen before any needle was visited. Updates of others may have
                // activated more.
                self.correlate()?;
                sum = together(sum, self.visit(&colours, VisitArgs { visit: 1, ..args }, context)?);
            }
            // Needles that need no new atoms: their codes are updated.
            let round = self.support(
                &Support { penalty: sweep.penalty, sweeps: 1, rounds: 1, tolerance: 0.0 },
                context,
            )?;
            sum.largest_change = sum.largest_change.max(round.largest_change);
        }
        Ok(sum)
    }

    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep> {
        self.begin_sweep()?;
        self.clear_counters()?;
        let penalty = sweep.penalty as f32;
        let rounds = sweep.rounds as i32;
        let tolerance = sweep.tolerance as f32;
        let (tile, kept) = (self.layout.support.tile as i32, self.layout.kept_codes as i32);
        let launches = self.colour_launches(self.layout.support);
        for &TileLaunch { list, tiles, blocks, threads, bytes } in
            (0..sweep.sweeps).flat_map(|_| &launches)
        {
            if self.is_stopped(context)? {
                break;
            }
            launch!(
                self, "support", blocks, threads, bytes, self.args, list, tiles, penalty, rounds,
                tolerance, tile, kept
            );
        }
        Ok(self.read_counters()?.sweep())
    }

    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>> {
        self.follow()?;
        if what != Measure::Progress && self.standing == Standing::Swept {
            self.synthesise()?;
        }
        // One kernel computes all correlations, so it is stopped before or not at all.
        let correlates = what.correlates() && !context.stop.is_due();
        if correlates {
            self.correlate()?;
        }
        if let (Measure::Certificate { penalty, slack }, true) = (what, correlates) {
            self.known.candidates = Some((penalty * (1.0 + slack)) as f32);
        }
        let sums = self.tally()?;
        let measured = sums.iter().zip(&self.schedule.grids).map(|(sum, grid)| Measurement {
            residual_energy: sum[0],
            target_dot_residual: sum[1],
            weighted_l1: sum[2],
            nonzeros: sum[4] as usize,
            largest_correlation: if correlates { sum[5] } else { f64::INFINITY },
            visited: if correlates { grid.position_count() } else { 0 },
            ..Measurement::default()
        });
        Ok(measured.collect())
    }

    fn state(&mut self, _: Share) -> Result<State<f32>> {
        Ok(State { codes: self.fetch_codes()?, pending: self.fetch_pending()? })
    }

    fn restore(&mut self, state: &State<f32>) -> Result<()> {
        self.place_codes(&state.codes)?;
        self.place_pending(&state.pending)
    }

    fn residual(&mut self, plane: usize) -> Result<Vec<f32>> {
        let signal = self.schedule.signals[plane];
        self.residual_part(plane, &signal)
    }

    fn dictionary(&self) -> &Dictionary<f32> {
        &self.dictionary
    }

    fn memory(&self) -> u64 {
        self.buffers.bytes()
    }

    fn learning(&mut self) -> &mut dyn Learning<f32> {
        self
    }

    /// Only in bands: elsewhere, the sweeps saved by a better dual point cost less than the point.
    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<f32>> {
        if self.of_part { Some(self) } else { None }
    }
}

pub(crate) fn config(blocks: usize, threads: usize, bytes: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks as u32, 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: bytes as u32,
    }
}
