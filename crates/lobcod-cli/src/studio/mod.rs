//! `lobcod studio`: the page, and the engines of this machine behind it.
//!
//! The server listens on the loopback only and keeps no files. Files of the page are public; jobs
//! need the token that the printed address carries.

mod guard;
mod jobs;
mod routes;

use crate::Outcome;
use crate::args::StudioArgs;
use crate::browser;
use crate::command::Command;
use crate::engine;
use crate::interrupt;
use crate::output::{note, print};
use anyhow::{Result, anyhow};
use guard::Guard;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lobcod_web::{Machine, page};
use routes::Studio;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

/// How often the server looks whether Ctrl-C was pressed.
const LOOKS: Duration = Duration::from_millis(100);
/// Connections at once; more wait. A page uses six at most.
const MAX_CONNECTIONS: usize = 64;
/// How long the server waits for the headers of a request, and for each part of its body.
const PATIENCE: Duration = Duration::from_secs(10);
/// Fraction of the free memory that a job may use.
const FRACTION_OF_MEMORY: f64 = 0.8;

impl Command for StudioArgs {
    fn run(&self) -> Result<Outcome> {
        run(self).map(|()| Outcome::Done)
    }
}

fn run(args: &StudioArgs) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|error| {
        let port = args.port;
        anyhow!("port {port} cannot be used ({error}); choose another one with --port, or 0")
    })?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let guard = Guard::new(port)?;
    let address = guard.address();
    let threads = args.threads.count;
    let memory = lobcod_io::free_memory().map(|free| (FRACTION_OF_MEMORY * free as f64) as u64);
    let open = move |given, samples| {
        engine::open_automatically(if given == 0 { threads } else { given }, samples)
    };
    let engine = open(0, usize::MAX)?;
    let studio = Arc::new(Studio {
        guard,
        engine: engine.name(),
        threads: engine.threads(),
        machine: Machine::new(open, memory),
    });
    interrupt::listen();
    print(&address)?;
    note("lobcod studio is at this address; press Ctrl-C to end it");
    if page::file(page::MODULE).is_none() {
        note(
            "this build has no WebAssembly module, so the page uses only the engine of this \
             machine; cargo xtask studio builds the module",
        );
    }
    if args.open {
        browser::open(&address);
    }
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?
        .block_on(serve(listener, studio))
}

/// Serves until Ctrl-C is pressed.
async fn serve(listener: TcpListener, studio: Arc<Studio>) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while !interrupt::requested() {
        let next = async { (Arc::clone(&places).acquire_owned().await, listener.accept().await) };
        let Ok((place, accepted)) = tokio::time::timeout(LOOKS, next).await else { continue };
        // A connection that was closed again is not an error of the server; other errors may last.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(LOOKS).await;
            continue;
        };
        let studio = Arc::clone(&studio);
        tokio::spawn(async move {
            let _place = place;
            let service = service_fn(move |request| {
                let studio = Arc::clone(&studio);
                async move { Ok::<_, std::convert::Infallible>(routes::answer(&studio, request).await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // Browsers close connections as they like.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
    Ok(())
}
