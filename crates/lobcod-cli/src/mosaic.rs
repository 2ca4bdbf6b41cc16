//! Mosaics of atoms.

use lobcod::{Dictionary, Extent, Real, Result, Signal};

/// Grey value of the lines between atoms.
const GAP: f32 = 0.0;
/// Side length to which smaller atoms are enlarged.
const LEGIBLE: usize = 32;
/// Height of the plot of a 1-D atom, and the width to which it is enlarged.
const PLOT_HEIGHT: usize = 32;
const PLOT_WIDTH: usize = 64;

/// Draws the atoms in a grid, one pixel apart, each centred on mid-grey with full contrast; values
/// are in 0..255.
///
/// Atoms with three channels are drawn in colour; other multi-channel atoms channel by channel.
/// Volumes are drawn slice by slice, sequences as bars from a centre line.
pub fn mosaic<T: Real>(
    dictionary: &Dictionary<T>,
    columns: Option<usize>,
    zoom: Option<usize>,
) -> Result<Signal<f32>> {
    let [depth, height, width] = dictionary.extent().padded();
    let colour = dictionary.channels() == 3;
    let plotted = dictionary.extent().rank() == 1;
    let ease = if plotted { PLOT_WIDTH } else { LEGIBLE };
    let zoom = zoom.unwrap_or_else(|| ease.div_ceil(height.max(width)).min(8));
    let panels = depth * if colour { 1 } else { dictionary.channels() };
    let panel = [if plotted { PLOT_HEIGHT } else { zoom * height }, zoom * width];
    // One pixel after each panel and a second one after each atom separate slices and atoms.
    let cell = [panel[0] + 1, panels * (panel[1] + 1) + usize::from(panels > 1)];
    let columns =
        columns.unwrap_or_else(|| square_columns(dictionary.len(), cell)).min(dictionary.len());
    let rows = dictionary.len().div_ceil(columns);

    let extent = Extent::new(&[rows * cell[0] + 1, columns * cell[1] + 1])?;
    let planes = if colour { 3 } else { 1 };
    let mut image = Signal::from_planar(extent, planes, vec![GAP; planes * extent.volume()])?;
    for k in 0..dictionary.len() {
        let atom = dictionary.atom(k);
        let largest = atom.iter().fold(0.0, |m: f64, x| m.max(x.to_f64().abs()));
        for p in 0..panels {
            let corner =
                [k / columns * cell[0] + 1, k % columns * cell[1] + 1 + p * (panel[1] + 1)];
            for c in 0..planes {
                // Slices of one channel are contiguous, so the panels of a greyscale atom are
                // numbered consecutively.
                let slice = &atom[(c * depth + p) * height * width..][..height * width];
                for i in 0..panel[0] * panel[1] {
                    let (y, x) = (i / panel[1], i % panel[1]);
                    let value = |i: usize| slice[i].to_f64() / largest;
                    let shade = if plotted {
                        bar(value(x / zoom), y)
                    } else {
                        127.5 + 127.5 * value(y / zoom * width + x / zoom)
                    };
                    let at = (corner[0] + y) * extent.axes()[1] + corner[1] + x;
                    image.data_mut()[c * extent.volume() + at] = shade as f32;
                }
            }
        }
    }
    Ok(image)
}

/// Grey value in row `y` of a bar that extends from the centre line to `value`.
fn bar(value: f64, y: usize) -> f64 {
    let middle = (PLOT_HEIGHT / 2) as f64;
    let (row, tip) = (y as f64 + 0.5, middle - value * (middle - 1.0));
    if (row > middle) == (value < 0.0) && (row - middle).abs() < (tip - middle).abs() {
        40.0
    } else if y == PLOT_HEIGHT / 2 {
        150.0
    } else {
        225.0
    }
}

/// Atoms per row for an approximately square mosaic.
fn square_columns(atoms: usize, cell: [usize; 2]) -> usize {
    (((atoms * cell[0]) as f64 / cell[1] as f64).sqrt().ceil() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_atom_is_drawn_at_full_contrast() {
        for (axes, channels) in [([8, 8], 1), ([5, 9], 3), ([4, 3], 2), ([40, 50], 1)] {
            let dictionary =
                Dictionary::<f32>::random(Extent::new(&axes).unwrap(), channels, 6, 1).unwrap();
            let image = mosaic(&dictionary, Some(1), Some(1)).unwrap();
            assert_eq!(image.channels(), if channels == 3 { 3 } else { 1 });
            let [_, height, width] = image.extent().padded();
            assert_eq!(height, 6 * (axes[0] + 1) + 1);
            for k in 0..6 {
                let rows = (k * (axes[0] + 1) + 1)..(k + 1) * (axes[0] + 1);
                let shades = rows.flat_map(|y| (1..width - 1).map(move |x| y * width + x));
                let farthest = (0..image.channels())
                    .flat_map(|c| shades.clone().map(move |i| (c, i)))
                    .map(|(c, i)| (image.channel(c)[i] - 127.5).abs())
                    .fold(0.0, f32::max);
                assert_eq!(farthest, 127.5, "atom {k} of {axes:?}");
            }
        }
    }

    #[test]
    fn sequences_are_bars_and_volumes_are_slices() {
        let plot = mosaic(
            &Dictionary::<f32>::dct(Extent::new(&[16]).unwrap(), 1, 4).unwrap(),
            Some(4),
            Some(2),
        )
        .unwrap();
        assert_eq!(plot.extent().axes(), [PLOT_HEIGHT + 2, 4 * 33 + 1]);
        // The constant atom fills the upper half of its plot except for the top row.
        let column: Vec<f32> = (0..PLOT_HEIGHT).map(|y| plot.data()[(y + 1) * 133 + 5]).collect();
        assert_eq!(column.iter().filter(|&&shade| shade == 40.0).count(), PLOT_HEIGHT / 2 - 1);
        let slices = mosaic(
            &Dictionary::<f32>::dct(Extent::new(&[3, 4, 5]).unwrap(), 1, 2).unwrap(),
            Some(2),
            Some(1),
        )
        .unwrap();
        assert_eq!(slices.extent().axes(), [6, 2 * (3 * 6 + 1) + 1]);
    }

    #[test]
    fn zoom_and_columns_are_obeyed() {
        let dictionary = Dictionary::<f32>::dct(Extent::new(&[4, 6]).unwrap(), 1, 10).unwrap();
        let image = mosaic(&dictionary, Some(5), Some(3)).unwrap();
        assert_eq!(image.extent().axes(), [2 * (4 * 3 + 1) + 1, 5 * (6 * 3 + 1) + 1]);
        // The first atom is constant: all its pixels have its largest value.
        let width = image.extent().axes()[1];
        assert!((1..=12).all(|y| (1..=18).all(|x| image.data()[y * width + x] == 255.0)));
    }
}
