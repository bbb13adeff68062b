//! Options of the kernel, as `make allnoconfig` reads them.

/// All options but those of disciplines that are newer than this file.
const OPTIONS: &str = include_str!("../../uml/kernel.config");

/// Returns the options, with one for each discipline that a scenario may have.
pub(super) fn configuration() -> String {
    let mut options = OPTIONS.to_owned();
    for discipline in takt_scenario::disciplines() {
        let option = format!("CONFIG_NET_SCH_{}=y\n", discipline.name.to_uppercase());
        if !options.contains(&option) {
            options.push_str(&option);
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_discipline_has_one_option() {
        let options = configuration();
        for name in ["FQ_CODEL", "CBS"] {
            let option = format!("CONFIG_NET_SCH_{name}=y");
            assert_eq!(options.lines().filter(|line| *line == option).count(), 1);
        }
        assert!(options.starts_with(OPTIONS));
    }
}
