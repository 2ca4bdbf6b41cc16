//! Sizes of atoms.

use lobcod::Extent;
use std::fmt;
use std::str::FromStr;

/// Atom size, written `16`, `8x8` or `5x5x5`.
#[derive(Clone, Copy)]
pub struct Size(pub Extent);

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let axes: Result<Vec<usize>, _> = text.split('x').map(str::parse).collect();
        let axes = axes.map_err(|_| "expected a size such as 16, 8x8 or 5x5x5".to_string())?;
        Extent::new(&axes).map(Size).map_err(|e| e.to_string())
    }
}

/// Sizes of learnt atoms: one, such as `8x8`, or several with the number of atoms of each, such as
/// `8x8:16,12x12:32`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(Vec<(Extent, Option<usize>)>);

impl Sizes {
    /// The box that contains atoms of all sizes.
    pub fn extent(&self) -> Extent {
        let sizes = || self.0.iter().map(|(size, _)| size.padded());
        self.0[0].0.with_padded(std::array::from_fn(|a| sizes().map(|s| s[a]).max().unwrap_or(1)))
    }

    /// Number of atoms, if it is given.
    pub fn atoms(&self) -> Option<usize> {
        self.0.iter().map(|(_, count)| *count).sum()
    }

    /// Size of every atom; none where all have the same.
    pub fn of_atoms(&self) -> Vec<Extent> {
        let each = |&(size, count): &(Extent, Option<usize>)| {
            std::iter::repeat_n(size, count.unwrap_or(0))
        };
        if self.0.len() == 1 { Vec::new() } else { self.0.iter().flat_map(each).collect() }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (size, count)) in self.0.iter().enumerate() {
            let (comma, count) =
                (if i > 0 { "," } else { "" }, count.map(|count| format!(":{count}")));
            write!(f, "{comma}{size}{}", count.unwrap_or_default())?;
        }
        Ok(())
    }
}

impl FromStr for Sizes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let one = |part: &str| -> Result<(Extent, Option<usize>), String> {
            let Some((size, count)) = part.split_once(':') else {
                return Ok((part.parse::<Size>()?.0, None));
            };
            let count = count.parse().ok().filter(|count| (1..=65_535).contains(count));
            let count = count.ok_or("expected 1 to 65535 atoms after the colon, as in 8x8:16")?;
            Ok((size.parse::<Size>()?.0, Some(count)))
        };
        let sizes = text.split(',').map(one).collect::<Result<Vec<_>, String>>()?;
        if sizes.len() > 1 && sizes.iter().any(|(_, count)| count.is_none()) {
            return Err("expected a number of atoms for each size, as in 8x8:16,12x12:32".into());
        }
        if sizes.iter().any(|(size, _)| size.rank() != sizes[0].0.rank()) {
            return Err("expected sizes with the same number of axes".into());
        }
        Ok(Sizes(sizes))
    }
}
