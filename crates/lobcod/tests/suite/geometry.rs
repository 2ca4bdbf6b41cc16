//! Reading and writing boxes of samples, beyond the edge and across a periodic boundary.

use lobcod::geometry::{InSignal, Point, Raster, Region};
use proptest::prelude::*;

proptest! {
    #[test]
    fn gathering_reads_every_sample_where_it_is(
        size in prop::array::uniform3(1usize..6),
        start in prop::array::uniform3(-4i64..4),
        wanted in prop::array::uniform3(0usize..9),
        from in prop::array::uniform3(-7i64..7),
        periodic in prop::array::uniform3(any::<bool>()),
        channels in 1usize..3,
        threads in 1usize..4,
    ) {
        let raster =
            Raster::<InSignal> { region: Region::new(Point::new(start), size), channels, periodic };
        let data: Vec<i32> = (0..raster.len() as i32).collect();
        let region = Region::new(Point::new(from), wanted);
        let got = raster.gather(&data, &region, -1, threads);
        let mut expected = Vec::new();
        for c in 0..channels {
            for point in region.points() {
                let mut at = point;
                for a in (0..3).filter(|&a| periodic[a]) {
                    at.at[a] = start[a] + (at.at[a] - start[a]).rem_euclid(size[a] as i64);
                }
                expected.push(if raster.region.contains(at) {
                    data[raster.index(c, at)]
                } else {
                    -1
                });
            }
        }
        prop_assert_eq!(&got, &expected);
        let mut back = vec![-1; data.len()];
        raster.scatter(&mut back, &region, &got);
        prop_assert!(back.iter().zip(&data).all(|(b, d)| b == d || *b == -1));
        let seen =
            expected.iter().filter(|&&x| x >= 0).collect::<std::collections::BTreeSet<_>>().len();
        prop_assert_eq!(back.iter().filter(|&&x| x >= 0).count(), seen);
    }
}
