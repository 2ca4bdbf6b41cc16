//! Distribution of work over threads.

use lobcod::engine::{CpuEngine, Engine};
use lobcod::parallel::{Barrier, chunks, count, count_for, groups, team};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn every_chunk_is_seen_once_with_its_number() {
    for (items, length, threads) in
        [(0, 3, 2), (1, 3, 2), (10, 3, 1), (10, 3, 2), (10, 3, 7), (12, 3, 4), (5, 9, 3)]
    {
        let mut data = vec![0usize; items];
        chunks(
            &mut data,
            length,
            threads,
            || (),
            |i, chunk, ()| chunk.iter_mut().for_each(|x| *x += 1 + i),
        );
        assert!(
            data.iter().enumerate().all(|(i, x)| *x == 1 + i / length),
            "{items} {length} {threads}"
        );
    }
}

#[test]
fn groups_of_any_size_stay_whole() {
    let starts: Vec<usize> =
        (0..5000).scan(0, |at, i| Some(std::mem::replace(at, *at + i % 5))).collect();
    for (least, threads) in [(1, 1), (1, 3), (100, 4), (9000, 2)] {
        let mut data = vec![usize::MAX; starts[4999]];
        groups(
            &mut data,
            4999,
            |g| starts[g],
            least,
            threads,
            |range, mut part| {
                for group in range {
                    part.split_off_mut(..starts[group + 1] - starts[group]).unwrap().fill(group);
                }
            },
        );
        let expected = (0..4999).flat_map(|g| (starts[g]..starts[g + 1]).map(move |_| g));
        assert!(data.into_iter().eq(expected), "{least} {threads}");
    }
}

#[test]
fn a_team_synchronises_at_its_barrier() {
    let (arrived, missed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    team(
        3,
        |count| (0..count).map(|_| count).collect(),
        |count: usize, barrier: &Barrier| {
            for round in 1..100 {
                arrived.fetch_add(1, Ordering::SeqCst);
                barrier.wait();
                missed.fetch_add(
                    usize::from(arrived.load(Ordering::SeqCst) < round * count),
                    Ordering::SeqCst,
                );
                barrier.wait();
            }
        },
    );
    assert_eq!(missed.into_inner(), 0);
}

#[test]
fn small_signals_use_one_thread_and_large_ones_all_cores() {
    let cores = count(0);
    for (threads, samples, expected) in [
        (0, 0, 1),
        (0, 64, 1),
        (0, 16383, 1),
        (0, 2 * 8192, cores.min(2)),
        (0, usize::MAX, cores),
        (3, 64, 3),
        (1, usize::MAX, 1),
    ] {
        assert_eq!(count_for(threads, samples), expected, "{threads} {samples}");
        let engine = CpuEngine::for_samples(threads, samples).unwrap();
        assert_eq!(Engine::<f32>::threads(&engine), expected);
    }
}
