//! Communication by MPI.

use crate::calls::{self, UnderWay, forget_sent};
use lobcod::engine::ranks::World;
use lobcod::{Error, Result};
use mpi::Threading;
use mpi::environment::Universe;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// All ranks started by `mpirun`. Must be used on the thread that joined.
pub struct MpiWorld {
    rank: usize,
    ranks: usize,
    /// Announced messages from every rank.
    announced: Vec<RefCell<VecDeque<UnderWay>>>,
    /// Messages that may not have been sent yet.
    leaving: RefCell<VecDeque<UnderWay>>,
    sent: Cell<u64>,
    /// Finalises MPI when dropped.
    _universe: Universe,
}

impl MpiWorld {
    /// Joins the other ranks; once per process. From then on a panic of any rank ends the whole
    /// job, since the others would wait forever.
    ///
    /// Sets two environment variables for Open MPI, so call it before starting other threads.
    pub fn join() -> Result<Rc<Self>> {
        calls::send_borders_at_once();
        let joined = mpi::initialize_with_threading(Threading::Funneled);
        let cure = "join once, and start the program with mpirun";
        let Some((universe, threading)) = joined else {
            return Err(Error::Unavailable(format!("MPI was already joined; {cure}")));
        };
        if threading < Threading::Funneled {
            return Err(Error::Unavailable(
                "this MPI library does not support threads; use one built with thread support"
                    .into(),
            ));
        }
        let (rank, ranks) = calls::rank_and_count();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            eprintln!("rank {rank} of {ranks} failed and ends the job:");
            before(panic);
            calls::abort(101);
        }));
        let announced = (0..ranks).map(|_| RefCell::default()).collect();
        Ok(Rc::new(Self {
            rank,
            ranks,
            announced,
            leaving: RefCell::default(),
            sent: Cell::new(0),
            _universe: universe,
        }))
    }

    /// Ends all ranks with this exit code.
    pub fn abort(&self, code: i32) -> ! {
        calls::abort(code)
    }

    /// Number of bytes sent to neighbours so far.
    pub fn sent(&self) -> u64 {
        self.sent.get()
    }
}

impl World for MpiWorld {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&self, to: usize, message: Vec<u8>) {
        self.sent.set(self.sent.get() + message.len() as u64);
        let mut leaving = self.leaving.borrow_mut();
        forget_sent(&mut leaving);
        leaving.push_back(UnderWay::send(message, to));
    }

    fn expect(&self, from: usize, bytes: usize) {
        self.announced[from].borrow_mut().push_back(UnderWay::receive(bytes, from));
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let announced = self.announced[from].borrow_mut().pop_front();
        announced.map_or_else(|| calls::receive(from), UnderWay::wait)
    }

    fn reduce(&self, sums: &mut [i64], maxima: &mut [f64]) {
        calls::reduce(sums, maxima);
    }

    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        calls::gather(&own, self.ranks)
    }
}

impl Drop for MpiWorld {
    fn drop(&mut self) {
        self.leaving.borrow_mut().drain(..).for_each(|message| drop(message.wait()));
    }
}
