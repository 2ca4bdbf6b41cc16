//! The oracle: the coding problem as explicit matrices, solved by plain coordinate descent in
//! `f64`.
//!
//! ```text
//! min over codes a   1/2 || y - M a ||^2 + sum_j penalty_j |a_j| + mu/2 || a ||^2
//!                    + joint sum_g weight_g || a_g ||_2
//! M = A D_global,   y = A (Y - B),   a_g: codes of all channels of an atom at a position
//! ```
//!
//! A smooth layer estimated with the codes is eliminated first (module `layer`); its term then
//! counts with the data term.
//!
//! Deliberately slow and dense. Only the stored numbers of signals, masks and dictionaries come
//! from the library.

use crate::groups::Groups;
use crate::layer::LayerFactor;
use crate::matrix::{Domain, GlobalDictionary};
use crate::plane::Plane;
use lobcod::pursuit::Loss;
use lobcod::{Code, Dictionary, Needles, Observed, Penalty, PursuitParams, Real};

/// One signal's coding problem. Codes are a flat list: by plane, position and atom.
///
/// There is one plane per channel when a one-channel dictionary codes the channels separately, and
/// one plane otherwise.
pub struct Oracle {
    domain: Domain,
    atoms: usize,
    samples: usize,
    planes: Vec<Plane>,
    /// Channels whose codes are in one plane.
    channels: usize,
}

impl Oracle {
    /// The problem a pursuit with these parameters solves for this signal; a relative penalty
    /// refers only to this signal.
    ///
    /// Panics if a map does not have the shape of the positions or of the signal.
    pub fn new<T: Real>(
        params: &PursuitParams,
        observed: &Observed<T>,
        dictionary: &Dictionary<T>,
    ) -> Self {
        let signal = &observed.signal;
        let domain = Domain::new(params.border, signal.extent(), dictionary.extent());
        // All channels are one plane if their codes are sparse jointly.
        let channels = if params.joint > 0.0 { signal.channels() } else { 1 };
        let placed = GlobalDictionary::new(&domain, dictionary).of_channels(channels);
        let coefficient = |k: usize, at: usize| {
            observed.coefficient_weights.as_ref().map_or(1.0, |w| w.channel(k)[at].to_f64())
        };
        let weights: Vec<f64> = position_weights(&domain, observed)
            .into_iter()
            .enumerate()
            .flat_map(|(at, w)| {
                (0..dictionary.len()).map(move |k| {
                    w * params.atom_weights.as_ref().map_or(1.0, |a| a[k]) * coefficient(k, at)
                })
            })
            .collect();
        let (each, weights) = (weights.len(), weights.repeat(channels));
        let groups = if dictionary.channels() == 1 { signal.channels() / channels } else { 1 };
        let rows = channels * dictionary.channels();
        let planes = (0..groups)
            .map(|group| {
                let mut row_weights = vec![1.0; domain.rows() * rows];
                let mut target = vec![0.0; row_weights.len()];
                for c in 0..rows {
                    for (i, row) in domain.signal_rows().into_iter().enumerate() {
                        let row = c * domain.rows() + row;
                        row_weights[row] = observed
                            .mask
                            .as_ref()
                            .map_or(1.0, |m| m.channel(group + c)[i].to_f64());
                        if row_weights[row] > 0.0 {
                            target[row] = row_weights[row] * signal.channel(group + c)[i].to_f64();
                        }
                    }
                }
                let mut weighted = placed.weighted(&row_weights);
                if params.smooth_layer > 0.0 {
                    let layers: Vec<LayerFactor> = row_weights
                        .chunks_exact(domain.rows())
                        .map(|channel| {
                            let inside = domain.signal_rows();
                            let inside: Vec<f64> = inside.iter().map(|&i| channel[i]).collect();
                            let (extent, mu) = (signal.extent(), params.smooth_layer);
                            LayerFactor::new(&domain, extent, &inside, mu)
                        })
                        .collect();
                    let apply = |rows: &mut [f64]| {
                        let channels = rows.chunks_exact_mut(domain.rows());
                        channels.zip(&layers).for_each(|(channel, layer)| layer.apply(channel));
                    };
                    apply(&mut target);
                    weighted = weighted.changed(apply);
                }
                Plane {
                    weighted,
                    placed: placed.clone(),
                    target,
                    penalty: weights.clone(),
                    weights: weights.clone(),
                    nonnegative: params.nonnegative,
                    elastic: params.elastic,
                    groups: Groups { weight: params.joint, each },
                    bounds: match params.loss {
                        Loss::Huber(bound) => row_weights.iter().map(|a| bound / a).collect(),
                        Loss::Squares => vec![f64::INFINITY; row_weights.len()],
                        Loss::L1 | Loss::Cauchy(_) => {
                            panic!("the oracle solves squares and Huber losses")
                        }
                    },
                }
            })
            .collect();
        let mut oracle = Self {
            domain,
            atoms: dictionary.len(),
            samples: signal.extent().volume(),
            planes,
            channels,
        };
        let penalty = match params.penalty {
            Penalty::Absolute(penalty) => penalty,
            Penalty::Relative(factor) => factor * oracle.penalty_max(),
            Penalty::MaxError(bound) => oracle.penalty_at_error(bound),
        };
        oracle.set_penalty(penalty);
        oracle
    }

    fn set_penalty(&mut self, penalty: f64) {
        for plane in &mut self.planes {
            let weights = plane.weights.iter();
            plane.penalty = weights.map(|w| if *w == 0.0 { 0.0 } else { w * penalty }).collect();
        }
    }

    /// The penalty at which the norm of the residual is `bound`, by bisection.
    fn penalty_at_error(&mut self, bound: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.penalty_max());
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            self.set_penalty(middle);
            let error = (2.0 * self.data_term(&self.solve())).sqrt();
            (low, high) = if error > bound { (low, middle) } else { (middle, high) };
        }
        low
    }

    /// `sum weight_j |a_j|`.
    pub fn weighted_l1(&self, codes: &[f64]) -> f64 {
        self.split(codes).map(|(plane, codes)| plane.weighted_l1(codes)).sum()
    }

    /// The smallest penalty for which all codes are zero.
    pub fn penalty_max(&self) -> f64 {
        self.planes.iter().map(Plane::penalty_max).fold(0.0, f64::max)
    }

    /// The optimal codes, certified to a relative duality gap of 1e-12.
    ///
    /// Panics if the certificate is not reached.
    pub fn solve(&self) -> Vec<f64> {
        self.planes.iter().flat_map(Plane::solve).collect()
    }

    /// Objective of the codes.
    pub fn objective(&self, codes: &[f64]) -> f64 {
        self.split(codes).map(|(plane, codes)| plane.objective(codes)).sum()
    }

    /// Data term of the codes, `1/2 ||y - M a||^2`.
    pub fn data_term(&self, codes: &[f64]) -> f64 {
        self.split(codes).map(|(plane, codes)| plane.data_term(codes)).sum()
    }

    /// Duality gap of the codes: the residual, scaled until feasible, is the dual point.
    pub fn gap(&self, codes: &[f64]) -> f64 {
        self.split(codes).map(|(plane, codes)| plane.gap(codes)).sum()
    }

    /// Largest violation of the optimality conditions, relative to the penalty of the code.
    pub fn violation(&self, codes: &[f64]) -> f64 {
        self.split(codes).map(|(plane, codes)| plane.violation(codes)).fold(0.0, f64::max)
    }

    /// The signal represented by the codes, by matrix product, channel by channel.
    pub fn synthesise(&self, codes: &[f64]) -> Vec<f64> {
        let rows = self.domain.signal_rows();
        self.split(codes)
            .flat_map(|(plane, codes)| {
                let sum = plane.placed.times(codes);
                let channels = sum
                    .chunks_exact(self.domain.rows())
                    .map(|channel| rows.iter().map(|&row| channel[row]).collect());
                channels.collect::<Vec<Vec<f64>>>().concat()
            })
            .collect()
    }

    /// The adjoint of [`Oracle::synthesise`]: correlation of every atom at every position with
    /// samples, and zeros beyond the signal.
    pub fn correlate(&self, samples: &[f64]) -> Vec<f64> {
        let rows = self.domain.signal_rows();
        let per_plane = samples.len() / self.planes.len();
        let correlate = |(plane, samples): (&Plane, &[f64])| {
            let mut padded = vec![0.0; plane.target.len()];
            for (c, channel) in samples.chunks_exact(self.samples).enumerate() {
                rows.iter()
                    .zip(channel)
                    .for_each(|(row, x)| padded[c * self.domain.rows() + row] = *x);
            }
            plane.placed.transposed_times(&padded)
        };
        self.planes.iter().zip(samples.chunks_exact(per_plane)).flat_map(correlate).collect()
    }

    /// Needles as codes. Panics if a needle has an invalid position or is given twice.
    pub fn codes<T: Real>(&self, needles: &Needles<T>) -> Vec<f64> {
        let positions = self.domain.positions();
        let channels = self.planes.len() * self.channels;
        let mut codes = vec![0.0; channels * positions.len() * self.atoms];
        for code in needles.codes() {
            let at =
                positions.binary_search(&code.position).expect("a needle has a valid position");
            assert!(
                (code.atom as usize) < self.atoms && (code.channel as usize) < channels,
                "{code:?} does not exist"
            );
            let slot = &mut codes
                [(code.channel as usize * positions.len() + at) * self.atoms + code.atom as usize];
            assert!(*slot == 0.0, "{code:?} is duplicated");
            *slot = code.value.to_f64();
        }
        codes
    }

    /// Codes as a list of non-zero needle entries.
    pub fn entries<T: Real>(&self, codes: &[f64]) -> Vec<Code<T>> {
        let positions = self.domain.positions();
        let entry = |(i, value): (usize, &f64)| Code {
            position: positions[i / self.atoms % positions.len()],
            atom: (i % self.atoms) as u32,
            channel: (i / (self.atoms * positions.len())) as u32,
            value: T::from_f64(*value),
        };
        codes.iter().enumerate().filter(|(_, value)| **value != 0.0).map(entry).collect()
    }

    /// Number of codes, including zeros.
    pub fn size(&self) -> usize {
        self.planes.iter().map(|plane| plane.penalty.len()).sum()
    }

    fn split<'a>(&'a self, codes: &'a [f64]) -> impl Iterator<Item = (&'a Plane, &'a [f64])> {
        self.planes.iter().zip(codes.chunks_exact(codes.len() / self.planes.len()))
    }
}

/// Penalty weight of every position: the map itself, or its value at the sample nearest to the
/// centre of the patch.
fn position_weights<T: Real>(domain: &Domain, observed: &Observed<T>) -> Vec<f64> {
    let positions = domain.positions();
    let Some(map) = &observed.penalty_map else { return vec![1.0; positions.len()] };
    if map.data().len() == positions.len() {
        return map.data().iter().map(|w| w.to_f64()).collect();
    }
    assert_eq!(
        map.extent(),
        observed.signal.extent(),
        "a map has the shape of the positions or of the signal"
    );
    positions.iter().map(|&position| map.data()[domain.centre(position)].to_f64()).collect()
}
