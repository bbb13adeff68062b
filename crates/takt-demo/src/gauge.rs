//! Values in a form for people: units, names of states, short numbers, and their course over time.

use std::collections::VecDeque;

use takt_app::client::Follow;
use takt_app::{ClientError, Consumer, Item};
use takt_ua::structures::EUInformation;
use takt_ua::{DataValue, Elements, NodeId, StatusCode, Variant, ids};

/// Number of values that a course shows.
const COURSE: usize = 24;
/// Characters for an eighth to eight eighths of a line's height.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Last values of a Variable, and its Properties, which come from the registry.
pub(crate) struct Gauge {
    /// Symbol of the unit, or empty.
    unit: String,
    /// Names of the values 0, 1, 2 and so on.
    states: Vec<String>,
    course: VecDeque<f64>,
    last: Result<DataValue, StatusCode>,
}

impl Gauge {
    /// Reads the Properties of an item.
    pub(crate) fn of(consumer: &mut Consumer, item: &Item) -> Self {
        let mut gauge = Self {
            unit: String::new(),
            states: Vec::new(),
            course: VecDeque::new(),
            last: Err(StatusCode::BadWaitingForInitialData),
        };
        let registry = consumer.registry();
        let properties = registry.browse(&item.node_id, &Follow::forward(ids::HAS_PROPERTY));
        for property in properties.unwrap_or_default() {
            let mut read = |node: &NodeId| registry.read_good(node).unwrap_or_default();
            match property.browse_name.name.as_str() {
                "EngineeringUnits" => gauge.unit = unit(&read(&property.node_id.node_id)),
                "EnumStrings" => gauge.states = names(&read(&property.node_id.node_id)),
                _ => {}
            }
        }
        gauge
    }

    /// Notes the value that was read.
    pub(crate) fn note(&mut self, value: Result<DataValue, ClientError>) {
        self.last = value.map_err(|error| error.status_code());
        if let Ok(DataValue {
            value: Some(Variant::Double(number)),
            ..
        }) = self.last
        {
            if self.course.len() == COURSE {
                self.course.pop_front();
            }
            self.course.push_back(number);
        }
    }

    /// Returns the symbol of the unit, or an empty text.
    pub(crate) fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns the last value in one line, without its unit.
    pub(crate) fn value(&self) -> String {
        match &self.last {
            Ok(value) => value.value.as_ref().map_or(String::new(), |v| self.text(v)),
            Err(_) => String::new(),
        }
    }

    /// Returns the last value, or the StatusCode of its Read.
    pub(crate) const fn last(&self) -> &Result<DataValue, StatusCode> {
        &self.last
    }

    /// Returns the StatusCode of the last value unless it is Good.
    pub(crate) fn bad(&self) -> Option<StatusCode> {
        let status = match &self.last {
            Ok(value) => value.status_code(),
            Err(status) => *status,
        };
        (!status.is_good()).then_some(status)
    }

    /// Returns the unit of [`value`](Self::value): the symbol, unless the value contains it.
    pub(crate) fn shown_unit(&self) -> &str {
        match self.unit.as_str() {
            "B" | "s" => "",
            unit => unit,
        }
    }

    /// Formats a value: numbers with few digits, large counts of bytes and seconds in larger units, arrays by their last element.
    pub(crate) fn text(&self, value: &Variant) -> String {
        let count = match value {
            Variant::Byte(count) => Some(u64::from(*count)),
            Variant::UInt16(count) => Some(u64::from(*count)),
            Variant::UInt32(count) => Some(u64::from(*count)),
            Variant::UInt64(count) => Some(*count),
            _ => None,
        };
        match (value, count, self.unit.as_str()) {
            (_, Some(count), "B") => bytes(count),
            (_, Some(count), "s") => seconds(count),
            (_, Some(count), _) => {
                let name = usize::try_from(count).ok().and_then(|n| self.states.get(n));
                name.cloned().unwrap_or_else(|| count.to_string())
            }
            (Variant::Double(number), ..) => format!("{number:.1}"),
            (Variant::Array(array), ..) => match &array.elements {
                Elements::UInt32(elements) => match elements.last() {
                    Some(last) => format!("… {last}"),
                    None => "[]".to_owned(),
                },
                _ => format!("{} elements", array.len()),
            },
            (other, ..) => takt_ua::json::to_value(other).to_string(),
        }
    }

    /// Returns the course of a number as a line of blocks between its smallest and its largest value; empty for all other types.
    pub(crate) fn course(&self) -> String {
        course(&self.course)
    }
}

fn course(values: &VecDeque<f64>) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Noise of a value at rest stays a flat line.
    let span = (most - least).max(0.05 * most.abs()).max(1.0);
    let height = |value: &f64| {
        let share = ((value - least) / span).clamp(0.0, 1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the share is between 0 and 1"
        )]
        let index = (share * (HEIGHTS.len() - 1) as f64).round() as usize;
        HEIGHTS[index.min(HEIGHTS.len() - 1)]
    };
    values.iter().map(height).collect()
}

/// Formats a number of bytes with a decimal prefix.
fn bytes(count: u64) -> String {
    let prefixes = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let count = count as f64;
    match prefixes.iter().find(|(size, _)| count >= *size) {
        Some((size, prefix)) => format!("{:.1} {prefix}", count / size),
        None => format!("{count} B"),
    }
}

/// Formats a time in its two largest units.
fn seconds(count: u64) -> String {
    let (days, hours, minutes) = (count / 86_400, count / 3_600 % 24, count / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{count} s"),
        (0, 0, _) => format!("{minutes} min {} s", count % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

fn unit(value: &Variant) -> String {
    let Variant::ExtensionObject(object) = value else {
        return String::new();
    };
    let unit = object.decode_as::<EUInformation>();
    unit.map_or(String::new(), |unit| {
        unit.display_name.text.as_str().to_owned()
    })
}

fn names(value: &Variant) -> Vec<String> {
    let Variant::Array(array) = value else {
        return Vec::new();
    };
    let Elements::LocalizedText(names) = &array.elements else {
        return Vec::new();
    };
    let name = |name: &takt_ua::LocalizedText| name.text.as_str().to_owned();
    names.iter().map(name).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a gauge that has read `values`.
    pub(crate) fn gauge(unit: &str, values: &[Variant]) -> Gauge {
        let mut gauge = Gauge {
            unit: unit.to_owned(),
            states: vec!["Stopped".to_owned(), "Running".to_owned()],
            course: VecDeque::new(),
            last: Err(StatusCode::BadWaitingForInitialData),
        };
        for value in values {
            gauge.note(Ok(DataValue::good(value.clone())));
        }
        gauge
    }

    #[test]
    fn values_are_short() {
        for (unit, value, expected) in [
            ("", Variant::Double(4_799.96), "4800.0"),
            ("", Variant::UInt32(1), "Running"),
            ("", Variant::UInt32(9), "9"),
            ("B", Variant::UInt64(25_300_000_000), "25.3 GB"),
            ("B", Variant::UInt64(999), "999 B"),
            ("s", Variant::UInt64(59), "59 s"),
            ("s", Variant::UInt64(3_599), "59 min 59 s"),
            ("s", Variant::UInt64(8_000), "2 h 13 min"),
            ("s", Variant::UInt64(90_000), "1 d 1 h"),
            ("", Variant::Boolean(true), "true"),
            ("", vec![1_u32, 7].into(), "… 7"),
        ] {
            assert_eq!(gauge(unit, &[value]).value(), expected);
        }
    }

    #[test]
    fn a_course_spans_its_values() {
        let rising: Vec<Variant> = (0..30).map(|n| Variant::Double(f64::from(n))).collect();
        let course = gauge("", &rising).course();
        assert_eq!(course.chars().count(), COURSE);
        assert!(course.starts_with('▁') && course.ends_with('█'), "{course}");
        let rest = [Variant::Double(100.0), Variant::Double(100.1)];
        assert_eq!(gauge("", &rest).course(), "▁▁");
        assert_eq!(gauge("", &[Variant::Boolean(true)]).course(), "");
    }
}
