//! `--report` of encode and learn: one self-contained HTML file with the right numbers.

use crate::common::{Desk, near, number, texture};
use lobcod_io::Depth;
use std::fs;
use std::path::Path;

/// HTML elements without an end tag.
const VOID: [&str; 3] = ["meta", "img", "input"];

fn page(path: &Path) -> String {
    let page = fs::read_to_string(path).unwrap();
    check_balance(&page);
    for address in ["http:", "https:", "href=", "url(", "<link", "@import"] {
        assert!(!page.contains(address), "{address} in {}", path.display());
    }
    assert!(
        page.split("src=\"").skip(1).all(|rest| rest.starts_with("data:image/png;base64,iVBOR"))
    );
    page
}

/// Checks that every element is closed inside the one that contains it.
fn check_balance(page: &str) {
    let mut open = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        if tag.starts_with('!') {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => open.push(tag.split(' ').next().unwrap()),
        }
        open.pop_if(|name| VOID.contains(name));
    }
    assert_eq!(open, Vec::<&str>::new());
}

/// The value in a row of the table of numbers.
fn value_of<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("<th scope=\"row\">{name}</th><td>")).unwrap();
    rest.split_once("</td>").unwrap().0
}

#[test]
fn the_html_report_has_the_numbers_of_the_json_report() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 33], 3, 0.0);
    desk.image("b.png", &[25, 50], 3, 1.0);
    let report = desk.json(
        "encode a.png b.png --report r.html --reference a.png --reference b.png --penalty 12",
    );
    assert_eq!(report["report"], "r.html");
    assert_eq!(desk.files(), ["a.png", "b.png", "r.html"]);
    let page = page(&desk.path("r.html"));
    for name in ["objective", "gap", "relative gap", "penalty", "penalty_max"] {
        let value: f64 = value_of(&page, name).parse().unwrap();
        assert!(near(value, number(&report, &name.replace(' ', "_")), 1e-4), "{name}: {value}");
    }
    for name in ["pixels", "non-zeros"] {
        let digits: String = value_of(&page, name).split(' ').collect();
        assert_eq!(digits, report[name.replace('-', "")].to_string());
    }
    assert_eq!(value_of(&page, "status"), report["status"]);
    assert_eq!(value_of(&page, "PSNR"), format!("{:.2} dB", number(&report, "psnr_db")));
    for words in [
        "<h2>a.png</h2>",
        "<h2>b.png</h2>",
        "33x40, 3 channels",
        "<code>--penalty</code></th><td>12</td>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("lobcod encode a.png b.png --report r.html --reference a.png"));
    // Two images with their reconstructions, differences and maps, and the atoms.
    assert_eq!(page.matches("<img ").count(), 2 * 4 + 81);
    assert_eq!(page.matches("type=\"range\"").count(), 2);
    assert_eq!(page.matches("<svg ").count(), 2);
    let uses = uses(&page);
    assert!(uses.is_sorted_by(|a, b| a >= b) && uses[0] > 0);
    assert_eq!(uses.iter().sum::<u64>(), report["nonzeros"].as_u64().unwrap());
}

#[test]
fn sequences_volumes_and_holes_are_shown() {
    let desk = Desk::new();
    desk.write("tone.wav", &texture(&[5000], 2, 0.0), Depth::I16);
    desk.succeed("encode tone.wav --report tone.html");
    let tone = page(&desk.path("tone.html"));
    assert_eq!((tone.matches("<svg ").count(), tone.matches("type=\"range\"").count()), (5, 0));
    assert!(tone.contains("the first of 2 channels") && tone.contains(">seconds<"));

    desk.write("volume.npy", &texture(&[7, 16, 18], 1, 0.0), Depth::F32);
    desk.succeed("encode volume.npy --axes dhw --report volume.html");
    let volume = page(&desk.path("volume.html"));
    assert!(volume.contains("Showing the middle slice, 4 of 7.") && volume.contains("Black is "));

    let mut holed = texture(&[20, 20], 1, 0.0);
    holed.data_mut()[100..140].fill(f32::NAN);
    desk.write("holed.npy", &holed, Depth::F32);
    desk.succeed("encode holed.npy --report holed.html");
    assert!(page(&desk.path("holed.html")).contains("Missing "));

    // Nothing to draw: no codes, a constant image, one point in every curve.
    holed.data_mut().fill(7.0);
    desk.write("flat.npy", &holed, Depth::F32);
    desk.succeed("encode flat.npy --report flat.html");
    page(&desk.path("flat.html"));
}

#[cfg(unix)]
#[test]
fn names_are_text_not_markup() {
    let desk = Desk::new();
    desk.image("<b>&.png", &[20, 20], 1, 0.0);
    desk.succeed("encode <b>&.png --report r.html");
    let page = page(&desk.path("r.html"));
    assert!(page.contains("<h2>&lt;b&gt;&amp;.png</h2>") && page.contains("'&lt;b&gt;&amp;.png'"));
}

/// How often each atom of the first list is used, according to the report.
fn uses(page: &str) -> Vec<u64> {
    let used = |rest: &str| {
        rest.split_once(" time").map_or(0, |(n, _)| n.replace(' ', "").parse().unwrap())
    };
    let (_, list) = page.split_once("<ul class=\"atoms\">").unwrap();
    let (list, _) = list.split_once("</ul>").unwrap();
    list.split("<li ")
        .skip(1)
        .map(|li| li.split_once(": used ").map_or(0, |(_, rest)| used(rest)))
        .collect()
}

#[test]
fn the_html_report_of_learn_has_the_numbers_of_the_json_report() {
    let desk = Desk::new();
    desk.image("a.png", &[40, 33], 3, 0.0);
    desk.image("b.png", &[25, 50], 3, 1.0);
    let report = desk.json(
        "learn a.png b.png -o d.npz --report r.html --atoms 12 --size 5x5 --passes 6 --penalty 12",
    );
    assert_eq!(report["report"], "r.html");
    assert_eq!(desk.files(), ["a.png", "b.png", "d.npz", "r.html"]);
    let page = page(&desk.path("r.html"));
    for name in [
        "objective",
        "gap",
        "relative gap",
        "penalty",
        "penalty_max",
        "passes",
        "replaced atoms",
        "merged atoms",
    ] {
        let value: f64 = value_of(&page, name).parse().unwrap();
        assert!(near(value, number(&report, &name.replace(' ', "_")), 1e-4), "{name}: {value}");
    }
    assert_eq!(value_of(&page, "PSNR"), format!("{:.2} dB", number(&report, "psnr_db")));
    for (i, name) in ["a.png", "b.png"].iter().enumerate() {
        let (_, row) = page.split_once(&format!("<th scope=\"row\">{name}</th>")).unwrap();
        let (row, _) = row.split_once("</tr>").unwrap();
        let cells: Vec<&str> =
            row.split("<td>").skip(1).map(|cell| cell.split_once('<').unwrap().0).collect();
        let image = &report["images"][i];
        assert!(near(cells[1].parse().unwrap(), number(image, "objective"), 1e-4), "{cells:?}");
        assert_eq!((cells[3].replace(' ', ""), cells.len()), (image["nonzeros"].to_string(), 6));
        assert_eq!(cells[5], format!("{:.2}", number(image, "psnr_db")));
    }
    assert!(page.contains("lobcod learn a.png b.png -o d.npz --report r.html"));
    assert!(page.contains("<h2>a.png</h2>") && !page.contains("<h2>b.png</h2>"));
    // The first image, its reconstruction, difference and map; the atoms, before and after.
    assert_eq!(page.matches("<img ").count(), 4 + 2 * 12);
    // One point per pass in each curve: four curves, and two more if atoms were replaced or merged.
    let renewed = number(&report, "replaced_atoms") + number(&report, "merged_atoms") > 0.0;
    let (charts, curves) = if renewed { (5, 6) } else { (4, 4) };
    assert_eq!(
        (page.matches("type=\"range\"").count(), page.matches("<svg ").count()),
        (1, charts)
    );
    assert_eq!(
        (page.matches("<circle ").count(), page.contains("No atom was replaced")),
        (6 * curves, !renewed)
    );
    let uses = uses(&page);
    assert!(uses.is_sorted_by(|a, b| a >= b) && uses.len() == 12);
    assert_eq!(uses.iter().sum::<u64>(), report["nonzeros"].as_u64().unwrap());
}

#[test]
fn learning_from_sounds_with_holes_or_without_time_is_shown() {
    let desk = Desk::new();
    desk.write("tone.wav", &texture(&[3000], 1, 0.0), Depth::I16);
    let printed = desk.succeed("learn tone.wav -o d.npz --atoms 5 --passes 2 --report tone.html");
    assert!(printed.lines().next().unwrap().ends_with(" samples"), "{printed}");
    assert_eq!(page(&desk.path("tone.html")).matches("<svg ").count(), 3 + 4);
    // With so many atoms, some remain unused and are replaced.
    let report = desk.json(
        "learn tone.wav -o d.npz --size 12 --atoms 60 --relative-penalty 0.3 --passes 9 --report \
         many.html",
    );
    let renewed = number(&report, "replaced_atoms") + number(&report, "merged_atoms");
    assert_eq!(page(&desk.path("many.html")).contains("per pass."), renewed > 0.0);
    assert!(renewed > 0.0, "{report:#}");

    let mut holed = texture(&[20, 20], 1, 0.0);
    holed.data_mut()[100..140].fill(f32::NAN);
    desk.write("holed.npy", &holed, Depth::F32);
    desk.succeed("learn holed.npy -o d.npz --atoms 5 --passes 2 --report holed.html");
    assert!(page(&desk.path("holed.html")).contains("Missing "));

    desk.succeed("learn holed.npy -o d.npz --atoms 5 --time-limit 0 --report hurried.html");
    assert!(page(&desk.path("hurried.html")).contains("No pass was completed"));
}
