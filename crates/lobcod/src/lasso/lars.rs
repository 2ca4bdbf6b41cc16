//! Least-angle regression: the exact path of the LASSO, in f64.

use super::{ActiveCode, Columns, Rules, objective_change};
use crate::real::Real;

/// Cholesky pivots below this count as zero: the atom depends linearly on the active ones.
const SINGULAR: f64 = 1e-10;
/// Rounds that correct rounding errors of the path.
const POLISH_ROUNDS: usize = 20;

/// Solves the LASSO of a needle along its path from zero codes down to the thresholds; with a cap
/// it stops before the `(cap + 1)`th code joins. `c` are the correlations at the codes in `active`;
/// both are updated. Linearly dependent atoms are not activated.
pub(crate) fn solve<T: Real>(
    c: &mut [T],
    active: &mut Vec<ActiveCode<T>>,
    columns: &mut dyn Columns<T>,
    rules: &Rules<'_, T>,
) {
    let (entry, before) = (active.clone(), c.to_vec());
    for code in active.iter_mut() {
        move_code(c, code, T::ZERO, columns);
    }
    if !c.iter().all(|x| x.is_finite()) {
        // Values overflowed.
        c.copy_from_slice(&before);
        active.copy_from_slice(&entry);
        return;
    }
    let path = Path::follow(c, columns, rules);
    for (&atom, &value) in path.atoms.iter().zip(&path.codes) {
        let at = active.iter().position(|a| a.atom as usize == atom).unwrap_or_else(|| {
            active.push(ActiveCode { atom: atom as u32, value: T::ZERO, before: T::ZERO });
            active.len() - 1
        });
        move_code(c, &mut active[at], T::from_f64(value), columns);
    }
    polish(c, active, columns, rules);
    // Never worse than the codes at entry, if those were feasible.
    let value_at_entry =
        |atom: u32| entry.iter().find(|e| e.atom == atom).map_or(T::ZERO, |e| e.value);
    let moves: Vec<ActiveCode<T>> =
        active.iter().map(|a| ActiveCode { before: value_at_entry(a.atom), ..*a }).collect();
    if rules.allow(entry.iter().map(|e| e.value))
        && objective_change(&moves, &before, c, rules) > 0.0
    {
        c.copy_from_slice(&before);
        active.iter_mut().for_each(|a| a.value = value_at_entry(a.atom));
    }
}

/// Coordinate descent over the non-zero codes, to correct rounding errors.
fn polish<T: Real>(
    c: &mut [T],
    active: &mut [ActiveCode<T>],
    columns: &mut dyn Columns<T>,
    rules: &Rules<'_, T>,
) {
    for _ in 0..POLISH_ROUNDS {
        let mut moved = false;
        for code in active.iter_mut().filter(|a| a.value != T::ZERO) {
            let k = code.atom as usize;
            let (q, threshold) = (columns.column(k)[k], rules.threshold(k));
            let value = rules.shrink(c[k] + q * code.value, threshold, q);
            moved |= (value - code.value).abs() * q > rules.tolerance * threshold;
            move_code(c, code, value, columns);
        }
        if !moved {
            break;
        }
    }
}

/// Changes the value of a code and updates the correlations.
fn move_code<T: Real>(
    c: &mut [T],
    code: &mut ActiveCode<T>,
    value: T,
    columns: &mut dyn Columns<T>,
) {
    let delta = value - code.value;
    if delta != T::ZERO {
        c.iter_mut().zip(columns.column(code.atom as usize)).for_each(|(c, &g)| *c -= delta * g);
        code.value = value;
    }
}

/// State of the homotopy: at `level` the codes solve the LASSO with thresholds `level * weight_k`.
struct Path {
    atoms: Vec<usize>,
    codes: Vec<f64>,
    signs: Vec<f64>,
    /// Gram columns of the active atoms.
    columns: Vec<Vec<f64>>,
    /// Rows of the lower Cholesky factor of the active Gram matrix.
    factor: Vec<Vec<f64>>,
}

impl Path {
    fn follow<T: Real>(c: &[T], columns: &mut dyn Columns<T>, rules: &Rules<'_, T>) -> Path {
        let mut path =
            Path { atoms: vec![], codes: vec![], signs: vec![], columns: vec![], factor: vec![] };
        // Thresholds relative to the final ones, so the path ends at level 1.
        let weight: Vec<f64> = (0..c.len()).map(|k| rules.threshold(k).to_f64()).collect();
        let mut c: Vec<f64> = c.iter().map(|x| x.to_f64()).collect();
        let mut barred = vec![false; c.len()];
        let relative = |k: usize, x: f64| (if rules.nonnegative { x } else { x.abs() }) / weight[k];
        let Some(first) =
            (0..c.len()).max_by(|&i, &j| relative(i, c[i]).total_cmp(&relative(j, c[j])))
        else {
            return path;
        };
        let mut level = relative(first, c[first]);
        if level <= 1.0 || rules.cap == 0 {
            return path;
        }
        path.join(first, c[first].signum(), columns);
        let mut just_dropped = None;
        // Each event adds or drops one atom; the bound only guards against cycling on ties.
        for _ in 0..8 * c.len() + 64 {
            let target: Vec<f64> =
                path.atoms.iter().zip(&path.signs).map(|(&k, s)| s * weight[k]).collect();
            let direction = path.solve(&target);
            let slope: Vec<f64> = (0..c.len())
                .map(|k| path.columns.iter().zip(&direction).map(|(column, u)| column[k] * u).sum())
                .collect();
            let (mut step, mut event) = (level - 1.0, Event::End);
            for k in 0..c.len() {
                if barred[k] || weight[k].is_infinite() || path.atoms.contains(&k) {
                    continue;
                }
                for sign in [1.0, -1.0] {
                    // Rounding must not let an atom that was just dropped join again.
                    if just_dropped == Some((k, sign)) || (sign < 0.0 && rules.nonnegative) {
                        continue;
                    }
                    let closing = weight[k] - sign * slope[k];
                    let at = (level * weight[k] - sign * c[k]).max(0.0) / closing;
                    if closing > 1e-14 * weight[k] && at < step {
                        (step, event) = (at, Event::Join(k, sign));
                    }
                }
            }
            for (i, (&a, &u)) in path.codes.iter().zip(&direction).enumerate() {
                let at = -a / u;
                if a != 0.0 && at > 0.0 && at < step {
                    (step, event) = (at, Event::Drop(i));
                }
            }
            path.codes.iter_mut().zip(&direction).for_each(|(a, u)| *a += step * u);
            c.iter_mut().zip(&slope).for_each(|(c, s)| *c -= step * s);
            level -= step;
            just_dropped = None;
            match event {
                Event::End => break,
                Event::Join(..) if path.atoms.len() >= rules.cap => break,
                Event::Join(k, sign) => barred[k] = !path.join(k, sign, columns),
                Event::Drop(i) => {
                    just_dropped = Some((path.atoms[i], path.signs[i]));
                    path.drop(i);
                    barred.fill(false);
                    if path.atoms.is_empty() {
                        break;
                    }
                }
            }
        }
        path
    }

    /// Appends an atom; false if it depends linearly on the active ones.
    fn join<T: Real>(&mut self, atom: usize, sign: f64, columns: &mut dyn Columns<T>) -> bool {
        let column: Vec<f64> = columns.column(atom).iter().map(|x| x.to_f64()).collect();
        let mut row: Vec<f64> = Vec::with_capacity(self.atoms.len() + 1);
        for i in 0..self.atoms.len() {
            let dot: f64 = row.iter().zip(&self.factor[i]).map(|(a, b)| a * b).sum();
            row.push((column[self.atoms[i]] - dot) / self.factor[i][i]);
        }
        let pivot = column[atom] - row.iter().map(|x| x * x).sum::<f64>();
        if pivot <= SINGULAR * column[atom].max(f64::MIN_POSITIVE) {
            return false;
        }
        row.push(pivot.sqrt());
        self.factor.push(row);
        self.columns.push(column);
        self.atoms.push(atom);
        self.codes.push(0.0);
        self.signs.push(sign);
        true
    }

    fn drop(&mut self, i: usize) {
        self.atoms.remove(i);
        self.codes.remove(i);
        self.signs.remove(i);
        self.columns.remove(i);
        // Rows before the dropped one are unchanged; the rest of the factor is recomputed.
        self.factor.truncate(i);
        for j in i..self.atoms.len() {
            let mut row: Vec<f64> = Vec::with_capacity(j + 1);
            for l in 0..j {
                let dot: f64 = row.iter().zip(&self.factor[l]).map(|(a, b)| a * b).sum();
                row.push((self.columns[j][self.atoms[l]] - dot) / self.factor[l][l]);
            }
            let pivot = self.columns[j][self.atoms[j]] - row.iter().map(|x| x * x).sum::<f64>();
            row.push(pivot.max(f64::MIN_POSITIVE).sqrt());
            self.factor.push(row);
        }
    }

    /// Solves `G_active u = target` with the factor.
    fn solve(&self, target: &[f64]) -> Vec<f64> {
        let n = target.len();
        let mut u = target.to_vec();
        for i in 0..n {
            let dot: f64 = (0..i).map(|j| self.factor[i][j] * u[j]).sum();
            u[i] = (u[i] - dot) / self.factor[i][i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|j| self.factor[j][i] * u[j]).sum();
            u[i] = (u[i] - dot) / self.factor[i][i];
        }
        u
    }
}

enum Event {
    End,
    Join(usize, f64),
    Drop(usize),
}
