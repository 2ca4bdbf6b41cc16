//! x
use lobcod::*;
use lobcod_conformance::{problems, suite, Oracle};
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
    let said = |e: Box<dyn std::any::Any + Send>| e.downcast_ref::<String>().cloned().unwrap_or_default();
    for p in &all {
        let r = catch_unwind(std::panic::AssertUnwindSafe(|| suite::agrees_with_oracle::<f32>(&engine, p)));
        if let Err(e) = r { println!("AGREE {}", said(e)); }
        let r = catch_unwind(std::panic::AssertUnwindSafe(|| suite::early_answers_are_honest::<f32>(&engine, p)));
        if let Err(e) = r { println!("EARLY {}", said(e)); }
    }
    println!("agree {:?}", t.elapsed());
    for p in problems::some(3) {
        for spread in [true, false] {
            let begun = std::time::Instant::now();
            let mut o = p.observed::<f32>();
            if spread { o.start = Start::Spread } else {
                let oracle = Oracle::new(&p.params, &o, &p.dictionary.cast());
                let strange: Vec<f64> = (0..oracle.size()).map(|i| if i * 7919 % 10 == 0 { (i % 30) as f64 * 0.1 } else { 0.0 }).collect();
                o.start = Start::Needles(Needles::new(o.signal.extent(), o.signal.channels(), p.params.border, oracle.entries(&strange)));
            }
            let params = PursuitParams { max_sweeps: 400, time_limit: Some(std::time::Duration::from_secs(3)), ..suite::tight::<f32>(&p) };
            let a = suite::run::<f32>(&engine, params, &[o], &p.dictionary.cast(), &p);
            let s = begun.elapsed().as_secs_f64();
            if a.report.status != Status::Converged && a.report.status != Status::Stalled || s > 1.0 {
                println!("START {spread} {s:.2} {:?} gap {:e} sweeps {} {} {p}", a.report.status, a.report.total.relative_gap(), a.report.discovery_sweeps, a.report.support_sweeps);
                for h in a.report.history.iter().rev().take(6).rev() { print!(" {:.8} {:?} {};", h.objective, h.relative_gap, h.nonzeros); }
                println!();
            }
        }
    }
    println!("start {:?}", t.elapsed());
    for p in all.iter().filter(|p| p.observation != problems::Observation::Full) {
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| suite::hidden_samples_are_not_read::<f32>(&engine, p))) { println!("HIDDEN {}", said(e)); }
    }
    println!("hidden {:?}", t.elapsed());
    for p in problems::some(2).iter().filter(|p| p.shape.signal.iter().product::<usize>() <= 230) {
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| lobcod_conformance::gradient::gradient_is_that_of_the_data_term::<f32>(&engine, p))) { println!("GRAD {}", said(e)); }
    }
    for border in Border::ALL { 
        if let Err(e) = catch_unwind(std::panic::AssertUnwindSafe(|| suite::several_signals_are_each_alone::<f32>(&engine, border))) { println!("SEVERAL {}", said(e)); }
    }
    println!("done {:?}", t.elapsed());
}
