//! Opens pages in the default browser.

use crate::output::warn;
use std::ffi::OsStr;

/// Opens an address or a file. Where no browser can be started, such as without a display, a
/// warning says so and names what to open.
pub fn open(page: impl AsRef<OsStr>) {
    let page = page.as_ref();
    if open::that_detached(page).is_err() {
        warn(&format!("no browser could be started; open {} yourself", page.to_string_lossy()));
    }
}
