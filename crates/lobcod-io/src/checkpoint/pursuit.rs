//! Pursuit checkpoints.

use super::codes::{from_arrays, lengths, split};
use super::{Kind, open, rows, whole, write};
use crate::array::Array;
use crate::error::Result;
use lobcod::checkpoint::{Checkpoint, ScheduleState};
use lobcod::engine::State;
use lobcod::engine::ranks::World;
use lobcod::pursuit::HistoryPoint;
use std::path::Path;

/// Writes a pursuit checkpoint atomically as a `.npz` file; every array has a checksum. Ranks write
/// their own codes to one file, all at once.
pub fn write_checkpoint(
    path: &Path,
    checkpoint: &Checkpoint,
    ranks: Option<&dyn World>,
) -> Result<()> {
    let Checkpoint { schedule: s, state, history, .. } = checkpoint;
    let mut schedule = vec![
        checkpoint.seconds,
        checkpoint.discovery_sweeps as f64,
        checkpoint.support_sweeps as f64,
        s.stage_penalty,
        s.tolerance,
        s.candidate_slack.unwrap_or(-1.0),
        s.best_gap,
        s.best_objective,
        s.idle_passes as f64,
    ];
    let layers = &checkpoint.layers;
    if !layers.is_empty() {
        schedule.push(layers.len() as f64);
    }
    let points = history
        .iter()
        .flat_map(|h| [h.seconds, h.objective, h.nonzeros as f64, h.relative_gap.unwrap_or(-1.0)]);
    let mut arrays = vec![
        ("schedule", Array::new(&[schedule.len()], schedule)),
        ("history", Array::new(&[history.len(), 4], points)),
    ];
    arrays.push(("tile_counts", lengths(&state.pending)));
    let pending = || state.pending.iter().flatten().copied();
    arrays.push(("pending", Array::new(&[pending().count()], pending())));
    if !layers.is_empty() {
        arrays.push(("layers", Array::new(&[layers.len()], layers.iter().copied())));
    }
    write(path, Kind::Pursuit, checkpoint.fingerprint, arrays, &state.codes, ranks)
}

/// Reads a pursuit checkpoint; damaged files and other kinds or versions are refused.
pub fn read_checkpoint(path: &Path) -> Result<Checkpoint> {
    let (fields, fingerprint) = open(path, Kind::Pursuit)?;
    let s = fields.numbers("schedule", None)?;
    if !(9..=10).contains(&s.len()) {
        return Err(fields.unsound("schedule"));
    }
    let count = |x: f64| whole(&fields, "schedule", x);
    let point = |[seconds, objective, nonzeros, gap]: [f64; 4]| {
        let (nonzeros, relative_gap) =
            (whole(&fields, "history", nonzeros)?, (gap >= 0.0).then_some(gap));
        Ok(HistoryPoint { seconds, objective, nonzeros, relative_gap })
    };
    let layers = match s.get(9) {
        Some(&layers) => fields.numbers("layers", Some(count(layers)?))?,
        None => Vec::new(),
    };
    Ok(Checkpoint {
        layers,
        fingerprint,
        seconds: s[0],
        discovery_sweeps: count(s[1])?,
        support_sweeps: count(s[2])?,
        schedule: ScheduleState {
            stage_penalty: s[3],
            tolerance: s[4],
            candidate_slack: (s[5] >= 0.0).then_some(s[5]),
            best_gap: s[6],
            best_objective: s[7],
            idle_passes: count(s[8])?,
        },
        state: State {
            codes: from_arrays(&fields)?,
            pending: split(&fields, "tile_counts", "pending", fields.numbers("pending", None)?)?,
        },
        history: rows(&fields, "history")?.into_iter().map(point).collect::<Result<_>>()?,
    })
}
