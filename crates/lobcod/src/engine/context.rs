//! The part of a run that its sessions need.

use super::Share;
use super::ranks::World;
use crate::observe::Stop;
use crate::report::Status;
use std::fmt;
use std::rc::Rc;

/// Stop condition and memory limit of a session.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Ends a sweep or a measurement between two tiles.
    pub stop: Stop,
    /// Maximum bytes of the engine's own memory for a session; exceeding it is an error.
    pub max_memory: Option<u64>,
}

impl Context {
    /// A context with this stop condition.
    pub fn stopping(stop: Stop) -> Self {
        Self { stop, max_memory: None }
    }
}

/// Decisions that all ranks of an engine make jointly; trivial for a single process.
#[derive(Clone, Default)]
pub struct Agreement {
    ranks: Option<(Rc<dyn World>, Share)>,
}

impl Agreement {
    /// The agreement of the ranks of a world whose answers contain these codes.
    pub fn of_ranks(world: Rc<dyn World>, answers: Share) -> Self {
        Self { ranks: Some((world, answers)) }
    }

    /// The stop condition itself for a single rank. Several ranks must stop together, which they do
    /// between two sweeps.
    pub fn stop(&self, stop: Stop) -> Stop {
        if self.ranks.is_none() { stop } else { Stop::default() }
    }

    /// How the run ends if any rank is interrupted or, otherwise, over its time limit.
    pub fn end(&self, interrupted: bool, over: bool) -> Option<Status> {
        let mut any = [interrupted, over].map(|wanted| f64::from(u8::from(wanted)));
        if let Some((world, _)) = &self.ranks {
            world.reduce(&mut [], &mut any);
        }
        match any.map(|wanted| wanted > 0.0) {
            [true, _] => Some(Status::Interrupted),
            [false, over] => over.then_some(Status::TimeLimit),
        }
    }

    /// Replaces each number by its maximum over all ranks.
    pub fn largest(&self, numbers: &mut [f32]) {
        let Some((world, _)) = &self.ranks else { return };
        for part in numbers.chunks_mut(1 << 16) {
            let mut largest: Vec<f64> = part.iter().map(|&x| f64::from(x)).collect();
            world.reduce(&mut [], &mut largest);
            part.iter_mut().zip(largest).for_each(|(x, most)| *x = most as f32);
        }
    }

    /// Which codes the answer on this rank contains.
    pub fn answers(&self) -> Share {
        self.ranks.as_ref().map_or(Share::All, |(_, answers)| *answers)
    }
}

impl fmt::Debug for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ranks.is_some() { "Agreement(ranks)" } else { "Agreement(alone)" })
    }
}
