//! One HTML page without scripts, fonts or other files.

use super::section::Section;
use manycore_figure::{escape, style_sheet};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// The note in the page's header, unless all sections were simulated.
const WORLDS: &str = "Numbers that were measured on this machine vary from run to run. Simulated \
     numbers come from a machine that is simulated cycle by cycle, and are the same on any host.";

const SIMULATED: &str = "All numbers on this page come from a machine that is simulated cycle by \
     cycle. They are the same on any host.";

/// Seconds between two reloads of a page with unfinished studies.
const REFRESH: u32 = 10;

/// The content of the page.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// The place and time of the page's making.
    pub(crate) byline: &'a str,
    /// Whether all sections were simulated.
    pub(crate) is_simulated: bool,
    /// Missing parts of the page, with reasons.
    pub(crate) notes: &'a [String],
    pub(crate) sections: &'a [Section],
    /// The unfinished studies. If there are any, an open page reloads itself.
    pub(crate) to_come: &'a [&'static str],
}

impl Page<'_> {
    /// Returns the HTML of the whole page.
    pub(crate) fn render(&self) -> String {
        let body: String = self.sections.iter().map(Section::to_html).collect();
        let (title, byline) = (escape(self.title), escape(self.byline));
        let worlds = if self.is_simulated { SIMULATED } else { WORLDS };
        let note = |note: &String| format!("<p>{}</p>\n", escape(note));
        let mut notes: String = self.notes.iter().map(note).collect();
        let mut refresh = String::new();
        if !self.to_come.is_empty() {
            let names = self.to_come.join(", ");
            notes += &format!("<p>Still being measured: {names}.</p>\n");
            refresh = format!("<meta http-equiv=\"refresh\" content=\"{REFRESH}\">\n");
        }
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             {refresh}<title>{title}</title>\n<style>\n{STYLE}\
             @media screen and (prefers-color-scheme: dark) {{\n{}}}\n</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>\n<p class=\"byline\">{byline}</p>\n<p>{worlds}</p>\n\
             {notes}</header>\n\
             {}<main>\n{body}</main>\n</body>\n</html>\n",
            style_sheet(),
            self.contents()
        )
    }

    /// The finding of each section, with a link.
    fn contents(&self) -> String {
        let mut html = String::from("<nav aria-label=\"Contents\">\n<ol>\n");
        for section in self.sections {
            let (title, place) = (escape(&section.title), escape(&section.place));
            let _ = write!(html, "<li><a href=\"#{}\">{title}</a>", section.anchor());
            if let Some(shown) = section.figures.first() {
                let _ = write!(html, ". {}.", escape(&shown.figure.message));
            }
            if !place.is_empty() {
                let _ = write!(html, " <span class=\"place\">{place}</span>");
            }
            if section.caution.is_some() {
                html.push_str(" <strong>The host was busy during this measurement.</strong>");
            }
            html.push_str("</li>\n");
        }
        html + "</ol>\n</nav>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_link_to_every_section_and_show_its_place() {
        let section = |title: &str, place: &str| Section {
            title: title.into(),
            place: place.into(),
            ..Section::default()
        };
        let sections = [
            section("Work stealing", "Simulated: a < b"),
            section("Sleep", ""),
        ];
        let page = Page {
            title: "t",
            is_simulated: false,
            byline: "b",
            notes: &["x was left out: y & z.".into()],
            sections: &sections,
            to_come: &["barrier"],
        };
        let html = page.render();
        for part in [
            "<a href=\"#work-stealing\">Work stealing</a> <span class=\"place\">Simulated: a &lt; b",
            "<section id=\"work-stealing\">",
            "<a href=\"#sleep\">Sleep</a></li>",
            "y &amp; z.",
            "Still being measured: barrier.",
            "http-equiv=\"refresh\"",
        ] {
            assert!(html.contains(part), "{html} lacks {part}");
        }
    }
}
