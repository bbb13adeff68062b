//! Applications of all cases of a run, with the quantities in which they differ.

use takt_scenario::names::{named, parameter_name};

use crate::comparison::{ComparedApplication, ComparedCase, ComparedRun};

/// Quantity in which applications differ, with its different values in ascending order.
pub(crate) struct Dimension {
    /// Name with its unit.
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

/// Application of a case.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    /// Number of the case, from 1.
    pub(crate) number: usize,
    pub(crate) case: &'a ComparedCase,
    pub(crate) application: &'a ComparedApplication,
    /// Place of its value in each dimension.
    pub(crate) places: Vec<usize>,
}

/// Applications of all cases of a run.
pub(crate) struct Entries<'a> {
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) all: Vec<Entry<'a>>,
}

/// Fields whose meaning is in the hops or in the payload.
const COVERED: [&str; 4] = ["hops", "repeated_node_count", "payload", "fields"];

impl<'a> Entries<'a> {
    /// Returns the applications of a run. Dimensions: hops, payload, other swept fields, and the application.
    pub(crate) fn of(run: &'a ComparedRun) -> Self {
        let numbered = (1..).zip(&run.cases);
        let all = numbered.flat_map(|(number, case)| {
            let applications = case.applications.iter();
            applications.map(move |application| (number, case, application))
        });
        let all: Vec<(usize, &ComparedCase, &ComparedApplication)> = all.collect();
        let mut columns: Vec<(String, Vec<String>)> = Vec::new();
        let mut add =
            |name: &str, value: &dyn Fn(&ComparedCase, &ComparedApplication) -> String| {
                let values = all.iter().map(|(_, case, it)| value(case, it));
                columns.push((name.to_owned(), values.collect()));
            };
        add("hops", &|_, it| it.hops.to_string());
        add("payload (B)", &|_, it| it.payload.to_string());
        let fields = all.first().map_or(&[][..], |(_, case, _)| &case.settings);
        for (index, (field, _)) in fields.iter().enumerate() {
            let last = field.rsplit('.').next().unwrap_or(field);
            if !COVERED.contains(&last) {
                add(&parameter_name(field), &|case, _| {
                    let setting = case.settings.get(index);
                    setting.map_or_else(String::new, |(_, value)| value.replace(" us", " \u{b5}s"))
                });
            }
        }
        add("application", &|_, it| it.name.clone());
        let mut entries: Vec<Entry<'_>> = all
            .iter()
            .map(|(number, case, application)| Entry {
                number: *number,
                case,
                application,
                places: Vec::new(),
            })
            .collect();
        let mut dimensions = Vec::new();
        for (name, column) in columns {
            let values = different(&column);
            // A value that all entries share tells nothing apart.
            if values.len() < 2 {
                continue;
            }
            for (entry, value) in entries.iter_mut().zip(&column) {
                let place = values.iter().position(|it| it == value);
                entry.places.push(place.unwrap_or(0));
            }
            dimensions.push(Dimension { name, values });
        }
        Self {
            dimensions,
            all: entries,
        }
    }

    /// Returns one of the applications alone: nothing else is there to differ from.
    pub(crate) fn alone(entry: &Entry<'a>) -> Self {
        Self {
            dimensions: Vec::new(),
            all: vec![entry.clone()],
        }
    }

    /// Returns the value of an application in a dimension.
    pub(crate) fn value(&self, entry: &Entry<'_>, dimension: usize) -> &str {
        let place = entry.places.get(dimension).copied().unwrap_or(0);
        let values = self.dimensions.get(dimension).map(|it| &it.values);
        values
            .and_then(|it| it.get(place))
            .map_or("", String::as_str)
    }

    /// Returns what is special about an application: its values in all dimensions.
    pub(crate) fn label(&self, entry: &Entry<'_>) -> String {
        let dimensions = self.dimensions.iter().enumerate();
        let values: Vec<String> = dimensions
            .map(|(index, dimension)| named(&dimension.name, self.value(entry, index)))
            .collect();
        match values.as_slice() {
            [] => entry.application.name.clone(),
            values => values.join(", "),
        }
    }
}

/// Returns the different values: numbers in ascending order, texts in the order of their first places.
fn different(column: &[String]) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in column {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let number = |text: &String| text.parse::<f64>();
    if values.iter().all(|it| number(it).is_ok()) {
        values.sort_by(|one, other| {
            let [one, other] = [one, other].map(|it| number(it).unwrap_or_default());
            one.total_cmp(&other)
        });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_and_texts_keep_their_order() {
        let of = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|it| (*it).to_owned()).collect();
            different(&values)
        };
        assert_eq!(of(&["10", "9", "10", "1.5"]), ["1.5", "9", "10"]);
        assert_eq!(of(&["etf", "cbs", "etf"]), ["etf", "cbs"]);
        assert!(of(&[]).is_empty());
    }
}
