//! What is known of the signals, as the device takes it.

use crate::schedule::Schedule;
use lobcod::engine::Problem;

/// All planes one after the other.
pub(crate) struct Fields {
    pub(crate) target: Vec<f32>,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) position_weights: Option<Vec<f32>>,
    pub(crate) position_caps: Option<Vec<u32>>,
}

impl Fields {
    pub(crate) fn gather(problem: &Problem<f32>, schedule: &Schedule) -> Self {
        let any = |f: &dyn Fn(&lobcod::engine::Plane<f32>) -> bool| problem.planes.iter().any(f);
        let mut fields = Self {
            target: Vec::with_capacity(schedule.sizes.samples),
            weights: any(&|p| p.weights.is_some()).then(Vec::new),
            position_weights: any(&|p| p.position_weights.is_some()).then(Vec::new),
            position_caps: any(&|p| p.position_caps.is_some()).then(Vec::new),
        };
        let cap = problem.cap.map_or(u32::MAX, |cap| u32::try_from(cap).unwrap_or(u32::MAX));
        for (plane, grid) in problem.planes.iter().zip(&schedule.grids) {
            // The padding of the zero border holds zeros that count fully.
            let spread = |data: &[f32], with: f32, into: &mut Vec<f32>| grid.spread(plane.extent, data, with, into);
            spread(&plane.target, 0.0, &mut fields.target);
            let (samples, positions) = (fields.target.len(), grid.position_count());
            if let Some(weights) = &mut fields.weights {
                match &plane.weights {
                    Some(given) => spread(&given.iter().map(|a| a * a).collect::<Vec<f32>>(), 1.0, weights),
                    None => weights.resize(samples, 1.0),
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
