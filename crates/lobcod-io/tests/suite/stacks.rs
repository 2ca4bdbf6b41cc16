//! ImageJ and OME stacks: axes and pixel size are read, and written again.

use crate::common::{Folder, assert_refused, ramp};
use lobcod_io::{
    Axes, Depth, Dialect, Grid, Metadata, PageOrder, ReadOptions, WriteOptions, count_time_points,
    read_image, read_shape, time_point_of, write_image,
};

fn grid(dialect: Dialect) -> Grid {
    Grid {
        dialect,
        resolution: Some(([7_692_308, 1_000_000], [5_000_000, 1_000_000])),
        resolution_unit: 1,
        pixel: if dialect == Dialect::Ome { [Some(0.13), Some(0.2)] } else { [None; 2] },
        spacing: (dialect != Dialect::Plain).then_some(0.5),
        unit: (dialect != Dialect::Plain).then(|| "µm".into()),
        time_points: false,
        channel_pages: None,
    }
}

fn options(grid: Grid) -> WriteOptions {
    let metadata = Metadata { grid: Some(grid), ..Metadata::default() };
    WriteOptions { axes: Axes::Dhw, depth: Depth::U16, metadata, ..WriteOptions::default() }
}

#[test]
fn stacks_describe_their_axes() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    for dialect in [Dialect::ImageJ, Dialect::Ome] {
        for time_points in [false, true] {
            let grid = Grid { time_points, ..grid(dialect) };
            write_image(&folder.file("a.tif"), &stack, &options(grid.clone())).unwrap();
            let back = read_image::<f32>(&folder.file("a.tif"), &ReadOptions::default()).unwrap();
            assert_eq!(
                (back.axes, back.signal.extent().axes()),
                (Axes::Dhw, &[4, 5, 6][..]),
                "{dialect:?}"
            );
            assert_eq!(back.metadata.grid, Some(grid));
            let worst = back
                .signal
                .minus(&stack)
                .unwrap()
                .data()
                .iter()
                .fold(0.0, |w: f32, x| w.max(x.abs()));
            assert!(worst < 0.01);
        }
    }
    // Colour pages of a stack.
    let colours = ramp::<f32>(&[3, 5, 6], 3, 0.5);
    write_image(&folder.file("c.tif"), &colours, &options(grid(Dialect::Ome))).unwrap();
    let back = read_image::<f32>(&folder.file("c.tif"), &ReadOptions::default()).unwrap();
    assert_eq!((back.axes, back.signal.channels()), (Axes::Dhwc, 3));
}

#[test]
fn a_plain_stack_needs_axes_but_keeps_its_resolution() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    write_image(&folder.file("a.tif"), &stack, &options(grid(Dialect::Plain))).unwrap();
    assert_refused(
        read_image::<f32>(&folder.file("a.tif"), &ReadOptions::default()),
        &["--axes dhw"],
    );
    let options = ReadOptions { axes: Some(Axes::Dhw), ..ReadOptions::default() };
    let back = read_image::<f32>(&folder.file("a.tif"), &options).unwrap();
    assert_eq!(back.metadata.grid, Some(grid(Dialect::Plain)));
}

#[test]
fn explicit_axes_override_the_file() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    write_image(&folder.file("a.tif"), &stack, &options(grid(Dialect::ImageJ))).unwrap();
    for (axes, shape, channels) in [(Axes::Chw, &[5, 6][..], 4), (Axes::Hw, &[5, 6][..], 1)] {
        let options = ReadOptions { axes: Some(axes), ..ReadOptions::default() };
        let back = read_image::<f32>(&folder.file("a.tif"), &options).unwrap();
        assert_eq!((back.signal.extent().axes(), back.signal.channels()), (shape, channels));
    }
}

#[test]
fn single_images_and_cut_stacks() {
    let folder = Folder::new();
    let one = ramp::<f32>(&[5, 6], 1, 1.0);
    write_image(
        &folder.file("a.tif"),
        &one,
        &WriteOptions { axes: Axes::Hw, ..options(grid(Dialect::ImageJ)) },
    )
    .unwrap();
    let back = read_image::<f32>(&folder.file("a.tif"), &ReadOptions::default()).unwrap();
    assert_eq!((back.axes, back.metadata.grid), (Axes::Hw, Some(grid(Dialect::ImageJ))));
    // A description with more pages than exist (as ImageJ writes for files above 4 GB) must not
    // pass for a single image.
    let mut bytes = std::fs::read(folder.file("a.tif")).unwrap();
    let place = bytes.windows(9).position(|w| w == b"images=1\n").unwrap();
    bytes[place + 7] = b'3';
    std::fs::write(folder.file("a.tif"), bytes).unwrap();
    assert_refused(
        read_image::<f32>(&folder.file("a.tif"), &ReadOptions::default()),
        &["declares 3 pages but contains 1"],
    );
}

#[test]
fn slices_and_channels_in_pages_round_trip() {
    let folder = Folder::new();
    for (dialect, order) in [
        (Dialect::ImageJ, PageOrder::ChannelsFirst),
        (Dialect::Ome, PageOrder::ChannelsFirst),
        (Dialect::Ome, PageOrder::SlicesFirst),
    ] {
        for (axes, channels, said) in
            [(&[4, 5, 6][..], 2, Axes::Dhwc), (&[4, 5, 6], 3, Axes::Dhwc), (&[5, 6], 2, Axes::Chw)]
        {
            let stack = ramp::<f32>(axes, channels, 0.25);
            let grid = Grid { channel_pages: Some(order), ..grid(dialect) };
            write_image(&folder.file("a.tif"), &stack, &options(grid.clone())).unwrap();
            let back = read_image::<f32>(&folder.file("a.tif"), &ReadOptions::default()).unwrap();
            let found = (back.axes, back.signal.extent().axes().to_vec(), back.signal.channels());
            assert_eq!(found, (said, axes.to_vec(), channels), "{dialect:?} {order:?}");
            let worst = back
                .signal
                .minus(&stack)
                .unwrap()
                .data()
                .iter()
                .fold(0.0, |w: f32, x| w.max(x.abs()));
            assert!(worst < 0.01, "{dialect:?} {order:?}: off by {worst}");
            assert_eq!(back.metadata.grid, Some(grid));
            // Written again, the file is identical.
            let before = std::fs::read(folder.file("a.tif")).unwrap();
            let again = WriteOptions {
                axes: back.axes,
                depth: back.depth,
                metadata: back.metadata,
                ..WriteOptions::default()
            };
            write_image(&folder.file("b.tif"), &back.signal, &again).unwrap();
            assert!(
                before == std::fs::read(folder.file("b.tif")).unwrap(),
                "{dialect:?} {order:?}"
            );
        }
    }
}

#[test]
fn pages_follow_the_declared_order() {
    let folder = Folder::new();
    // Page `k` of six contains the number `k`.
    let pages = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let stack = |order: PageOrder| {
        let sample = |i: usize| pages[order_of(order, i / 3, i % 3)];
        let data = (0..6).flat_map(|i| std::iter::repeat_n(sample(i), 20)).collect();
        lobcod::Signal::from_planar(lobcod::Extent::new(&[3, 4, 5]).unwrap(), 2, data).unwrap()
    };
    for order in [PageOrder::ChannelsFirst, PageOrder::SlicesFirst] {
        let grid = Grid { channel_pages: Some(order), ..grid(Dialect::Ome) };
        write_image(
            &folder.file("a.tif"),
            &stack(order),
            &WriteOptions { depth: Depth::F32, ..options(grid) },
        )
        .unwrap();
        let all = ReadOptions { axes: Some(Axes::Dhw), ..ReadOptions::default() };
        let plain = read_image::<f32>(&folder.file("a.tif"), &all).unwrap().signal;
        let firsts: Vec<f32> = plain.data().iter().step_by(20).copied().collect();
        assert_eq!(firsts, pages, "{order:?}");
    }
}

fn order_of(order: PageOrder, channel: usize, slice: usize) -> usize {
    if order == PageOrder::ChannelsFirst { 2 * slice + channel } else { 3 * channel + slice }
}

#[test]
fn time_points_with_channels_need_axes_and_several_series_are_refused() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 2, 1.0);
    let said =
        |dialect| options(Grid { channel_pages: Some(PageOrder::ChannelsFirst), ..grid(dialect) });
    let edit = |name: &str, from: &[u8], to: &[u8]| {
        let mut bytes = std::fs::read(folder.file(name)).unwrap();
        let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
        std::fs::write(folder.file(name), bytes).unwrap();
    };
    let read = |name: &str| read_image::<f32>(&folder.file(name), &ReadOptions::default());
    write_image(&folder.file("i.tif"), &stack, &said(Dialect::ImageJ)).unwrap();
    edit("i.tif", b"slices", b"frames");
    assert_refused(read("i.tif"), &["2 channels", "4 time points", "--axes thwc"]);
    let series = ReadOptions { axes: Some(Axes::Thwc), ..ReadOptions::default() };
    assert_eq!(count_time_points(&folder.file("i.tif"), &series).unwrap(), 4);
    for t in 0..4 {
        let point = time_point_of(&folder.file("i.tif"), t);
        let frame = read_image::<f32>(&point, &series).unwrap();
        assert_eq!((frame.axes, frame.signal.channels()), (Axes::Hwc, 2));
        for c in 0..2 {
            let expected = &stack.channel(c)[t * 30..(t + 1) * 30];
            let found = frame.signal.channel(c);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{t} {c}");
        }
    }
    assert_refused(
        read_image::<f32>(&time_point_of(&folder.file("i.tif"), 4), &series),
        &["4 time points"],
    );
    assert_refused(read_image::<f32>(&folder.file("i.tif"), &series), &["i.tif[0]"]);
    write_image(&folder.file("o.tif"), &stack, &said(Dialect::Ome)).unwrap();
    // Two elements in the room of one and a comment.
    edit("o.tif", b"<TiffData/></Pixels></Image>", b"</Pixels><Pixels/></Image>  ");
    assert_refused(read("o.tif"), &["2 image series"]);
}

#[test]
fn time_points_of_arrays() {
    let folder = Folder::new();
    let movie = ramp::<f32>(&[3, 4, 5], 1, 1.0);
    let whole = WriteOptions { axes: Axes::Dhw, depth: Depth::F32, ..WriteOptions::default() };
    for name in ["a.npy", "a.npz", "a.tif"] {
        write_image(&folder.file(name), &movie, &whole).unwrap();
        let series = ReadOptions { axes: Some(Axes::Thw), ..ReadOptions::default() };
        assert_eq!(count_time_points(&folder.file(name), &series).unwrap(), 3, "{name}");
        for t in 0..3 {
            let point = time_point_of(&folder.file(name), t);
            let frame = read_image::<f32>(&point, &series).unwrap();
            assert_eq!(frame.signal.data(), &movie.data()[t * 20..(t + 1) * 20], "{name} {t}");
            let shape = read_shape(&point, &series).unwrap();
            assert_eq!(shape, Some((frame.signal.extent(), 1)), "{name}");
        }
        let volumes = ReadOptions { axes: Some(Axes::Tdhw), ..ReadOptions::default() };
        assert!(count_time_points(&folder.file(name), &volumes).is_err(), "{name}");
    }
    write_image(&folder.file("a.png"), &ramp::<f32>(&[4, 5], 1, 1.0), &WriteOptions::default())
        .unwrap();
    let series = ReadOptions { axes: Some(Axes::Thw), ..ReadOptions::default() };
    assert_refused(count_time_points(&folder.file("a.png"), &series), &["no time axis"]);
}

#[test]
fn ome_xml_is_read_as_xml() {
    let folder = Folder::new();
    let stack = ramp::<f32>(&[4, 5, 6], 1, 1.0);
    write_image(&folder.file("a.tif"), &stack, &options(grid(Dialect::Ome))).unwrap();
    let bytes = std::fs::read(folder.file("a.tif")).unwrap();
    let start = bytes.windows(5).position(|w| w == b"<?xml").unwrap();
    let length = bytes[start..].iter().position(|b| *b == 0).unwrap();
    let write = |text: &str| {
        assert!(text.len() <= length, "{} of {length}", text.len());
        let mut edited = bytes.clone();
        edited[start..start + length].fill(b' ');
        edited[start..start + text.len()].copy_from_slice(text.as_bytes());
        std::fs::write(folder.file("b.tif"), edited).unwrap();
        read_image::<f32>(&folder.file("b.tif"), &ReadOptions::default())
    };
    // Single quotes, tabs and line breaks, namespace prefixes, comments that look like elements.
    let pixels = "SizeX='6' SizeY='5' SizeC='1' SizeZ='4' SizeT='1' PhysicalSizeX='0.13' \
                  PhysicalSizeY='0.2' PhysicalSizeZ='0.5' PhysicalSizeXUnit='&#181;m'";
    for text in [
        format!("<OME><Image><Pixels {pixels}/></Image></OME>"),
        format!("<OME><Image><Pixels\t{}/></Image></OME>", pixels.replace(' ', "\n\t")),
        format!("<o:OME xmlns:o='urn:o'><o:Image><o:Pixels {pixels}/></o:Image></o:OME>"),
        format!("<OME><!-- <Pixels SizeZ=\"9\"/> --><Pixels {pixels}/></OME>"),
    ] {
        let back = write(&text).unwrap();
        assert_eq!((back.axes, back.signal.extent().axes()), (Axes::Dhw, &[4, 5, 6][..]), "{text}");
        assert_eq!(back.metadata.grid, Some(grid(Dialect::Ome)), "{text}");
    }
    // Text that is not XML describes nothing, so the meaning of the pages is open.
    assert_refused(write("<OME><Pixels SizeZ='4'"), &["several pages"]);
}

/// A time point of a npy file is read alone: the file may be larger than the limit.
#[test]
fn time_points_of_arrays_are_read_one_by_one() {
    let folder = Folder::new();
    let path = folder.file("movie.npy");
    let shape = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 64, 64), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend_from_slice(format!("{shape:117}\n").as_bytes());
    let first = bytes.len() as u64;
    std::fs::write(&path, &bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(first + 1000 * 64 * 64 * 4).unwrap();
    drop(file);
    let limit = Some(1 << 20);
    let series = ReadOptions { axes: Some(Axes::Thw), max_bytes: limit, ..ReadOptions::default() };
    assert_eq!(count_time_points(&path, &series).unwrap(), 1000);
    let last = time_point_of(&path, 999);
    let (extent, channels) = read_shape(&last, &series).unwrap().expect("a shape");
    assert_eq!((extent.axes(), channels), (&[64, 64][..], 1));
    let image = read_image::<f32>(&last, &series).unwrap();
    assert_eq!(image.signal.extent().axes(), [64, 64]);
    let beyond = read_image::<f32>(&time_point_of(&path, 1000), &series);
    assert_refused(beyond, &["movie.npy", "1000 time points"]);
}
