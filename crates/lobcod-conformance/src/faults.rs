//! Devices that fail at the n-th call, for every n: tests the error, the checkpoint, and the answer
//! of another engine that takes over.

use crate::hooked::{Call, Hook, Hooked};
use lobcod::checkpoint::{Checkpoint, LearnCheckpoint};
use lobcod::engine::{CpuEngine, Engine, FallbackEngine};
use lobcod::{Control, Error, Observer, Progress, Real, Result};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

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

/// Runs `work(engine, kept)` on a device that fails at call 0, 1, 2 and so on, until it no longer
/// fails.
///
/// On the device alone the run ends in a one-sentence error, and `rescue(kept)` checks what can be
/// resumed. With another engine as fallback it ends in an answer that `judge` checks, however often
/// the codes are copied from the device.
pub fn every_fault<T: Real, A>(
    work: impl Fn(&dyn Engine<T>, &mut Kept) -> Result<A>,
    judge: impl Fn(A, &str),
    rescue: impl Fn(&Kept, &str),
) {
    let cpu = || CpuEngine::new(1).expect("one thread");
    let device = |hook: &Rc<Faulty>| Hooked { engine: cpu(), hook: Rc::clone(hook) };
    let answered = |answer: Result<A>, name: &str| {
        judge(answer.unwrap_or_else(|error| panic!("{name}: {error}")), name);
    };
    for lost in [false, true] {
        let fault = |n: usize| format!("{} at call {n}", if lost { "lost" } else { "fails" });
        for n in 0.. {
            let name = fault(n);
            let hook = Faulty::new(n, lost);
            let mut kept = Kept::default();
            let ended = work(&device(&hook), &mut kept);
            if !hook.failed() {
                answered(ended, &name);
                break;
            }
            let error = ended.err().unwrap_or_else(|| panic!("{name}: the fault is not reported"));
            let sentence = error.to_string();
            assert!(
                matches!(error, Error::Device(_)) && !sentence.contains('\n'),
                "{name}: {sentence}"
            );
            rescue(&kept, &name);
        }
        for interval in [Duration::ZERO, Duration::MAX] {
            for n in 0.. {
                let (name, hook) =
                    (format!("{}, copies {interval:?}", fault(n)), Faulty::new(n, lost));
                let noticed = Rc::new(Cell::new(0));
                let count = Rc::clone(&noticed);
                let notice = move |_: &Error, _| count.set(count.get() + 1);
                let (first, second) = (Box::new(device(&hook)), Box::new(cpu()));
                let both = FallbackEngine::with_copies(first, second, interval, notice);
                answered(work(&both, &mut Kept::default()), &name);
                if !hook.failed() {
                    break;
                }
                assert_eq!(noticed.get(), 1, "{name}: the fault is not reported exactly once");
            }
        }
    }
}
