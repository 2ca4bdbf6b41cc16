//! tifffile reads TIFF files of lobcod, and lobcod reads those of tifffile: OME-TIFF with axes and
//! spacing, BigTIFF, tiles and compression. Skipped if tifffile is not installed.

use crate::common::{Folder, ramp};
use lobcod_io::{
    Axes, Depth, Dialect, Grid, Metadata, PageOrder, ReadOptions, WriteOptions, count_time_points,
    read_image, time_point_of, write_image,
};
use std::process::Command;

/// Runs a script inside the folder; `false` if there is no tifffile.
fn python(folder: &Folder, script: &str) -> bool {
    let run = |script: &str| {
        Command::new("python3").args(["-c", script]).current_dir(folder.file("")).output()
    };
    if !run("import tifffile").is_ok_and(|o| o.status.success()) {
        lobcod_conformance::skipped("skipped: python3 with tifffile is not installed");
        return false;
    }
    let output = run(&format!("import numpy as np, tifffile\n{script}")).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn tifffile_reads_our_ome_tiff() {
    let folder = Folder::new();
    let grid = Grid {
        dialect: Dialect::Ome,
        pixel: [Some(0.13), Some(0.2)],
        spacing: Some(0.5),
        unit: Some("µm".into()),
        ..Grid::default()
    };
    for (name, axes, channels, order) in [
        ("z.ome.tif", &[4, 5, 6][..], 1, None),
        ("zc.ome.tif", &[4, 5, 6], 2, Some(PageOrder::ChannelsFirst)),
        ("cz.ome.tif", &[4, 5, 6], 2, Some(PageOrder::SlicesFirst)),
        ("rgb.ome.tif", &[4, 5, 6], 3, None),
    ] {
        let grid = Grid { channel_pages: order, ..grid.clone() };
        let metadata = Metadata { grid: Some(grid), ..Metadata::default() };
        let options = WriteOptions { depth: Depth::F32, metadata, ..WriteOptions::default() };
        write_image(&folder.file(name), &ramp::<f32>(axes, channels, 1.0), &options).unwrap();
    }
    let script = "
import xml.etree.ElementTree as et
n = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
for name, axes, shape in [('z', 'ZYX', (4, 5, 6)), ('zc', 'ZCYX', (4, 2, 5, 6)), ('cz', 'CZYX', \
                  (2, 4, 5, 6)), ('rgb', 'ZYXS', (4, 5, 6, 3))]:
    with tifffile.TiffFile(name + '.ome.tif') as f:
        assert f.is_ome and len(f.series) == 1, name
        s = f.series[0]
        assert s.axes == axes and s.shape == shape, (name, s.axes, s.shape)
        a = s.asarray()
        first = a if name == 'z' else a[:, 0] if name == 'zc' else a[0] if name == 'cz' else \
                  a[..., 0]
        assert np.array_equal(first, n), name
        p = [e for e in et.fromstring(f.ome_metadata).iter() if e.tag.endswith('Pixels')][0].attrib
        assert [float(p['PhysicalSize' + k]) for k in 'XYZ'] == [0.13, 0.2, 0.5], p
        assert p['PhysicalSizeXUnit'] == '\u{b5}m', p
";
    python(&folder, script);
}

#[test]
fn files_of_tifffile_are_read() {
    let folder = Folder::new();
    let script = "
n = np.arange(4 * 48 * 64, dtype=np.uint16).reshape(4, 48, 64)
meta = {'axes': 'ZYX', 'PhysicalSizeX': 0.25, 'PhysicalSizeY': 0.5, 'PhysicalSizeZ': 2.0, \
                  'PhysicalSizeXUnit': '\u{b5}m'}
tifffile.imwrite('plain.ome.tif', n, metadata=meta)
tifffile.imwrite('big.ome.tif', n, metadata=meta, bigtiff=True)
tifffile.imwrite('tiled.ome.tif', n, metadata=meta, tile=(16, 32))
tifffile.imwrite('zlib.ome.tif', n, metadata=meta, tile=(16, 16), compression='zlib', \
                  predictor=True)
tifffile.imwrite('bigendian.ome.tif', n, metadata=meta, byteorder='>')
m = np.arange(2 * 3 * 4 * 5 * 6, dtype=np.float32).reshape(2, 3, 4, 5, 6)
tifffile.imwrite('tzcyx.ome.tif', m.transpose(0, 1, 2, 3, 4), metadata={'axes': 'TZCYX'}, \
                  photometric='minisblack')
tifffile.imwrite('tyx.ome.tif', m[0, 0], metadata={'axes': 'TYX'}, photometric='minisblack')
";
    if !python(&folder, script) {
        return;
    }
    let full = ReadOptions { scale: 65535.0, ..ReadOptions::default() };
    for name in ["plain", "big", "tiled", "zlib", "bigendian"] {
        let stack = read_image::<f32>(&folder.file(&format!("{name}.ome.tif")), &full).unwrap();
        assert_eq!((stack.axes, stack.signal.extent().axes()), (Axes::Dhw, &[4, 48, 64][..]));
        assert!(stack.signal.data().iter().enumerate().all(|(i, x)| *x == i as f32), "{name}");
        let grid = stack.metadata.grid.unwrap();
        assert_eq!((grid.pixel, grid.spacing), ([Some(0.25), Some(0.5)], Some(2.0)), "{name}");
        assert_eq!(grid.unit.as_deref(), Some("µm"), "{name}");
    }
    let series = ReadOptions { axes: Some(Axes::Tdhwc), ..ReadOptions::default() };
    let file = folder.file("tzcyx.ome.tif");
    assert_eq!(count_time_points(&file, &series).unwrap(), 2);
    let second = read_image::<f32>(&time_point_of(&file, 1), &series).unwrap();
    assert_eq!((second.axes, second.signal.extent().axes()), (Axes::Dhwc, &[3, 5, 6][..]));
    for c in 0..4 {
        for (i, x) in second.signal.channel(c).iter().enumerate() {
            let (z, pixel) = (i / 30, i % 30);
            assert_eq!(*x, (360 + (z * 4 + c) * 30 + pixel) as f32, "{c} {i}");
        }
    }
    let series = ReadOptions { axes: Some(Axes::Thw), ..ReadOptions::default() };
    assert_eq!(count_time_points(&folder.file("tyx.ome.tif"), &series).unwrap(), 4);
}
