//! Answers are bit-identical for any number of ranks and any distribution of tiles.

use lobcod::checkpoint::Checkpoint;
use lobcod::engine::ranks::{RankEngine, World as _};
use lobcod::engine::{Context, Discovery, Engine as _, Plane, Visit};
use lobcod::geometry::{InSignal, Raster, Region};
use lobcod::grid::Grouping;
use lobcod::pursuit::{Local, PartOf};
use lobcod::pursuit::{Schedule, Start};
use lobcod::{
    Answer, Border, Control, Dictionary, Extent, Mask, Observed, Observer, Penalty, Progress,
};
use lobcod::{PursuitParams, Real, Result, Signal, Status};
use lobcod_conformance::cpu;
use lobcod_conformance::problems::{self, Extra, Observation, Problem, Shape};
use lobcod_conformance::ranks::{LocalWorld, on_ranks};
use lobcod_conformance::suite::{agrees_with_oracle, hidden_samples_are_not_read};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const SHAPES: [Shape; 4] = [
    Shape { signal: &[37, 41], atom: &[5, 4], channels: (1, 1), atoms: 9, tile: 8 },
    Shape { signal: &[211], atom: &[6], channels: (3, 3), atoms: 7, tile: 9 },
    Shape { signal: &[9, 10, 11], atom: &[3, 2, 3], channels: (1, 1), atoms: 5, tile: 4 },
    Shape { signal: &[23, 18], atom: &[3, 3], channels: (3, 1), atoms: 6, tile: 6 },
];

/// Ranks, blocks along every axis (`None`: chosen by the engine), threads in every rank.
type Layout = (usize, Option<[usize; 3]>, usize);

/// The bits of an answer that must not depend on the ranks.
fn bits<T: Real>(answer: &Answer<T>) -> Vec<u64> {
    let total = answer.report.total;
    let mut bits = vec![
        total.objective.to_bits(),
        total.gap.to_bits(),
        total.penalty_max.to_bits(),
        total.nonzeros as u64,
    ];
    bits.extend(
        [answer.report.discovery_sweeps, answer.report.support_sweeps].map(|sweeps| sweeps as u64),
    );
    bits.extend(
        answer
            .report
            .history
            .iter()
            .flat_map(|point| [point.objective.to_bits(), point.nonzeros as u64]),
    );
    for code in answer.needles.iter().flat_map(|needles| needles.codes()) {
        bits.extend(code.position.map(|p| p as u64));
        bits.extend([u64::from(code.atom), u64::from(code.channel), code.value.to_f64().to_bits()]);
    }
    bits
}

fn engine(world: Rc<LocalWorld>, grid: Option<[usize; 3]>, threads: usize) -> RankEngine {
    let engine = RankEngine::new(world, threads).expect("an engine");
    if let Some(grid) = grid { engine.with_process_grid(grid) } else { engine }
}

fn ranks_change_nothing<T: Real>(
    params: &PursuitParams,
    observed: &[Observed<T>],
    dictionary: &Dictionary<T>,
    layouts: &[Layout],
    problem: &Problem,
) {
    let pursuit = params.clone().check().expect("valid parameters");
    let alone = bits(&pursuit.run(&cpu(1), observed, dictionary, &mut ()).expect("an answer"));
    assert!(alone.len() > 100, "an answer without codes proves nothing");
    for &(ranks, grid, threads) in layouts {
        let answers = on_ranks(ranks, |world| {
            let engine = engine(world, grid, threads);
            bits(&pursuit.run(&engine, observed, dictionary, &mut ()).expect("an answer"))
        });
        for (rank, answer) in answers.iter().enumerate() {
            assert!(
                *answer == alone,
                "rank {rank} of {ranks}, blocks {grid:?}, {threads} threads ({problem})"
            );
        }
    }
}

fn layouts(rank: usize) -> Vec<Layout> {
    let grids: &[[usize; 3]] = match rank {
        1 => &[[1, 1, 2], [1, 1, 3], [1, 1, 4], [1, 1, 6]],
        2 => &[[1, 2, 1], [1, 1, 3], [1, 2, 2], [1, 3, 2]],
        _ => &[[2, 1, 1], [1, 3, 1], [1, 2, 2], [2, 1, 3]],
    };
    let mut layouts: Vec<Layout> =
        grids.iter().map(|&grid| (grid.iter().product(), Some(grid), 1)).collect();
    layouts[2].2 = 2;
    layouts.extend([(1, None, 1), (3, None, 1), (layouts[3].0 + 1, layouts[3].1, 1)]);
    layouts
}

#[test]
fn cut_planes_are_bit_identical() {
    for (shape, border) in
        SHAPES.into_iter().flat_map(|shape| Border::ALL.map(|border| (shape, border)))
    {
        for (i, observation) in
            [Observation::Full, Observation::Known, Observation::Fractional].into_iter().enumerate()
        {
            let problem =
                Problem::new(11, shape, border, observation, Extra::Plain).expect("the atom fits");
            let params = problem.params.clone().with(|p| p.tolerance = 1e-4);
            let (layouts, dictionary) = (layouts(shape.signal.len()), &problem.dictionary);
            let layouts = if i == 0 { &layouts[..] } else { &layouts[3..4] };
            ranks_change_nothing(
                &params,
                &[problem.observed::<f32>()],
                &dictionary.cast(),
                layouts,
                &problem,
            );
            let lars = params.with(|p| p.local = Local::Lars);
            ranks_change_nothing(
                &lars,
                &[problem.observed::<f64>()],
                dictionary,
                &layouts[..1],
                &problem,
            );
        }
    }
}

#[test]
fn every_option_is_bit_identical() {
    for extra in [Extra::AtomWeights, Extra::PositionWeights, Extra::Nonnegative, Extra::Everything]
    {
        let Some(problem) = Problem::new(5, SHAPES[0], Border::Free, Observation::Known, extra)
        else {
            continue;
        };
        let observed = problem.observed::<f32>();
        let dictionary = problem.dictionary.cast();
        let layouts = [(4, Some([1, 2, 2]), 1)];
        ranks_change_nothing(
            &problem.params,
            std::slice::from_ref(&observed),
            &dictionary,
            &layouts,
            &problem,
        );
        let spread = Observed { start: Start::Spread, ..observed };
        ranks_change_nothing(&problem.params, &[spread], &dictionary, &layouts, &problem);
    }
}

#[test]
fn planes_that_are_not_cut_are_bit_identical() {
    let problem = Problem::new(3, SHAPES[0], Border::Free, Observation::Full, Extra::Plain)
        .expect("the atom fits");
    let dictionary = problem.dictionary.cast::<f32>();
    for schedule in [Schedule::Layers, Schedule::Needles] {
        let params = problem.params.clone().with(|p| {
            p.schedule = schedule;
            p.max_sweeps = 12;
        });
        ranks_change_nothing(
            &params,
            &[problem.observed::<f32>()],
            &dictionary,
            &[(2, None, 1), (2, Some([1, 2, 1]), 1)],
            &problem,
        );
    }
    for border in Border::ALL {
        let problems = [[37, 41], [12, 60], [9, 9], [25, 25]].map(|size| {
            let shape = Shape { signal: Box::leak(Box::new(size)), ..SHAPES[0] };
            Problem::new(3, shape, border, Observation::Fractional, Extra::AtomWeights)
                .expect("the atom fits")
        });
        let observed = problems.each_ref().map(Problem::observed::<f32>);
        let layouts = [(2, None, 1), (3, None, 2), (6, None, 1), (4, Some([1, 2, 2]), 1)];
        ranks_change_nothing(&problems[0].params, &observed, &dictionary, &layouts, &problems[0]);
    }
}

#[test]
fn the_dual_of_many_cells_is_bit_identical() {
    let shape = Shape { signal: &[150, 170], atom: &[4, 4], channels: (1, 1), atoms: 6, tile: 4 };
    for (border, grid) in [(Border::Free, None), (Border::Periodic, Some([1, 2, 2]))] {
        let problem =
            Problem::new(2, shape, border, Observation::Full, Extra::Plain).expect("the atom fits");
        let params = problem.params.clone().with(|p| {
            p.penalty = Penalty::Relative(0.05);
            p.tolerance = 1e-3;
        });
        let dictionary = problem.dictionary.cast();
        ranks_change_nothing(
            &params,
            &[problem.observed::<f32>()],
            &dictionary,
            &[(4, grid, 1)],
            &problem,
        );
    }
}

#[test]
fn own_codes_of_all_ranks_make_up_the_whole() {
    let problem = Problem::new(7, SHAPES[0], Border::Free, Observation::Full, Extra::Plain)
        .expect("the atom fits");
    let (observed, dictionary) = ([problem.observed::<f32>()], problem.dictionary.cast());
    let pursuit = problem.params.clone().check().expect("valid parameters");
    let alone = pursuit.run(&cpu(0), &observed, &dictionary, &mut ()).expect("an answer");
    let answers = on_ranks(4, |world| {
        let engine = engine(world, Some([1, 2, 2]), 1).with_own_codes();
        pursuit.run(&engine, &observed, &dictionary, &mut ()).expect("an answer")
    });
    let mut codes: Vec<_> =
        answers.iter().flat_map(|answer| answer.needles[0].codes()).copied().collect();
    assert!(answers.iter().all(
        |answer| answer.needles[0].nonzeros() > 0 && answer.report.total == alone.report.total
    ));
    codes.sort_by_key(|code| (code.position, code.atom));
    assert_eq!(codes, alone.needles[0].codes());
}

/// The part of a signal that a rank needs.
fn part_of<T: Real>(observed: &Observed<T>, held: &Region<InSignal>) -> Observed<T> {
    let signal = &observed.signal;
    let extent = Extent::new(&held.size[3 - signal.extent().rank()..]).expect("a part");
    let cut = |from: &Signal<T>| {
        let raster = Raster { periodic: [true; 3], ..from.raster() };
        Signal::from_planar(extent, from.channels(), raster.gather(from.data(), held, T::ZERO, 1))
            .expect("a part")
    };
    let part = Some(PartOf { whole: signal.extent(), start: held.first() });
    let mask = observed
        .mask
        .as_ref()
        .map(|mask| Mask::new(cut(mask.weights())).expect("something is known"));
    Observed { signal: cut(signal), mask, part, ..observed.clone() }
}

#[test]
fn ranks_with_only_their_part_are_bit_identical() {
    for (shape, border) in SHAPES.into_iter().flat_map(|shape| {
        [Border::Free, Border::Zero, Border::Periodic].map(|border| (shape, border))
    }) {
        let problem = Problem::new(13, shape, border, Observation::Known, Extra::PositionWeights)
            .expect("the atom fits");
        let (observed, dictionary) = (problem.observed::<f32>(), problem.dictionary.cast());
        let pursuit = problem.params.clone().check().expect("valid parameters");
        let alone = bits(
            &pursuit
                .run(&cpu(1), std::slice::from_ref(&observed), &dictionary, &mut ())
                .expect("an answer"),
        );
        let grid = layouts(shape.signal.len())[3].1;
        let answers = on_ranks(6, |world| {
            let engine = engine(world, grid, 1);
            let held =
                engine.part(&pursuit, observed.extent(), dictionary.extent()).expect("a part");
            let part = part_of(&observed, &held);
            assert!(part.signal.data().len() < observed.signal.data().len());
            bits(&pursuit.run(&engine, &[part], &dictionary, &mut ()).expect("an answer"))
        });
        assert!(answers.iter().all(|answer| *answer == alone), "{problem}");
    }
}

/// Stops a run after some sweeps, and stores the last checkpoint.
struct StopAfter {
    after: usize,
    kept: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        if progress.discovery_sweeps >= self.after { Control::Stop } else { Control::Continue }
    }

    fn between_passes(&mut self, take: &mut dyn FnMut() -> Result<Checkpoint>) {
        self.kept = Some(take().expect("a checkpoint"));
    }
}

#[test]
fn a_stopped_run_resumes_on_another_number_of_ranks() {
    let problem = Problem::new(21, SHAPES[0], Border::Free, Observation::Known, Extra::Plain)
        .expect("the atom fits");
    let (observed, dictionary) = ([problem.observed::<f32>()], problem.dictionary.cast());
    let params = problem.params.clone().with(|p| p.tolerance = 1e-6);
    let pursuit = params.check().expect("valid parameters");
    let alone = pursuit.run(&cpu(1), &observed, &dictionary, &mut ()).expect("an answer");
    let stopped = on_ranks(4, |world| {
        // One rank requests a stop; all ranks stop.
        let mut observer =
            StopAfter { after: if world.rank() == 2 { 5 } else { usize::MAX }, kept: None };
        let engine = engine(world, Some([1, 2, 2]), 1).with_own_codes();
        let answer =
            pursuit.run(&engine, &observed, &dictionary, &mut observer).expect("an answer");
        assert_eq!(answer.report.status, Status::Interrupted);
        observer.kept.expect("a checkpoint")
    });
    // Every rank has its own codes; the file contains those of all.
    let mut whole = stopped[0].clone();
    for (plane, codes) in whole.state.codes.iter_mut().enumerate() {
        *codes = stopped.iter().flat_map(|own| own.state.codes[plane].clone()).collect();
    }
    assert!(stopped.iter().all(
        |own| own.state.pending == whole.state.pending && own.state.codes != whole.state.codes
    ));
    for (ranks, grid) in [(1, [1, 1, 1]), (3, [1, 3, 1]), (6, [1, 2, 3])] {
        let answers = on_ranks(ranks, |world| {
            let engine = engine(world, Some(grid), 1);
            let answer = pursuit
                .resume(&engine, &whole, &observed, &dictionary, &mut ())
                .expect("an answer");
            (answer.needles, answer.report.total, answer.report.discovery_sweeps)
        });
        for (needles, total, sweeps) in answers {
            assert!(needles == alone.needles && total == alone.report.total, "{ranks} ranks");
            assert_eq!(sweeps, alone.report.discovery_sweeps);
        }
    }
}

#[test]
fn ranks_beyond_the_neighbours_of_a_slow_one_run_ahead() {
    let shape = Shape { signal: &[400], atom: &[6], channels: (1, 1), atoms: 7, tile: 9 };
    let problem = Problem::new(1, shape, Border::Free, Observation::Full, Extra::Plain)
        .expect("the atom fits");
    let dictionary = problem.dictionary.cast::<f32>();
    let sent: Arc<[AtomicUsize; 6]> = Arc::default();
    on_ranks(6, |world| {
        let engine = engine(Rc::clone(&world), Some([1, 1, 6]), 1);
        let mut session = engine.open(problem_of(&problem, &dictionary), None).expect("a session");
        // The first rank sends nothing until all ranks not adjacent to it have sent every message
        // of a sweep: one to each neighbour, for each colour of a border tile. If they had to wait,
        // this would not end.
        let (rank, sent) = (world.rank(), Arc::clone(&sent));
        *world.before_sending.borrow_mut() = Box::new(move || {
            sent[rank].fetch_add(1, SeqCst);
            let are_done =
                || (2..6).all(|other| sent[other].load(SeqCst) == if other == 5 { 1 } else { 2 });
            while rank == 0 && !are_done() {
                std::thread::yield_now();
            }
        });
        let sweep =
            Discovery { penalty: 0.5, visit: Visit::All, local_tolerance: 1e-3, layer_seed: None };
        assert!(
            session.discover(&sweep, &Context::default()).expect("a sweep").largest_change > 0.0
        );
    });
}

fn problem_of(problem: &Problem, dictionary: &Dictionary<f32>) -> lobcod::engine::Problem<f32> {
    let signal = problem.observed::<f32>().signal;
    let plane = Plane { target: signal.data().to_vec(), ..Plane::empty(signal.extent()) };
    lobcod::engine::Problem {
        planes: vec![plane],
        dictionary: dictionary.clone(),
        border: problem.params.border,
        grouping: Grouping::Tiles(problem.shape.tile),
        atom_weights: vec![1.0; dictionary.len()],
        elastic: 0.0,
        joint: None,
        nonnegative: false,
        local: Local::Coordinate,
        cap: None,
        learning: false,
    }
}

#[test]
fn ranks_agree_with_the_oracle() {
    for problem in problems::some(17) {
        on_ranks(3, |world| {
            let engine = engine(world, Some([1, 1, 3]), 1);
            agrees_with_oracle::<f32>(&engine, &problem);
            if problem.observation != Observation::Full {
                hidden_samples_are_not_read::<f32>(&engine, &problem);
            }
        });
    }
}
