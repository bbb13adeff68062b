//! Files of scenarios, campaigns and plants: every error has a position, and accepted files give scenarios.

use takt_scenario::{CampaignFile, PlantFile, ScenarioError, ScenarioFile};

fn check(text: &str, error: &ScenarioError) {
    assert!(!error.mistakes.is_empty());
    for mistake in &error.mistakes {
        assert!(text.get(mistake.span.clone()).is_some(), "{mistake}");
    }
}

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match ScenarioFile::parse(text, "fuzz.toml") {
        Ok(file) => match file.variants() {
            Ok(variants) => assert!(!variants.is_empty()),
            Err(error) => check(text, &error),
        },
        Err(error) => check(text, &error),
    }
    match CampaignFile::parse(text, "fuzz.toml") {
        Ok(file) => {
            assert!(!file.scenarios.is_empty() && !file.backends.is_empty());
            for field in &file.derived {
                let values = file
                    .sweeps
                    .iter()
                    .flat_map(|sweep| sweep.values.iter().flatten());
                values.for_each(|value| drop(field.value(value)));
            }
        }
        Err(error) => check(text, &error),
    }
    match PlantFile::parse(text, "fuzz.toml") {
        Ok(file) => {
            for device in &file.devices {
                assert!(device.node.0 < file.network.nodes.len());
            }
            for part in ["topology", "links", "disciplines", "ports", "cross_traffic"] {
                let _ = file.written_tables(part);
            }
        }
        Err(error) => check(text, &error),
    }
}
