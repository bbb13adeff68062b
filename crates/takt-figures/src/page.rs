//! Pages: one HTML file with everything in it.

use std::fmt::Write as _;

use crate::chart::{Figure, Room, escaped, page_style};
use crate::table::Table;

/// Rules of a page. Colours follow the theme of the viewer; paper is light.
const STYLE: &str = include_str!("page.css");

/// Weight of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// An error.
    Error,
    /// A warning, or a limit of what the page says.
    Warning,
    /// A good result.
    Good,
}

impl Notice {
    const fn class(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Good => "good",
        }
    }
}

/// HTML page: headings, texts, tables and figures one below the other.
///
/// The page has no scripts and refers to no other file. It is readable on a telephone, on paper, and with a light or dark theme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    title: String,
    body: String,
    /// Headings of the first level, with their anchors.
    contents: Vec<(String, String)>,
}

impl Page {
    /// Creates an empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            body: String::new(),
            contents: Vec::new(),
        }
    }

    fn add(&mut self, html: std::fmt::Arguments<'_>) {
        // Writing into a String does not fail.
        let _ = self.body.write_fmt(html);
        self.body.push('\n');
    }

    /// Adds a heading that is in the table of contents.
    pub fn section(&mut self, title: &str) {
        let anchor = format!("section-{}", self.contents.len() + 1);
        self.add(format_args!("<h2 id=\"{anchor}\">{}</h2>", escaped(title)));
        self.contents.push((anchor, title.to_owned()));
    }

    /// Adds a heading below a section.
    pub fn subsection(&mut self, title: &str) {
        self.add(format_args!("<h3>{}</h3>", escaped(title)));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.add(format_args!("<p>{}</p>", escaped(text)));
    }

    /// Adds a list.
    pub fn list<T: AsRef<str>>(&mut self, items: impl IntoIterator<Item = T>) {
        self.body.push_str("<ul>\n");
        for item in items {
            self.add(format_args!("<li>{}</li>", escaped(item.as_ref())));
        }
        self.body.push_str("</ul>\n");
    }

    /// Adds names with their values.
    pub fn terms<N: AsRef<str>, V: AsRef<str>>(&mut self, terms: impl IntoIterator<Item = (N, V)>) {
        self.body.push_str("<dl>\n");
        for (name, value) in terms {
            let (name, value) = (escaped(name.as_ref()), escaped(value.as_ref()));
            self.add(format_args!("<div><dt>{name}</dt><dd>{value}</dd></div>"));
        }
        self.body.push_str("</dl>\n");
    }

    /// Adds a notice: a title, and what there is to say about it.
    pub fn notice<T: AsRef<str>>(
        &mut self,
        notice: Notice,
        title: &str,
        lines: impl IntoIterator<Item = T>,
    ) {
        let role = match notice {
            Notice::Error => " role=\"alert\"",
            Notice::Warning | Notice::Good => "",
        };
        self.add(format_args!(
            "<aside class=\"notice {}\"{role}><p><strong>{}</strong></p>",
            notice.class(),
            escaped(title)
        ));
        for line in lines {
            self.paragraph(line.as_ref());
        }
        self.body.push_str("</aside>\n");
    }

    /// Adds a table with its caption.
    pub fn table(&mut self, table: &Table, caption: &str) {
        self.body.push_str(&table.html(caption));
    }

    /// Adds figures side by side where there is room, each with its caption.
    pub fn figures<'f>(&mut self, figures: impl IntoIterator<Item = (&'f Figure, &'f str)>) {
        self.body.push_str("<div class=\"figures\">\n");
        // Each figure is in the page twice. The style sheet shows the one that fits the screen.
        for (figure, caption) in figures {
            self.add(format_args!(
                "<figure><div class=\"page\">{}</div><div class=\"phone\">{}</div><figcaption>{}</figcaption></figure>",
                figure.element(Room::Page, caption),
                figure.element(Room::Phone, caption),
                escaped(caption)
            ));
        }
        self.body.push_str("</div>\n");
    }

    /// Returns the file.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut contents = String::new();
        if self.contents.len() > 2 {
            contents.push_str("<nav aria-label=\"Contents\"><ol>\n");
            for (anchor, title) in &self.contents {
                let title = escaped(title);
                let _ = writeln!(contents, "<li><a href=\"#{anchor}\">{title}</a></li>");
            }
            contents.push_str("</ol></nav>\n");
        }
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{contents}{}</main>\n</body>\n</html>\n",
            page_style(),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Chart, ChartSeries};
    use crate::table::Column;

    fn page() -> Page {
        let mut page = Page::new("a < b");
        page.notice(Notice::Error, "1 error", ["of <b>"]);
        for section in ["one", "two", "three"] {
            page.section(section);
        }
        page.subsection("below");
        page.terms([("kernel", "6.12")]);
        page.list(["item"]);
        let mut table = Table::new([Column::text("name")]);
        table.row(["value"]);
        page.table(&table, "a table");
        let mut chart = Chart::new("Chart", Axis::new("x"), Axis::new("y"));
        chart.series = vec![ChartSeries::line("line", vec![(1.0, 2.0), (2.0, 3.0)])];
        page.figures([(&Figure::of(chart), "a figure")]);
        page
    }

    #[test]
    fn the_file_has_all_parts_and_refers_to_no_other_file() {
        let html = page().html();
        for part in [
            "<title>a &lt; b</title>",
            "<aside class=\"notice error\" role=\"alert\"><p><strong>1 error</strong></p>\n<p>of &lt;b&gt;</p>",
            "<li><a href=\"#section-3\">three</a></li>",
            "<h2 id=\"section-3\">three</h2>",
            "<dt>kernel</dt><dd>6.12</dd>",
            "<p class=\"caption\">a table</p>",
            "<figcaption>a figure</figcaption>",
            "@media print",
            "@media screen and (prefers-color-scheme: dark)",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
        for part in ["http", "src=", "url(", "@import", "<script", "<link"] {
            assert!(!html.contains(part), "{part}");
        }
        assert_eq!(html.matches("<svg").count(), 2);
    }

    #[test]
    fn elements_are_closed() {
        let html = page().html();
        for name in [
            "div", "p", "ul", "li", "dl", "dt", "dd", "aside", "table", "tr", "th", "figure",
            "svg", "nav", "ol", "main",
        ] {
            let open = html.matches(&format!("<{name}>")).count()
                + html.matches(&format!("<{name} ")).count();
            assert_eq!(open, html.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
