//! Ranks that are threads of one process, for tests of the rank engine without MPI.

use lobcod::engine::ranks::{World, wire};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// One of several ranks.
pub struct LocalWorld {
    rank: usize,
    /// Messages to and from every rank; then the same for collective operations.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
    to_all: Vec<Sender<Vec<u8>>>,
    from_all: Vec<Receiver<Vec<u8>>>,
    sent: Cell<usize>,
    /// Called before every message is sent.
    pub before_sending: RefCell<Box<dyn Fn()>>,
}

impl LocalWorld {
    /// Bytes sent to neighbours so far.
    pub fn sent(&self) -> usize {
        self.sent.get()
    }
}

type Ends = (Vec<Vec<Sender<Vec<u8>>>>, Vec<Vec<Receiver<Vec<u8>>>>);

/// Channels from every rank to every rank: senders by the rank that sends, receivers by the rank
/// that receives.
fn channels(ranks: usize) -> Ends {
    let mut senders: Vec<Vec<Sender<Vec<u8>>>> = (0..ranks).map(|_| Vec::new()).collect();
    let mut receivers = Vec::new();
    for _ in 0..ranks {
        let mut from = Vec::new();
        for sender in &mut senders {
            let (send, receive) = channel();
            sender.push(send);
            from.push(receive);
        }
        receivers.push(from);
    }
    (senders, receivers)
}

/// Runs the same work on every rank, each a thread; returns all results.
pub fn on_ranks<R: Send>(ranks: usize, work: impl Fn(Rc<LocalWorld>) -> R + Sync) -> Vec<R> {
    let ((to, from), (to_all, from_all)) = (channels(ranks), channels(ranks));
    let ends = to.into_iter().zip(from).zip(to_all.into_iter().zip(from_all)).enumerate();
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = ends
            .map(|(rank, ((to, from), (to_all, from_all)))| {
                scope.spawn(move || {
                    let (sent, before_sending) =
                        (Cell::new(0), RefCell::new(Box::new(|| ()) as Box<dyn Fn()>));
                    work(Rc::new(LocalWorld {
                        rank,
                        to,
                        from,
                        to_all,
                        from_all,
                        sent,
                        before_sending,
                    }))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no rank panicked")).collect()
    })
}

impl World for LocalWorld {
    fn name(&self) -> &'static str {
        "ranks"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, message: Vec<u8>) {
        self.before_sending.borrow()();
        self.sent.set(self.sent.get() + message.len());
        self.to[to].send(message).expect("the rank is running");
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        self.from[from].recv().expect("the rank is running")
    }

    fn reduce(&self, sums: &mut [i64], maxima: &mut [f64]) {
        let mut own = Vec::new();
        wire::put(&mut own, sums);
        wire::put(&mut own, maxima);
        let (mut their_sums, mut their_maxima) = (sums.to_vec(), maxima.to_vec());
        sums.fill(0);
        for message in self.gather(own) {
            let mut rest = &message[..];
            wire::take(&mut rest, &mut their_sums);
            wire::take(&mut rest, &mut their_maxima);
            assert!(rest.is_empty(), "all ranks reduce the same numbers");
            sums.iter_mut().zip(&their_sums).for_each(|(sum, x)| *sum += x);
            maxima.iter_mut().zip(&their_maxima).for_each(|(most, &x)| *most = most.max(x));
        }
    }

    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        self.to_all.iter().for_each(|rank| rank.send(own.clone()).expect("the rank is running"));
        self.from_all.iter().map(|rank| rank.recv().expect("the rank is running")).collect()
    }
}
