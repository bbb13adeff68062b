//! The font of charts. It is part of the program, so that a chart looks the same on every machine.

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};

/// Calls `pixel` with place and coverage of each pixel of a text whose baseline begins at `at`.
pub(super) fn draw(text: &str, at: (f64, f64), size: f64, mut pixel: impl FnMut(i64, i64, f64)) {
    // The font is built in: this branch only spares a panic.
    let Some(font) = font() else {
        return;
    };
    let scaled = font.as_scaled(scale(&font, size));
    place(&scaled, text, |glyph, x| {
        let mut glyph = glyph.with_scale(scaled.scale());
        glyph.position = point(at.0 as f32 + x, at.1 as f32);
        if let Some(outline) = scaled.outline_glyph(glyph) {
            let bounds = outline.px_bounds();
            let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
            outline.draw(|x, y, coverage| {
                pixel(left + i64::from(x), top + i64::from(y), f64::from(coverage));
            });
        }
    });
}

/// Returns the width of a text.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let Some(font) = font() else {
        return size * 0.5 * text.chars().count() as f64;
    };
    let scaled = font.as_scaled(scale(&font, size));
    f64::from(place(&scaled, text, |_, _| {}))
}

fn font() -> Option<FontRef<'static>> {
    FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT).ok()
}

/// Returns the scale at which an em has the size.
fn scale(font: &FontRef<'_>, size: f64) -> PxScale {
    let em = font.units_per_em().unwrap_or(1000.0);
    PxScale::from(size as f32 * font.height_unscaled() / em)
}

/// Calls `glyph` with each glyph and its x, and returns the width of all.
fn place<F: Font>(
    font: &impl ScaleFont<F>,
    text: &str,
    mut glyph: impl FnMut(GlyphId, f32),
) -> f32 {
    let mut x = 0.0;
    let mut last = None;
    for character in text.chars() {
        let id = font.glyph_id(character);
        if let Some(last) = last {
            x += font.kern(last, id);
        }
        glyph(id, x);
        x += font.h_advance(id);
        last = Some(id);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_width_and_pixels() {
        assert!(width("hops", 12.0) > 20.0 && width("hops", 12.0) < 40.0);
        assert!((width("hops", 24.0) - 2.0 * width("hops", 12.0)).abs() < 0.1);
        let mut ink = 0.0;
        draw("µ→", (10.0, 20.0), 12.0, |x, y, coverage| {
            assert!((5..60).contains(&x) && (5..30).contains(&y));
            ink += coverage;
        });
        assert!(ink > 10.0, "{ink}");
    }
}
