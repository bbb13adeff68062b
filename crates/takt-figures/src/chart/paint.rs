//! Colours of charts, on a light and on a dark background.
//!
//! Colours of lines are told apart with the common colour vision deficiencies (protan and deutan). The distinct colours follow
//! Okabe and Ito ("Color Universal Design", 2008), the ordered ones are viridis. Lines beyond the distinct colours differ in
//! their dashes.

/// Colour of a part of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paint {
    /// Background.
    Background,
    /// Titles and labels.
    Text,
    /// Names of axes and labels of ticks.
    Muted,
    /// Lines at ticks.
    Grid,
    /// Lines of axes, and lines between a line and its label.
    Axis,
    /// Bounds and limits.
    Bound,
    /// Line with this number, among lines without an order.
    Distinct(usize),
    /// Line of an ordered chart with its place, from 0 to [`STEPS`].
    Ordered(usize),
}

/// Number of places of ordered colours.
pub(crate) const STEPS: usize = 32;

/// Dashes and gaps, in widths of the line, of lines that have the same colour.
pub(crate) const DASHES: [&[f64]; 4] = [&[], &[5.0, 2.5], &[1.0, 2.0], &[8.0, 2.0, 1.0, 2.0]];

/// Red, green and blue values.
pub(crate) type Colour = [u8; 3];

/// Colours on one kind of background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Palette {
    /// Colours on white.
    Light,
    /// Colours on a dark background.
    Dark,
    /// Colours on white; in SVG files, dark for viewers with a dark theme.
    Adaptive,
}

/// Distinct colours on white and on a dark background: blue, vermilion, green, sky blue, wine, black
/// or white.
const DISTINCT: [[Colour; 6]; 2] = [
    [
        [0x00, 0x72, 0xB2],
        [0xD5, 0x5E, 0x00],
        [0x00, 0x9E, 0x73],
        [0x56, 0xB4, 0xE9],
        [0x88, 0x22, 0x55],
        [0x11, 0x14, 0x18],
    ],
    [
        [0x4A, 0x9B, 0xE8],
        [0xFF, 0x8C, 0x3B],
        [0x2D, 0xC5, 0x97],
        [0xA8, 0xE0, 0xFF],
        [0xB8, 0x5C, 0x9E],
        [0xF0, 0xF3, 0xF6],
    ],
];

/// Ordered colours, between which others are interpolated: on white up to green, on a dark background from blue on.
const ORDERED: [[Colour; 5]; 2] = [
    [
        [0x44, 0x01, 0x54],
        [0x3E, 0x4A, 0x89],
        [0x26, 0x82, 0x8E],
        [0x20, 0xA3, 0x86],
        [0x5F, 0xC1, 0x3C],
    ],
    [
        [0x6C, 0x7B, 0xD9],
        [0x3F, 0xA7, 0xD6],
        [0x2F, 0xC4, 0xA4],
        [0x8F, 0xDB, 0x5B],
        [0xFD, 0xE7, 0x25],
    ],
];

/// Number of distinct colours.
pub(crate) const COLOURS: usize = DISTINCT[0].len();

impl Paint {
    /// Returns the colour on white, or on a dark background.
    pub(crate) fn colour(self, dark: bool) -> Colour {
        let choose = |light: Colour, dark_one: Colour| if dark { dark_one } else { light };
        match self {
            Self::Background => choose([0xFF; 3], [0x0D, 0x11, 0x17]),
            Self::Text => choose([0x1F, 0x23, 0x28], [0xE6, 0xED, 0xF3]),
            Self::Muted => choose([0x59, 0x63, 0x6E], [0x91, 0x98, 0xA1]),
            Self::Grid => choose([0xE4, 0xE8, 0xEC], [0x26, 0x2C, 0x36]),
            Self::Axis => choose([0x8C, 0x95, 0x9F], [0x65, 0x6C, 0x76]),
            Self::Bound => choose([0xC4, 0x11, 0x1E], [0xFF, 0x5C, 0x5C]),
            Self::Distinct(number) => DISTINCT[usize::from(dark)][number % COLOURS],
            Self::Ordered(place) => between(&ORDERED[usize::from(dark)], place),
        }
    }
}

/// Returns the colour at a place between the first and the last one.
fn between(colours: &[Colour; 5], place: usize) -> Colour {
    let at = place.min(STEPS) as f64 / STEPS as f64 * 4.0;
    // At the last place, `at` is 4, but the last pair of colours begins at 3.
    let from = (at.floor() as usize).min(3);
    let share = at - from as f64;
    let mut mixed = [0; 3];
    for (index, channel) in mixed.iter_mut().enumerate() {
        let (low, high) = (colours[from][index], colours[from + 1][index]);
        *channel = (f64::from(low) + (f64::from(high) - f64::from(low)) * share).round() as u8;
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the relative luminance (WCAG 2.2).
    fn luminance(colour: Colour) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
    }

    fn contrast(one: Colour, other: Colour) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    #[test]
    fn colours_have_enough_contrast_with_the_background() {
        let lines = (0..COLOURS).map(Paint::Distinct);
        let lines = lines.chain((0..=STEPS).map(Paint::Ordered));
        let lines = lines.chain([Paint::Bound]);
        let lines: Vec<(Paint, f64)> = lines.map(|paint| (paint, 2.2)).collect();
        let texts = [(Paint::Text, 7.0), (Paint::Muted, 4.5)];
        for dark in [false, true] {
            let background = Paint::Background.colour(dark);
            for (paint, least) in lines.iter().chain(&texts) {
                let contrast = contrast(paint.colour(dark), background);
                assert!(contrast >= *least, "{paint:?} {dark}: {contrast}");
            }
        }
    }

    /// Returns the colour as seen without long-wave or medium-wave cones (Viénot, Brettel, Mollon, 1999).
    fn seen(colour: Colour, is_protan: bool) -> [f64; 3] {
        let [red, green, blue] = colour.map(|channel| (f64::from(channel) / 255.0).powf(2.2));
        let (share, rest) = if is_protan {
            (0.11238, 0.00401)
        } else {
            (0.29275, -0.02234)
        };
        let yellow = share * red + (1.0 - share) * green;
        let blue = blue + rest * (red - green);
        [yellow, yellow, blue].map(|light| light.max(0.0).powf(1.0 / 2.2))
    }

    #[test]
    fn distinct_colours_differ_for_colour_blind_readers() {
        let lines = (0..COLOURS).map(Paint::Distinct);
        let lines: Vec<Paint> = lines.chain([Paint::Bound]).collect();
        let pairs = lines.iter().enumerate();
        let pairs = pairs.flat_map(|(index, one)| lines[..index].iter().map(move |it| (one, it)));
        // Bounds differ from data by their shape as well. Vermilion is not used beside them before the sixth series.
        let is_used = |(one, other): &(&Paint, &Paint)| {
            **one != Paint::Bound || **other != Paint::Distinct(1)
        };
        for (one, other) in pairs.filter(is_used) {
            for (dark, is_protan) in [(false, true), (false, false), (true, true), (true, false)] {
                let seen = |paint: &Paint| seen(paint.colour(dark), is_protan);
                let (one_seen, other_seen) = (seen(one), seen(other));
                let differences = one_seen.iter().zip(other_seen);
                let squares = differences.map(|(one, other)| (one - other).powi(2));
                let distance = squares.sum::<f64>().sqrt();
                assert!(distance > 0.12, "{dark} {one:?} {other:?}: {distance}");
            }
        }
    }
}
