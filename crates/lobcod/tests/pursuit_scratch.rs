use lobcod::*;
#[test]
fn hidden_code() {
    let e = |n: usize| Extent::new(&[n]).unwrap();
    let d = Dictionary::new(e(1), 1, vec![1.0f64]).unwrap();
    for n in [3usize, 4, 6, 9] {
        for tile in [1usize, 2, 3, 32] {
            let data: Vec<f64> = (0..n).map(|i| 4.0 + i as f64).collect();
            let known: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
            let signal = Signal::from_planar(e(n), 1, data).unwrap();
            for starts in [vec![1], vec![0, 1], vec![1, 2], vec![0, 1, 2]] {
                let start = Needles::new(
                    e(n),
                    1,
                    Border::Free,
                    starts.iter().map(|&x| Code { position: [0, 0, x], atom: 0, channel: 0, value: 7.0 }).collect(),
                );
                for (schedule, local) in [
                    (Schedule::Tiles, Local::Coordinate),
                    (Schedule::Tiles, Local::Lars),
                    (Schedule::Layers, Local::Coordinate),
                    (Schedule::Layers, Local::Lars),
                ] {
                    let o = Observed {
                        mask: Some(Mask::from_known(e(n), &known).unwrap()),
                        start: Start::Needles(start.clone()),
                        ..signal.clone().into()
                    };
                    let p = PursuitParams {
                        tolerance: 1e-9,
                        schedule,
                        local,
                        tile: Some(tile),
                        ..PursuitParams::new(Penalty::Absolute(1.0))
                    };
                    let a = p.check().unwrap().run(&[o], &d, &mut ()).unwrap();
                    if a.report.status != Status::Converged {
                        println!(
                            "{n} tile {tile} start {starts:?} {schedule:?} {local:?} {} gap {} obj {} {:?}",
                            a.report.status,
                            a.report.total.gap,
                            a.report.total.objective,
                            a.needles[0].codes().iter().map(|c| (c.position[2], c.value)).collect::<Vec<_>>()
                        );
                    }
                }
            }
        }
    }
}
#[test]
fn seeded() {
    use lobcod_conformance::*;
    for p in problems::all().into_iter().filter(|p| [14, 110].contains(&p.seed)) {
        let oracle = Oracle::new(&p.params, &p.observed, &p.dictionary);
        for local in [Local::Coordinate, Local::Lars] {
            for schedule in [Schedule::Tiles, Schedule::Layers] {
                let codes: Vec<f64> = (0..oracle.size()).map(|i| if i % 7 == 3 { 2.0 } else { 0.0 }).collect();
                let s = &p.observed.signal;
                let start = Start::Needles(Needles::new(s.extent(), s.channels(), p.params.border, oracle.entries(&codes)));
                let o = Observed { start, ..p.observed.clone() };
                let params = PursuitParams { local, schedule, ..suite::tight::<f64>(&p) };
                let a = params.check().unwrap().run(&[o], &p.dictionary, &mut ()).unwrap();
                let c = oracle.codes(&a.needles[0]);
                println!(
                    "{local:?} {schedule:?} {} obj {} gap {} true {} viol {} at 2.0: {:?}",
                    a.report.status,
                    a.report.total.objective,
                    a.report.total.gap,
                    oracle.objective(&oracle.solve()),
                    oracle.violation(&c),
                    a.needles[0].codes().iter().filter(|c| c.value == 2.0).map(|c| (c.position, c.atom)).collect::<Vec<_>>()
                );
                println!("   {:?}", a.report.history.iter().map(|h| h.objective).take(10).collect::<Vec<_>>());
            }
        }
    }
}
