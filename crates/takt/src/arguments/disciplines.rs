//! Queueing disciplines as values of options: names and help texts are those of their descriptions.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use takt_scenario::{DisciplineDescription, disciplines};

/// Returns a parser of disciplines. `more` returns the end of the help text of a discipline.
pub(super) fn parser(
    more: fn(&str) -> &'static str,
) -> impl TypedValueParser<Value = &'static DisciplineDescription> {
    let values = disciplines().map(move |discipline| {
        let help = format!("{}{}", discipline.help, more(discipline.name));
        PossibleValue::new(discipline.name).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| {
        let mut disciplines = disciplines();
        let found = disciplines.find(|discipline| discipline.name == name);
        found.ok_or_else(|| format!("`{name}` is not a discipline"))
    })
}
