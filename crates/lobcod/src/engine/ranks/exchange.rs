//! Communication of a session with the other ranks.

use super::traffic::{BorderSamples, Traffic};
use super::world::World;
use crate::exact::ExactSum;
use std::rc::Rc;

/// The other ranks; none for a single-rank session.
#[derive(Default)]
pub struct Exchange {
    ranks: Option<(Rc<dyn World>, Traffic)>,
}

impl Exchange {
    /// The exchanges of a rank with its neighbours.
    pub fn new(world: Rc<dyn World>, traffic: Traffic) -> Self {
        Self { ranks: Some((world, traffic)) }
    }

    /// Whether a tile of this session has a neighbour on another rank.
    pub fn is_at_border(&self, tile: usize) -> bool {
        self.traffic().is_some_and(|traffic| traffic.is_at_border(tile))
    }

    /// What is exchanged.
    pub fn traffic(&self) -> Option<&Traffic> {
        self.ranks.as_ref().map(|(_, traffic)| traffic)
    }

    /// Announces the messages of a sweep; `bytes` returns the size of one.
    pub fn expect(&self, bytes: impl Fn(&[u32], &[BorderSamples]) -> usize) {
        let Some((world, traffic)) = &self.ranks else { return };
        for neighbour in &traffic.neighbours {
            for parcel in
                neighbour.colours.iter().filter(|parcel| !parcel.receive_counters.is_empty())
            {
                world.expect(neighbour.rank, bytes(&parcel.receive_counters, &parcel.receive));
            }
        }
    }

    /// Sends neighbours the changes of a colour: `write(tiles, samples, message)`.
    pub fn send(
        &self,
        colour: usize,
        mut write: impl FnMut(&[u32], &[BorderSamples], &mut Vec<u8>),
    ) {
        let Some((world, traffic)) = &self.ranks else { return };
        for neighbour in &traffic.neighbours {
            let parcel = &neighbour.colours[colour];
            if !parcel.send_counters.is_empty() {
                let mut message = Vec::new();
                write(&parcel.send_counters, &parcel.send, &mut message);
                world.send(neighbour.rank, message);
            }
        }
    }

    /// Waits for the neighbours' messages after a colour: `read(tiles, samples, message)`.
    pub fn receive(
        &self,
        colour: usize,
        mut read: impl FnMut(&[u32], &[BorderSamples], &mut &[u8]),
    ) {
        let Some((world, traffic)) = &self.ranks else { return };
        for neighbour in &traffic.neighbours {
            let parcel = &neighbour.colours[colour];
            if !parcel.receive_counters.is_empty() {
                let message = world.receive(neighbour.rank);
                let mut rest = &message[..];
                read(&parcel.receive_counters, &parcel.receive, &mut rest);
                assert!(rest.is_empty(), "both sides agree on the message size");
            }
        }
    }

    /// Sums and maxima over all ranks.
    pub fn reduce(&self, sums: &mut [i64], maxima: &mut [f64]) {
        if let Some((world, _)) = &self.ranks {
            world.reduce(sums, maxima);
        }
    }

    /// Sums and counts over all ranks.
    pub fn sums(&self, sums: Vec<ExactSum>, counts: &mut [usize]) -> Vec<f64> {
        let Some((world, _)) = &self.ranks else {
            return sums.into_iter().map(ExactSum::value).collect();
        };
        let mut numbers: Vec<i64> = sums.into_iter().flat_map(ExactSum::parts).collect();
        let behind = numbers.len();
        numbers.extend(counts.iter().map(|&count| count as i64));
        world.reduce(&mut numbers, &mut []);
        counts.iter_mut().zip(&numbers[behind..]).for_each(|(count, &sum)| *count = sum as usize);
        numbers[..behind]
            .chunks_exact(ExactSum::PARTS)
            .map(|parts| ExactSum::from_parts(parts).value())
            .collect()
    }

    /// Gathers the data of every rank, in rank order; for a single-rank session, its own data.
    pub fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        match &self.ranks {
            Some((world, _)) => world.gather(own),
            None => vec![own],
        }
    }

    /// Sends every neighbour the same message; returns theirs.
    pub fn swap(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let Some((world, traffic)) = &self.ranks else { return Vec::new() };
        traffic.neighbours.iter().for_each(|neighbour| world.send(neighbour.rank, own.to_vec()));
        traffic.neighbours.iter().map(|neighbour| world.receive(neighbour.rank)).collect()
    }

    /// Whether this is a single-rank session.
    pub fn is_alone(&self) -> bool {
        self.ranks.is_none()
    }
}
