//! Interface to the communication between ranks.

/// Processes (or threads, in tests) that run the same program on parts of a problem. Every rank
/// makes the same collective calls in the same order.
pub trait World {
    /// Short name of the transport: `mpi`.
    fn name(&self) -> &'static str;
    /// Index of this rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn ranks(&self) -> usize;
    /// Sends a message to a rank without blocking; order is preserved.
    fn send(&self, to: usize, message: Vec<u8>);
    /// Announces the size of the next message from a rank, so that memory can be prepared.
    /// Announced messages come before others.
    fn expect(&self, from: usize, bytes: usize) {
        let _ = (from, bytes);
    }
    /// Waits for the next message from a rank.
    fn receive(&self, from: usize) -> Vec<u8>;
    /// Elementwise sums and maxima over all ranks; no number is NaN.
    fn reduce(&self, sums: &mut [i64], maxima: &mut [f64]);
    /// Gathers the data of every rank on every rank, in rank order.
    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>>;
}
