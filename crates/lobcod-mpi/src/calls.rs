//! Wrappers of the MPI calls in use, on bytes and numbers. Every error ends the job, which is the
//! default of MPI.

use mpi::ffi;
use std::collections::VecDeque;

/// Open MPI sends messages longer than 4 KiB only while both sides are inside MPI, so a border
/// would wait until its sender has processed all tiles of a colour. Up to this many bytes are sent
/// immediately, unless the environment overrides it.
const AT_ONCE: &str = "131072";

/// Configures Open MPI 4 (`vader`) and 5 (`sm`) before it starts.
pub(crate) fn send_borders_at_once() {
    for name in ["OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"] {
        if std::env::var_os(name).is_none() {
            // SAFETY: the contract of `MpiWorld::join` excludes concurrent access to the
            // environment.
            unsafe { std::env::set_var(name, AT_ONCE) };
        }
    }
}

/// Maximum bytes per call, which counts them in 32 bits.
const MOST: usize = 1 << 30;

/// A pending message, and its buffer.
pub(crate) struct UnderWay {
    request: ffi::MPI_Request,
    bytes: Vec<u8>,
}

impl UnderWay {
    /// Starts to send.
    pub(crate) fn send(bytes: Vec<u8>, to: usize) -> Self {
        let mut under_way = Self { request: null_request(), bytes };
        let count = count(under_way.bytes.len());
        // SAFETY: the heap memory of the bytes is neither moved nor changed until the request is
        // done: both are stored together.
        unsafe {
            let from = under_way.bytes.as_ptr().cast();
            ffi::MPI_Isend(
                from,
                count,
                ffi::RSMPI_UINT8_T,
                to as i32,
                0,
                ffi::RSMPI_COMM_WORLD,
                &mut under_way.request,
            );
        }
        under_way
    }

    /// Posts a receive.
    pub(crate) fn receive(bytes: usize, from: usize) -> Self {
        let mut under_way = Self { request: null_request(), bytes: vec![0; bytes] };
        let count = count(bytes);
        // SAFETY: the heap memory of the bytes is not moved until the request is done, and nobody
        // reads it before.
        unsafe {
            let into = under_way.bytes.as_mut_ptr().cast();
            ffi::MPI_Irecv(
                into,
                count,
                ffi::RSMPI_UINT8_T,
                from as i32,
                0,
                ffi::RSMPI_COMM_WORLD,
                &mut under_way.request,
            );
        }
        under_way
    }

    /// Whether the message has been sent or received.
    fn is_done(&mut self) -> bool {
        let mut done = 0;
        // SAFETY: the request belongs to this message.
        unsafe { ffi::MPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        done != 0
    }

    /// Waits for the message and returns its bytes.
    pub(crate) fn wait(mut self) -> Vec<u8> {
        rest_until(|| self.is_done());
        std::mem::take(&mut self.bytes)
    }
}

/// Polls with pauses: a waiting rank may share a core with a working one, and polling without a
/// pause would slow that one down.
fn rest_until(mut done: impl FnMut() -> bool) {
    const PAUSES: usize = 16;
    const PATIENCE: usize = 1000;
    let mut looks = 0;
    while !done() {
        looks += 1;
        if looks > PATIENCE {
            std::thread::yield_now();
        }
        (0..PAUSES).for_each(|_| std::hint::spin_loop());
    }
}

/// Drops messages that have been sent; those after a pending one are checked later.
pub(crate) fn forget_sent(messages: &mut VecDeque<UnderWay>) {
    while messages.front_mut().is_some_and(UnderWay::is_done) {
        messages.pop_front();
    }
}

/// Receives a message that was not announced.
pub(crate) fn receive(from: usize) -> Vec<u8> {
    let mut bytes = 0;
    // SAFETY: a status is plain memory that the call fills.
    unsafe {
        let mut status = std::mem::zeroed();
        ffi::MPI_Probe(from as i32, 0, ffi::RSMPI_COMM_WORLD, &mut status);
        ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut bytes);
    }
    UnderWay::receive(bytes as usize, from).wait()
}

/// Sums and maxima over all ranks.
pub(crate) fn reduce(sums: &mut [i64], maxima: &mut [f64]) {
    let (own_sums, own_maxima) = (sums.to_vec(), maxima.to_vec());
    let mut requests = [null_request(); 2];
    // SAFETY: all four buffers live, untouched, until both requests are done; all ranks skip empty
    // ones consistently.
    unsafe {
        if !sums.is_empty() {
            let (from, into) = (own_sums.as_ptr().cast(), sums.as_mut_ptr().cast());
            let (kind, operation) = (ffi::RSMPI_INT64_T, ffi::RSMPI_SUM);
            ffi::MPI_Iallreduce(
                from,
                into,
                count(sums.len()),
                kind,
                operation,
                ffi::RSMPI_COMM_WORLD,
                &mut requests[0],
            );
        }
        if !maxima.is_empty() {
            let (from, into) = (own_maxima.as_ptr().cast(), maxima.as_mut_ptr().cast());
            let (kind, operation) = (ffi::RSMPI_DOUBLE, ffi::RSMPI_MAX);
            ffi::MPI_Iallreduce(
                from,
                into,
                count(maxima.len()),
                kind,
                operation,
                ffi::RSMPI_COMM_WORLD,
                &mut requests[1],
            );
        }
    }
    rest_until(|| {
        let mut done = 0;
        // SAFETY: the requests are those from above.
        unsafe {
            ffi::MPI_Testall(2, requests.as_mut_ptr(), &mut done, ffi::RSMPI_STATUSES_IGNORE)
        };
        done != 0
    });
}

/// Gathers the data of every rank on every rank.
pub(crate) fn gather(own: &[u8], ranks: usize) -> Vec<Vec<u8>> {
    let mut lengths = vec![0i64; ranks];
    let length = own.len() as i64;
    // SAFETY: the buffer has one number per rank.
    unsafe {
        let (from, into) = ((&raw const length).cast(), lengths.as_mut_ptr().cast());
        let kind = ffi::RSMPI_INT64_T;
        ffi::MPI_Allgather(from, 1, kind, into, 1, kind, ffi::RSMPI_COMM_WORLD);
    }
    let counts: Vec<i32> = lengths.iter().map(|&length| count(length as usize)).collect();
    let starts: Vec<i32> = counts
        .iter()
        .scan(0usize, |end, &n| Some(count(std::mem::replace(end, *end + n as usize))))
        .collect();
    let mut all = vec![0u8; counts.iter().map(|&n| n as usize).sum()];
    // SAFETY: the buffer has space for the bytes of all ranks, at the given offsets.
    unsafe {
        let (from, into) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
        let (kind, own) = (ffi::RSMPI_UINT8_T, count(own.len()));
        ffi::MPI_Allgatherv(
            from,
            own,
            kind,
            into,
            counts.as_ptr(),
            starts.as_ptr(),
            kind,
            ffi::RSMPI_COMM_WORLD,
        );
    }
    starts
        .iter()
        .zip(&counts)
        .map(|(&start, &n)| all[start as usize..][..n as usize].to_vec())
        .collect()
}

/// Index of this rank, and number of ranks.
pub(crate) fn rank_and_count() -> (usize, usize) {
    let (mut rank, mut ranks) = (0, 0);
    // SAFETY: both calls fill a number.
    unsafe {
        ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &mut rank);
        ffi::MPI_Comm_size(ffi::RSMPI_COMM_WORLD, &mut ranks);
    }
    (rank as usize, ranks as usize)
}

/// Ends all ranks.
pub(crate) fn abort(code: i32) -> ! {
    // SAFETY: MPI was initialised.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
    std::process::exit(code)
}

fn null_request() -> ffi::MPI_Request {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

fn count(length: usize) -> i32 {
    assert!(length <= MOST, "a message of {length} bytes is too large for MPI; use more ranks");
    length as i32
}
