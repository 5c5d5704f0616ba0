//! One HTML page that needs nothing else: no script, no link, no font.

use super::section::Section;

const STYLE: &str = include_str!("page.css");

/// The whole page.
pub(crate) fn render(title: &str, byline: &str, sections: &[Section]) -> String {
    let body: String = sections.iter().map(Section::to_html).collect();
    let (title, byline) = (escape(title), escape(byline));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n<p class=\"byline\">{byline}</p>\n</header>\n\
         {body}</body>\n</html>\n"
    )
}

/// Text as HTML, for content and for quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
