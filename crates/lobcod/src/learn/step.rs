//! Step rules: how a gradient changes the dictionary.

use crate::error::{Error, Result, check_positive};
use std::fmt;
use std::str::FromStr;

/// Step rule of the stochastic method for the gradient of a layer; atoms are normalised after every
/// step.
///
/// `g` is the gradient, `D` the dictionary; squares, roots and quotients are elementwise. The
/// gradient grows with the square of the signal's scale: [`Step::Momentum`] needs a matching size,
/// the others adapt. If steps are so large that a pass leaves codes worse than zero codes, the next
/// pass starts from zero codes.
///
/// | name | step | default values |
/// |---|---|---|
/// | `paper` | the paper's: Adam with one `s`, that of `\|g\|^2`, for all numbers; then Momentum | Adam of size 0.02 for 30 passes, then Momentum of size 1e-7 and momentum 0.8 |
/// | `sgd` | `d_k -= size g_k / \|g_k\|` for every atom `k` | size 0.02 |
/// | `momentum` | `v = momentum v + size g; D -= v` | size 1e-7, momentum 0.8 |
/// | `adagrad` | `s += g^2; D -= size g / (sqrt(s) + guard)` | size 0.01, guard 1e-8 |
/// | `adadelta` | `s = forgetting s + (1 - forgetting) g^2; x = sqrt((u + guard) / (s + guard)) g; u = forgetting u + (1 - forgetting) x^2; D -= size x` | size 1, forgetting 0.95, guard 1e-6 |
/// | `adam` | `v = momentum v + (1 - momentum) g; s = forgetting s + (1 - forgetting) g^2; D -= size v' / (sqrt(s') + guard)`, `v'` and `s'` freed of their zero start | size 0.001, momentum 0.9, forgetting 0.999, guard 1e-8 |
///
/// The paper's step of 0.02 only makes sense with one average square for the whole gradient: number
/// by number it would move every atom of `n` samples by up to `0.02 sqrt(n)` a layer, and the
/// learning diverges.
///
/// `sgd` is the paper's automatic step size, "1-2 % of the norm of the gradient": each atom moves
/// that fraction of its own norm along its unit gradient.
///
/// ```
/// use lobcod::learn::Step;
/// let step: Step = "adam".parse()?;
/// assert_eq!(
///     step.with_size(0.01),
///     Step::Adam { size: 0.01, momentum: 0.9, forgetting: 0.999, guard: 1e-8 }
/// );
/// # Ok::<(), lobcod::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Adam first, then Momentum, which starts with fresh state.
    Paper {
        /// Passes of Adam.
        adam_passes: usize,
        /// Size of Adam's steps, its other values being those of [`Step::ADAM`].
        size: f64,
        /// Size of Momentum's steps.
        momentum_size: f64,
        /// Fraction of the last step that Momentum keeps.
        momentum: f64,
    },
    /// Each atom moves by a fraction of its norm along its unit gradient.
    Sgd {
        /// The fraction.
        size: f64,
    },
    /// Steps that keep a fraction of the last step.
    Momentum {
        /// Step size `eta`.
        size: f64,
        /// Fraction of the last step that is kept, `gamma`.
        momentum: f64,
    },
    /// Every value has its own step size, which shrinks with the sum of its squared gradients.
    Adagrad {
        /// Step size `eta`.
        size: f64,
        /// Keeps quotients finite, `epsilon`.
        guard: f64,
    },
    /// Like [`Step::Adagrad`] with decaying squares, in units of the recent steps.
    Adadelta {
        /// Factor of every step, 1 as published.
        size: f64,
        /// Decay rate of the averages, `rho`.
        forgetting: f64,
        /// Keeps quotients finite, `epsilon`.
        guard: f64,
    },
    /// Decaying averages of gradients and of their squares.
    Adam {
        /// Step size `eta`.
        size: f64,
        /// Decay rate of the average gradient, `beta_1`.
        momentum: f64,
        /// Decay rate of the average square, `beta_2`.
        forgetting: f64,
        /// Keeps quotients finite, `epsilon`.
        guard: f64,
    },
}

impl Step {
    /// The paper's schedule.
    pub const PAPER: Step =
        Step::Paper { adam_passes: 30, size: 0.02, momentum_size: 1e-7, momentum: 0.8 };
    /// The automatic step size.
    pub const SGD: Step = Step::Sgd { size: 0.02 };
    /// Momentum with the paper's values for images in 0..255.
    pub const MOMENTUM: Step = Step::Momentum { size: 1e-7, momentum: 0.8 };
    /// Adagrad with the recommended values.
    pub const ADAGRAD: Step = Step::Adagrad { size: 0.01, guard: 1e-8 };
    /// Adadelta with its author's values.
    pub const ADADELTA: Step = Step::Adadelta { size: 1.0, forgetting: 0.95, guard: 1e-6 };
    /// Adam with its authors' values.
    pub const ADAM: Step =
        Step::Adam { size: 0.001, momentum: 0.9, forgetting: 0.999, guard: 1e-8 };
    /// All steps with their default values.
    pub const ALL: [Step; 6] =
        [Self::PAPER, Self::SGD, Self::MOMENTUM, Self::ADAGRAD, Self::ADADELTA, Self::ADAM];

    /// The step for atoms of rank 1, or for others, where none is chosen. The second rule of the
    /// paper has a size for images in 0..255; recordings have any scale, and it would stop them.
    pub fn suited(rank_one: bool) -> Step {
        if rank_one { Self::ADAGRAD } else { Self::PAPER }
    }

    fn size_mut(&mut self) -> &mut f64 {
        match self {
            Step::Paper { size, .. }
            | Step::Sgd { size }
            | Step::Momentum { size, .. }
            | Step::Adagrad { size, .. }
            | Step::Adadelta { size, .. }
            | Step::Adam { size, .. } => size,
        }
    }

    /// The step size; that of Adam for [`Step::Paper`].
    pub fn size(mut self) -> f64 {
        *self.size_mut()
    }

    /// The same step with another size; that of Adam for [`Step::Paper`].
    pub fn with_size(mut self, new: f64) -> Self {
        *self.size_mut() = new;
        self
    }

    /// Returns an error unless every value is in range.
    pub(super) fn check(&self) -> Result<()> {
        let (sizes, fractions, guard) = match *self {
            Step::Paper { size, momentum_size, momentum, .. } => {
                ([size, momentum_size], [momentum, 0.0], 1.0)
            }
            Step::Sgd { size } => ([size; 2], [0.0; 2], 1.0),
            Step::Momentum { size, momentum } => ([size; 2], [momentum; 2], 1.0),
            Step::Adagrad { size, guard } => ([size; 2], [0.0; 2], guard),
            Step::Adadelta { size, forgetting, guard } => ([size; 2], [forgetting; 2], guard),
            Step::Adam { size, momentum, forgetting, guard } => {
                ([size; 2], [momentum, forgetting], guard)
            }
        };
        sizes.into_iter().try_for_each(|size| check_positive("the step size", size))?;
        if let Some(fraction) = fractions.into_iter().find(|x| !(0.0..1.0).contains(x)) {
            return Err(Error::parameter(
                "the momentum or forgetting factor of the step",
                fraction,
                "a number of at least 0 and below 1",
            ));
        }
        check_positive("the guard of the step", guard)
    }
}

/// The name, without values.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Paper { .. } => "paper",
            Step::Sgd { .. } => "sgd",
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
        let words = "paper, sgd, momentum, adagrad, adadelta or adam";
        Step::ALL
            .into_iter()
            .find(|step| step.to_string() == s)
            .ok_or_else(|| Error::parameter("the step", s, words))
    }
}
