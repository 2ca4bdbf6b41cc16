use lobcod_conformance::*;
use lobcod::*;
use lobcod::engine::*;
use std::panic::*;
fn attempt(what: &str, f: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(f)) { Ok(()) => true, Err(e) => { println!("FAIL {what}: {}", e.downcast_ref::<String>().cloned().unwrap_or_default()); false } }
}
fn all<T: Real>(e: &dyn Engine<T>) {
    set_hook(Box::new(|_| {}));
    for p in problems::all() {
        let t = std::time::Instant::now();
        attempt("oracle", || suite::agrees_with_oracle(e, &p));
        attempt("high", || suite::high_penalty_gives_nothing(e, &p));
        attempt("start", || suite::every_start_arrives(e, &p));
        if p.observed.mask.is_some() { attempt("hidden", || suite::hidden_samples_are_not_read(e, &p)); }
        let t = t.elapsed().as_secs_f64();
        if t > 1.0 { println!("slow {t} {p}"); }
    }
    for b in Border::ALL { attempt("several", || suite::several_signals_are_each_alone(e, b)); }
}
#[test] fn f32() { all::<f32>(&CpuEngine::new(1).unwrap()) }
#[test] fn f64() { all::<f64>(&CpuEngine::new(1).unwrap()) }
