//! Curves as inline SVG; colours come from the style sheet.

use crate::output::table::number;
use maud::{Markup, html};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Curves with fewer points show each point with its values.
const MOST_DOTS: usize = 200;

/// An axis of a chart: its range and label.
pub struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
    label: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    /// Linear, with ticks at integers only.
    Counting,
    Logarithmic,
}

impl Axis {
    /// A linear axis that covers all values.
    pub fn linear(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, low + 0.5) };
        Self { low, high, scale: Scale::Linear, label }
    }

    /// A linear axis with integer ticks.
    pub fn counting(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        Self { scale: Scale::Counting, ..Self::linear(label, values) }
    }

    /// A logarithmic axis, slightly wider than the values, which must be positive.
    pub fn logarithmic(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let Self { low, high, .. } = Self::linear(label, values.map(f64::ln));
        let margin = 0.05 * (high - low);
        Self {
            low: (low - margin).exp(),
            high: (high + margin).exp(),
            scale: Scale::Logarithmic,
            label,
        }
    }

    /// Position of a value, from 0 to 1.
    fn fraction(&self, value: f64) -> f64 {
        if self.scale == Scale::Logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// About five round tick values.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let ticks: Vec<f64> = if self.scale == Scale::Logarithmic && decades > 0.7 {
            let digits: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let every = (decades / 6.0).ceil().max(1.0) as usize;
            let powers =
                (self.low.log10().floor() as i32..=self.high.log10().ceil() as i32).step_by(every);
            powers
                .flat_map(|power| digits.iter().map(move |digit| digit * f64::powi(10.0, power)))
                .collect()
        } else {
            let least = if self.scale == Scale::Counting { 1.0 } else { 0.0 };
            let rough = f64::max((self.high - self.low) / 5.0, least);
            let power = f64::powf(10.0, rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0]
                .map(|digit| digit * power)
                .into_iter()
                .find(|&s| s >= rough)
                .unwrap_or(rough);
            let first = (self.low / step).ceil();
            (0..12).map(|i| (first + f64::from(i)) * step).collect()
        };
        ticks.into_iter().filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }
}

/// One curve.
pub struct Curve {
    /// CSS class, which determines the colour.
    pub class: &'static str,
    /// Points on the two axes.
    pub points: Vec<[f64; 2]>,
    /// Whether the points are measurements, to be drawn individually.
    pub dots: bool,
}

/// Curves on shared axes.
pub struct Chart {
    /// Description, for screen readers.
    pub title: String,
    /// Whether it is twice as wide as usual.
    pub wide: bool,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The curves, the last one on top.
    pub curves: Vec<Curve>,
    /// A reference line and its label.
    pub level: Option<(f64, String)>,
}

impl Chart {
    /// The chart as an `svg` element.
    pub fn markup(&self) -> Markup {
        let width = if self.wide { 2.0 * WIDTH } else { WIDTH };
        let (right, bottom) = (width - RIGHT, HEIGHT - BOTTOM);
        let x = |value: f64| tenth(LEFT + self.x.fraction(value) * (right - LEFT));
        let y = |value: f64| tenth(bottom - self.y.fraction(value) * (bottom - TOP));
        html! {
            svg.wide[self.wide] viewBox={ "0 0 " (width) " " (HEIGHT) } role="img" aria-label=(self.title) {
                g.grid {
                    @for tick in self.x.ticks() {
                        line x1=(x(tick)) x2=(x(tick)) y1=(TOP) y2=(bottom) {}
                        text x=(x(tick)) y=(bottom + 17.0) text-anchor="middle" { (number(tick)) }
                    }
                    @for tick in self.y.ticks() {
                        line x1=(LEFT) x2=(right) y1=(y(tick)) y2=(y(tick)) {}
                        text x=(LEFT - 8.0) y=(y(tick) + 4.0) text-anchor="end" { (number(tick)) }
                    }
                    text x=(tenth((LEFT + right) / 2.0)) y=(HEIGHT - 7.0) text-anchor="middle" { (self.x.label) }
                    text transform={ "translate(14 " ((TOP + bottom) / 2.0) ") rotate(-90)" } text-anchor="middle" {
                        (self.y.label)
                    }
                }
                @if let Some((height, name)) = self.level.as_ref().filter(|l| (0.0..=1.0).contains(&self.y.fraction(l.0))) {
                    line.level x1=(LEFT) x2=(right) y1=(y(*height)) y2=(y(*height)) {}
                    text.level x=(LEFT + 6.0) y=(y(*height) - 6.0) { (name) }
                }
                @for curve in &self.curves {
                    g class=(curve.class) {
                        path d=(path(curve.points.iter().map(|p| [x(p[0]), y(p[1])]))) {}
                        @if curve.dots && curve.points.len() < MOST_DOTS {
                            @for point in &curve.points {
                                circle cx=(x(point[0])) cy=(y(point[1])) r="3" {
                                    title { (self.x.label) " " (number(point[0])) ", " (self.y.label) " " (number(point[1])) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Points of a long curve: the minimum and maximum in each of `columns` columns; `place` is the
/// position of sample `i`.
pub fn outline(samples: &[f64], columns: usize, place: impl Fn(usize) -> f64) -> Vec<[f64; 2]> {
    let width = samples.len().div_ceil(columns);
    if width <= 2 {
        return samples.iter().enumerate().map(|(i, &v)| [place(i), v]).collect();
    }
    let column = |(k, part): (usize, &[f64])| {
        let (low, high) = part
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        [[place(k * width), low], [place(k * width), high]]
    };
    samples.chunks(width).enumerate().flat_map(column).collect()
}

fn path(points: impl Iterator<Item = [f64; 2]>) -> String {
    points
        .enumerate()
        .map(|(i, [x, y])| format!("{}{x} {y}", if i == 0 { 'M' } else { 'L' }))
        .collect()
}

fn tenth(x: f64) -> f64 {
    (10.0 * x).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let ends = |low: f64, high: f64| [low, high].into_iter();
        assert_eq!(Axis::linear("", ends(0.0, 10.0)).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(
            Axis::logarithmic("", ends(0.9, 55.0)).ticks(),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
        );
        assert_eq!(
            Axis::logarithmic("", ends(1e5, 1.2e5)).ticks(),
            [1e5, 1.05e5, 1.1e5, 1.15e5, 1.2e5]
        );
        assert_eq!(Axis::counting("", ends(1.0, 3.0)).ticks(), [1.0, 2.0, 3.0]);
        assert_eq!(Axis::counting("", ends(1.0, 1.0)).ticks(), [1.0]);
        for (low, high) in [(1e-9, 1e9), (0.03, 0.031), (1e-3, 7.0), (4.0, 4.0)] {
            for axis in [Axis::logarithmic("", ends(low, high)), Axis::linear("", ends(low, high))]
            {
                let ticks = axis.ticks();
                assert!((2..=12).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
                assert!(ticks.iter().all(|&tick| (0.0..=1.0).contains(&axis.fraction(tick))));
            }
        }
    }

    #[test]
    fn outlines_keep_the_extremes() {
        let mut samples = vec![0.0; 10_000];
        samples[1234] = 5.0;
        samples[8765] = -3.0;
        let points = outline(&samples, 100, |i| i as f64);
        assert_eq!(points.len(), 200);
        assert!(points.contains(&[1200.0, 5.0]) && points.contains(&[8700.0, -3.0]));
        assert_eq!(outline(&samples[..7], 100, |i| i as f64).len(), 7);
    }
}
