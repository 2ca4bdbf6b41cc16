//! Devices that fail at the n-th call, for every n: tests the error, the checkpoint, and the answer
//! of another engine that takes over.

use crate::hooked::{Call, Hook, Hooked};
use lobcod::checkpoint::{Checkpoint, LearnCheckpoint};
use lobcod::engine::{CpuEngine, Engine, FallbackEngine};
use lobcod::{Control, Error, Observer, Progress, Real, Result};
use std::cell::Cell;
use std::rc::Rc;

/// A device that fails once, or is lost from the n-th call on.
pub struct Faulty {
    calls: Cell<usize>,
    fails_at: usize,
    lost: bool,
}

impl Faulty {
    /// Fails at this call (from 0), and with `lost` at all following calls.
    pub fn new(fails_at: usize, lost: bool) -> Rc<Self> {
        Rc::new(Self { calls: Cell::new(0), fails_at, lost })
    }

    /// Whether it failed.
    pub fn failed(&self) -> bool {
        self.calls.get() > self.fails_at
    }
}

impl Hook for Faulty {
    fn before(&self, _: &Call<'_>) -> Result<()> {
        let call = self.calls.replace(self.calls.get() + 1);
        if call == self.fails_at || (self.lost && call > self.fails_at) {
            return Err(Error::Device("the device failed (for a test); use the cpu engine".into()));
        }
        Ok(())
    }
}

/// Checkpoints offered to the observer.
#[derive(Default)]
pub struct Kept {
    /// Checkpoints of a pursuit.
    pub pursuit: Vec<Checkpoint>,
    /// Checkpoints of learning.
    pub learning: Vec<LearnCheckpoint>,
}

impl Observer for Kept {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }
    fn between_passes(&mut self, take: &mut dyn FnMut() -> Result<Checkpoint>) {
        self.pursuit.extend(take());
    }
    fn between_learning_passes(&mut self, take: &mut dyn FnMut() -> Result<LearnCheckpoint>) {
        self.learning.extend(take());
    }
}

/// Runs `work` on a device that fails at call 0, 1, 2 and so on, until it no longer fails.
/// `work(engine, kept)` returns its answer, and `judge(answer, kept)` checks it.
///
/// On the device alone the run ends in a one-sentence error; with another engine as fallback, in an
/// answer.
pub fn every_fault<T: Real, A>(
    work: impl Fn(&dyn Engine<T>, &mut Kept) -> Result<A>,
    judge: impl Fn(Result<A>, &Kept, &str),
) {
    let cpu = || CpuEngine::new(1).expect("one thread");
    for lost in [false, true] {
        for n in 0.. {
            let name = format!("{} at call {n}", if lost { "lost" } else { "fails" });
            let hook = Faulty::new(n, lost);
            let mut kept = Kept::default();
            let alone = work(&Hooked { engine: cpu(), hook: Rc::clone(&hook) }, &mut kept);
            if !hook.failed() {
                judge(alone, &kept, &name);
                break;
            }
            // A fault whose error is ignored, such as that of a checkpoint, may leave an answer.
            if let Err(error) = &alone {
                let sentence = error.to_string();
                assert!(
                    matches!(error, Error::Device(_)) && !sentence.contains('\n'),
                    "{name}: {sentence}"
                );
            }
            let hook = Faulty::new(n, lost);
            let noticed = Rc::new(Cell::new(0));
            let count = Rc::clone(&noticed);
            let device = Box::new(Hooked { engine: cpu(), hook: Rc::clone(&hook) });
            let both =
                FallbackEngine::new(device, Box::new(cpu()), move |_| count.set(count.get() + 1));
            let mut kept = Kept::default();
            judge(work(&both, &mut kept), &kept, &name);
            assert_eq!(noticed.get(), 1, "{name}: the fault is not reported exactly once");
        }
    }
}
