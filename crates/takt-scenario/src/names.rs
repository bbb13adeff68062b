//! Names of swept fields and of their values, for people.

/// Returns the name of a swept field for people, with its owner: `applications.control.cycle` is the "cycle of control".
#[must_use]
pub fn parameter_name(path: &str) -> String {
    let segments: Vec<&str> = path.split('.').collect();
    match segments.as_slice() {
        [.., "classes", class, _] => format!("{} of class {class}", field_name(path)),
        [_, .., owner, _] => format!("{} of {owner}", field_name(path)),
        _ => field_name(path),
    }
}

/// Returns the name of a swept field for people, without its owner.
#[must_use]
pub fn field_name(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).replace('_', " ")
}

/// Returns the name of a quantity with a value: `3 hops`, `59 B`, `discipline etf`.
#[must_use]
pub fn named(name: &str, value: &str) -> String {
    match name {
        "hops" if value == "1" => "1 hop".to_owned(),
        "hops" => format!("{value} hops"),
        "payload (B)" => format!("{value} B"),
        name => format!("{name} {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_name_or_their_unit() {
        for (name, value, text) in [
            ("hops", "1", "1 hop"),
            ("hops", "7", "7 hops"),
            ("payload (B)", "59", "59 B"),
            ("discipline", "etf", "discipline etf"),
        ] {
            assert_eq!(named(name, value), text);
        }
    }

    #[test]
    fn fields_have_readable_names() {
        for (path, name) in [
            ("discipline", "discipline"),
            ("topology.hops", "hops"),
            (
                "applications.control.repeated_node_count",
                "repeated node count of control",
            ),
            ("cross_traffic.iperf3.rate", "rate of iperf3"),
            (
                "disciplines.cbs.classes.A.provisioning",
                "provisioning of class A",
            ),
        ] {
            assert_eq!(parameter_name(path), name);
        }
    }
}
