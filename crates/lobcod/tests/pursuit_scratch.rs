use lobcod::*;
#[test]
fn hidden_code() {
    let e = |n: usize| Extent::new(&[n]).unwrap();
    let signal = Signal::from_planar(e(3), 1, vec![5.0f64, 1.0, 4.0]).unwrap();
    let d = Dictionary::new(e(1), 1, vec![1.0f64]).unwrap();
    let start = Needles::new(e(3), 1, Border::Free, vec![Code { position: [0, 0, 1], atom: 0, channel: 0, value: 7.0 }]);
    for (schedule, local) in [
        (Schedule::Tiles, Local::Coordinate),
        (Schedule::Tiles, Local::Lars),
        (Schedule::Layers, Local::Coordinate),
        (Schedule::Layers, Local::Lars),
    ] {
        let o = Observed {
            mask: Some(Mask::from_known(e(3), &[true, false, true]).unwrap()),
            start: Start::Needles(start.clone()),
            ..signal.clone().into()
        };
        let p = PursuitParams { tolerance: 1e-9, schedule, local, ..PursuitParams::new(Penalty::Absolute(1.0)) };
        let a = p.check().unwrap().run(&[o], &d, &mut ()).unwrap();
        println!(
            "{schedule:?} {local:?} {} gap {} obj {} {:?}",
            a.report.status,
            a.report.total.gap,
            a.report.total.objective,
            a.needles[0].codes().iter().map(|c| (c.position[2], c.value)).collect::<Vec<_>>()
        );
    }
}
