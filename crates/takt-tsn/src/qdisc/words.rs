//! Words of `tc`: parameters as options with their values.

/// Returns numbers with spaces between them.
pub(super) fn joined(numbers: impl Iterator<Item = impl ToString>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(" ")
}

/// Returns names and values of options that the kernel keeps as they are given.
pub(super) fn pairs(phrases: &[String]) -> Vec<(String, String)> {
    let split = phrases.iter().filter_map(|phrase| phrase.split_once(' '));
    split
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Returns a name and a value.
pub(super) fn pair(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}
