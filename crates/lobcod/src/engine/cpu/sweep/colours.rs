//! Work on all tiles of a session, colour by colour, on all ranks concurrently.

use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::changes::{Changes, Seen};
use crate::engine::cpu::data::field::{ColourField, TileField};
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::cpu::session::{CpuSession, Standing};
use crate::engine::cpu::sweep::support::SynthesiseTile;
use crate::engine::ranks::{BorderSamples, wire};
use crate::engine::{Context, Measurement, Show, Sweep};
use crate::exact::ExactSum;
use crate::real::Real;
use crate::simd::AtomRows;

impl<T: Real> CpuSession<T> {
    /// Redistributes the tiles by their current cost.
    pub fn share_out(&mut self) {
        let Self { team, tiles, colours, all, .. } = self;
        if team.threads() == 1 {
            return;
        }
        for shares in colours
            .iter_mut()
            .flat_map(|colour| [&mut colour.inner, &mut colour.border])
            .chain([all])
        {
            let mut items = shares.items().to_vec();
            items.sort_unstable();
            *shares = team.shares(&items, |i| tiles[i as usize].cost());
        }
    }

    /// Runs `work` `count` times on the tiles that `wanted` selects by their pending change, colour
    /// by colour, the tiles of a colour in parallel.
    ///
    /// `whole`: every code of a tile is swept. `show` is called between two colours.
    pub fn sweeps(
        &mut self,
        count: usize,
        whole: bool,
        context: &Context,
        show: Show<'_, T>,
        wanted: impl Fn(&TileState<T>, &dyn Fn() -> f64) -> bool + Sync,
        work: impl Fn(&Atoms<T>, &PlaneState<T>, TileField<'_, T>, &mut TileState<T>, &mut Scratch<T>)
        + Sync,
    ) -> Sweep {
        self.follow();
        self.standing = Standing::Swept;
        for _ in 0..count {
            self.run_colours(show, |atoms, changes, field, state, scratch| {
                if !wanted(state, &|| changes.pending(state)) || context.stop.is_due() {
                    return;
                }
                (state.largest_change, state.last_change, state.visited) = (0.0, 0.0, 0);
                work(atoms, field.plane, field.lend(state.index), state, scratch);
                scratch.tally.largest_change =
                    scratch.tally.largest_change.max(state.largest_change);
                scratch.tally.visited += state.visited;
                changes.record_sweep(state, whole);
            });
        }
        let together = |sum: Sweep, part: Sweep| Sweep {
            largest_change: sum.largest_change.max(part.largest_change),
            visited: sum.visited + part.visited,
        };
        let sum = self.team.tallies().fold(Sweep::default(), together);
        let (mut visited, mut largest) = ([sum.visited as i64], [sum.largest_change]);
        self.exchange.reduce(&mut visited, &mut largest);
        Sweep { largest_change: largest[0], visited: visited[0] as usize }
    }

    /// Runs `work` on all tiles, colour by colour. Waits for messages of other ranks before the
    /// border tiles of the next colour, and at the end.
    ///
    /// `show`: called between two colours, unless this is one of several ranks.
    fn run_colours(
        &mut self,
        show: Show<'_, T>,
        work: impl Fn(&Atoms<T>, &Changes, &ColourField<'_, T>, &mut TileState<T>, &mut Scratch<T>)
        + Sync,
    ) {
        let Self { team, atoms, planes, residuals, tiles, colours, changes, exchange, .. } = self;
        let samples = |borders: &[BorderSamples]| -> usize {
            borders
                .iter()
                .map(|border| border.region.volume() * planes[border.plane].channels)
                .sum()
        };
        exchange.expect(|counters, borders| {
            Changes::COUNTER_BYTES * counters.len() + size_of::<T>() * samples(borders)
        });
        let read = |residuals: &mut [Vec<T>],
                    slots: &[u32],
                    borders: &[BorderSamples],
                    message: &mut &[u8]| {
            slots.iter().for_each(|&slot| changes.read_counters(slot, message));
            for border in borders {
                let residual = &mut residuals[border.plane];
                planes[border.plane].raster().rows(&border.region, |at, length| {
                    wire::take(message, &mut residual[at..at + length])
                });
            }
        };
        let last = colours.len() - 1;
        for (number, colour) in colours.iter_mut().enumerate() {
            if number > 0 && exchange.is_alone() {
                let threads = team.threads();
                show(&|plane: usize| planes[plane].gather_own(&residuals[plane], threads));
            }
            for (shares, at_border) in [(&mut colour.inner, false), (&mut colour.border, true)] {
                if at_border && number > 0 {
                    exchange.receive(number - 1, |slots, borders, message| {
                        read(residuals, slots, borders, message)
                    });
                }
                let lent = residuals.iter_mut().zip(planes.iter());
                let fields: Vec<_> = lent
                    .map(|(residual, plane)| ColourField::new(residual, plane, number))
                    .collect();
                team.each_of(tiles, shares, |state, scratch| {
                    work(atoms, changes, &fields[state.plane], state, scratch)
                });
            }
            exchange.send(number, |slots, borders, message| {
                message.reserve(
                    Changes::COUNTER_BYTES * slots.len() + size_of::<T>() * samples(borders),
                );
                slots.iter().for_each(|&slot| changes.write_counters(slot, message));
                for border in borders {
                    let residual = &residuals[border.plane];
                    planes[border.plane].raster().rows(&border.region, |at, length| {
                        wire::put(message, &residual[at..at + length])
                    });
                }
            });
        }
        exchange.receive(last, |slots, borders, message| read(residuals, slots, borders, message));
    }

    /// Synthesises the residual if it does not belong to codes and dictionary.
    pub fn follow(&mut self) {
        if self.standing == Standing::Foreign {
            self.synthesise();
        }
    }

    /// Recomputes the residual from the codes.
    pub fn synthesise(&mut self) {
        self.synthesise_from(None, false);
        self.standing = Standing::Synthesised;
    }

    /// Subtracts the synthesis, or that with other atoms, from the signal or from zero.
    pub fn synthesise_from(&mut self, others: Option<&AtomRows<T>>, from_zero: bool) {
        let Self { team, planes, residuals, level, .. } = self;
        planes
            .iter()
            .zip(residuals)
            .for_each(|(plane, residual)| plane.reset(team, residual, from_zero));
        let level = *level;
        self.run_colours(&mut |_| {}, |own, _, field, state, scratch| {
            let (atoms, plane) = (others.unwrap_or(&own.rows), field.plane);
            T::dispatch(
                level,
                SynthesiseTile { atoms, plane, field: field.lend(state.index), state, scratch },
            );
        });
    }

    /// Measurements of every plane from those of its tiles on all ranks, by exact sums.
    pub fn add_up(
        &self,
        with_excess: bool,
        of: impl Fn(&TileState<T>) -> Measurement,
    ) -> Vec<Measurement> {
        let planes = self.planes.len();
        let mut sums = vec![ExactSum::default(); 5 * planes];
        let (mut counts, mut largest) = (vec![0; 2 * planes], vec![0.0f64; 2 * planes]);
        for state in &self.tiles {
            let (p, m) = (state.plane, of(state));
            let excess = m.elastic_excess.unwrap_or(0.0);
            [m.residual_energy, m.target_dot_residual, m.weighted_l1, m.elastic_term, excess]
                .iter()
                .enumerate()
                .for_each(|(i, &x)| sums[5 * p + i].add(x));
            counts[2 * p] += m.nonzeros;
            counts[2 * p + 1] += m.visited;
            largest[2 * p] = largest[2 * p].max(m.largest_correlation);
            largest[2 * p + 1] = largest[2 * p + 1].max(m.unpenalised_correlation);
        }
        let sums = self.exchange.sums(sums, &mut counts);
        self.exchange.reduce(&mut [], &mut largest);
        let plane = |p: usize| Measurement {
            residual_energy: sums[5 * p],
            target_dot_residual: sums[5 * p + 1],
            weighted_l1: sums[5 * p + 2],
            elastic_term: sums[5 * p + 3],
            elastic_excess: with_excess.then_some(sums[5 * p + 4]),
            unpenalised_correlation: largest[2 * p + 1],
            nonzeros: counts[2 * p],
            largest_correlation: largest[2 * p],
            visited: counts[2 * p + 1],
        };
        (0..planes).map(plane).collect()
    }

    /// The tiles of a plane.
    pub fn tiles_of(&self, plane: usize) -> &[TileState<T>] {
        let before = |p: usize| self.tiles.partition_point(|state| state.plane < p);
        &self.tiles[before(plane)..before(plane + 1)]
    }

    /// Discards what is known about the surroundings: every tile is swept and measured again.
    pub fn forget(&mut self) {
        self.tiles.iter_mut().for_each(|state| state.seen = Seen::NOTHING);
    }

    /// Also discards the correlations of the last measurement.
    pub fn forget_measured(&mut self) {
        for state in self.tiles.iter_mut() {
            state.reaches.clear();
            state.candidates.clear();
        }
        self.forget();
    }
}
