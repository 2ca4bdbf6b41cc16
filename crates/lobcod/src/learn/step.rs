//! Rules by which a gradient moves the dictionary.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// How the stochastic method steps along the gradient of a layer; atoms are scaled back to unit norm after every step.
///
/// `g` is the gradient, `D` the dictionary; squares, roots and quotients are taken number by number. A gradient grows with the square of
/// the signal's scale: [`Step::Momentum`] and [`Step::SgdLiteral`] must be told a size that suits it, the others find the scale by
/// themselves. Where steps are so large that a pass leaves codes worse than none, the next pass begins with none.
///
/// | name | step | default values |
/// |---|---|---|
/// | `paper` | the paper's: Adam with one `s`, that of `\|g\|^2`, for all numbers; then Momentum | Adam of size 0.02 for 30 passes, then Momentum of size 1e-7 and momentum 0.8 |
/// | `sgd` | `d_k -= size g_k / \|g_k\|` for every atom `k` | size 0.02 |
/// | `sgd-literal` | `D -= size \|g\| g` | size 0.02 |
/// | `momentum` | `v = momentum v + size g; D -= v` | size 1e-7, momentum 0.8 |
/// | `adagrad` | `s += g^2; D -= size g / (sqrt(s) + guard)` | size 0.01, guard 1e-8 |
/// | `adadelta` | `s = memory s + (1 - memory) g^2; x = sqrt((u + guard) / (s + guard)) g; u = memory u + (1 - memory) x^2; D -= size x` | size 1, memory 0.95, guard 1e-6 |
/// | `adam` | `v = momentum v + (1 - momentum) g; s = memory s + (1 - memory) g^2; D -= size v' / (sqrt(s') + guard)`, `v'` and `s'` freed of their zero start | size 0.001, momentum 0.9, memory 0.999, guard 1e-8 |
///
/// The paper's step of 0.02 only makes sense with one average square for the whole gradient: number by number it would move every
/// atom of `n` samples by up to `0.02 sqrt(n)` a layer, and the learning diverges.
///
/// The two readings of the paper's automatic step size, "1-2 % of the norm of the gradient", are `sgd` (each atom moves that share of
/// its own norm along its unit gradient) and `sgd-literal` (the sentence as printed).
///
/// ```
/// use lobcod::Step;
/// let step: Step = "adam".parse()?;
/// assert_eq!(step.with_size(0.01), Step::Adam { size: 0.01, momentum: 0.9, memory: 0.999, guard: 1e-8 });
/// # Ok::<(), lobcod::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Adam first, then Momentum; its state starts anew at the change.
    Paper {
        /// Passes of Adam.
        adam_passes: usize,
        /// Size of Adam's steps, its other values being those of [`Step::ADAM`].
        size: f64,
        /// Size of Momentum's steps.
        momentum_size: f64,
        /// What a step of Momentum keeps of the last.
        momentum: f64,
    },
    /// Each atom moves by a share of its norm along its unit gradient.
    Sgd {
        /// The share.
        size: f64,
    },
    /// The step size is a share of the norm of the gradient.
    SgdLiteral {
        /// The share.
        size: f64,
    },
    /// Steps that keep a part of the last step.
    Momentum {
        /// Step size `eta`.
        size: f64,
        /// Part of the last step that is kept, `gamma`.
        momentum: f64,
    },
    /// Every number has a step size of its own, which shrinks with the squares of all its gradients.
    Adagrad {
        /// Step size `eta`.
        size: f64,
        /// Keeps quotients finite, `epsilon`.
        guard: f64,
    },
    /// Like [`Step::Adagrad`] with fading squares, in units of the recent steps themselves.
    Adadelta {
        /// Factor of every step, 1 as published.
        size: f64,
        /// What an average keeps from step to step, `rho`.
        memory: f64,
        /// Keeps quotients finite, `epsilon`.
        guard: f64,
    },
    /// Fading averages of gradients and of their squares.
    Adam {
        /// Step size `eta`.
        size: f64,
        /// What the average gradient keeps from step to step, `beta_1`.
        momentum: f64,
        /// What the average square keeps from step to step, `beta_2`.
        memory: f64,
        /// Keeps quotients finite, `epsilon`.
        guard: f64,
    },
}

impl Step {
    /// The paper's schedule.
    pub const PAPER: Step = Step::Paper { adam_passes: 30, size: 0.02, momentum_size: 1e-7, momentum: 0.8 };
    /// The automatic step size, normalised reading.
    pub const SGD: Step = Step::Sgd { size: 0.02 };
    /// The automatic step size, literal reading.
    pub const SGD_LITERAL: Step = Step::SgdLiteral { size: 0.02 };
    /// Momentum with the paper's values for pictures in 0..255.
    pub const MOMENTUM: Step = Step::Momentum { size: 1e-7, momentum: 0.8 };
    /// Adagrad with the recommended values.
    pub const ADAGRAD: Step = Step::Adagrad { size: 0.01, guard: 1e-8 };
    /// Adadelta with its author's values.
    pub const ADADELTA: Step = Step::Adadelta { size: 1.0, memory: 0.95, guard: 1e-6 };
    /// Adam with its authors' values.
    pub const ADAM: Step = Step::Adam { size: 0.001, momentum: 0.9, memory: 0.999, guard: 1e-8 };
    /// All steps with their default values.
    pub const ALL: [Step; 7] =
        [Self::PAPER, Self::SGD, Self::SGD_LITERAL, Self::MOMENTUM, Self::ADAGRAD, Self::ADADELTA, Self::ADAM];

    /// The step size; that of Adam for [`Step::Paper`].
    pub fn size(&self) -> f64 {
        match *self {
            Step::Paper { size, .. }
            | Step::Sgd { size }
            | Step::SgdLiteral { size }
            | Step::Momentum { size, .. }
            | Step::Adagrad { size, .. }
            | Step::Adadelta { size, .. }
            | Step::Adam { size, .. } => size,
        }
    }

    /// The same step with another size; that of Adam for [`Step::Paper`].
    pub fn with_size(mut self, new: f64) -> Self {
        match &mut self {
            Step::Paper { size, .. }
            | Step::Sgd { size }
            | Step::SgdLiteral { size }
            | Step::Momentum { size, .. }
            | Step::Adagrad { size, .. }
            | Step::Adadelta { size, .. }
            | Step::Adam { size, .. } => *size = new,
        }
        self
    }

    /// Error unless every value lies in its range.
    pub(super) fn check(&self) -> Result<()> {
        let (sizes, shares, guard) = match *self {
            Step::Paper { size, momentum_size, momentum, .. } => ([size, momentum_size], [momentum, 0.0], 1.0),
            Step::Sgd { size } | Step::SgdLiteral { size } => ([size; 2], [0.0; 2], 1.0),
            Step::Momentum { size, momentum } => ([size; 2], [momentum; 2], 1.0),
            Step::Adagrad { size, guard } => ([size; 2], [0.0; 2], guard),
            Step::Adadelta { size, memory, guard } => ([size; 2], [memory; 2], guard),
            Step::Adam { size, momentum, memory, guard } => ([size; 2], [momentum, memory], guard),
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(size) = sizes.into_iter().find(|&x| !positive(x)) {
            return Err(Error::parameter("the step size", size, "a number above 0"));
        }
        if let Some(share) = shares.into_iter().find(|x| !(0.0..1.0).contains(x)) {
            return Err(Error::parameter("what a step keeps of the last", share, "a number of at least 0 and below 1"));
        }
        if positive(guard) { Ok(()) } else { Err(Error::parameter("the guard of the step", guard, "a number above 0")) }
    }
}

/// The name; values are not part of it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Paper { .. } => "paper",
            Step::Sgd { .. } => "sgd",
            Step::SgdLiteral { .. } => "sgd-literal",
            Step::Momentum { .. } => "momentum",
            Step::Adagrad { .. } => "adagrad",
            Step::Adadelta { .. } => "adadelta",
            Step::Adam { .. } => "adam",
        })
    }
}

/// The step of this name with its default values.
impl FromStr for Step {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let words = "paper, sgd, sgd-literal, momentum, adagrad, adadelta or adam";
        Step::ALL.into_iter().find(|step| step.to_string() == s).ok_or_else(|| Error::parameter("the step", s, words))
    }
}
