//! A part of a report, for a terminal or a page.

use super::table::Table;
use manycore_figure::{Figure, escape};
use std::fmt::Write as _;

/// The width of a paragraph on a terminal, in columns.
const WIDTH: usize = 88;

/// A heading and its contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// The source of the numbers: measured here, or simulated.
    pub(crate) place: String,
    /// The reason why the numbers are unreliable, if they are.
    pub(crate) caution: Option<String>,
    /// The section's question and its terms. A reader understands it without other pages.
    pub(crate) lead: String,
    pub(crate) figures: Vec<Captioned>,
    pub(crate) blocks: Vec<Block>,
    /// The names of the written files.
    pub(crate) files: Vec<String>,
}

/// A figure and its caption.
#[derive(Clone, Debug)]
pub(crate) struct Captioned {
    pub(crate) figure: Figure,
    pub(crate) caption: String,
}

/// The text under the figures.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Paragraph(String),
    /// Text with significant line breaks and columns.
    Verbatim(String),
    Table(Table),
}

impl Captioned {
    /// Adds a caption to a figure, and drops panels that show nothing. Returns `None` if no panel is left.
    pub(crate) fn new(mut figure: Figure, caption: &str) -> Option<Self> {
        figure.panels.retain(|panel| !panel.is_empty());
        let caption = caption.to_owned();
        (!figure.panels.is_empty()).then_some(Self { figure, caption })
    }

    /// The figure in two widths, for a page and for a phone. The style sheet shows one of the two.
    fn to_html(&self) -> String {
        let [wide, narrow] = self.figure.for_pages();
        let caption = escape(&self.caption);
        format!(
            "<figure>\n<div class=\"page-wide\">{wide}</div>\n\
             <div class=\"phone-wide\">{narrow}</div>\n\
             <figcaption>{caption}</figcaption>\n</figure>\n"
        )
    }
}

impl Section {
    /// The section for a terminal, without figures.
    pub(crate) fn to_text(&self) -> String {
        let mut parts: Vec<String> = self.caution.iter().map(|text| wrap(text)).collect();
        if !self.lead.is_empty() {
            parts.push(wrap(&self.lead));
        }
        // The figures' titles.
        let messages = self.figures.iter().map(|shown| &shown.figure.message);
        parts.extend(messages.map(|message| wrap(&format!("{message}."))));
        parts.extend(self.blocks.iter().map(|block| match block {
            Block::Paragraph(paragraph) => wrap(paragraph),
            Block::Verbatim(verbatim) => verbatim.trim_end().to_owned() + "\n",
            Block::Table(table) => table.to_text(),
        }));
        parts.join("\n")
    }

    /// The target of links on the page.
    pub(crate) fn anchor(&self) -> String {
        self.title.to_lowercase().replace(' ', "-")
    }

    /// A `<section>` element: the finding in a sentence, one figure, and the rest folded.
    pub(crate) fn to_html(&self) -> String {
        let mut html = format!("<section id=\"{}\">\n", self.anchor());
        let _ = writeln!(html, "<h2>{}</h2>", escape(&self.title));
        html.push_str(&paragraph("place", &self.place));
        html.push_str(&paragraph(
            "caution",
            self.caution.as_deref().unwrap_or_default(),
        ));
        // The first figure's title is the finding. A section without figures begins with its question.
        match self.figures.first() {
            Some(shown) => html.push_str(&shown.to_html()),
            None => html.push_str(&paragraph("lead", &self.lead)),
        }
        html.push_str(
            "<details>\n<summary>The question, the measurement, and all numbers</summary>\n",
        );
        if !self.figures.is_empty() {
            html.push_str(&paragraph("question", &self.lead));
        }
        html.extend(self.figures.iter().skip(1).map(Captioned::to_html));
        html.push_str(&blocks(&self.blocks));
        if !self.files.is_empty() {
            let link = |name: &String| {
                let name = escape(name);
                format!("<a href=\"{name}\">{name}</a>")
            };
            let links: Vec<String> = self.files.iter().map(link).collect();
            let _ = writeln!(html, "<p class=\"files\">Files: {}</p>", links.join(", "));
        }
        html.push_str("</details>\n");
        html.push_str("</section>\n");
        html
    }
}

/// A paragraph with a style class. Returns an empty string if there is no text.
fn paragraph(class: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        _ => format!("<p class=\"{class}\">{}</p>\n", escape(text)),
    }
}

fn blocks(blocks: &[Block]) -> String {
    let mut html = String::new();
    for block in blocks {
        let _ = match block {
            Block::Paragraph(text) => writeln!(html, "<p>{}</p>", escape(text)),
            Block::Verbatim(text) => writeln!(
                html,
                "<pre tabindex=\"0\">{}</pre>",
                escape(text.trim_end())
            ),
            Block::Table(table) => writeln!(
                html,
                "<div class=\"wide\" tabindex=\"0\">{}</div>",
                table.to_html()
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
    fn a_page_has_a_finding_and_a_figure_and_folds_the_rest() {
        let figure = Figure {
            part: String::new(),
            message: "c & d".into(),
            note: String::new(),
            panels: vec![],
        };
        let section = Section {
            title: "Two words".into(),
            place: "simulated: x".into(),
            caution: Some("Busy.".into()),
            lead: "Lead.".into(),
            figures: vec![Captioned {
                figure,
                caption: "e < f".into(),
            }],
            blocks: vec![Block::Paragraph("text".into())],
            files: vec!["two.csv".into()],
        };
        assert_eq!(section.to_text(), "Busy.\n\nLead.\n\nc & d.\n\ntext\n");
        let html = section.to_html();
        let order = [
            "id=\"two-words\"",
            "simulated: x",
            "Busy.",
            "c &amp; d",
            "e &lt; f",
            "<details>",
            "Lead.",
            "<p>text",
            "href=\"two.csv\"",
            "</details>",
        ];
        let places = order.map(|part| html.find(part).unwrap_or_else(|| panic!("{part}: {html}")));
        assert!(places.is_sorted(), "{html}");
    }
}
