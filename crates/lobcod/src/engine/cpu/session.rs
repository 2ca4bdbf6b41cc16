//! Pursuit operations on the CPU.

use super::Options;
use super::data::atoms::Atoms;
use super::data::changes::Changes;
use super::data::plane::PlaneState;
use super::data::scratch::Scratch;
use super::data::tile::{LocalCode, TileState};
use super::learning::canvas::Canvas;
use super::measure::correlations::{Goal, MeasureTile};
use super::sweep::discovery::DiscoverTile;
use super::sweep::groups::SupportGroups;
use super::sweep::support::SupportTile;
use super::workers::pool::Threads;
use super::workers::shares::Shares;
use super::workers::team::Team;
use crate::dictionary::Dictionary;
use crate::engine::ranks::{Exchange, wire};
use crate::engine::{
    Context, Discovery, JointNorm, Learning, Measure, Measurement, Problem, ScaledResidual,
    Session, Share, Show, State, Support, SupportFit, Sweep, Visit,
};
use crate::error::Result;
use crate::geometry::{Point, Raster, Region};
use crate::lasso::GroupRules;
use crate::pursuit::Local;
use crate::real::Real;
use crate::simd::Level;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A pursuit on the threads of this machine.
pub struct CpuSession<T> {
    pub team: Team<T>,
    pub level: Level,
    pub skipping: bool,
    pub nonnegative: bool,
    pub local: Local,
    pub atoms: Atoms<T>,
    pub planes: Vec<PlaneState<T>>,
    /// `A^2 (Y - B - sum P_i^T D a_i)` over the domain of every plane.
    pub residuals: Vec<Vec<T>>,
    /// A direction of descent over the domain of every plane, as far as one was sought.
    pub along: Vec<Vec<T>>,
    pub standing: Standing,
    pub learning: bool,
    /// The planes laid out for the pass over the atoms, if the session is for learning.
    pub canvases: Vec<Canvas<T>>,
    /// Tiles of all planes, in order.
    pub tiles: Vec<TileState<T>>,
    pub remembered: Option<Remembered<T>>,
    /// The tiles of every colour, and all tiles, as distributed over the threads.
    pub colours: Vec<Colour>,
    pub all: Shares,
    pub changes: Changes,
    pub exchange: Exchange,
}

/// A saved dictionary with the codes of every tile.
pub struct Remembered<T> {
    pub dictionary: Dictionary<T>,
    pub codes: Vec<Vec<LocalCode<T>>>,
}

/// Relation of the residual to codes and dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It belongs to other codes or atoms.
    Foreign,
    /// Sweeps updated it, each with a small rounding error.
    Swept,
    /// It was synthesised from them.
    Synthesised,
    /// In addition, its energy in every tile was measured.
    Measured,
}

/// The tiles of a colour: inner tiles, which run during communication, and those at the border to
/// other ranks.
pub struct Colour {
    pub inner: Shares,
    pub border: Shares,
}

impl<T: Real> CpuSession<T> {
    pub fn new(
        threads: Arc<Threads>,
        options: Options,
        problem: &Problem<T>,
        atoms: Atoms<T>,
        planes: Vec<PlaneState<T>>,
        canvases: Vec<Canvas<T>>,
        exchange: Exchange,
    ) -> Self {
        let places = planes
            .iter()
            .enumerate()
            .flat_map(|(p, plane)| (0..plane.grid.tiles.len()).map(move |index| (p, index)));
        let tile = |(number, (p, index)): (usize, (usize, usize))| {
            TileState::new(p, number, index, planes[p].grid.tiles[index])
        };
        let tiles: Vec<TileState<T>> = places.enumerate().map(tile).collect();
        let changes = exchange.traffic().map_or_else(
            || Changes::new(&planes, threads.count()),
            |t| Changes::of(&t.around, t.slots),
        );
        let footprint = planes.iter().map(|p| p.layout.len).max().unwrap_or(0);
        let codes_of_atom = planes.iter().map(|p| p.codes_of_atom).max().unwrap_or(1);
        let team =
            Team::new(threads, || Scratch::new(footprint, atoms.packed.stride * codes_of_atom));
        let nonnegative = problem.nonnegative;
        let local = problem.local;
        let learning = problem.learning;
        let Options { level, skipping, reversed } = options;
        let mut lists = vec![
            [Vec::new(), Vec::new()];
            planes.iter().map(|p| p.grid.colours).max().unwrap_or(1)
        ];
        for state in &tiles {
            lists[state.tile.colour][usize::from(exchange.is_at_border(state.number))]
                .push(state.number as u32);
        }
        let share = |mut list: Vec<u32>| {
            if reversed {
                list.reverse();
            }
            team.shares(&list, |_| 1)
        };
        let all = share((0..tiles.len() as u32).collect());
        let colours = lists
            .into_iter()
            .map(|[inner, border]| Colour { inner: share(inner), border: share(border) })
            .collect();
        let mut session = CpuSession {
            team,
            level,
            skipping,
            nonnegative,
            local,
            atoms,
            residuals: planes.iter().map(|plane| vec![T::ZERO; plane.raster().len()]).collect(),
            planes,
            along: Vec::new(),
            standing: Standing::Foreign,
            learning,
            canvases,
            tiles,
            remembered: None,
            colours,
            all,
            changes,
            exchange,
        };
        session.synthesise();
        session
    }
}

impl<T: Real> Session<T> for CpuSession<T> {
    fn discover(&mut self, sweep: &Discovery, context: &Context) -> Result<Sweep> {
        self.discover_shown(sweep, context, &mut |_| {})
    }

    fn support(&mut self, sweep: &Support, context: &Context) -> Result<Sweep> {
        self.support_shown(sweep, context, &mut |_| {})
    }

    fn discover_shown(
        &mut self,
        sweep: &Discovery,
        context: &Context,
        show: Show<'_, T>,
    ) -> Result<Sweep> {
        let level = self.level;
        let skipping = self.skipping;
        let nonnegative = self.nonnegative;
        let local = self.local;
        let sum = self.sweeps(
            1,
            matches!(sweep.visit, Visit::All | Visit::Spread),
            context,
            show,
            |state, _| match sweep.visit {
                Visit::All | Visit::Spread => true,
                Visit::Candidates => !state.candidates.is_empty(),
                Visit::Layer(of) => state.plane == of.plane,
            },
            |atoms, plane, field, state, scratch| {
                T::dispatch(
                    level,
                    DiscoverTile {
                        atoms,
                        plane,
                        field,
                        state,
                        scratch,
                        sweep,
                        skipping,
                        nonnegative,
                        local,
                    },
                )
            },
        );
        if sweep.visit == Visit::Spread {
            self.standing = Standing::Foreign;
            self.forget();
        }
        Ok(sum)
    }

    fn support_shown(
        &mut self,
        sweep: &Support,
        context: &Context,
        show: Show<'_, T>,
    ) -> Result<Sweep> {
        let (level, nonnegative) = (self.level, self.nonnegative);
        Ok(self.sweeps(
            sweep.sweeps,
            true,
            context,
            show,
            |state, pending| !state.codes.is_empty() && pending() >= sweep.tolerance,
            |atoms, plane, field, state, scratch| match atoms.joint {
                None => T::dispatch(
                    level,
                    SupportTile { atoms, plane, field, state, scratch, sweep, nonnegative },
                ),
                Some(norm) => {
                    let rules = GroupRules::new(norm, nonnegative);
                    T::dispatch(
                        level,
                        SupportGroups { atoms, plane, field, state, scratch, sweep, rules },
                    );
                }
            },
        ))
    }

    fn fit_support(&mut self, fit: &SupportFit, context: &Context) -> Result<()> {
        self.descend_on_support(fit, context)
    }

    fn measure(&mut self, what: Measure, context: &Context) -> Result<Vec<Measurement>> {
        let goal = match what {
            Measure::Progress | Measure::Objective => None,
            Measure::Largest => Some(Goal::Largest),
            Measure::Certificate { penalty, slack } => Some(Goal::Above {
                penalty: T::from_f64(penalty),
                bound: T::from_f64(penalty * (1.0 + slack)),
            }),
        };
        if self.standing == Standing::Foreign
            || (what != Measure::Progress && self.standing == Standing::Swept)
        {
            self.synthesise();
        }
        let stopped = AtomicBool::new(false);
        if let Some(goal) = goal {
            let level = self.level;
            let skipping = self.skipping;
            let nonnegative = self.nonnegative;
            let Self { team, atoms, planes, residuals, tiles, all, changes, .. } = self;
            // The quadratic term makes a certificate depend on its penalty in more ways.
            let elastic = atoms.elastic > T::ZERO;
            team.each_of(tiles, all, |state, scratch| {
                let changed = elastic || changes.since_measured(state);
                state.visited = 0;
                // If no code changed around a tile, its residual is bit-identical.
                if !changed && !matches!(goal, Goal::Above { penalty, .. } if state.largest_correlation > penalty.to_f64()) {
                    return;
                }
                if context.stop.is_due() {
                    return stopped.store(true, Relaxed);
                }
                let (plane, residual) = (&planes[state.plane], &residuals[state.plane][..]);
                T::dispatch(level, MeasureTile { atoms, plane, residual, state, scratch, changed, goal, skipping, nonnegative });
                changes.note_measured(state);
            });
            if stopped.load(Relaxed) {
                self.forget_measured();
            } else {
                planes
                    .iter_mut()
                    .zip(residuals)
                    .for_each(|(plane, residual)| plane.keep_measured(team, residual));
            }
        }
        if self.standing != Standing::Measured {
            let Self { team, planes, residuals, tiles, atoms, all, level, .. } = self;
            team.each_of(tiles, all, |state, _| {
                state.measure_codes(*level, &planes[state.plane], &residuals[state.plane], atoms);
            });
        }
        if self.standing == Standing::Synthesised {
            self.standing = Standing::Measured;
        }
        // An earlier certificate gives no bound now.
        let known = what.correlates() && !stopped.load(Relaxed);
        let half = 0.5 * self.atoms.elastic.to_f64();
        let above = matches!(what, Measure::Certificate { .. }) && known && half > 0.0;
        let sums = self.add_up(above, |state| Measurement {
            residual_energy: state.energies.0,
            target_dot_residual: state.energies.1,
            weighted_l1: state.weighted_l1,
            elastic_term: half * state.squares,
            elastic_excess: above.then(|| state.excess / (4.0 * half)),
            unpenalised_correlation: state.unpenalised_correlation,
            nonzeros: state.codes.len(),
            largest_correlation: if known { state.largest_correlation } else { f64::INFINITY },
            visited: if what.correlates() { state.visited } else { 0 },
        });
        if !what.correlates() {
            self.share_out();
        }
        Ok(sums)
    }

    fn state(&mut self, share: Share) -> Result<State<T>> {
        Ok(self.gather_state(share))
    }

    fn restore(&mut self, given: &State<T>) -> Result<()> {
        self.place_codes(&given.codes);
        self.forget();
        for state in self.tiles.iter_mut() {
            let whole = self.planes[state.plane].whole_index(state.index);
            if let Some(&pending) =
                given.pending.get(state.plane).and_then(|tiles| tiles.get(whole))
            {
                self.changes.set_pending(state, pending);
            }
        }
        self.share_out();
        self.standing = Standing::Foreign;
        Ok(())
    }

    fn residual(&mut self, plane: usize) -> Result<Vec<T>> {
        self.follow();
        Ok(self.gather_residual(plane))
    }

    fn retarget(&mut self, plane: usize, target: Vec<T>) -> Result<()> {
        let residual = &mut self.residuals[plane];
        self.planes[plane].retarget(target, residual, self.team.threads());
        // The residual followed, with a small rounding error.
        self.standing = self.standing.min(Standing::Swept);
        self.forget();
        Ok(())
    }

    fn set_joint_norm(&mut self, norm: JointNorm) -> Result<()> {
        self.atoms.joint = Some(norm);
        self.forget_measured();
        Ok(())
    }

    fn dictionary(&self) -> &Dictionary<T> {
        &self.atoms.dictionary
    }

    fn memory(&self) -> u64 {
        let planes: usize = self.planes.iter().map(PlaneState::bytes).sum();
        let residuals: usize =
            self.residuals.iter().chain(&self.along).map(|field| size_of_val(&field[..])).sum();
        let tiles: usize = self.tiles.iter().map(TileState::bytes).sum();
        let remembered = self.remembered.iter().flat_map(|remembered| &remembered.codes);
        let remembered: usize =
            remembered.map(|codes| codes.capacity() * size_of::<LocalCode<T>>()).sum();
        let canvases: usize = self.canvases.iter().map(Canvas::bytes).sum();
        let rest = self.changes.bytes() + self.atoms.bytes();
        (self.team.bytes() + planes + residuals + canvases + tiles + remembered + rest) as u64
    }

    fn learning(&mut self) -> &mut dyn Learning<T> {
        self
    }

    fn scaled(&mut self) -> Option<&mut dyn ScaledResidual<T>> {
        Some(self)
    }
}

impl<T: Real> CpuSession<T> {
    /// The residual over the signal, gathered from all ranks.
    fn gather_residual(&self, plane: usize) -> Vec<T> {
        let (own, residual) = (&self.planes[plane], &self.residuals[plane]);
        let signal = Raster::new(own.signal, own.channels);
        if self.exchange.is_alone() {
            return own.gather_own(residual, self.team.threads());
        }
        // Only samples of the signal that this block owns.
        let counted = Region::new(own.grid.origin, own.grid.own_end).shared(&own.signal);
        let mut message = Vec::new();
        wire::put(&mut message, &counted.start);
        wire::put(&mut message, &counted.size.map(|x| x as u64));
        let samples =
            own.raster().gather(residual, &own.grid.region_to_domain(&counted), T::ZERO, 1);
        wire::put_list(&mut message, &samples);
        let mut out = vec![T::ZERO; signal.len()];
        for part in self.exchange.gather(message) {
            let mut rest = &part[..];
            let mut start = [0i64; 3];
            let mut size = [0u64; 3];
            wire::take(&mut rest, &mut start);
            wire::take(&mut rest, &mut size);
            let region = Region::new(Point::new(start), size.map(|x| x as usize));
            signal.scatter(&mut out, &region, &wire::take_list::<T>(&mut rest));
        }
        out
    }
}
