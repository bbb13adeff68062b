//! Drawings as SVG. Colours are classes of a style sheet, so that one file suits light and dark surroundings.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::paint::{COLOURS, Colour, Paint, Palette, STEPS};
use super::scene::{Anchor, Scene, Shape};

const FONTS: &str = "Ubuntu, 'Helvetica Neue', Arial, sans-serif";

/// Returns the drawing as an SVG document.
pub(super) fn document(scene: &Scene, palette: Palette) -> String {
    let mut out = String::new();
    // Writing into a String does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"takt\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" \
         font-family=\"{FONTS}\">",
        scene.width, scene.height
    );
    let _ = writeln!(out, "<style>\n{}</style>", style_sheet(scene, palette));
    shapes(&mut out, scene);
    out
}

/// Returns the drawing as an SVG element of a page that has the rules of [`page_style`].
pub(super) fn element_of_page(scene: &Scene, description: &str) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg class=\"takt\" role=\"img\" aria-label=\"{}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\" \
         font-family=\"{FONTS}\">",
        escaped(description),
        scene.width,
        scene.height
    );
    shapes(&mut out, scene);
    out
}

fn shapes(out: &mut String, scene: &Scene) {
    let _ = writeln!(
        out,
        "<rect class=\"{}\" width=\"{}\" height=\"{}\"/>",
        fill(Paint::Background),
        scene.width,
        scene.height
    );
    for shape in &scene.shapes {
        let _ = writeln!(out, "{}", element(shape));
    }
    out.push_str("</svg>\n");
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Line {
            points,
            width,
            dashes,
            paint,
        } => {
            let points: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{},{}", number(*x), number(*y)))
                .collect();
            let dashes: Vec<String> = dashes.iter().map(|length| number(*length)).collect();
            let dashes = match dashes.as_slice() {
                [] => String::new(),
                dashes => format!(" stroke-dasharray=\"{}\"", dashes.join(" ")),
            };
            format!(
                "<polyline class=\"{}\" stroke-width=\"{}\"{dashes} points=\"{}\"/>",
                stroke(*paint),
                number(*width),
                points.join(" ")
            )
        }
        Shape::Area {
            points,
            opacity,
            paint,
        } => {
            let points: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{},{}", number(*x), number(*y)))
                .collect();
            let opacity = match *opacity {
                1.0.. => String::new(),
                opacity => format!(" fill-opacity=\"{}\"", crate::number::trimmed(opacity, 2)),
            };
            format!(
                "<polygon class=\"{}\"{opacity} points=\"{}\"/>",
                fill(*paint),
                points.join(" ")
            )
        }
        Shape::Dot {
            centre,
            radius,
            paint,
        } => format!(
            "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            fill(*paint),
            number(centre.0),
            number(centre.1),
            number(*radius)
        ),
        Shape::Text {
            at,
            anchor,
            size,
            bold,
            paint,
            text,
        } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *bold { " font-weight=\"600\"" } else { "" };
            format!(
                "<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}{weight}>{}</text>",
                fill(*paint),
                number(at.0),
                number(at.1),
                number(*size),
                escaped(text)
            )
        }
    }
}

/// Returns the rules for the colours that a drawing uses.
fn style_sheet(scene: &Scene, palette: Palette) -> String {
    let mut paints: BTreeSet<(Paint, bool)> = BTreeSet::from([(Paint::Background, false)]);
    for shape in &scene.shapes {
        paints.insert(match shape {
            Shape::Line { paint, .. } => (*paint, true),
            Shape::Area { paint, .. } | Shape::Dot { paint, .. } | Shape::Text { paint, .. } => {
                (*paint, false)
            }
        });
    }
    rules(&paints, palette)
}

/// Returns the rules for all colours, for pages whose charts have none. They follow the theme of the viewer; paper is light.
pub(crate) fn page_style() -> String {
    let single = [
        Paint::Background,
        Paint::Text,
        Paint::Muted,
        Paint::Grid,
        Paint::Axis,
        Paint::Bound,
    ];
    let lines = (0..COLOURS).map(Paint::Distinct);
    let lines = lines.chain((0..=STEPS).map(Paint::Ordered));
    let paints = single.into_iter().chain(lines);
    let paints = paints.flat_map(|paint| [(paint, false), (paint, true)]);
    rules(&paints.collect(), Palette::Adaptive)
}

/// Returns the rules for colours of areas, and, where the flag is set, of lines.
fn rules(paints: &BTreeSet<(Paint, bool)>, palette: Palette) -> String {
    let rules = |dark: bool| {
        let mut rules = String::new();
        for (paint, is_stroke) in paints {
            let colour = hex(paint.colour(dark));
            let _ = match is_stroke {
                true => writeln!(rules, ".{}{{stroke:{colour};fill:none}}", stroke(*paint)),
                false => writeln!(rules, ".{}{{fill:{colour}}}", fill(*paint)),
            };
        }
        rules
    };
    let lines = ".takt polyline{stroke-linejoin:round;stroke-linecap:butt}\n";
    match palette {
        Palette::Light => format!("{lines}{}", rules(false)),
        Palette::Dark => format!("{lines}{}", rules(true)),
        Palette::Adaptive => format!(
            "{lines}{}@media screen and (prefers-color-scheme: dark) {{\n{}}}\n",
            rules(false),
            rules(true)
        ),
    }
}

fn name(paint: Paint) -> String {
    match paint {
        Paint::Background => "background".to_owned(),
        Paint::Text => "text".to_owned(),
        Paint::Muted => "muted".to_owned(),
        Paint::Grid => "grid".to_owned(),
        Paint::Axis => "axis".to_owned(),
        Paint::Bound => "bound".to_owned(),
        Paint::Distinct(number) => format!("distinct{}", number % COLOURS),
        Paint::Ordered(place) => format!("ordered{place}"),
    }
}

fn fill(paint: Paint) -> String {
    format!("f-{}", name(paint))
}

fn stroke(paint: Paint) -> String {
    format!("s-{}", name(paint))
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

fn number(value: f64) -> String {
    crate::number::trimmed(value, 1)
}

/// Returns a text with the signs of markup escaped.
pub(crate) fn escaped(text: &str) -> String {
    // `&` comes first, because the others bring new ones.
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn scene() -> Scene {
        let mut scene = Scene {
            width: 100.0,
            height: 50.0,
            shapes: Vec::new(),
        };
        scene.line(vec![(0.0, 1.25), (10.0, 2.0)], 2.0, Paint::Distinct(0));
        scene.text((5.0, 5.0), Anchor::Middle, 10.0, Paint::Text, "a < b & c");
        scene
    }

    #[test]
    fn texts_are_escaped_and_numbers_short() {
        let svg = document(&scene(), Palette::Light);
        assert!(svg.contains(">a &lt; b &amp; c</text>"), "{svg}");
        assert!(svg.contains("points=\"0,1.2 10,2\""), "{svg}");
        assert!(!svg.contains("prefers-color-scheme"), "{svg}");
    }

    #[test]
    fn one_file_suits_light_and_dark() {
        let svg = document(&scene(), Palette::Adaptive);
        let (light, dark) = svg
            .split_once("@media screen and (prefers-color-scheme: dark)")
            .unwrap();
        assert!(light.contains(".f-background{fill:#FFFFFF}"), "{light}");
        assert!(dark.contains(".f-background{fill:#0D1117}"), "{dark}");
        assert!(document(&scene(), Palette::Dark).contains(".f-background{fill:#0D1117}"));
    }
}
