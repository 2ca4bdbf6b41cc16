//! Least-angle regression: the LASSO of one needle along its exact path.

/// Correlations within this fraction of the largest count as equal to it.
const TIE: f64 = 1e-10;

/// Minimiser of `1/2 || z - D a ||^2 + penalty |a|_1` from the correlations `D^T z` and the Gram
/// matrix `D^T D` (`m` x `m`), as pairs of atom and value.
///
/// The path starts at the penalty where all codes are zero and falls; along it active codes move
/// linearly, one joins when its correlation reaches the penalty and leaves when its value reaches
/// 0.
///
/// ```
/// // Two orthogonal atoms: soft thresholds.
/// assert_eq!(lobcod_baselines::lasso(&[3.0, -0.5], &[1.0, 0.0, 0.0, 1.0], 1.0), [(0, 2.0)]);
/// ```
pub fn lasso(correlations: &[f64], gram: &[f64], penalty: f64) -> Vec<(usize, f64)> {
    let m = correlations.len();
    let mut current = correlations.to_vec();
    let mut active: Vec<(usize, f64)> = Vec::new();
    let largest = |c: &[f64]| {
        c.iter()
            .enumerate()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            .map(|(k, c)| (k, c.abs()))
    };
    let Some((first, mut level)) = largest(&current).filter(|(_, level)| *level > penalty) else {
        return active;
    };
    active.push((first, 0.0));
    // The path has as many segments as codes join and leave; far more means that rounding causes a
    // cycle.
    for _ in 0..20 * m + 20 {
        let signs: Vec<f64> = active
            .iter()
            .map(|&(k, value)| if value != 0.0 { value } else { current[k] }.signum())
            .collect();
        let Some(direction) = solve(gram, m, &active, &signs) else {
            // The new atom depends on the others, whose correlations fall with its own.
            active.pop();
            if active.is_empty() {
                break;
            }
            continue;
        };
        // Correlations fall by `gamma * slope`, values grow by `gamma * direction`.
        let mut slope = vec![0.0; m];
        for ((k, _), d) in active.iter().zip(&direction) {
            (0..m).for_each(|j| slope[j] += d * gram[k * m + j]);
        }
        let (mut gamma, mut event) = (level - penalty, None);
        for j in (0..m).filter(|j| active.iter().all(|(k, _)| k != j)) {
            for step in
                [(level - current[j]) / (1.0 - slope[j]), (level + current[j]) / (1.0 + slope[j])]
            {
                if step > TIE * level && step < gamma {
                    (gamma, event) = (step, Some(Ok(j)));
                }
            }
        }
        for (i, ((_, value), d)) in active.iter().zip(&direction).enumerate() {
            let step = -value / d;
            if *value != 0.0 && step > 0.0 && step < gamma {
                (gamma, event) = (step, Some(Err(i)));
            }
        }
        active.iter_mut().zip(&direction).for_each(|((_, value), d)| *value += gamma * d);
        current.iter_mut().zip(&slope).for_each(|(c, s)| *c -= gamma * s);
        level -= gamma;
        match event {
            None => break,
            Some(Ok(joins)) => active.push((joins, 0.0)),
            Some(Err(leaves)) => drop(active.remove(leaves)),
        }
    }
    active.retain(|(_, value)| *value != 0.0);
    active
}

/// Solves `G x = signs` on the active atoms by Cholesky factorisation; `None` if `G` is singular.
fn solve(gram: &[f64], m: usize, active: &[(usize, f64)], signs: &[f64]) -> Option<Vec<f64>> {
    let n = active.len();
    let mut lower = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
            let rest = gram[active[i].0 * m + active[j].0] - dot;
            if i == j {
                if rest < 1e-10 {
                    return None;
                }
                lower[i * n + i] = rest.sqrt();
            } else {
                lower[i * n + j] = rest / lower[j * n + j];
            }
        }
    }
    let mut x = signs.to_vec();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| lower[i * n + k] * x[k]).sum();
        x[i] = (x[i] - dot) / lower[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| lower[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / lower[i * n + i];
    }
    Some(x)
}
