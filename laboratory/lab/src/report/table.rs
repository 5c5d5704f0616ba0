//! Tables for a terminal and for a page.

use super::grid::Grid;
use manycore_figure::escape;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A table with a caption. The first column names the rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) caption: String,
    /// A header may have several lines.
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// A cell of a [`Table`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Whether the cell is the best of its column. A terminal shows it with a star, a page in bold.
    pub(crate) best: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            best: false,
        }
    }

    /// A cell with this text, or a dash if there is none.
    pub(crate) fn or_dash(text: Option<String>) -> Self {
        Self::new(text.unwrap_or_else(|| "-".into()))
    }
}

impl Table {
    pub(crate) fn new(
        caption: impl Into<String>,
        header: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        Self {
            caption: caption.into(),
            header: header.into_iter().map(Into::into).collect(),
            rows: rows.into_iter().collect(),
        }
    }

    /// A table of texts without marks.
    pub(crate) fn of_texts<const N: usize>(
        caption: &str,
        header: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Self {
        let row = |row: [String; N]| row.into_iter().map(Cell::new).collect();
        Self::new(caption, header, rows.into_iter().map(row))
    }

    /// A table with a row for each of `names` and a column for each of `columns`. `value` returns a cell's number, and
    /// `show` formats it. The least number of each column is marked.
    pub(crate) fn of_least<C: ToString>(
        caption: String,
        corner: &str,
        names: &[String],
        columns: impl IntoIterator<Item = C>,
        value: impl Fn(&C, &str) -> Option<f64>,
        show: impl Fn(f64) -> String,
    ) -> Self {
        let mut header = vec![corner.to_owned()];
        let mut rows: Vec<Vec<Cell>> = names.iter().map(|name| vec![Cell::new(name)]).collect();
        for column in columns {
            header.push(column.to_string());
            let values = names.iter().map(|name| value(&column, name));
            let values: Vec<Option<f64>> = values.collect();
            let least = values.iter().flatten().copied().reduce(f64::min);
            for (row, value) in rows.iter_mut().zip(values) {
                row.push(Cell {
                    best: value.is_some() && value == least,
                    ..Cell::or_dash(value.map(&show))
                });
            }
        }
        Self::new(caption, header, rows)
    }

    /// Lines for a terminal, without colours.
    pub(crate) fn to_text(&self) -> String {
        let mut grid = Grid::new(&self.header);
        let marks = self.rows.iter().flatten().any(|cell| cell.best);
        for row in &self.rows {
            grid.add_row(row.iter().map(|cell| match (marks, cell.best) {
                (false, _) => cell.text.clone(),
                (true, true) => format!("{}*", cell.text),
                // The space aligns the digits with those of the marked cell.
                (true, false) => format!("{} ", cell.text),
            }));
        }
        format!("{}\n{grid}\n", self.caption)
    }

    /// A `<table>` element.
    pub(crate) fn to_html(&self) -> String {
        let mut html = format!(
            "<table>\n<caption>{}</caption>\n<thead><tr>",
            escape(&self.caption)
        );
        for name in &self.header {
            let name = escape(name).replace('\n', "<br>");
            let _ = write!(html, "<th>{name}</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let text = escape(&cell.text);
                let _ = match (column, cell.best) {
                    (0, _) => write!(html, "<th>{text}</th>"),
                    (_, true) => write!(html, "<td class=\"best\">{text}</td>"),
                    (_, false) => write!(html, "<td>{text}</td>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut best = Cell::new("1.5");
        best.best = true;
        Table {
            caption: "a < b".into(),
            header: vec!["block".into(), "1 thread".into()],
            rows: vec![
                vec![Cell::new("1"), Cell::new("10.5")],
                vec![Cell::new("2"), best],
            ],
        }
    }

    #[test]
    fn the_best_cell_is_marked() {
        let text = table().to_text();
        assert!(text.contains("1.5*"), "{text}");
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
        let html = table().to_html();
        assert!(html.contains("<td class=\"best\">1.5</td>"), "{html}");
        assert!(html.contains("a &lt; b"), "{html}");
    }
}
