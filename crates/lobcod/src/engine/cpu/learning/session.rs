//! Learning operations on the CPU.

use crate::dictionary::{Constraints, Dictionary};
use crate::engine::cpu::learning::atom_pass::improve_atoms;
use crate::engine::cpu::learning::gradient::{InUnits, PlanesWithCodes, Survey};
use crate::engine::cpu::session::{CpuSession, Remembered, Standing};
use crate::engine::{Context, Learning, PlaneLayer};
use crate::error::Result;
use crate::real::Real;
use crate::simd::AtomRows;

impl<T: Real> CpuSession<T> {
    fn replace_atoms(&mut self, dictionary: Dictionary<T>, standing: Standing) {
        self.atoms.replace(dictionary);
        // Correlations of other atoms are meaningless.
        self.forget_measured();
        self.standing = standing;
    }
}

impl<T: Real> Learning<T> for CpuSession<T> {
    fn set_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()> {
        self.replace_atoms(dictionary, Standing::Foreign);
        Ok(())
    }

    fn step_dictionary(&mut self, dictionary: Dictionary<T>) -> Result<()> {
        let lagging = self.standing.min(Standing::Swept);
        self.replace_atoms(dictionary, lagging);
        Ok(())
    }

    fn remember(&mut self) -> Result<()> {
        let mut codes = self.remembered.take().map_or(Vec::new(), |remembered| remembered.codes);
        codes.resize_with(self.tiles.len(), Vec::new);
        codes.iter_mut().zip(&self.tiles).for_each(|(codes, state)| codes.clone_from(&state.codes));
        self.remembered = Some(Remembered { dictionary: self.atoms.dictionary.clone(), codes });
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        let Some(Remembered { dictionary, codes }) = &self.remembered else { return Ok(()) };
        self.tiles.iter_mut().zip(codes).for_each(|(state, codes)| state.codes.clone_from(codes));
        let dictionary = dictionary.clone();
        self.replace_atoms(dictionary, Standing::Foreign);
        self.share_out();
        Ok(())
    }

    fn improve_atoms(&mut self, constraints: &Constraints, context: &Context) -> Result<f64> {
        assert!(self.learning, "the session was opened for learning");
        self.follow();
        let mut dictionary = self.atoms.dictionary.clone();
        let moved = improve_atoms(self, &mut dictionary, constraints, context);
        self.replace_atoms(dictionary, Standing::Swept);
        Ok(moved)
    }

    fn layers(&mut self, plane: usize) -> usize {
        self.planes[plane].layers()
    }

    fn gradient(&mut self, of: Option<PlaneLayer>) -> Result<Vec<f64>> {
        self.follow();
        let Self { team, planes, residuals, tiles, level, atoms, exchange, .. } = self;
        let mut planes_with_codes = PlanesWithCodes::new(planes, residuals, tiles, of);
        let own = planes_with_codes.survey(*level, team);
        let (mut largest, mut count) = ([own.largest_code, own.largest_sample], [own.codes as i64]);
        exchange.reduce(&mut count, &mut largest);
        let all = Survey {
            largest_code: largest[0],
            largest_sample: largest[1],
            codes: count[0] as usize,
        };
        let numbers = atoms.dictionary.data().len();
        let Some(scale) = all.scale() else {
            return Ok(vec![if all.largest() == 0.0 { 0.0 } else { f64::NAN }; numbers]);
        };
        let mut sums = planes_with_codes.gradient(*level, team, scale, numbers);
        exchange.reduce(&mut sums, &mut []);
        Ok(T::dispatch(*level, InUnits { sums, scale }))
    }

    fn energy_along(&mut self, direction: &[f64]) -> Result<f64> {
        let data: Vec<T> = direction.iter().map(|&g| T::from_f64(g)).collect();
        let row = self.atoms.dictionary.extent().padded()[2];
        let rows = AtomRows::from_data(
            &data,
            row,
            self.atoms.dictionary.atom_len(),
            self.level.lanes::<T>(),
        );
        self.synthesise_from(Some(&rows), true);
        self.standing = Standing::Foreign;
        let Self { team, planes, residuals, tiles, all, level, .. } = self;
        team.each_of(tiles, all, |state, _| {
            state.energies =
                planes[state.plane].energies(*level, &state.tile, &residuals[state.plane]);
        });
        let sum = self.tiles.iter().map(|state| state.energies.0).collect();
        Ok(self.exchange.sums(vec![sum], &mut [])[0])
    }
}
