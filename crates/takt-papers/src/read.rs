//! Reads the file of a table or figure: names, types and positions are checked.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use crate::element::{
    PaperChart, PaperColumn, PaperElement, PaperFinding, PaperRow, PaperUnit, RowSource, Statistic,
    TracePicture,
};
use crate::error::PaperError;
use crate::expression::{Expression, KnownNames, ValueKind};
use crate::file::{
    ChartFile, ColumnFile, ElementFile, FindingFile, OverFile, PaperExpectation, PaperFigure,
    PictureFile, RowFile, Scalar, TraceFile,
};
use crate::limits::Limits;
use crate::place::FileText;
use crate::trace_spec::{PaperTrace, TraceKind};

impl PaperElement {
    /// Reads the file of an element. `paper` is the short name of its paper.
    pub(crate) fn read(path: &Path, paper: &str) -> Result<Self, PaperError> {
        let text = std::fs::read_to_string(path).map_err(|error| PaperError::read(path, error))?;
        Self::parse(text, path, paper)
    }

    /// Reads an element from a text.
    pub(crate) fn parse(text: String, path: &Path, paper: &str) -> Result<Self, PaperError> {
        let name = path.display().to_string();
        let text = FileText { name, text };
        let file: ElementFile = toml::from_str(&text.text)
            .map_err(|error| text.mistake(&error.span().unwrap_or(0..0), error.message()))?;
        let stem = path.file_stem().unwrap_or_default();
        Reader { text: &text }.element(file, &stem.to_string_lossy(), path, paper)
    }
}

struct Reader<'a> {
    text: &'a FileText,
}

impl Reader<'_> {
    fn element(
        &self,
        file: ElementFile,
        name: &str,
        path: &Path,
        paper: &str,
    ) -> Result<PaperElement, PaperError> {
        if *file.version.get_ref() != 1 {
            let message = "this version of Takt reads version 1";
            return Err(self.text.mistake(&file.version.span(), message));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut campaigns = Vec::new();
        for campaign in file.campaigns.get_ref() {
            let path = folder.join(campaign.get_ref());
            if !path.is_file() {
                let message = format!("there is no campaign {}", path.display());
                return Err(self.text.mistake(&campaign.span(), message));
            }
            campaigns.push(path);
        }
        self.unique(file.campaigns.get_ref().iter())?;
        self.unique(file.columns.get_ref().iter().map(|it| &it.name))?;
        self.unique(file.rows.get_ref().iter().map(|it| &it.name))?;
        self.unique(file.findings.iter().map(|it| &it.name))?;
        for (list, is_empty) in [
            (file.campaigns.span(), file.campaigns.get_ref().is_empty()),
            (file.columns.span(), file.columns.get_ref().is_empty()),
            (file.rows.span(), file.rows.get_ref().is_empty()),
        ] {
            if is_empty {
                return Err(self.text.mistake(&list, "at least one is needed"));
            }
        }
        let columns = file.columns.into_inner().into_iter().map(column);
        let columns: Vec<PaperColumn> = columns.collect();
        let column_names: Vec<String> = columns.iter().map(|it| it.name.clone()).collect();
        let mut rows: Vec<PaperRow> = Vec::new();
        let mut kinds: Vec<(String, ValueKind)> = Vec::new();
        for row in file.rows.into_inner() {
            let known = KnownNames::Cells {
                rows: &kinds,
                columns: &column_names,
            };
            let row = self.row(row, columns.len(), &known)?;
            kinds.push((row.name.clone(), row.unit.kind));
            rows.push(row);
        }
        let known = KnownNames::Cells {
            rows: &kinds,
            columns: &column_names,
        };
        let findings = file.findings.into_iter();
        let findings = findings.map(|it| self.finding(it, &known, &file.source));
        let findings = findings.collect::<Result<Vec<_>, _>>()?;
        let charts = file.charts.into_iter().map(|it| self.chart(it, &rows));
        let charts = charts.collect::<Result<Vec<_>, _>>()?;
        self.unique(file.traces.iter().map(|it| &it.name))?;
        let traces = file.traces.into_iter().map(|it| self.trace(it, folder));
        let traces = traces.collect::<Result<Vec<_>, _>>()?;
        let pictures = file
            .pictures
            .into_iter()
            .map(|it| self.picture(it, &traces));
        let pictures = pictures.collect::<Result<Vec<_>, _>>()?;
        Ok(PaperElement {
            name: name.to_owned(),
            paper: paper.to_owned(),
            place: file.place,
            title: file.title,
            source: file.source,
            campaigns,
            notes: file.notes,
            heading: file.heading,
            columns,
            rows,
            findings,
            charts,
            quick: Limits(self.text).quick(file.quick.as_ref())?,
            traces,
            pictures,
        })
    }

    fn trace(&self, trace: TraceFile, folder: &Path) -> Result<PaperTrace, PaperError> {
        let campaign = folder.join(trace.campaign.get_ref());
        if !campaign.is_file() {
            let message = format!("there is no campaign {}", campaign.display());
            return Err(self.text.mistake(&trace.campaign.span(), message));
        }
        let limits = Limits(self.text);
        let period = trace.period.as_ref().map(|it| limits.period(it));
        let period = period.transpose()?;
        if period.is_none() && trace.kind == TraceKind::Positions {
            let message = "positions need a `period`";
            return Err(self.text.mistake(&trace.name.span(), message));
        }
        Ok(PaperTrace {
            name: trace.name.into_inner(),
            kind: trace.kind,
            campaign,
            settings: texts(trace.settings),
            port: trace.port,
            messages: limits.messages(&trace.messages)?,
            period: period.unwrap_or(0.0),
        })
    }

    fn picture(
        &self,
        picture: PictureFile,
        traces: &[PaperTrace],
    ) -> Result<TracePicture, PaperError> {
        let mut kinds = Vec::new();
        for name in &picture.traces {
            match traces.iter().find(|it| it.name == *name.get_ref()) {
                Some(trace) => kinds.push(trace.kind),
                None => {
                    let message = format!("there is no trace `{}`", name.get_ref());
                    return Err(self.text.mistake(&name.span(), message));
                }
            }
            if kinds.first() != kinds.last() {
                let message = "the traces of a picture are of one kind";
                return Err(self.text.mistake(&name.span(), message));
            }
        }
        Ok(TracePicture {
            title: picture.title,
            traces: picture
                .traces
                .into_iter()
                .map(Spanned::into_inner)
                .collect(),
            range: Limits(self.text).range(picture.range.as_ref())?,
        })
    }

    /// Checks that each name occurs once.
    fn unique<'n>(
        &self,
        names: impl Iterator<Item = &'n Spanned<String>>,
    ) -> Result<(), PaperError> {
        let mut seen: Vec<&String> = Vec::new();
        for name in names {
            if seen.contains(&name.get_ref()) {
                let message = format!("`{}` occurs twice", name.get_ref());
                return Err(self.text.mistake(&name.span(), message));
            }
            seen.push(name.get_ref());
        }
        Ok(())
    }

    fn row(
        &self,
        row: RowFile,
        columns: usize,
        known: &KnownNames<'_>,
    ) -> Result<PaperRow, PaperError> {
        let unit = PaperUnit::new(&row.unit);
        let span = row.name.span();
        let (written, source) = match (&row.value, &row.cells) {
            (Some(value), None) => {
                let expression = self.expression(value, &KnownNames::Quantities)?;
                (value, RowSource::Quantities(expression))
            }
            (None, Some(cells)) => {
                let expression = self.expression(cells, known)?;
                (cells, RowSource::Cells(expression))
            }
            _ => {
                let message = "a row needs one of `value` and `cells`";
                return Err(self.text.mistake(&span, message));
            }
        };
        let (RowSource::Quantities(expression) | RowSource::Cells(expression)) = &source;
        let found = expression.result();
        if found.kind != unit.kind {
            let message = match unit.kind {
                ValueKind::Time => format!("the unit of the row is a time, and this is {found}"),
                _ => format!("the row has no unit of time, and this is {found}"),
            };
            return Err(self.text.mistake(&written.span(), message));
        }
        let paper = match &row.paper {
            None => None,
            Some(figures) if figures.get_ref().len() != columns => {
                let message = format!("expected {columns} figures, one for each column");
                return Err(self.text.mistake(&figures.span(), message));
            }
            Some(figures) => {
                let figures = figures.get_ref().iter();
                Some(figures.map(|it| figure(it, unit.size)).collect())
            }
        };
        Ok(PaperRow {
            name: row.name.into_inner(),
            unit,
            source,
            over: match row.over {
                OverFile::Mean => Statistic::Mean,
                OverFile::Min => Statistic::Min,
                OverFile::Max => Statistic::Max,
            },
            is_bound: row.bound,
            decimals: Limits(self.text).decimals(row.decimals.as_ref())?,
            settings: texts(row.settings),
            paper,
        })
    }

    fn expression(
        &self,
        written: &Spanned<String>,
        known: &KnownNames<'_>,
    ) -> Result<Expression, PaperError> {
        let text = written.get_ref();
        Expression::parse(text, known)
            .map_err(|mistake| self.text.in_expression(&written.span(), text, &mistake))
    }

    fn finding(
        &self,
        finding: FindingFile,
        known: &KnownNames<'_>,
        source: &str,
    ) -> Result<PaperFinding, PaperError> {
        let expected = *finding.expect.get_ref();
        let at = finding.expect.span();
        let wrong = |message: &str| Err(self.text.mistake(&at, message));
        let (has_reason, is_fitted) = (finding.reason.is_some(), finding.fitted.is_some());
        match (expected, &finding.holds) {
            (PaperExpectation::NotDecidable, Some(_)) => {
                return wrong("a finding that is not decidable has no `holds`");
            }
            (PaperExpectation::NotDecidable, None) | (PaperExpectation::NotReproduced, Some(_))
                if !has_reason =>
            {
                return wrong("this verdict needs a `reason`");
            }
            (PaperExpectation::NotDecidable, None) => {}
            (_, None) => return wrong("this verdict needs `holds`"),
            (PaperExpectation::Fitted, _) if !is_fitted => {
                return wrong("`fitted` tells the values that were chosen");
            }
            (PaperExpectation::Reproduced, _) if is_fitted => {
                return wrong("a finding with fitted values is never reproduced");
            }
            _ => {}
        }
        let holds = match &finding.holds {
            None => None,
            Some(written) => {
                let expression = self.expression(written, known)?;
                let found = expression.result();
                if found.kind != ValueKind::Truth || found.is_series {
                    let message = format!("a finding is true or false, and this is {found}");
                    return Err(self.text.mistake(&written.span(), message));
                }
                Some(expression)
            }
        };
        Ok(PaperFinding {
            name: finding.name.into_inner(),
            claim: finding.claim,
            source: finding.source.unwrap_or_else(|| source.to_owned()),
            holds,
            expected,
            reason: finding.reason.unwrap_or_default(),
            fitted: finding.fitted,
            least_messages: finding.least_messages.unwrap_or(0),
        })
    }

    fn chart(&self, chart: ChartFile, rows: &[PaperRow]) -> Result<PaperChart, PaperError> {
        let mut unit: Option<&PaperUnit> = None;
        for name in &chart.rows {
            let Some(row) = rows.iter().find(|row| row.name == *name.get_ref()) else {
                let message = format!("there is no row `{}`", name.get_ref());
                return Err(self.text.mistake(&name.span(), message));
            };
            if unit.is_some_and(|unit| *unit != row.unit) {
                let message = "the rows of a chart have the same unit";
                return Err(self.text.mistake(&name.span(), message));
            }
            unit = Some(&row.unit);
        }
        Ok(PaperChart {
            title: chart.title,
            rows: chart.rows.into_iter().map(Spanned::into_inner).collect(),
            axis: chart.axis,
            has_bars: chart.bars,
            is_ranked: chart.ranked,
            from: Limits(self.text).begin(chart.from.as_ref())?,
        })
    }
}

fn column(column: ColumnFile) -> PaperColumn {
    PaperColumn {
        name: column.name.into_inner(),
        settings: texts(column.settings),
    }
}

fn texts(settings: BTreeMap<String, Scalar>) -> BTreeMap<String, String> {
    let settings = settings.into_iter();
    settings
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

/// Returns a figure of the paper in nanoseconds or as a number.
fn figure(figure: &PaperFigure, size: f64) -> Option<f64> {
    match figure {
        PaperFigure::Integer(number) => Some(*number as f64 * size),
        PaperFigure::Number(number) => Some(number * size).filter(|it| !it.is_nan()),
        PaperFigure::Text(text) if text == "inf" => Some(f64::INFINITY),
        PaperFigure::Text(_) => None,
    }
}
