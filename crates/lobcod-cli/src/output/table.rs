//! Aligned tables and readable numbers.

/// Rows of a name and a value, with the values aligned in one column.
#[derive(Default)]
pub struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    /// Adds a row.
    pub fn row(&mut self, name: impl Into<String>, value: impl ToString) -> &mut Self {
        self.rows.push((name.into(), value.to_string()));
        self
    }

    /// The rows as text, one per line.
    pub fn render(&self) -> String {
        let width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        self.rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
    }
}

/// Formats rows of cells, each column as wide as its widest cell; columns in `right` are
/// right-aligned.
pub fn columns(rows: &[Vec<String>], right: &[usize]) -> String {
    let cells = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| {
        rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..cells).map(width).collect();
    let line = |row: &Vec<String>| {
        let cell = |(k, cell): (usize, &String)| {
            let width = widths[k];
            if right.contains(&k) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
            + "\n"
    };
    rows.iter().map(line).collect()
}

/// A measurement with about five significant digits: `0.0123`, `12.346`, `1234.6`, `9.1388e6`.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || !size.is_finite() {
        return x.to_string();
    }
    if (1e-3..1e5).contains(&size) {
        let decimals = (4 - size.log10().floor() as i32).clamp(0, 6) as usize;
        return without_zeros(&format!("{x:.decimals$}")).into();
    }
    let text = format!("{x:.4e}");
    text.split_once('e')
        .map_or(text.clone(), |(digits, power)| format!("{}e{power}", without_zeros(digits)))
}

/// `1.50` as `1.5`, `1.00` as `1`.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A count with thousands separated: `12 345`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|g| std::str::from_utf8(g).unwrap_or_default())
        .collect();
    groups.join(" ")
}

/// `1 sweep`, `2 sweeps`, `3 passes`.
pub fn plural(n: usize, word: &str) -> String {
    let ending = match n {
        1 => "",
        _ if word.ends_with('s') || word.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {word}{ending}", count(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.05, "0.05"),
            (12.3456789, "12.346"),
            (99999.4, "99999"),
            (9138849.0, "9.1388e6"),
            (-0.00012, "-1.2e-4"),
            (1e-4, "1e-4"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(x), text);
        }
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!((plural(1, "sweep"), plural(2, "sweep")), ("1 sweep".into(), "2 sweeps".into()));
    }

    #[test]
    fn values_are_aligned() {
        assert_eq!(
            Table::default().row("a", 1).row("long", "x y").render(),
            "a     1\nlong  x y\n"
        );
        let rows = [["atom", "times"], ["7", "120"]].map(|row| row.map(String::from).to_vec());
        assert_eq!(columns(&rows, &[0, 1]), "atom  times\n   7    120\n");
        assert_eq!(columns(&rows, &[]), "atom  times\n7     120\n");
    }
}
