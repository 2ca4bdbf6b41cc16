//! A session's talk with the other ranks.

use super::changes::Changes;
use super::plane::PlaneState;
use crate::engine::Sweep;
use crate::engine::ranks::{Strip, Traffic, World};
use crate::exact::ExactSum;
use crate::real::Real;
use std::rc::Rc;

/// The other ranks; none for a session that works alone.
pub(super) struct Exchange {
    ranks: Option<Ranks>,
}

struct Ranks {
    world: Rc<dyn World>,
    traffic: Traffic,
    /// Does `fetch` give the codes of this rank alone?
    own_codes: bool,
}

impl Exchange {
    pub(super) fn alone() -> Self {
        Self { ranks: None }
    }

    pub(super) fn new(world: Rc<dyn World>, traffic: Traffic, own_codes: bool) -> Self {
        Self { ranks: Some(Ranks { world, traffic, own_codes }) }
    }

    /// Are there no other ranks?
    pub(super) fn is_alone(&self) -> bool {
        self.ranks.is_none()
    }

    /// Does a tile of this session have a neighbour of another rank?
    pub(super) fn is_at_border(&self, tile: usize) -> bool {
        self.ranks.as_ref().is_some_and(|ranks| ranks.traffic.is_at_border(tile))
    }

    pub(super) fn traffic(&self) -> Option<&Traffic> {
        self.ranks.as_ref().map(|ranks| &ranks.traffic)
    }

    /// Sends the neighbours what the tiles of a colour did to samples they keep too.
    pub(super) fn send<T: Real>(&self, colour: usize, planes: &mut [PlaneState<T>], changes: &Changes) {
        let Some(Ranks { world, traffic, .. }) = &self.ranks else { return };
        for neighbour in &traffic.neighbours {
            let parcel = &neighbour.colours[colour];
            if parcel.tell.is_empty() {
                continue;
            }
            let mut message = Vec::with_capacity(message_bytes::<T>(&parcel.tell, &parcel.send, planes));
            parcel.tell.iter().for_each(|&tile| changes.tell(tile, &mut message));
            for strip in &parcel.send {
                planes[strip.plane].each_row_of(strip, |row| T::append_bytes(row, &mut message));
            }
            world.send(neighbour.rank, message);
        }
    }

    /// Waits for what the neighbours sent after a colour, and takes it over.
    pub(super) fn receive<T: Real>(&self, colour: usize, planes: &mut [PlaneState<T>], changes: &Changes) {
        let Some(Ranks { world, traffic, .. }) = &self.ranks else { return };
        for neighbour in &traffic.neighbours {
            let parcel = &neighbour.colours[colour];
            if parcel.hear.is_empty() {
                continue;
            }
            let message = world.receive(neighbour.rank);
            let mut rest = &message[..];
            parcel.hear.iter().for_each(|&slot| changes.hear(slot, &mut rest));
            for strip in &parcel.receive {
                planes[strip.plane].each_row_of(strip, |row| T::take_bytes(&mut rest, row));
            }
            assert!(rest.is_empty(), "both sides know the size of a message");
        }
    }

    /// Makes room for what the neighbours will send in a sweep.
    pub(super) fn begin<T: Real>(&self, planes: &[PlaneState<T>]) {
        let Some(Ranks { world, traffic, .. }) = &self.ranks else { return };
        for neighbour in &traffic.neighbours {
            for parcel in neighbour.colours.iter().filter(|parcel| !parcel.hear.is_empty()) {
                world.expect(neighbour.rank, message_bytes::<T>(&parcel.hear, &parcel.receive, planes));
            }
        }
    }

    /// What a sweep did on all ranks.
    pub(super) fn together(&self, sweep: Sweep) -> Sweep {
        let (mut visited, mut largest) = ([sweep.visited as i64], [sweep.largest_change]);
        self.reduce(&mut visited, &mut largest);
        Sweep { largest_change: largest[0], visited: visited[0] as usize }
    }

    /// Sums and maxima over all ranks.
    pub(super) fn reduce(&self, sums: &mut [i64], maxima: &mut [f64]) {
        if let Some(Ranks { world, .. }) = &self.ranks {
            world.reduce(sums, maxima);
        }
    }

    /// The largest numbers of all ranks.
    pub(super) fn largest(&self, numbers: &mut [f64]) {
        self.reduce(&mut [], numbers);
    }

    /// Sums and counts over all ranks.
    pub(super) fn sums(&self, sums: Vec<ExactSum>, counts: &mut [usize]) -> Vec<f64> {
        let Some(Ranks { world, .. }) = &self.ranks else { return sums.into_iter().map(ExactSum::value).collect() };
        let mut numbers: Vec<i64> = sums.into_iter().flat_map(ExactSum::parts).collect();
        let behind = numbers.len();
        numbers.extend(counts.iter().map(|&count| count as i64));
        world.reduce(&mut numbers, &mut []);
        counts.iter_mut().zip(&numbers[behind..]).for_each(|(count, &sum)| *count = sum as usize);
        numbers[..behind].chunks_exact(ExactSum::PARTS).map(|parts| ExactSum::from_parts(parts).value()).collect()
    }

    /// What every rank gives, in their order; `None` for a session that works alone.
    pub(super) fn gather(&self, own: impl FnOnce() -> Vec<u8>) -> Option<Vec<Vec<u8>>> {
        self.ranks.as_ref().map(|ranks| ranks.world.gather(own()))
    }

    /// The same, on the first rank alone; nothing comes to the others.
    pub(super) fn gather_at_first(&self, own: impl FnOnce() -> Vec<u8>) -> Option<Vec<Vec<u8>>> {
        self.ranks.as_ref().map(|ranks| ranks.world.gather_at_first(own()))
    }

    /// Are the codes of other ranks left where they are?
    pub(super) fn keeps_to_itself(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.own_codes)
    }
}

/// Bytes of a message with these counters and strips.
fn message_bytes<T>(counters: &[u32], strips: &[Strip], planes: &[PlaneState<T>]) -> usize {
    let samples: usize = strips.iter().map(|strip| strip.volume() * planes[strip.plane].channels).sum();
    Changes::TOLD * counters.len() + size_of::<T>() * samples
}
