//! Extrapolation of the codes from pass to pass (Anderson's method).
//!
//! Passes converge linearly, and slowly where the optimal codes overlap much. If passes led from
//! the codes `x_i` to `g_i`, the next one begins with `sum c_i g_i`, where the weights `c_i` add up
//! to 1 and make `||sum c_i (g_i - x_i)||` smallest: near the limit, that is where passes change
//! nothing. The extrapolated codes keep the support and the signs of the last ones, and are used
//! only if their objective is lower. After a few passes they are forgotten; only then is a
//! checkpoint offered, so that a resumed run extrapolates in the same way.

use super::params::{Observed, PursuitParams};
use super::setup::EXPECTED_DENSITY;
use super::solver::Solver;
use crate::engine::{Measure, Share, State};
use crate::error::Result;
use crate::needles::Code;
use crate::real::Real;

/// Passes after which all are forgotten.
const MOST_PASSES: usize = 5;
/// Signals that have more samples together are not extrapolated: the remembered codes would take
/// more memory than everything else.
const MOST_SAMPLES: usize = 1 << 18;
/// Added to the diagonal of the normal equations, as a fraction of it.
const REGULARISATION: f64 = 1e-10;

/// The codes of every plane, sorted.
type Codes<T> = Vec<Vec<Code<T>>>;

/// Codes before and after the last passes.
pub struct Extrapolation<T> {
    passes: Vec<[Codes<T>; 2]>,
    /// The codes with which the next pass begins.
    begin: Option<Codes<T>>,
}

impl<T: Real> Extrapolation<T> {
    fn new() -> Self {
        Self { passes: Vec::new(), begin: None }
    }

    /// An empty history, for pursuits that gain by it.
    pub fn of(params: &PursuitParams, signals: &[Observed<T>]) -> Option<Self> {
        (params.overlaps() && samples(signals) <= MOST_SAMPLES).then(Self::new)
    }

    /// Bytes expected of the codes before and after all remembered passes.
    pub fn memory(params: &PursuitParams, signals: &[Observed<T>]) -> u64 {
        let codes = EXPECTED_DENSITY * samples(signals) as f64;
        let most = codes * ((2 * MOST_PASSES + 1) * size_of::<Code<T>>()) as f64;
        Self::of(params, signals).map_or(0, |_| most as u64)
    }

    /// Whether no pass is remembered.
    pub fn is_fresh(&self) -> bool {
        self.passes.is_empty()
    }

    /// Bytes of the remembered codes.
    pub fn bytes(&self) -> u64 {
        let all = self.passes.iter().flatten().chain(&self.begin).flatten();
        all.map(|codes| size_of_val(&codes[..]) as u64).sum()
    }

    /// Records the end of a pass; returns the extrapolated codes.
    fn after(&mut self, now: &Codes<T>) -> Option<Codes<T>> {
        let begin = self.begin.take()?;
        self.passes.push([begin, now.clone()]);
        if self.passes.len() < 2 {
            return None;
        }
        let values = |codes: &Codes<T>| -> Vec<f64> {
            codes.iter().zip(now).flat_map(|(codes, now)| values_at(codes, now)).collect()
        };
        let ends: Vec<[Vec<f64>; 2]> =
            self.passes.iter().map(|pass| pass.each_ref().map(values)).collect();
        let change =
            |[x, g]: &[Vec<f64>; 2]| -> Vec<f64> { g.iter().zip(x).map(|(g, x)| g - x).collect() };
        let weights = flattest(&ends.iter().map(change).collect::<Vec<_>>())?;
        let mut place = 0;
        let mut extrapolated = now.clone();
        for codes in &mut extrapolated {
            for code in codes.iter_mut() {
                let value: f64 = ends.iter().zip(&weights).map(|([_, g], c)| c * g[place]).sum();
                let same = value * code.value.to_f64() > 0.0;
                code.value = if same { T::from_f64(value) } else { T::ZERO };
                place += 1;
            }
            codes.retain(|code| code.value != T::ZERO);
        }
        Some(extrapolated)
    }
}

/// Samples of all signals together, on all ranks.
fn samples<T: Real>(signals: &[Observed<T>]) -> usize {
    signals.iter().map(|o| o.extent().volume() * o.signal.channels()).sum()
}

/// The values of these codes at the places of others; both are sorted.
fn values_at<T: Real>(codes: &[Code<T>], places: &[Code<T>]) -> Vec<f64> {
    let key = |code: &Code<T>| (code.position, code.atom, code.channel);
    let mut rest = codes.iter().peekable();
    let value = |place: &Code<T>| {
        while rest.next_if(|code| key(code) < key(place)).is_some() {}
        rest.peek().filter(|code| key(code) == key(place)).map_or(0.0, |code| code.value.to_f64())
    };
    places.iter().map(value).collect()
}

/// Weights that add up to 1 and make the norm of the weighted sum of vectors smallest.
fn flattest(vectors: &[Vec<f64>]) -> Option<Vec<f64>> {
    let n = vectors.len();
    let product = |i: usize, j: usize| -> f64 {
        vectors[i].iter().zip(&vectors[j]).map(|(a, b)| a * b).sum()
    };
    let mut rows: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| product(i, j)).chain([1.0]).collect()).collect();
    let trace: f64 = (0..n).map(|i| rows[i][i]).sum();
    (0..n).for_each(|i| rows[i][i] += REGULARISATION * trace);
    // Elimination; the matrix is positive definite.
    for i in 0..n {
        let pivot = rows[i].clone();
        for (j, row) in rows.iter_mut().enumerate() {
            if j != i {
                let ratio = row[i] / pivot[i];
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= ratio * p);
            }
        }
    }
    let solution: Vec<f64> = (0..n).map(|i| rows[i][n] / rows[i][i]).collect();
    let sum: f64 = solution.iter().sum();
    let weights: Vec<f64> = solution.iter().map(|x| x / sum).collect();
    weights.iter().all(|c| c.is_finite()).then_some(weights)
}

impl<T: Real> Solver<'_, T> {
    /// Notes the codes with which a pass begins.
    pub fn begin_extrapolation(&mut self) -> Result<()> {
        if let Some(extrapolation) = &mut self.extrapolation
            && extrapolation.begin.is_none()
        {
            extrapolation.begin = Some(self.session.state(Share::All)?.codes);
        }
        Ok(())
    }

    /// Replaces the codes by extrapolated ones if these have a lower objective.
    pub fn extrapolate(&mut self) -> Result<()> {
        let Some(mut extrapolation) = self.extrapolation.take() else { return Ok(()) };
        // A lost device takes the history with it.
        self.extrapolation = Some(Extrapolation::new());
        let State { codes, pending } = self.session.state(Share::All)?;
        let mut begin = codes;
        if let Some(extrapolated) = extrapolation.after(&begin) {
            let before = self.measured_objective()?;
            self.session.restore(&State::of_codes(extrapolated.clone()))?;
            if self.measured_objective()? < before {
                begin = extrapolated;
            } else {
                let state = State { codes: begin, pending };
                self.session.restore(&state)?;
                begin = state.codes;
            }
        }
        extrapolation.begin = Some(begin);
        if extrapolation.passes.len() == MOST_PASSES {
            extrapolation.passes.clear();
        }
        self.run.note_memory(self.session.memory() + extrapolation.bytes());
        self.extrapolation = Some(extrapolation);
        Ok(())
    }

    fn measured_objective(&mut self) -> Result<f64> {
        let planes = self.session.measure(Measure::Objective, self.run.context())?;
        Ok(planes.iter().map(|plane| plane.objective(self.penalty)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_iteration_ends_at_its_limit() {
        // x -> x* + M (x - x*) in two dimensions: two changes span everything.
        let (limit, rates) = ([3.0, 5.0], [0.9, 0.5]);
        let code = |value: f64, at: i32| Code { position: [0, 0, at], atom: 0, channel: 0, value };
        let codes = |x: [f64; 2]| vec![vec![code(x[0], 0), code(x[1], 1)]];
        let step = |x: [f64; 2]| std::array::from_fn(|i| limit[i] + rates[i] * (x[i] - limit[i]));
        let mut extrapolation = Extrapolation::new();
        let mut x = [1.0, 1.0];
        extrapolation.begin = Some(codes(x));
        for pass in 0..3 {
            x = step(x);
            let found = extrapolation.after(&codes(x));
            extrapolation.begin = Some(codes(x));
            if pass == 2 {
                let found = found.unwrap();
                for (code, limit) in found[0].iter().zip(limit) {
                    assert!((code.value - limit).abs() < 1e-3, "{found:?}");
                }
            }
        }
    }

    #[test]
    fn a_code_that_would_change_its_sign_becomes_zero() {
        let code = |value: f64| Code { position: [0; 3], atom: 0, channel: 0, value };
        let mut extrapolation = Extrapolation::new();
        // Falls by a smaller step each time, towards -1.
        for (from, to) in [(3.0, 1.0), (1.0, 0.01)] {
            extrapolation.begin = Some(vec![vec![code(from)]]);
            if let Some(found) = extrapolation.after(&vec![vec![code(to)]]) {
                assert!(found[0].is_empty(), "{found:?}");
            }
        }
    }
}
