//! JSON reports. Scripts rely on the field names.

use super::warnings;
use lobcod::pursuit::HistoryPoint;
use lobcod::{Certificate, Report};
use serde_json::{Map, Value, json};

/// The report of a pursuit: the certificate over all signals, and the course of the run.
pub fn report(report: &Report, peak_memory: Option<u64>) -> Map<String, Value> {
    let mut fields = certificate(&report.total);
    fields.extend(object(json!({
        "status": report.status.to_string(),
        "penalty": report.penalty,
        "discovery_sweeps": report.discovery_sweeps,
        "support_sweeps": report.support_sweeps,
        "seconds": report.seconds,
        "working_memory_bytes": report.working_memory_bytes,
        "peak_memory_bytes": peak_memory,
        "threads": report.threads,
        "engine": report.engine,
        "precision": report.precision,
        "warnings": warnings::of(report),
        "history": report.history.iter().map(history_point).collect::<Vec<_>>(),
    })));
    fields
}

/// Objective and certificate of one signal, or of all.
pub fn certificate(certificate: &Certificate) -> Map<String, Value> {
    object(json!({
        "objective": certificate.objective,
        "data_term": certificate.data_term,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap(),
        "nonzeros": certificate.nonzeros,
        "pixels": certificate.pixels,
        "penalty_max": certificate.penalty_max,
    }))
}

/// The fields of a JSON object.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => Map::from_iter([("value".to_string(), other)]),
    }
}

fn history_point(point: &HistoryPoint) -> Value {
    json!({
        "seconds": point.seconds,
        "objective": point.objective,
        "nonzeros": point.nonzeros,
        "relative_gap": point.relative_gap,
    })
}
