//! Checkpoints on disk: a pursuit between two passes.

use crate::array::Array;
use crate::atomic::write_atomically;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::npz::{self, Npz};
use crate::source::{Allowance, load};
use lobcod::engine::State;
use lobcod::{Checkpoint, Code, HistoryPoint, ScheduleState};
use std::path::Path;

/// Version of the layout; files of another one are refused.
const VERSION: f64 = 1.0;

/// Writes a checkpoint as a `.npz` file, whole or not at all; every array carries a checksum.
pub fn write_checkpoint(path: &Path, checkpoint: &Checkpoint) -> Result<()> {
    let Checkpoint { schedule: s, state, history, .. } = checkpoint;
    let schedule = [
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
    let codes = || state.codes.iter().flatten();
    let count = codes().count();
    let points = history.iter().flat_map(|h| [h.seconds, h.objective, h.nonzeros as f64, h.relative_gap.unwrap_or(-1.0)]);
    let lengths = |planes: &mut dyn Iterator<Item = usize>| -> Vec<i64> { planes.map(|n| n as i64).collect() };
    let code_counts = lengths(&mut state.codes.iter().map(Vec::len));
    let tile_counts = lengths(&mut state.pending.iter().map(Vec::len));
    write_atomically(
        path,
        &npz::encode(&[
            ("version", Array::scalar(VERSION)),
            ("fingerprint", Array::scalar(checkpoint.fingerprint as i64)),
            ("schedule", Array::new(&[schedule.len()], schedule)),
            ("history", Array::new(&[history.len(), 4], points)),
            ("code_counts", Array::new(&[code_counts.len()], code_counts.iter().copied())),
            ("position", Array::new(&[count, 3], codes().flat_map(|c| c.position))),
            ("atom", Array::new(&[count], codes().map(|c| c.atom as i32))),
            ("value", Array::new(&[count], codes().map(|c| c.value))),
            ("tile_counts", Array::new(&[tile_counts.len()], tile_counts.iter().copied())),
            ("pending", Array::new(&[state.pending.iter().map(Vec::len).sum()], state.pending.iter().flatten().copied())),
        ]),
    )
}

/// Reads a checkpoint; a damaged file, or one of another version, is refused.
pub fn read_checkpoint(path: &Path) -> Result<Checkpoint> {
    let allowance = Allowance::new::<f64>(None);
    let file = load(path, allowance)?;
    let foreign = || Error::format(path, "is not a checkpoint; give a file written by --checkpoint");
    if !file.starts_with(b"PK") {
        return Err(foreign());
    }
    let fields = Fields { path, npz: Npz::new(path, file, allowance.on_disk())? };
    if !["version", "fingerprint", "schedule"].iter().all(|field| fields.npz.names().any(|name| name == *field)) {
        return Err(foreign());
    }
    if fields.number("version")? != VERSION {
        return Err(Error::format(path, "was written by another version of lobcod; start the work again"));
    }
    let s = fields.numbers("schedule", Some(9))?;
    let whole = |x: f64| if (0.0..1e15).contains(&x) { Ok(x as usize) } else { Err(fields.unsound("schedule")) };
    let point = |h: &[f64]| HistoryPoint {
        seconds: h[0],
        objective: h[1],
        nonzeros: h[2] as usize,
        relative_gap: (h[3] >= 0.0).then_some(h[3]),
    };
    let fingerprint = fields.npz.get("fingerprint")?.to_integers().filter(|f| f.len() == 1);
    Ok(Checkpoint {
        fingerprint: fingerprint.ok_or_else(|| fields.unsound("fingerprint"))?[0] as u64,
        seconds: s[0],
        discovery_sweeps: whole(s[1])?,
        support_sweeps: whole(s[2])?,
        schedule: ScheduleState {
            stage_penalty: s[3],
            tolerance: s[4],
            candidate_slack: (s[5] >= 0.0).then_some(s[5]),
            best_gap: s[6],
            best_objective: s[7],
            idle_passes: whole(s[8])?,
        },
        state: State {
            codes: codes(&fields)?,
            pending: split(&fields, "tile_counts", "pending", fields.numbers("pending", None)?)?,
        },
        history: fields.numbers("history", None)?.chunks_exact(4).map(point).collect(),
    })
}

fn codes(fields: &Fields<'_>) -> Result<Vec<Vec<Code<f64>>>> {
    let values = fields.numbers("value", None)?;
    let positions = fields.npz.get("position")?;
    if positions.shape() != [values.len(), 3] {
        return Err(fields.unsound("position"));
    }
    let positions = positions.to_integers().ok_or_else(|| fields.unsound("position"))?;
    let atoms = fields.integers("atom", Some(values.len()))?;
    let code = |i: usize| {
        let mut position = [0; 3];
        for (axis, &p) in position.iter_mut().zip(&positions[3 * i..]) {
            *axis = i32::try_from(p).map_err(|_| fields.unsound("position"))?;
        }
        let atom = u32::try_from(atoms[i]).map_err(|_| fields.unsound("atom"))?;
        Ok(Code { position, atom, channel: 0, value: values[i] })
    };
    let list = (0..values.len()).map(code).collect::<Result<Vec<_>>>()?;
    split(fields, "code_counts", "value", list)
}

/// Cuts a list into the planes whose lengths the array `counts` gives.
fn split<I: Clone>(fields: &Fields<'_>, counts: &str, name: &str, list: Vec<I>) -> Result<Vec<Vec<I>>> {
    let mut rest = &list[..];
    let mut planes = Vec::new();
    for count in fields.integers(counts, None)? {
        let count = usize::try_from(count).ok().filter(|&n| n <= rest.len()).ok_or_else(|| fields.unsound(counts))?;
        planes.push(rest[..count].to_vec());
        rest = &rest[count..];
    }
    if rest.is_empty() { Ok(planes) } else { Err(fields.unsound(name)) }
}
