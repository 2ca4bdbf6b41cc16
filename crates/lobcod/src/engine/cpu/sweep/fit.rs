//! Conjugate gradients on the values of all non-zero codes.
//!
//! Where optimal codes overlap much, coordinate descent is slow, and the support is known long
//! before the values. On the support, with signs fixed, the objective is quadratic (with joint
//! sparsity it is replaced by its quadratic model). The step towards its minimum is kept only if
//! the objective falls; codes that would change their sign become zero.

use super::groups::PlacedAtom;
use crate::engine::cpu::data::atoms::Atoms;
use crate::engine::cpu::data::plane::PlaneState;
use crate::engine::cpu::data::scratch::Scratch;
use crate::engine::cpu::data::tile::TileState;
use crate::engine::cpu::session::{CpuSession, Standing};
use crate::engine::{Context, Measure, Session, SupportFit};
use crate::error::Result;
use crate::exact::ExactSum;
use crate::real::Real;
use crate::simd::{Kernel, Vector, dot_atom};

/// Fractions of the step that are tried.
const LENGTHS: [f64; 3] = [1.0, 0.3, 0.1];

/// A non-zero code while all of them are fitted. Meanwhile the code itself holds the direction of
/// descent.
#[derive(Clone, Copy)]
pub struct FittedValue<T> {
    /// Value before the fit.
    before: T,
    value: T,
    /// Negative gradient of the objective.
    descent: T,
    /// Inverse of the second derivative of the objective along this code.
    inverse: T,
    /// Correlation with a field.
    correlation: T,
}

/// What a fit needs to know of the problem.
#[derive(Clone, Copy)]
struct Terms {
    penalty: f64,
    nonnegative: bool,
}

/// First and second derivative of the penalty along a code, and its second derivative along the
/// direction.
struct Slope {
    first: f64,
    second: f64,
    along: f64,
}

impl<T: Real> TileState<T> {
    /// Calls `f(code, its value, derivatives of its penalty)`. Codes hold the direction.
    fn each_slope(
        &mut self,
        atoms: &Atoms<T>,
        plane: &PlaneState<T>,
        terms: Terms,
        mut f: impl FnMut(&mut T, T, &mut FittedValue<T>, Slope),
    ) {
        let elastic = atoms.elastic.to_f64();
        let Self { codes, fit, tile, .. } = self;
        let mut rest = &mut fit[..];
        for group in codes.chunk_by_mut(|a, b| atoms.joint.is_some() && plane.is_one_group(a, b)) {
            let values = rest.split_off_mut(..group.len()).expect("one value per code");
            let weights = plane.needle_weights(atoms, tile, group[0].offset as usize);
            let weight = weights.of(plane.atom_of(group[0].atom)).to_f64();
            let norm = atoms.joint.map_or((1.0, 0.0), |norm| (norm.l1, norm.l2));
            let (l1, l2) = (terms.penalty * weight * norm.0, terms.penalty * weight * norm.1);
            let squares = values.iter().map(|v| v.before.to_f64().powi(2)).sum::<f64>();
            let products = group.iter().zip(values.iter());
            let product: f64 =
                products.map(|(code, v)| code.value.to_f64() * v.before.to_f64()).sum();
            // Slope of the Euclidean norm.
            let bend = if l2 > 0.0 { l2 / squares.sqrt() } else { 0.0 };
            for (code, value) in group.iter_mut().zip(values) {
                let (x, p) = (value.before.to_f64(), code.value.to_f64());
                let first = l1 * x.signum() + bend * x + elastic * value.value.to_f64();
                let second = elastic + bend * (1.0 - x * x / squares);
                let along = elastic * p + bend * (p - x * product / squares);
                f(&mut code.value, code.curvature, value, Slope { first, second, along });
            }
        }
    }

    /// Whether a code of this weight keeps its sign.
    fn is_signed(
        &self,
        atoms: &Atoms<T>,
        plane: &PlaneState<T>,
        number: usize,
        terms: Terms,
    ) -> bool {
        let code = &self.codes[number];
        let weights = plane.needle_weights(atoms, &self.tile, code.offset as usize);
        let l1 = atoms.joint.map_or(1.0, |norm| norm.l1);
        terms.nonnegative
            || (l1 * terms.penalty > 0.0 && weights.of(plane.atom_of(code.atom)) > T::ZERO)
    }
}

/// Correlates the codes of one tile with a field.
struct CorrelateCodes<'a, T> {
    atoms: &'a Atoms<T>,
    plane: &'a PlaneState<T>,
    field: &'a [T],
    state: &'a mut TileState<T>,
    scratch: &'a mut Scratch<T>,
}

impl<T: Real> Kernel<T> for CorrelateCodes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Elem = T>>(self) {
        let Self { atoms, plane, field, state, scratch } = self;
        if state.codes.is_empty() {
            return;
        }
        let footprint = &mut scratch.footprint;
        plane.load(&state.tile, field, footprint);
        let layout = &plane.layout;
        let joint = plane.codes_of_atom > 1;
        let renewed = state.curvatures != atoms.version;
        for (code, value) in state.codes.iter_mut().zip(&mut state.fit) {
            let weights = code.clipped.then_some(&footprint.weights[..]);
            let (k, at) = (code.atom as usize, code.offset as usize);
            if joint {
                let place = PlacedAtom::of(&atoms.rows, plane, code);
                value.correlation = place.dot::<V>(&footprint.residual);
                if renewed {
                    code.curvature = place.curvature::<V>(weights);
                }
            } else {
                value.correlation =
                    dot_atom::<V>(&atoms.rows, k, &layout.rows, &footprint.residual, at);
                if renewed {
                    code.curvature = atoms.curvature::<V>(k, weights, layout, at);
                }
            }
        }
        state.curvatures = atoms.version;
    }
}

impl<T: Real> CpuSession<T> {
    /// Descends towards the minimum over the values of the non-zero codes.
    pub fn descend_on_support(&mut self, fit: &SupportFit, context: &Context) -> Result<()> {
        let objective = |session: &mut Self| -> Result<f64> {
            let planes = session.measure(Measure::Objective, context)?;
            Ok(planes.iter().map(|plane| plane.objective(fit.penalty)).sum())
        };
        let before = objective(self)?;
        let terms = Terms { penalty: fit.penalty, nonnegative: self.nonnegative };
        if self.along.len() != self.residuals.len() {
            self.along = self.residuals.iter().map(|r| vec![T::ZERO; r.len()]).collect();
        }
        let first = self.begin_fit(terms);
        let mut energy = first;
        for _ in 0..fit.steps {
            if energy <= fit.enough * first || !energy.is_finite() || context.stop.is_due() {
                break;
            }
            // Minus the direction, synthesised.
            std::mem::swap(&mut self.residuals, &mut self.along);
            self.synthesise_from(None, true);
            std::mem::swap(&mut self.residuals, &mut self.along);
            let curvature = self.curve(terms);
            let length = energy / curvature;
            if !(curvature > 0.0 && length.is_finite()) {
                break;
            }
            let next = self.step(length);
            let ratio = next / std::mem::replace(&mut energy, next);
            self.each_tile(|_, _, state| {
                for (code, value) in state.codes.iter_mut().zip(&state.fit) {
                    code.value = value.descent * value.inverse + T::from_f64(ratio) * code.value;
                }
            });
        }
        let mut better = false;
        for length in LENGTHS {
            self.set_values(Some(length), terms);
            better = objective(self)? < before;
            if better || context.stop.is_due() {
                break;
            }
        }
        if !better {
            self.set_values(None, terms);
        }
        self.each_tile(|_, _, state| {
            state.codes.retain(|code| code.value != T::ZERO);
            state.fit.clear();
        });
        self.forget();
        Ok(())
    }

    fn each_tile(&mut self, work: impl Fn(&Atoms<T>, &PlaneState<T>, &mut TileState<T>) + Sync) {
        let Self { team, atoms, planes, tiles, all, .. } = self;
        team.each_of(tiles, all, |state, _| work(atoms, &planes[state.plane], state));
    }

    /// The same; returns the sum over the tiles of all ranks.
    fn sum_of_tiles(
        &mut self,
        work: impl Fn(&Atoms<T>, &PlaneState<T>, &mut TileState<T>) -> f64 + Sync,
    ) -> f64 {
        self.each_tile(|atoms, plane, state| state.sum = work(atoms, plane, state));
        let sum: ExactSum = self.tiles.iter().map(|state| state.sum).collect();
        self.exchange.sums(vec![sum], &mut [])[0]
    }

    /// Correlates all codes with the residual, or with the synthesised direction.
    fn correlate_codes(&mut self, along: bool) {
        let Self { team, atoms, planes, tiles, all, residuals, along: direction, level, .. } = self;
        let (level, fields) = (*level, if along { &*direction } else { &*residuals });
        team.each_of(tiles, all, |state, scratch| {
            let (plane, field) = (&planes[state.plane], &fields[state.plane][..]);
            T::dispatch(level, CorrelateCodes { atoms, plane, field, state, scratch });
        });
    }

    /// Starts at the current codes; returns the squared norm of the gradient.
    fn begin_fit(&mut self, terms: Terms) -> f64 {
        self.each_tile(|_, _, state| {
            state.candidates.clear();
            state.fit.clear();
            state.fit.extend(state.codes.iter().map(|code| FittedValue {
                before: code.value,
                value: code.value,
                descent: T::ZERO,
                inverse: T::ZERO,
                correlation: T::ZERO,
            }));
        });
        self.correlate_codes(false);
        self.sum_of_tiles(|atoms, plane, state| {
            let mut sum = 0.0;
            state.each_slope(atoms, plane, terms, |direction, curvature, value, slope| {
                let second = curvature.to_f64() + slope.second;
                let inverse = if second > 0.0 { 1.0 / second } else { 0.0 };
                let descent = value.correlation.to_f64() - slope.first;
                (value.descent, value.inverse) = (T::from_f64(descent), T::from_f64(inverse));
                *direction = value.descent * value.inverse;
                sum += descent * descent * inverse;
            });
            sum
        })
    }

    /// Second derivative of the objective along the direction; leaves its product with the
    /// direction.
    fn curve(&mut self, terms: Terms) -> f64 {
        self.correlate_codes(true);
        self.sum_of_tiles(|atoms, plane, state| {
            let mut sum = 0.0;
            state.each_slope(atoms, plane, terms, |direction, _, value, slope| {
                let product = slope.along - value.correlation.to_f64();
                value.correlation = T::from_f64(product);
                sum += product * direction.to_f64();
            });
            sum
        })
    }

    /// Moves by this length along the direction; returns the squared norm of the gradient.
    fn step(&mut self, length: f64) -> f64 {
        let length = T::from_f64(length);
        self.sum_of_tiles(|_, _, state| {
            let mut sum = 0.0;
            for (code, value) in state.codes.iter().zip(&mut state.fit) {
                value.value += length * code.value;
                value.descent -= length * value.correlation;
                sum += (value.descent * value.descent * value.inverse).to_f64();
            }
            sum
        })
    }

    /// Codes at a fraction of the whole step, or as they were.
    fn set_values(&mut self, length: Option<f64>, terms: Terms) {
        self.standing = Standing::Foreign;
        self.each_tile(|atoms, plane, state| {
            for i in 0..state.codes.len() {
                let FittedValue { before, value, .. } = state.fit[i];
                let Some(length) = length else {
                    state.codes[i].value = before;
                    continue;
                };
                let value = before + T::from_f64(length) * (value - before);
                let kept = value * before > T::ZERO || !state.is_signed(atoms, plane, i, terms);
                state.codes[i].value = if kept { value } else { T::ZERO };
            }
        });
    }
}
