//! numpy reads files of lobcod, and lobcod reads files of numpy. Skipped if numpy is not installed.

use crate::common::{Folder, assert_refused, ramp};
use lobcod::{Border, Code, Dictionary, Extent, Needles};
use lobcod_io::{
    Axes, CodesFile, Depth, MetaValue, Metadata, ReadOptions, WriteOptions, read_codes,
    read_dictionary, read_image, write_codes, write_dictionary, write_image,
};
use std::process::Command;

/// Runs a script inside the folder; `false` if there is no numpy.
fn python(folder: &Folder, script: &str) -> bool {
    let run = |script: &str| {
        Command::new("python3").args(["-c", script]).current_dir(folder.file("")).output()
    };
    if !run("import numpy").is_ok_and(|o| o.status.success()) {
        lobcod_conformance::skipped("skipped: python3 with numpy is not installed");
        return false;
    }
    let output = run(&format!("import numpy as np\n{script}")).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn numpy_reads_codes_without_pickle() {
    let folder = Folder::new();
    let codes = vec![Code { position: [0, -1, 2], atom: 1, channel: 0, value: 0.5f32 }];
    let file = CodesFile {
        needles: Needles::new(Extent::new(&[4, 5]).unwrap(), 1, Border::Free, codes),
        axes: Axes::Hw,
        penalty: 0.125,
        scale: 255.0,
        depth: Depth::U8,
        sample_rate: None,
        dictionary: Dictionary::new(
            Extent::new(&[2, 3]).unwrap(),
            1,
            (0..12).map(|i| (i as f32).cos()).collect(),
        )
        .unwrap(),
        base: Some(ramp(&[4, 5], 1, 1.0)),
        metadata: Metadata { xmp: Some(b"<a/>".to_vec()), ..Metadata::default() },
    };
    write_codes(&folder.file("c.npz"), &file).unwrap();
    let script = "
c = np.load('c.npz', allow_pickle=False)
assert c['position'].dtype == np.int32 and c['position'].tolist() == [[-1, 2]]
assert c['atom'].dtype == np.int32 and c['atom'].tolist() == [1]
assert c['value'].dtype == np.float32 and c['value'].tolist() == [0.5]
assert c['shape'].tolist() == [4, 5]
assert str(c['axes']) == 'hw' and str(c['border']) == 'free' and str(c['depth']) == 'u8' and \
                  c['axes'].shape == ()
assert float(c['penalty']) == 0.125 and float(c['scale']) == 255
assert c['dictionary'].shape == (2, 2, 3) and np.allclose((c['dictionary'] ** 2).sum((1, 2)), 1)
assert c['base'].shape == (4, 5) and c['base'][1, 0] == 5
np.savez_compressed('again.npz', **c)
np.savez('plain.npz', **c)
";
    if python(&folder, script) {
        for name in ["again.npz", "plain.npz"] {
            let back = read_codes::<f32>(&folder.file(name), None).unwrap();
            assert_eq!((back.needles, back.base), (file.needles.clone(), file.base.clone()));
        }
    }
}

#[test]
fn numpy_reads_images_and_dictionaries() {
    let folder = Folder::new();
    write_image(
        &folder.file("a.npy"),
        &ramp::<f64>(&[2, 3], 3, 1.0),
        &WriteOptions { axes: Axes::Hwc, ..Default::default() },
    )
    .unwrap();
    let dictionary = Dictionary::<f32>::new(
        Extent::new(&[2, 2, 2]).unwrap(),
        1,
        (1..17).map(|i| i as f32).collect(),
    )
    .unwrap();
    let remarks = [
        ("method", MetaValue::Text("größer".into())),
        ("passes", MetaValue::Integer(3)),
        ("seconds", MetaValue::Number(0.5)),
    ];
    write_dictionary(&folder.file("d.npz"), &dictionary, &remarks).unwrap();
    python(
        &folder,
        "
a = np.load('a.npy')
assert a.shape == (2, 3, 3) and a.dtype == np.float64 and a[1, 2].tolist() == [5, 11, 17]
d = np.load('d.npz', allow_pickle=False)
assert d['atoms'].shape == (2, 2, 2, 2) and d['atoms'].dtype == np.float32 and str(d['axes']) == \
         'mdhw'
assert str(d['method']) == 'größer' and int(d['passes']) == 3 and float(d['seconds']) == 0.5
",
    );
}

#[test]
fn files_saved_by_numpy_are_read() {
    let folder = Folder::new();
    let script = "
x = np.arange(6).reshape(2, 3)
for t in ['b1', 'i1', 'u1', '<i2', '>i2', '<u2', '>u2', '<i4', '>i4', '<u4', '<i8', '>i8', '<u8', \
                  '<f4', '>f4', '<f8', '>f8']:
    for order in 'CF':
        np.save(t.strip('<>') + ('big' if '>' in t else '') + order + '.npy', np.array(x, dtype=t, \
                  order=order))
np.savez('one.npz', x)
np.savez_compressed('named.npz', image=x + 0.5, other=x)
np.save('c.npy', x.astype(complex))
np.save('o.npy', np.array([None]), allow_pickle=True)
np.savez('d.npz', atoms=np.eye(4).reshape(4, 2, 2), axes='mhw')
";
    if !python(&folder, script) {
        return;
    }
    let read = |name: &str| read_image::<f64>(&folder.file(name), &ReadOptions::default());
    let names: Vec<String> = folder
        .names()
        .into_iter()
        .filter(|n| n.ends_with("C.npy") || n.ends_with("F.npy"))
        .collect();
    assert_eq!(names.len(), 34);
    for name in names {
        let factor = if name.starts_with("u2") { 255.0 / 65535.0 } else { 1.0 };
        let wanted: Vec<f64> = (0..6)
            .map(|i| f64::from(if name.starts_with('b') { i.min(1) } else { i }) * factor)
            .collect();
        assert_eq!(read(&name).unwrap().signal.data(), wanted, "{name}");
    }
    assert_eq!(read("one.npz").unwrap().signal.data()[5], 5.0);
    assert_eq!(read("named.npz").unwrap().signal.data()[5], 5.5);
    for name in ["c.npy", "o.npy"] {
        assert_refused(read(name), &[name, "not supported"]);
    }
    assert_eq!(read_dictionary::<f32>(&folder.file("d.npz")).unwrap().len(), 4);
}
