//! Cases of a campaign: a scenario with values for its swept fields.

use takt_scenario::CampaignBackend;

use crate::digest;

/// One scenario with one combination of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignCase {
    /// Id, from the name of the scenario's file and the values: 16 hexadecimal digits.
    pub id: String,
    /// Index of the scenario in the campaign.
    pub scenario: usize,
    /// Names and values of the campaign's sweeps, of derived fields, and of the scenario's own sweeps, in this order.
    pub values: Vec<(String, String)>,
    /// Those of the values that are fields of the scenario.
    pub settings: Vec<(String, String)>,
}

impl CampaignCase {
    /// Creates a case. The order of its values does not change its id.
    pub(crate) fn new(
        scenario: usize,
        file: &str,
        values: Vec<(String, String)>,
        settings: Vec<(String, String)>,
    ) -> Self {
        let mut sorted: Vec<&(String, String)> = values.iter().collect();
        sorted.sort_unstable();
        let texts = sorted.into_iter().flat_map(|(name, value)| [name, value]);
        let texts = texts.map(String::as_str);
        let mut id = digest::of_parts(std::iter::once(file).chain(texts));
        id.truncate(16);
        Self {
            id,
            scenario,
            values,
            settings,
        }
    }
}

/// A row of a campaign: a repetition of a case by a backend.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowKey {
    /// Id of the case.
    pub case: String,
    /// Backend.
    pub backend: CampaignBackend,
    /// Number of the repetition, from 1.
    pub repetition: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_follows_from_the_values() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let id = |file: &str, values: &[(String, String)]| {
            CampaignCase::new(0, file, values.to_vec(), Vec::new()).id
        };
        let (one, two) = (pair("a", "1"), pair("b", "2"));
        let both = id("line.toml", &[one.clone(), two.clone()]);
        assert_eq!(both, id("line.toml", &[two.clone(), one.clone()]));
        assert_ne!(both, id("d.toml", &[one.clone(), two]));
        assert_ne!(both, id("line.toml", &[one, pair("b", "3")]));
        // Stored results refer to it, so it stays the same in all versions.
        assert_eq!(both, "1f50fe07ae57cf46");
    }
}
