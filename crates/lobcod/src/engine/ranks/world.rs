//! The ranks as an engine sees them.

/// Processes (or, in tests, threads) that run the same program on different parts of a problem. Every rank asks for the same sums,
/// maxima and gatherings in the same order.
pub trait World {
    /// Short name of what connects the ranks: `mpi`.
    fn name(&self) -> &'static str;
    /// Number of this rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn ranks(&self) -> usize;
    /// Sends a message to a rank and returns at once. Messages from one rank to another arrive in their order.
    fn send(&self, to: usize, message: Vec<u8>);
    /// The next message of this rank to this one will have so many bytes: room for it may be made while other work is done. Messages
    /// that were announced come before those that were not.
    fn expect(&self, from: usize, bytes: usize) {
        let _ = (from, bytes);
    }
    /// The next message of a rank; waits for it.
    fn receive(&self, from: usize) -> Vec<u8>;
    /// Adds up, and finds the largest, over all ranks, place by place; no number is NaN.
    fn reduce(&self, sums: &mut [i64], maxima: &mut [f64]);
    /// What every rank gives, on every rank, in the order of the ranks.
    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>>;
    /// What every rank gives, on the first rank; nothing on the others.
    fn gather_at_first(&self, own: Vec<u8>) -> Vec<Vec<u8>>;
}
