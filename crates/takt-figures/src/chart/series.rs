//! Shapes of series.

use super::figure::{BoxPlot, ChartSeries, IntervalMark, SeriesShape};
use super::look::Look;
use super::paint::Paint;
use super::plot::Plot;
use super::scene::{Point, Scene, Shape};

/// Radius of a mark.
const MARK: f64 = 3.0;
/// Opacity of the inside of a box.
const INSIDE: f64 = 0.35;

/// Draws a series.
pub(super) fn draw(scene: &mut Scene, series: &ChartSeries, look: &Look, plot: &Plot) {
    let at = |points: &[(f64, f64)]| -> Vec<Point> {
        points.iter().map(|point| plot.point(*point)).collect()
    };
    match &series.shape {
        SeriesShape::Line { points, marks } => {
            let points = at(points);
            if *marks {
                points
                    .iter()
                    .for_each(|point| dot(scene, *point, MARK, look.paint));
            }
            if points.len() > 1 {
                scene.shapes.push(Shape::Line {
                    points,
                    width: look.width,
                    dashes: look.dashes.clone(),
                    paint: look.paint,
                });
            }
        }
        SeriesShape::Dots(points) => {
            for point in at(points) {
                dot(scene, point, 2.0, look.paint);
            }
        }
        SeriesShape::Diamonds(points) => {
            for point in at(points) {
                scene.diamond(point, 5.0, look.paint);
            }
        }
        SeriesShape::Triangles(points) => {
            for point in at(points) {
                scene.triangle(point, 4.0, look.paint);
            }
        }
        SeriesShape::Crosses(points) => {
            for point in at(points) {
                cross(scene, point, look.paint);
            }
        }
        SeriesShape::Boxes(boxes) => {
            for it in boxes {
                draw_box(scene, it, look.paint, plot);
            }
        }
        SeriesShape::Intervals(marks) => {
            let values = marks.iter().map(|it| (it.place, it.value));
            let points = at(&values.collect::<Vec<_>>());
            if points.len() > 1 {
                scene.shapes.push(Shape::Line {
                    points,
                    width: look.width / 2.0,
                    dashes: look.dashes.clone(),
                    paint: look.paint,
                });
            }
            for it in marks {
                draw_interval(scene, it, look.paint, plot);
            }
        }
        SeriesShape::Levels(levels) => {
            for it in levels {
                let ends = at(&[(it.from, it.value), (it.to, it.value)]);
                scene.line(ends, look.width + 0.5, look.paint);
            }
        }
        SeriesShape::Bars(bars) => {
            for it in bars {
                let (left, top) = plot.point((it.from, it.value));
                let (right, _) = plot.point((it.to, it.value));
                // Gaps between narrow bars would be a large part of the picture.
                let gap = if right - left > 4.0 { 0.5 } else { 0.0 };
                if top < plot.bottom {
                    scene.rectangle(
                        (left + gap, top),
                        (right - gap, plot.bottom),
                        0.8,
                        look.paint,
                    );
                }
            }
        }
    }
}

/// Draws the sign of a series beside its label, between two ends of a short line.
pub(super) fn draw_sign(
    scene: &mut Scene,
    series: &ChartSeries,
    look: &Look,
    from: Point,
    to: Point,
) {
    let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
    match &series.shape {
        SeriesShape::Dots(_) => dot(scene, middle, MARK, look.paint),
        SeriesShape::Diamonds(_) => scene.diamond(middle, 5.0, look.paint),
        SeriesShape::Triangles(_) => scene.triangle(middle, 4.0, look.paint),
        SeriesShape::Crosses(_) => cross(scene, middle, look.paint),
        SeriesShape::Boxes(_) | SeriesShape::Bars(_) => {
            let corner = |dx: f64, dy: f64| (middle.0 + dx, middle.1 + dy);
            scene.rectangle(corner(-5.0, -5.0), corner(5.0, 5.0), INSIDE, look.paint);
            scene.line(vec![corner(-5.0, 0.0), corner(5.0, 0.0)], 2.0, look.paint);
        }
        SeriesShape::Intervals(_) => {
            scene.line(vec![from, to], look.width / 2.0, look.paint);
            bar(
                scene,
                (middle.0, middle.1 - 5.0),
                (middle.0, middle.1 + 5.0),
                look.paint,
            );
            dot(scene, middle, MARK, look.paint);
        }
        SeriesShape::Levels(_) => scene.line(vec![from, to], look.width + 0.5, look.paint),
        SeriesShape::Line { .. } => scene.shapes.push(Shape::Line {
            points: vec![from, to],
            width: look.width,
            dashes: look.dashes.clone(),
            paint: look.paint,
        }),
    }
}

fn dot(scene: &mut Scene, centre: Point, radius: f64, paint: Paint) {
    scene.shapes.push(Shape::Dot {
        centre,
        radius,
        paint,
    });
}

/// Draws a vertical line with a short one at each end.
fn bar(scene: &mut Scene, from: Point, to: Point, paint: Paint) {
    scene.line(vec![from, to], 1.5, paint);
    for (x, y) in [from, to] {
        scene.line(vec![(x - 4.0, y), (x + 4.0, y)], 1.5, paint);
    }
}

fn draw_interval(scene: &mut Scene, it: &IntervalMark, paint: Paint, plot: &Plot) {
    let at = |value: f64| plot.point((it.place, value));
    bar(scene, at(it.low), at(it.high), paint);
    dot(scene, at(it.value), MARK, paint);
    if let Some(extreme) = it.extreme {
        scene.diamond(at(extreme), 4.0, paint);
    }
}

/// Draws a cross whose middle is at a point.
fn cross(scene: &mut Scene, (x, y): Point, paint: Paint) {
    let arm = 4.5;
    scene.line(vec![(x - arm, y - arm), (x + arm, y + arm)], 2.0, paint);
    scene.line(vec![(x - arm, y + arm), (x + arm, y - arm)], 2.0, paint);
}

fn draw_box(scene: &mut Scene, it: &BoxPlot, paint: Paint, plot: &Plot) {
    let at = |share: f64, value: f64| plot.point((it.place + share * it.width / 2.0, value));
    let mut line = |width: f64, from: Point, to: Point| scene.line(vec![from, to], width, paint);
    line(1.5, at(0.0, it.low), at(0.0, it.first_quartile));
    line(1.5, at(0.0, it.third_quartile), at(0.0, it.high));
    for end in [it.low, it.high] {
        line(1.5, at(-0.5, end), at(0.5, end));
    }
    let (one, other) = (at(-1.0, it.first_quartile), at(1.0, it.third_quartile));
    let outline = vec![one, (other.0, one.1), other, (one.0, other.1), one];
    line(2.5, at(-1.0, it.median), at(1.0, it.median));
    scene.rectangle(one, other, INSIDE, paint);
    scene.line(outline, 1.2, paint);
    for value in &it.outliers {
        dot(scene, at(0.0, *value), 1.8, paint);
    }
}
