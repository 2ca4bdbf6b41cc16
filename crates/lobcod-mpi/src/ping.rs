//! Latency and bandwidth of messages.

use crate::world::MpiWorld;
use lobcod::engine::ranks::World;
use lobcod::run::Clock;

/// Cost of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ping {
    /// Latency of a short message in seconds, one way.
    pub seconds: f64,
    /// Bandwidth of a long message in bytes per second.
    pub bytes_a_second: f64,
}

/// Sends messages back and forth between the first two ranks; `None` with fewer than two.
/// Collective over all ranks.
pub fn ping(world: &MpiWorld) -> Option<Ping> {
    let times = [(8, 200), (1 << 22, 10)].map(|(bytes, rounds)| {
        world.reduce(&mut [0], &mut []);
        let clock = Clock::start();
        for _ in 0..rounds {
            match world.rank() {
                0 if world.ranks() > 1 => {
                    world.send(1, vec![0; bytes]);
                    world.receive(1);
                }
                1 => {
                    let message = world.receive(0);
                    world.send(0, message);
                }
                _ => {}
            }
        }
        clock.elapsed().as_secs_f64() / (2 * rounds) as f64
    });
    (world.ranks() > 1)
        .then(|| Ping { seconds: times[0], bytes_a_second: (1 << 22) as f64 / times[1] })
}
