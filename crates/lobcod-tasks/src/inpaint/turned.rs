//! Mirrored and rotated copies of a dictionary.

use lobcod::{Dictionary, Real};

/// Copy `variant` of a dictionary: bit 0 swaps the last two axes (of square atoms), bits 1 and 2
/// mirror the last and the second to last axis.
pub fn turned<T: Real>(dictionary: &Dictionary<T>, variant: usize) -> Dictionary<T> {
    let [depth, height, width] = dictionary.extent().padded();
    let swap = variant & 1 == 1 && height == width;
    let (flip_x, flip_y) = (variant & 2 == 2, variant & 4 == 4);
    let mut data = Vec::with_capacity(dictionary.data().len());
    for slice in dictionary.data().chunks_exact(height * width) {
        for y in 0..height {
            for x in 0..width {
                let (y, x) = if swap { (x, y) } else { (y, x) };
                let y = if flip_y { height - 1 - y } else { y };
                let x = if flip_x { width - 1 - x } else { x };
                data.push(slice[y * width + x]);
            }
        }
    }
    debug_assert_eq!(data.len() % (depth * height * width), 0);
    Dictionary::new(dictionary.extent(), dictionary.channels(), data)
        .expect("a permutation preserves the norm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobcod::Extent;

    #[test]
    fn the_eight_copies_of_an_atom_without_symmetry_differ() {
        let atom: Vec<f64> = (0..9).map(|i| f64::from(i * i + 1)).collect();
        let dictionary = Dictionary::new(Extent::new(&[3, 3]).unwrap(), 1, atom).unwrap();
        let copies: Vec<_> =
            (0..8).map(|variant| turned(&dictionary, variant).data().to_vec()).collect();
        assert_eq!(copies[0], dictionary.data());
        for i in 0..8 {
            assert!((0..i).all(|j| copies[i] != copies[j]));
        }
        assert_eq!(copies[1][1], dictionary.data()[3]);
        assert_eq!(copies[2][0], dictionary.data()[2]);
        assert_eq!(copies[4][0], dictionary.data()[6]);
    }
}
