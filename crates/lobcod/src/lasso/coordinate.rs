//! Coordinate descent with an active set.

use super::{ActiveCode, Columns, Rules, objective_change, strongest, subtract_column};
use crate::real::Real;
use crate::simd::Vector;

/// Rounds after which a needle with nearly equal atoms, for which coordinate descent is slow, is
/// solved by LARS.
const MAX_ROUNDS: usize = 200;

/// Solves the LASSO of a needle from the codes in `active`, with `c` the correlations there; both
/// are updated.
///
/// Iterates over the active codes until nothing moves, then activates the zero code with the
/// largest excess. Each code that moves costs one Gram column.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(crate) fn solve<V: Vector>(
    c: &mut [V::Elem],
    active: &mut Vec<ActiveCode<V::Elem>>,
    columns: &mut impl Columns<V::Elem>,
    rules: &Rules<'_, V::Elem>,
) where
    V::Elem: Real,
{
    let capped = rules.cap < usize::MAX;
    let before = if capped { c.to_vec() } else { Vec::new() };
    let slack = V::Elem::ONE + rules.tolerance;
    loop {
        if !descend::<V>(c, active, columns, rules, MAX_ROUNDS) {
            // Unpenalised codes have no path.
            if rules.thresholds.contains(&V::Elem::ZERO) {
                break;
            }
            super::solve_by_lars(c, active, columns, rules);
            if capped && !rules.allow(active.iter().map(|a| a.value)) {
                // Values overflowed: restore the codes at entry.
                c.copy_from_slice(&before);
                active.iter_mut().for_each(|a| a.value = a.before);
            }
            return;
        }
        let Some(mut atom) = strongest::<V>(c, rules, slack) else { break };
        if rules.is_settled(c[atom], atom) {
            break;
        }
        if active.iter().any(|a| a.atom as usize == atom) {
            // An active code solved only to the tolerance may still have the largest excess.
            let Some(other) = strongest_inactive(c, active, rules, slack) else { break };
            atom = other;
        }
        active.push(ActiveCode { atom: atom as u32, value: V::Elem::ZERO, before: V::Elem::ZERO });
    }
    if capped {
        obey_cap::<V>(c, &before, active, columns, rules);
    }
}

/// Coordinate descent over the active codes; returns false if they still move after `rounds`.
#[inline(always)]
fn descend<V: Vector>(
    c: &mut [V::Elem],
    active: &mut [ActiveCode<V::Elem>],
    columns: &mut impl Columns<V::Elem>,
    rules: &Rules<'_, V::Elem>,
    rounds: usize,
) -> bool
where
    V::Elem: Real,
{
    for _ in 0..rounds {
        let mut moved = false;
        for code in active.iter_mut() {
            let k = code.atom as usize;
            let column = columns.column(k);
            let (q, threshold) = (column[k], rules.threshold(k));
            // An atom hidden completely by the mask has no code.
            let value = if q > V::Elem::ZERO {
                rules.shrink(c[k] + q * code.value, threshold, q)
            } else {
                V::Elem::ZERO
            };
            let delta = value - code.value;
            if delta != V::Elem::ZERO {
                subtract_column::<V>(c, column, delta);
                code.value = value;
                moved |= delta.abs() * q > rules.tolerance * rules.resolution(threshold);
            }
        }
        // One step solves a single code exactly.
        if !moved || active.len() == 1 {
            return true;
        }
    }
    false
}

/// The inactive atom whose correlation exceeds `slack` times its threshold most.
fn strongest_inactive<T: Real>(
    c: &[T],
    active: &[ActiveCode<T>],
    rules: &Rules<'_, T>,
    slack: T,
) -> Option<usize> {
    let mut best = None;
    let mut most = T::ZERO;
    for (k, &x) in c.iter().enumerate() {
        let excess = rules.excess(x, k, slack);
        if excess > most && !rules.is_settled(x, k) && !active.iter().any(|a| a.atom as usize == k)
        {
            (best, most) = (Some(k), excess);
        }
    }
    best
}

/// Keeps the `cap` codes with the largest gain (`q a^2`) and solves again; undone if the objective
/// would increase.
fn obey_cap<V: Vector>(
    c: &mut [V::Elem],
    before: &[V::Elem],
    active: &mut [ActiveCode<V::Elem>],
    columns: &mut impl Columns<V::Elem>,
    rules: &Rules<'_, V::Elem>,
) where
    V::Elem: Real,
{
    let zero = V::Elem::ZERO;
    if active.iter().filter(|a| a.value != zero).count() <= rules.cap {
        return;
    }
    let mut gain: Vec<V::Elem> = Vec::with_capacity(active.len());
    for a in active.iter() {
        gain.push(columns.column(a.atom as usize)[a.atom as usize] * a.value * a.value);
    }
    let mut order: Vec<usize> = (0..active.len()).collect();
    // A total order, even with NaN.
    order.sort_by(|&i, &j| {
        gain[j].to_f64().total_cmp(&gain[i].to_f64()).then(active[i].atom.cmp(&active[j].atom))
    });
    for &i in &order[rules.cap..] {
        subtract_column::<V>(c, columns.column(active[i].atom as usize), -active[i].value);
        active[i].value = zero;
    }
    let mut kept: Vec<ActiveCode<V::Elem>> =
        order[..rules.cap].iter().map(|&i| active[i]).collect();
    descend::<V>(c, &mut kept, columns, rules, MAX_ROUNDS);
    for (&i, code) in order.iter().zip(&kept) {
        active[i].value = code.value;
    }
    if rules.allow(active.iter().map(|a| a.before))
        && objective_change(active, before, c, rules) > 0.0
    {
        c.copy_from_slice(before);
        active.iter_mut().for_each(|a| a.value = a.before);
    }
}
