//! Images read piece by piece, minus their base layer.

use crate::args::EncodeArgs;
use crate::values::{Cap, StartChoice};
use lobcod::bands::DetailRows;
use lobcod::base::Base;
use lobcod::pursuit::Loss;
use lobcod::{Border, Extent, parallel};
use lobcod_io::ImageRows;

/// The first option that does not work on images read piece by piece (optionally including
/// checkpoints), and how to avoid it.
pub(super) fn refused(
    args: &EncodeArgs,
    checkpoints: bool,
) -> Option<(&'static str, &'static str)> {
    let image = &args.input;
    let codes = &args.codes;
    let problem = &args.problem;
    let cases = [
        (!args.reference.is_empty(), "scores", "remove --reference"),
        (args.page.report.is_some(), "a report", "remove --report"),
        (
            checkpoints && args.checkpoints.checkpoint.is_some(),
            "checkpoints",
            "remove --checkpoint",
        ),
        (checkpoints && args.checkpoints.resume.is_some(), "checkpoints", "remove --resume"),
        (!matches!(args.solver.start, StartChoice::Zero), "initial codes", "use --start zero"),
        (codes.penalty_map.is_some(), "a penalty map", "remove --penalty-map"),
        (codes.weights.is_some(), "weights of the coefficients", "remove --weights"),
        (codes.elastic != 0.0, "an elastic net", "remove --elastic"),
        (codes.joint != 0.0, "joint sparsity", "remove --joint"),
        (codes.debias, "debiased codes", "remove --debias"),
        (codes.loss != Loss::Squares, "a robust loss", "remove --loss"),
        (codes.max_error.is_some(), "a largest error", "use --penalty"),
        (
            matches!(codes.max_nonzeros, Some(Cap::File(_))),
            "a map of maximum non-zeros",
            "use a single number for --max-nonzeros",
        ),
        (image.known.is_some(), "a mask", "remove --known"),
        (image.holes.is_some(), "a mask", "remove --holes"),
        (image.holes_colour.is_some(), "painted holes", "remove --holes-colour"),
        (
            matches!(problem.base, Base::Smooth { .. } | Base::JointSmooth { .. }),
            "a smooth base",
            "use --base local-mean or none",
        ),
        (problem.border == Border::Periodic, "a periodic border", "use --border free or zero"),
        (problem.border == Border::Inside, "the inside border", "use --border free or zero"),
    ];
    cases.into_iter().find(|case| case.0).map(|(_, what, cure)| (what, cure))
}

/// An image minus its base layer, row by row.
pub(super) type Details = DetailRows<ImageRows>;

/// The image minus its base layer for atoms of this size.
pub(super) fn details(args: &EncodeArgs, rows: ImageRows, window: Extent) -> Details {
    Details::new(rows, args.problem.base, window, parallel::count(args.run.threads.count))
}
