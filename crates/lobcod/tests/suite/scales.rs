//! Scales of the residual for a better dual point.

use lobcod::engine::{Lattice, ScaleField, Scaling};
use lobcod::geometry::{Origin, Point, Region};

#[test]
fn scales_are_one_far_away_and_low_enough_where_it_matters() {
    for (start, periodic) in [([0, 0, 0], false), ([0, -5, -4], false), ([0, 0, 0], true)] {
        let lattice =
            Lattice::new(Region::new(Point::new(start), [1, 150, 140]), [16; 3], periodic);
        let mut excess = vec![1.0f32; lattice.cells()];
        let bad = Point::new([0, 70, 66]);
        excess[lattice.cell(bad)] = 1.25;
        let mut field = ScaleField::new(lattice);
        field.lower(0, &excess);
        let mut ones = 0;
        for y in start[1]..start[1] + 150 {
            Scaling { field: &field, origin: Origin::default() }.for_row(
                Point::new([0, y, start[2]]),
                140,
                |i, scale| {
                    let at = Point::new([0, y, start[2] + i as i64]);
                    assert!((0.8 - 1e-6..=1.0 + 1e-6).contains(&scale));
                    let one = scale > 1.0 - 1e-6;
                    ones += usize::from(one);
                    assert!(
                        lattice.cell(at) != lattice.cell(bad) || scale < 0.8 + 1e-6,
                        "{scale} at {at:?}"
                    );
                    assert!(one || !field.is_one_over(&Region::new(at, [1; 3])));
                },
            );
        }
        assert!(ones > 150 * 140 / 2);
        assert!(field.is_one_over(&Region::whole([1, 8, 8])));
        assert!(!field.is_one_over(&Region::new(Point::new([0, 60, 60]), [1, 20, 20])));
    }
}
