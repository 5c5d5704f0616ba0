//! A part of a report, independent of where it is read.

use super::page::escape;
use super::table::Table;
use std::fmt::Write as _;

/// Columns that a paragraph takes on a terminal.
const WIDTH: usize = 88;

/// A heading and what stands under it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// What a section is made of.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Paragraph(String),
    /// Text whose line breaks and columns matter.
    Verbatim(String),
    Table(Table),
    Figure {
        svg: String,
        caption: String,
    },
}

impl Section {
    /// For a terminal; figures stay out.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            let part = match block {
                Block::Paragraph(paragraph) => wrap(paragraph),
                Block::Verbatim(verbatim) => verbatim.trim_end().to_owned() + "\n",
                Block::Table(table) => table.to_text(),
                Block::Figure { .. } => continue,
            };
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&part);
        }
        text
    }

    /// A `<section>` element.
    pub(crate) fn to_html(&self) -> String {
        let title = escape(&self.title);
        format!(
            "<section>\n<h2>{title}</h2>\n{}</section>\n",
            html(&self.blocks)
        )
    }
}

fn html(blocks: &[Block]) -> String {
    let mut html = String::new();
    for block in blocks {
        let _ = match block {
            Block::Paragraph(text) => writeln!(html, "<p>{}</p>", escape(text)),
            Block::Verbatim(text) => writeln!(html, "<pre>{}</pre>", escape(text.trim_end())),
            Block::Table(table) => writeln!(html, "<div class=\"wide\">{}</div>", table.to_html()),
            Block::Figure { svg, caption } => writeln!(
                html,
                "<figure>\n{svg}\n<figcaption>{}</figcaption>\n</figure>",
                escape(caption)
            ),
        };
    }
    html
}

/// Breaks a paragraph into lines.
fn wrap(paragraph: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_no_word_is_lost() {
        let words = vec!["word"; 100].join(" ");
        let text = wrap(&words);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(text.split_whitespace().count(), 100);
    }

    #[test]
    fn figures_are_for_pages() {
        let section = Section {
            title: "T".into(),
            blocks: vec![
                Block::Paragraph("text".into()),
                Block::Figure {
                    svg: "<svg/>".into(),
                    caption: "c & d".into(),
                },
            ],
        };
        assert_eq!(section.to_text(), "text\n");
        assert!(section.to_html().contains("c &amp; d"));
        assert!(section.to_html().contains("<svg/>"));
    }
}
