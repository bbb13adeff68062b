//! Filter of rows.

/// Words that a row's label must have.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter(Vec<String>);

impl Filter {
    /// Creates the filter of `--only`. Without a text it matches every row.
    pub(super) fn new(text: Option<&str>) -> Self {
        Self(
            text.unwrap_or_default()
                .split_whitespace()
                .map(str::to_lowercase)
                .collect(),
        )
    }

    /// Returns true if each word is in the label. A number must be a whole word, so that 4 does not match 4096.
    pub(super) fn matches(&self, label: &str) -> bool {
        let label = label.to_lowercase();
        let mut wanted = self.0.iter();
        wanted.all(|wanted| {
            let is_number = wanted.bytes().all(|byte| byte.is_ascii_digit());
            let mut words = label.split(' ');
            words.any(|word| word == wanted || !is_number && word.contains(wanted))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_of_a_filter_must_match() {
        let label = "takt opc.iox2 Read 4096 diff spin";
        for (filter, matches) in [
            ("", true),
            ("iox2", true),
            ("READ diff", true),
            ("diff iox2 4096", true),
            ("4", false),
            ("read same", false),
            ("open62541", false),
        ] {
            assert_eq!(
                Filter::new(Some(filter)).matches(label),
                matches,
                "{filter}"
            );
        }
        assert!(Filter::new(None).matches(label));
    }
}
