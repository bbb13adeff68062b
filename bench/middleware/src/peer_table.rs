//! Table of the measured peers: their versions, their settings and the documentation of these.

use takt_figures::{Column, Table};

use crate::row::Subject;

/// Key of the version of a peer's library.
const VERSION: &str = "version";
/// Key of the name and the version of a broker.
const BROKER: &str = "broker";

/// Returns versions and settings of the measured variants. The row of a further variant of a peer has its options, and only the settings
/// that differ.
pub(crate) fn peers(subjects: &[Subject]) -> Table {
    let columns = ["peer", "title", "versions", "settings", "documentation"].map(Column::text);
    let mut table = Table::new(columns);
    let measured: Vec<&Subject> = subjects.iter().filter(|it| !it.info.is_empty()).collect();
    for subject in &measured {
        let first = measured.iter().find(|it| it.place == subject.place);
        let first = first.filter(|it| it.label != subject.label);
        let label = subject.label.clone();
        table.row(match first {
            None => [
                label,
                subject.title.clone(),
                versions(subject),
                settings(subject, &[]).join("; "),
                subject.source.clone(),
            ],
            Some(first) => {
                let [title, versions, source] = [const { String::new() }; 3];
                let mut all = subject.options.clone();
                all.extend(settings(subject, &first.info));
                [label, title, versions, all.join("; "), source]
            }
        });
    }
    table
}

/// Returns the version of the library, and the broker with its version.
fn versions(subject: &Subject) -> String {
    let of = |key: &'static str| subject.info.iter().filter(move |(found, _)| found == key);
    let values = of(VERSION)
        .chain(of(BROKER))
        .map(|(_, value)| value.as_str());
    values.collect::<Vec<_>>().join("; ")
}

/// Returns the settings that are not among those of another variant.
fn settings(subject: &Subject, other: &[(String, String)]) -> Vec<String> {
    let is_setting = |it: &&(String, String)| {
        let is_version = it.0 == VERSION || it.0 == BROKER;
        !is_version && !other.contains(*it)
    };
    let settings = subject.info.iter().filter(is_setting);
    let settings = settings.map(|(key, value)| match key.as_str() {
        "setting" => value.clone(),
        _ => format!("{key} {value}"),
    });
    settings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(label: &str, info: &[(&str, &str)]) -> Subject {
        let info = info
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Subject {
            place: 0,
            label: label.to_owned(),
            title: "MQTT".to_owned(),
            options: label.split(' ').skip(1).map(str::to_owned).collect(),
            required: true,
            source: "https://mqtt.example".to_owned(),
            missing: None,
            is_elsewhere: false,
            link_loses: false,
            info: info.collect(),
            is_networked: true,
            is_floor: false,
            resources: Vec::new(),
            calls: None,
            leftovers: None,
        }
    }

    #[test]
    fn the_first_measured_variant_has_the_versions_and_all_settings() {
        let broker = ("broker", "mosquitto 2.0");
        let common = [broker, ("version", "1.3"), ("setting", "clean session")];
        let [level_1, level_2] =
            ["QoS 1", "QoS 2"].map(|level| [&common[..], &[("setting", level)]].concat());
        // The plain variant was left out.
        let plain = variant("mqtt", &[]);
        let all = [
            plain,
            variant("mqtt qos=1", &level_1),
            variant("mqtt qos=2", &level_2),
        ];
        let lines: Vec<String> = peers(&all).markdown().lines().map(str::to_owned).collect();
        let [.., first, second] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert!(
            first.contains("1.3; mosquitto 2.0 | clean session; QoS 1 | https:"),
            "{first}"
        );
        assert!(
            second.contains("QoS 2") && !second.contains("clean"),
            "{second}"
        );
        let same = [
            variant("mqtt", &level_1),
            variant("mqtt poll=true", &level_1),
        ];
        assert!(peers(&same).markdown().contains("| poll=true |"));
    }
}
