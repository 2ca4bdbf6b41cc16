//! `lobcod encode`: pictures to sparse needles, with a certificate.

use crate::Outcome;
use crate::args::EncodeArgs;
use crate::dictionary::{Chosen, usual_size};
use crate::dry_run;
use crate::input::{Prepared, Source, prepare, read_pictures};
use crate::interrupt;
use crate::machine;
use crate::output::paths::CodesFiles;
use crate::output::table::{Table, number, plural};
use crate::output::{json, summary, tell};
use crate::progress::Watcher;
use crate::score::{References, Score};
use crate::synthesis::reconstruct;
use crate::values::{Cap, EngineChoice, Precision};
use anyhow::{Result, anyhow, bail};
use lobcod::{Answer, Penalty, Pursuit, PursuitParams, Real, Status};
use lobcod_image::{CodesFile, read_vector, write_codes};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Share of penalty_max that serves when no penalty is given.
const USUAL_PENALTY: f64 = 0.05;

/// Codes the pictures in the precision asked for.
pub fn run(args: &EncodeArgs) -> Result<Outcome> {
    match args.solver.precision {
        Precision::F32 => run_in::<f32>(args),
        Precision::F64 => run_in::<f64>(args),
    }
}

fn run_in<T: Real>(args: &EncodeArgs) -> Result<Outcome> {
    interrupt::listen();
    let pursuit = pursuit(args)?;
    let files = args.output.as_deref().map(|output| CodesFiles::check(&args.images, output)).transpose()?;
    let pictures = read_pictures::<T>(args)?;
    let shapes: Vec<_> = pictures.iter().map(|p| (p.signal.extent(), p.signal.channels())).collect();
    let references = References::read(args, &shapes)?;
    let size = args.dictionary.size.map_or_else(|| usual_size(shapes[0].0.rank()), |size| Ok(size.0))?;
    let chosen = Chosen::load(&args.dictionary.dictionary, size)?;
    chosen.check_fits(shapes[0].0)?;
    if !args.telling.quiet {
        chosen.warn_if_normalised();
    }
    let Prepared { sources, observed } = prepare(args, pictures, chosen.dictionary.extent())?;
    if args.dry_run {
        let needed = pursuit.estimate_memory(&observed, &chosen.dictionary)?;
        return dry_run::tell_plan(args, &pursuit, &chosen, &shapes, needed).map(|()| Outcome::Done);
    }

    let answer = pursuit.run(&observed, &chosen.dictionary, &mut Watcher::new(&args.telling))?;
    drop(observed);
    let mut scores = Vec::new();
    for (i, (needles, source)) in answer.needles.iter().zip(&sources).enumerate() {
        scores.extend(references.score(i, || reconstruct(needles, &chosen.dictionary, source.base.as_ref()))?);
    }
    let work = Work { args, sources, chosen, answer, scores, files };
    work.save()?;
    if args.telling.json {
        tell(&format!("{:#}", Value::Object(work.json())))?;
    } else if !args.telling.quiet {
        tell(&work.summary())?;
    }
    Ok(if work.answer.report.status == Status::Interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// The pursuit that the options ask for.
fn pursuit(args: &EncodeArgs) -> Result<Pursuit> {
    let (problem, solver) = (&args.problem, &args.solver);
    match solver.engine {
        EngineChoice::Cpu => {}
        EngineChoice::Cuda => bail!("this build has no CUDA engine; use --engine cpu"),
        EngineChoice::Mpi => bail!("this build has no MPI engine; use --engine cpu"),
    }
    let penalty = match (problem.penalty, problem.relative_penalty) {
        (Some(penalty), _) => Penalty::Absolute(penalty),
        (None, share) => Penalty::Relative(share.unwrap_or(USUAL_PENALTY)),
    };
    let seconds = |s: f64| {
        let wrong = |_| anyhow!("the time limit is {s}, but must be a number of seconds of at least 0");
        Duration::try_from_secs_f64(s).map_err(wrong)
    };
    let params = PursuitParams {
        border: problem.border,
        tolerance: solver.tolerance,
        max_sweeps: solver.max_sweeps,
        time_limit: solver.time_limit.map(seconds).transpose()?,
        schedule: solver.schedule.into(),
        local: solver.local.into(),
        nonnegative: problem.nonnegative,
        atom_weights: problem.atom_weights.as_deref().map(read_vector).transpose()?,
        max_nonzeros: match problem.max_nonzeros {
            Some(Cap::Count(count)) => Some(count),
            _ => None,
        },
        tile: solver.tile,
        threads: solver.threads,
        seed: solver.seed,
        max_memory: solver.max_memory.map(|bytes| bytes.0),
        ..PursuitParams::new(penalty)
    };
    Ok(params.check()?)
}

/// Everything there is to save and tell.
struct Work<'a, T> {
    args: &'a EncodeArgs,
    sources: Vec<Source<T>>,
    chosen: Chosen<T>,
    answer: Answer<T>,
    scores: Vec<Score>,
    files: Option<CodesFiles>,
}

impl<T: Real> Work<'_, T> {
    /// The file that holds the codes, or the folder of those of several pictures.
    fn output(&self) -> Option<&Path> {
        let files = self.files.as_ref()?;
        if let [file] = &files.files[..] { Some(file) } else { self.args.output.as_deref() }
    }

    fn save(&self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.make_folder()?;
        for (i, file) in files.files.iter().enumerate() {
            let source = &self.sources[i];
            let codes = CodesFile {
                needles: self.answer.needles[i].clone(),
                axes: source.axes,
                penalty: self.answer.report.penalty,
                scale: self.args.picture.scale,
                depth: source.depth,
                sample_rate: source.sample_rate,
                dictionary: self.chosen.dictionary.clone(),
                base: source.base.clone(),
            };
            write_codes(file, &codes)?;
        }
        Ok(())
    }

    fn json(&self) -> serde_json::Map<String, Value> {
        let report = &self.answer.report;
        let mut fields = json::report(report, machine::peak_memory());
        fields.extend(json::object(json!({
            "dictionary": self.chosen.name,
            "normalised_atoms": self.chosen.normalised(),
            "base": self.args.problem.base.to_string(),
            "border": self.args.problem.border.to_string(),
            "scale": self.args.picture.scale,
            "output": self.output().map(|path| path.display().to_string()),
        })));
        if let Some(score) = Score::together(&self.scores) {
            score.tell(&mut fields);
        }
        let image = |i: usize| {
            let mut image = json::certificate(&report.signals[i]);
            let output = self.files.as_ref().map(|files| files.files[i].display().to_string());
            image.extend(json::object(json!({ "file": self.sources[i].path.display().to_string(), "output": output })));
            if let Some(score) = self.scores.get(i) {
                score.tell(&mut image);
            }
            Value::Object(image)
        };
        fields.insert("images".into(), (0..self.sources.len()).map(image).collect());
        fields
    }

    fn summary(&self) -> String {
        let report = &self.answer.report;
        let mut table = Table::default();
        for (i, (source, needles)) in self.sources.iter().zip(&self.answer.needles).enumerate() {
            let name = if i == 0 { plural(self.sources.len(), "picture") } else { String::new() };
            let mut words = format!("{}, {}", source.path.display(), summary::shape(needles.extent(), needles.channels()));
            if self.sources.len() > 1 {
                words += &format!(": objective {}", number(report.signals[i].objective));
                words += &self.scores.get(i).map_or(String::new(), |score| format!(", {}", score.words()));
            }
            table.row(name, words);
        }
        table.row("dictionary", self.chosen.words());
        table.row("base, border", format!("{}, {}", self.args.problem.base, self.args.problem.border));
        summary::pursuit(&mut table, report);
        if let Some(score) = Score::together(&self.scores) {
            table.row("PSNR", score.words());
        }
        match self.output() {
            Some(path) => table.row("codes", path.display()),
            None => table.row("codes", "not kept; name a file with -o"),
        };
        table.render()
    }
}
