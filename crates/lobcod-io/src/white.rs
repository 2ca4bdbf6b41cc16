//! The white level of float samples.

/// Common white levels, each with the range of maxima that suggests it: noise may exceed white.
const COMMON: [(f64, [f64; 2]); 3] =
    [(1.0, [f64::MIN_POSITIVE, 1.5]), (255.0, [16.0, 383.0]), (65535.0, [4096.0, 98302.0])];

/// The common white level (1, 255 or 65535) that fits float samples within these limits.
pub fn common_white(least: f64, most: f64) -> Option<f64> {
    let fits = |(white, [low, high]): &(f64, [f64; 2])| {
        (*low..=*high).contains(&most) && least >= -0.5 * white
    };
    COMMON.iter().find(|common| fits(common)).map(|(white, _)| *white)
}
