//! What a picture file says beside its samples, carried from one file to the next.

/// What a picture file says beside its samples; nothing of it changes how samples are read.
///
/// | format | colour profile | EXIF |
/// |---|---|---|
/// | png, jpeg | read and written | read and written |
/// | tiff | read and written | not carried: it is spread over the tags of the file |
/// | npy, npz, wav | have none | have none |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// The EXIF block, beginning with its byte order.
    pub exif: Option<Vec<u8>>,
}
