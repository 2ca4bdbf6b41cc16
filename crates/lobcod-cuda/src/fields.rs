//! What is known of the signals, as the device takes it.

use crate::parallel;
use crate::schedule::Schedule;
use lobcod::engine::Problem;
use lobcod::grid::Grid;
use std::borrow::Cow;

/// All planes one after the other.
pub(crate) struct Fields<'a> {
    pub(crate) target: Cow<'a, [f32]>,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) position_weights: Option<Vec<f32>>,
    pub(crate) position_caps: Option<Vec<u32>>,
}

impl<'a> Fields<'a> {
    pub(crate) fn gather(problem: &'a Problem<f32>, schedule: &Schedule) -> Self {
        let any = |f: &dyn Fn(&lobcod::engine::Plane<f32>) -> bool| problem.planes.iter().any(f);
        let mut fields = Self {
            target: targets(problem, schedule),
            weights: any(&|p| p.weights.is_some()).then(Vec::new),
            position_weights: any(&|p| p.position_weights.is_some()).then(Vec::new),
            position_caps: any(&|p| p.position_caps.is_some()).then(Vec::new),
        };
        let cap = problem.cap.map_or(u32::MAX, |cap| u32::try_from(cap).unwrap_or(u32::MAX));
        for (plane, grid) in problem.planes.iter().zip(&schedule.grids) {
            // The padding of the zero border holds zeros that count fully.
            let spread = |data: &[f32], with: f32, into: &mut Vec<f32>| grid.spread(plane.extent, data, with, into);
            let positions = grid.position_count();
            if let Some(weights) = &mut fields.weights {
                match &plane.weights {
                    Some(given) => spread(&given.iter().map(|a| a * a).collect::<Vec<f32>>(), 1.0, weights),
                    None => weights.resize(weights.len() + plane_samples(problem, grid), 1.0),
                }
            }
            if let Some(weights) = &mut fields.position_weights {
                match &plane.position_weights {
                    Some(given) => weights.extend_from_slice(given),
                    None => weights.resize(weights.len() + positions, 1.0),
                }
            }
            if let Some(caps) = &mut fields.position_caps {
                match &plane.position_caps {
                    Some(given) => caps.extend_from_slice(given),
                    None => caps.resize(caps.len() + positions, cap),
                }
            }
        }
        fields
    }
}

fn plane_samples(problem: &Problem<f32>, grid: &Grid) -> usize {
    problem.dictionary.channels() * grid.domain.iter().product::<usize>()
}

/// The targets of all planes; what is given where nothing stands around or behind it.
fn targets<'a>(problem: &'a Problem<f32>, schedule: &Schedule) -> Cow<'a, [f32]> {
    if let ([plane], [grid]) = (&problem.planes[..], &schedule.grids[..])
        && grid.domain == plane.extent.padded()
    {
        return Cow::Borrowed(&plane.target);
    }
    let mut all = vec![0.0; schedule.sizes.samples];
    let mut rest = &mut all[..];
    for (plane, grid) in problem.planes.iter().zip(&schedule.grids) {
        let own = rest.split_off_mut(..plane_samples(problem, grid)).expect("samples of every plane");
        let (signal, [depth, height, width], at) = (plane.extent.padded(), grid.domain, grid.signal_at);
        parallel::rows(own, width, |rows, part| {
            for (row, line) in rows.zip(part.chunks_exact_mut(width)) {
                let (c, z, y) = (row / (depth * height), row / height % depth, row % height);
                // The padding of the zero border holds zeros.
                let inside = (at[0]..at[0] + signal[0]).contains(&z) && (at[1]..at[1] + signal[1]).contains(&y);
                if inside {
                    let from = ((c * signal[0] + z - at[0]) * signal[1] + y - at[1]) * signal[2];
                    line[at[2]..at[2] + signal[2]].copy_from_slice(&plane.target[from..from + signal[2]]);
                }
            }
        });
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::engine::Plane;
    use lobcod::grid::Grouping;
    use lobcod::{Border, Dictionary, Extent, Local};

    #[test]
    fn targets_are_those_that_the_grid_spreads() {
        type Sizes<'a> = (&'a [&'a [usize]], &'a [usize], usize);
        let sizes: [Sizes; 3] =
            [(&[&[300, 200]], &[8, 8], 1), (&[&[60, 41], &[30, 20]], &[5, 3], 3), (&[&[9, 12, 14]], &[2, 3, 4], 1)];
        for (planes, atom, channels) in sizes {
            for border in Border::ALL {
                let plane = |axes: &&[usize]| {
                    let extent = Extent::new(axes).unwrap();
                    let target = (1..=extent.volume() * channels).map(|i| i as f32).collect();
                    Plane { extent, target, weights: None, position_weights: None, position_caps: None, held: None }
                };
                let problem = Problem {
                    planes: planes.iter().map(plane).collect(),
                    dictionary: Dictionary::random(Extent::new(atom).unwrap(), channels, 5, 0).unwrap(),
                    border,
                    grouping: Grouping::Tiles(32),
                    atom_weights: vec![1.0; 5],
                    nonnegative: false,
                    local: Local::Coordinate,
                    cap: None,
                    learning: false,
                };
                let schedule = Schedule::new(&problem, None).unwrap();
                let mut expected = Vec::new();
                for (plane, grid) in problem.planes.iter().zip(&schedule.grids) {
                    grid.spread(plane.extent, &plane.target, 0.0, &mut expected);
                }
                assert_eq!(targets(&problem, &schedule), expected, "{planes:?}, {border}");
            }
        }
    }
}
