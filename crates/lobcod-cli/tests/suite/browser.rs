//! HTML reports in a real browser; skipped if there is none.

use crate::common::browser::{Browser, look};
use crate::common::{Desk, texture};
use lobcod_io::Depth;

#[test]
fn reports_of_all_commands_work_in_a_browser() {
    let desk = Desk::new();
    let Some(mut browser) = Browser::start(&desk.path("profile")) else { return };
    desk.image("a.png", &[60, 80], 3, 0.0);
    desk.image("b.png", &[60, 80], 3, 1.0);
    let mut mask = texture(&[60, 80], 1, 2.0);
    mask.data_mut().iter_mut().step_by(3).for_each(|x| *x = 0.0);
    desk.write("mask.png", &mask, Depth::U8);
    // Images, results and maps; then atoms, once or before and after.
    for (number, (line, images)) in [
        ("encode a.png", 4 + 81),
        ("learn a.png -o d.npz --atoms 7 --passes 3", 4 + 2 * 7),
        ("inpaint a.png --known mask.png -o out.png --preset fast --reference b.png", 5),
        ("fuse a.png b.png -o out.png", 6),
        ("denoise a.png -o out.png --noise gaussian:10 --preset fast", 3 + 2 * 81),
        ("separate a.png --smooth-out out.png --texture-out texture.png --alternations 1", 4 + 81),
        ("compare a.png b.png", 3),
    ]
    .into_iter()
    .enumerate()
    {
        let page = format!("{number}.html");
        desk.succeed(&format!("{line} --quiet --report {page}"));
        look(&mut browser, &desk.path(&page), images, 1);
    }
}
