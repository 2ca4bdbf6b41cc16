//! The HTML report of a learnt dictionary.

use super::results::Results;
use super::task::ending;
use crate::flow::Finished as _;
use crate::report::{Fact, ImageRow, LearningPage, View};
use crate::synthesis::reconstruct;
use anyhow::Result;
use lobcod::Real;
use lobcod_io::Depth;
use maud::Markup;
use std::path::{Path, PathBuf};

/// Writes the HTML report.
pub fn write<T: Real>(work: &Results<'_, T>, path: &Path) -> Result<()> {
    let (task, report) = (&work.task, &work.learnt.report);
    let row = |(i, image): (usize, &PathBuf)| {
        let certificate = report.pursuit.signals[i];
        let psnr_db = work.closeness.psnr_db_of(i, certificate.data_term);
        ImageRow { name: image.display().to_string(), shape: work.shapes[i], certificate, psnr_db }
    };
    let page = LearningPage {
        title: task.title(),
        status: (work.status(), ending(work.status())),
        first: &task.first.dictionary,
        learnt: &work.learnt,
        psnr_db: report
            .history
            .iter()
            .map(|point| work.closeness.psnr_db(point.data_term))
            .collect(),
        shown: first_image(work)?,
        images: task.images.iter().enumerate().map(row).collect(),
        tolerance: task.args.run.tolerance,
        facts: vec![
            Fact::new(
                "PSNR",
                format!("{:.2} dB", work.psnr_db()),
                "of the reconstructions, over known samples",
            ),
            Fact::new("initial atoms", &task.first.name, ""),
            Fact::new("base", task.args.problem.base, "the layer subtracted before learning"),
        ],
    };
    page.write(path)
}

/// The first image next to its reconstruction with the learnt atoms.
fn first_image<T: Real>(work: &Results<'_, T>) -> Result<Markup> {
    let details = &work.details;
    let source = &details.first;
    let observed = &details.observed[0];
    let needles = &work.learnt.needles[0];
    let base = source.base.as_ref();
    let view = View {
        name: &source.path.display().to_string(),
        original: &base.map_or(Ok(observed.signal.clone()), |base| observed.signal.plus(base))?,
        reconstruction: &reconstruct(needles, &work.learnt.dictionary, base)?,
        known: observed.mask.as_ref(),
        needles,
        certificate: &work.learnt.report.pursuit.signals[0],
        dictionary: &work.learnt.dictionary,
        white: matches!(source.depth, Depth::U8 | Depth::U16)
            .then_some(work.task.args.input.scale.value()),
        sample_rate: source.sample_rate,
    };
    view.section()
}
