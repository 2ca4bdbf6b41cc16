//! x
use lobcod::engine::{CpuEngine, Engine};
use lobcod::*;
use lobcod_conformance::{problems, suite};
use std::panic::catch_unwind;
fn main() {
    let engine = lobcod_cuda::CudaEngine::new().unwrap();
    let all = problems::all();
    let t = std::time::Instant::now();
    std::thread::scope(|scope| {
        for part in all.chunks(all.len().div_ceil(14)) {
            let engine = &engine;
            scope.spawn(move || part.iter().for_each(|problem| suite::high_penalty_gives_nothing::<f32>(engine, problem)));
        }
    });
    println!("warm {:?}", t.elapsed());
    std::panic::set_hook(Box::new(|_| {}));
    let mut failed = vec![];
    let said = |e: Box<dyn std::any::Any + Send>| e.downcast_ref::<String>().cloned().unwrap_or_default();
    for p in &all {
        let r = catch_unwind(std::panic::AssertUnwindSafe(|| suite::agrees_with_oracle::<f32>(&engine, p)));
        if let Err(e) = r { failed.push(p.seed); println!("AGREE {}", said(e)); }
        let r = catch_unwind(std::panic::AssertUnwindSafe(|| suite::early_answers_are_honest::<f32>(&engine, p)));
        if let Err(e) = r { println!("EARLY {}", said(e)); }
    }
    println!("{:?} {failed:?}", t.elapsed());
    for p in all.iter().filter(|p| failed.contains(&p.seed)).take(4) {
        for (name, e) in [("cuda", &engine as &dyn Engine<f32>), ("cpu", &CpuEngine::new(1).unwrap())] {
            let a = suite::run::<f32>(e, suite::tight::<f32>(p), &[p.observed()], &p.dictionary.cast(), p);
            println!("{name} {p}\n {:?} gap {:e} sweeps {} {}", a.report.status, a.report.total.relative_gap(), a.report.discovery_sweeps, a.report.support_sweeps);
            for h in a.report.history.iter().rev().take(8).rev() { print!(" {:.8} {:?} {};", h.objective, h.relative_gap, h.nonzeros); }
            println!();
            let mut c: Vec<_> = a.needles[0].codes().to_vec(); c.truncate(40);
            for c in c { print!(" {:?}:{}:{:.5}", &c.position[1..], c.atom, c.value); }
            println!();
        }
    }
    for p in problems::some(3) {
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| suite::every_start_arrives::<f32>(&engine, &p))) { println!("START {}", said(e)); }
    }
    for p in all.iter().filter(|p| p.observation != problems::Observation::Full) {
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| suite::hidden_samples_are_not_read::<f32>(&engine, p))) { println!("HIDDEN {}", said(e)); }
    }
    for p in problems::some(2).iter().filter(|p| p.shape.signal.iter().product::<usize>() <= 230) {
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| lobcod_conformance::gradient::gradient_is_that_of_the_data_term::<f32>(&engine, p))) { println!("GRAD {}", said(e)); }
    }
    for border in Border::ALL { 
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| suite::several_signals_are_each_alone::<f32>(&engine, border))) { println!("SEVERAL {}", said(e)); }
    }
    println!("done {:?}", t.elapsed());
}
