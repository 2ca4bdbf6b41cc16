//! A synthetic image of any size, computed sample by sample, for benchmarks.

/// Components of sample `i` of an image of this width: the level of its field, and the field's
/// stripes with grain.
pub struct Grating {
    /// Constant over a field.
    pub level: f64,
    /// Around 0.
    pub detail: f64,
}

/// Fields of 48 x 48 samples, half of them with stripes.
pub fn grating(width: usize, i: usize) -> Grating {
    let (y, x) = (i / width, i % width);
    let field = ((y / 48) * 1009 + x / 48) as f64;
    let random = |k: f64| ((field * 12.9898 + k * 78.233).sin() * 43758.5453).rem_euclid(1.0);
    let angle = std::f64::consts::PI * random(1.0);
    let phase = (x as f64 * angle.cos() + y as f64 * angle.sin()) * (0.2 + 1.3 * random(2.0));
    let texture = if random(3.0) < 0.5 { 0.0 } else { 40.0 * random(4.0) * phase.sin() };
    let grain = ((i as f64 * 0.7131).sin() * 9173.17).rem_euclid(1.0) - 0.5;
    Grating { level: 110.0 + 60.0 * random(5.0), detail: texture + 6.0 * grain }
}
