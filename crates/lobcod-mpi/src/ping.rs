//! How fast messages travel.

use crate::world::MpiWorld;
use lobcod::engine::ranks::World;
use std::time::Instant;

/// What a message costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ping {
    /// Seconds of a short message, one way.
    pub seconds: f64,
    /// Bytes a second of a long one.
    pub bytes_a_second: f64,
}

/// Sends messages to and fro between the first two ranks; `None` where there are not two. All ranks take part.
pub fn ping(world: &MpiWorld) -> Option<Ping> {
    let times = [(8, 200), (1 << 22, 10)].map(|(bytes, rounds)| {
        world.reduce(&mut [0], &mut []);
        let clock = Instant::now();
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
    (world.ranks() > 1).then(|| Ping { seconds: times[0], bytes_a_second: (1 << 22) as f64 / times[1] })
}
