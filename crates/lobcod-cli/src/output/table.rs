//! Aligned tables and numbers for people.

/// Rows of a name and a value, printed with the values in one column.
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

    /// The rows as text, one a line.
    pub fn render(&self) -> String {
        let width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        self.rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
    }
}

/// A measured number with as many digits as people read: `0.0123`, `12.346`, `1234.6`, `9.1388e6`.
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
    text.split_once('e').map_or(text.clone(), |(digits, power)| format!("{}e{power}", without_zeros(digits)))
}

/// `1.50` as `1.5`, `1.00` as `1`.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A count with its thousands apart: `12 345`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or_default()).collect();
    groups.join(" ")
}

/// `1 sweep`, `2 sweeps`.
pub fn plural(n: usize, word: &str) -> String {
    format!("{} {word}{}", count(n), if n == 1 { "" } else { "s" })
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
    fn values_stand_in_one_column() {
        assert_eq!(Table::default().row("a", 1).row("long", "x y").render(), "a     1\nlong  x y\n");
    }
}
