//! The charts: latency over the size of the value, and how latencies are distributed, a curve for each subject.

use plotters::prelude::{
    ChartBuilder, Circle, DrawingBackend, IntoLogRange, LineSeries, PathElement, ShapeStyle,
    TRANSPARENT, Text, WHITE,
};
use plotters::style::IntoFont;

use super::row::Row;
use super::sizes;
use crate::measure::Samples;
use crate::picture::{Area, COLOURS, Drawing, FONT, Outcome};

/// Width, in pixels.
const WIDTH: u32 = 1500;
/// Height of each placement's charts, in pixels.
const HEIGHT: u32 = 520;

/// Width of the legend, in pixels.
const LEGEND: u32 = 330;

/// Enough for a line at every 1, 2, 3 … 10 of a logarithmic axis; `number` says which of them are labelled.
const LABELS: usize = 30;

/// The Reads of one subject at one placement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    pub(super) label: String,
    pub(super) placement: String,
    /// Bytes and median in µs, in ascending order of bytes.
    pub(super) medians: Vec<(f64, f64)>,
    /// Of the smallest value: µs, and the share of Reads that took at most so long.
    pub(super) distribution: Vec<(f64, f64)>,
}

/// Sorts the Reads among `rows` into curves; each row has its samples at the same place.
pub(super) fn curves(rows: &[Row], samples: &[Samples]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    #[allow(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
    for (row, samples) in rows
        .iter()
        .zip(samples)
        .filter(|(row, _)| row.service == "Read")
    {
        let detail = match row.access.as_str() {
            "bytes" => String::new(),
            access => format!(", {access}"),
        };
        let label = format!("{}, {}{detail}", row.subject(), row.wait);
        let point = (row.payload_bytes as f64, row.median);
        let same = |curve: &&mut Curve| curve.label == label && curve.placement == row.placement;
        match curves.iter_mut().find(same) {
            Some(curve) => curve.medians.push(point),
            None => curves.push(Curve {
                label,
                placement: row.placement.clone(),
                medians: vec![point],
                distribution: samples.distribution(),
            }),
        }
    }
    curves
}

/// A row of charts for each placement.
pub(super) struct Charts<'a> {
    pub(super) placements: &'a [&'a str],
    pub(super) curves: &'a [Curve],
}

impl Drawing for Charts<'_> {
    fn size(&self) -> (u32, u32) {
        let rows = u32::try_from(self.placements.len()).unwrap_or(1).max(1);
        (WIDTH, HEIGHT * rows)
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>) -> Outcome<B> {
        let (placements, curves) = (self.placements, self.curves);
        area.fill(&WHITE)?;
        let styled = styled(curves);
        let rows = area.split_evenly((placements.len().max(1), 1));
        for (row, placement) in rows.iter().zip(placements) {
            let curves: Vec<Styled<'_>> = styled
                .iter()
                .filter(|(curve, _)| curve.placement == *placement)
                .copied()
                .collect();
            let (width, _) = row.dim_in_pixel();
            let (charts, legend) = row.split_horizontally(width.saturating_sub(LEGEND));
            if let [over_size, distribution] = charts.split_evenly((1, 2)).as_slice() {
                let cores = match *placement {
                    "same" => "one core",
                    _ => "different cores",
                };
                draw_over_size(over_size, cores, &curves)?;
                draw_distribution(distribution, cores, &curves)?;
            }
            draw_legend(&legend, &curves)?;
        }
        area.present()
    }
}

fn draw_over_size<B: DrawingBackend>(
    area: &Area<B>,
    cores: &str,
    curves: &[Styled<'_>],
) -> Outcome<B> {
    let points = || curves.iter().flat_map(|(curve, _)| &curve.medians);
    let (bytes, micros) = (
        range(points().map(|p| p.0), 1.5),
        range(points().map(|p| p.1), 2.0),
    );
    let mut chart = ChartBuilder::on(area)
        .caption(
            format!("GetValue(): median over size of the value, {cores}"),
            (FONT, 18).into_font(),
        )
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(bytes.log_scale().base(4.0), micros.log_scale())?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of at most 16 MiB"
    )]
    chart
        .configure_mesh()
        .x_desc("bytes of the value")
        .y_desc("µs")
        .x_labels(12)
        .y_labels(LABELS)
        .x_label_formatter(&|bytes| sizes::text(bytes.round() as usize))
        .y_label_formatter(&|micros| number(*micros))
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    for (curve, style) in curves.iter().copied() {
        chart.draw_series(LineSeries::new(curve.medians.iter().copied(), style))?;
        chart.draw_series(
            curve
                .medians
                .iter()
                .map(|point| Circle::new(*point, 3, style.filled())),
        )?;
    }
    Ok(())
}

fn draw_distribution<B: DrawingBackend>(
    area: &Area<B>,
    cores: &str,
    curves: &[Styled<'_>],
) -> Outcome<B> {
    let points = || curves.iter().flat_map(|(curve, _)| &curve.distribution);
    let size = curves.iter().find_map(|(curve, _)| curve.medians.first());
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of at most 16 MiB"
    )]
    let size = size.map_or_else(String::new, |(bytes, _)| sizes::text(*bytes as usize));
    let mut chart = ChartBuilder::on(area)
        .caption(
            format!("GetValue() of {size}: distribution, {cores}"),
            (FONT, 18).into_font(),
        )
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(range(points().map(|p| p.0), 1.2).log_scale(), 0.0..100.0)?;
    chart
        .configure_mesh()
        .x_desc("µs")
        .y_desc("% took at most so long")
        .x_labels(LABELS)
        .x_label_formatter(&|micros| number(*micros))
        .y_label_formatter(&|share| format!("{share:.0}"))
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    for (curve, style) in curves.iter().copied() {
        chart.draw_series(LineSeries::new(steps(&curve.distribution), style))?;
    }
    Ok(())
}

/// From nothing, up at each value: shares in percent.
fn steps(distribution: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut points = Vec::with_capacity(2 * distribution.len());
    for (micros, share) in distribution {
        let share = share * 100.0;
        points.extend([(*micros, before), (*micros, share)]);
        before = share;
    }
    points
}

fn draw_legend<B: DrawingBackend>(area: &Area<B>, curves: &[Styled<'_>]) -> Outcome<B> {
    let mut y = 60;
    for (curve, style) in curves.iter().copied() {
        area.draw(&PathElement::new(vec![(6, y), (34, y)], style))?;
        area.draw(&Text::new(
            curve.label.clone(),
            (42, y - 8),
            (FONT, 15).into_font(),
        ))?;
        y += 24;
    }
    Ok(())
}

/// A curve and how it looks.
type Styled<'a> = (&'a Curve, ShapeStyle);

/// A subject has the same colour wherever it is; a second round of colours has thinner lines.
fn styled(curves: &[Curve]) -> Vec<Styled<'_>> {
    let mut labels: Vec<&str> = Vec::new();
    let mut styled = Vec::with_capacity(curves.len());
    for curve in curves {
        let known = labels.iter().position(|label| *label == curve.label);
        let number = known.unwrap_or(labels.len());
        if known.is_none() {
            labels.push(&curve.label);
        }
        let colour = COLOURS.iter().cycle().nth(number).copied();
        let style = ShapeStyle {
            color: colour.unwrap_or_default().into(),
            filled: false,
            stroke_width: if number < COLOURS.len() { 2 } else { 1 },
        };
        styled.push((curve, style));
    }
    styled
}

/// Around all values, by `factor` on both sides; values are above zero.
fn range(values: impl Iterator<Item = f64>, factor: f64) -> std::ops::Range<f64> {
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::MAX, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low > high {
        return 1.0..10.0;
    }
    low / factor..high * factor
}

/// As short as it can be said. Nothing unless it begins with 1, 2 or 5: on a logarithmic axis others would run into each
/// other.
fn number(value: f64) -> String {
    let leading = value / 10_f64.powf(value.log10().floor());
    if ![1.0, 2.0, 5.0, 10.0]
        .iter()
        .any(|wanted| (leading - wanted).abs() < 0.01)
    {
        return String::new();
    }
    if value >= 1.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}").trim_end_matches('0').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Picture;

    #[test]
    fn what_is_drawn_can_be_read_again() {
        let curves: Vec<Curve> = (1..4)
            .map(|number| Curve {
                label: format!("subject {number}"),
                placement: "diff".to_owned(),
                medians: vec![(4.0, f64::from(number)), (4096.0, f64::from(number) * 2.0)],
                distribution: vec![(f64::from(number), 0.5), (f64::from(number) * 3.0, 1.0)],
            })
            .collect();
        let directory =
            std::env::temp_dir().join(format!("takt-bench-plot-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = |name: &str| directory.join(name).to_string_lossy().into_owned();
        let (svg, png) = (file("a.svg"), file("a.png"));
        for path in [&svg, &png] {
            let charts = Charts {
                placements: &["diff"],
                curves: &curves,
            };
            path.parse::<Picture>().unwrap().draw(&charts).unwrap();
        }
        let text = std::fs::read_to_string(&svg).unwrap();
        for said in ["subject 3", "different cores", "4096 B", "</svg>"] {
            assert!(text.contains(said), "{said}");
        }
        let decoder =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&png).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (WIDTH, HEIGHT));
        // Lines and text, on white.
        let white = pixels.iter().filter(|&&value| value == 255).count();
        assert!(white > pixels.len() / 2 && white < pixels.len() - 10_000);
        std::fs::remove_dir_all(&directory).unwrap();
        let nowhere: Picture = "/nowhere/a.png".parse().unwrap();
        let charts = Charts {
            placements: &["diff"],
            curves: &curves,
        };
        assert!(nowhere.draw(&charts).is_err());
    }

    #[test]
    fn a_subject_has_one_colour() {
        let curve = |number: usize, placement: &str| Curve {
            label: format!("subject {number}"),
            placement: placement.to_owned(),
            medians: Vec::new(),
            distribution: Vec::new(),
        };
        let curves: Vec<Curve> = (0..20).map(|number| curve(number, "diff")).collect();
        let all = [curves, vec![curve(3, "same")]].concat();
        let styled = styled(&all);
        assert_eq!(styled[20].1, styled[3].1);
        for (number, (_, style)) in styled.iter().take(20).enumerate() {
            assert!(
                styled[..number].iter().all(|(_, other)| other != style),
                "{number}"
            );
        }
    }

    #[test]
    fn shares_are_steps_up_to_all() {
        let steps = steps(&[(1.0, 0.25), (5.0, 1.0)]);
        assert_eq!(steps, [(1.0, 0.0), (1.0, 25.0), (5.0, 25.0), (5.0, 100.0)]);
        assert_eq!(range(steps.iter().map(|step| step.0), 2.0), 0.5..10.0);
        assert_eq!(range(std::iter::empty(), 2.0), 1.0..10.0);
        let texts = [0.5, 0.02, 0.2, 1.0, 3.0, 80.0, 200.0, 1000.0].map(number);
        assert_eq!(texts, ["0.5", "0.02", "0.2", "1", "", "", "200", "1000"]);
    }
}
