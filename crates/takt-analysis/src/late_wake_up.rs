//! Late wake-ups in the description of a trace file, with their causes (`docs/wakeup.md`).

use std::cmp::Reverse;

use serde_json::Value;

/// Name of the line of a description that has the worst late wake-ups: an array of JSON objects.
pub const LATE_WAKE_UPS: &str = "late_wake_ups";

/// Name of the line that has the number of all late wake-ups, also of those without room.
pub const LATE_WAKE_UPS_TOTAL: &str = "late_wake_ups_total";

/// Longest name that is kept, in characters. Kernels have shorter ones.
const LONGEST_NAME: usize = 60;

/// Greatest number of late wake-ups that are read, and of causes of each.
const MOST: usize = 10_000;
const MOST_CAUSES: usize = 100;

/// Part of a lateness with its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateCause {
    /// Cause in words, without control characters: `thread load (priority 90)`.
    pub text: String,
    /// Kind of the cause in words: `thread`, `timer late`, `page fault`.
    pub kind: String,
    /// Its time in nanoseconds.
    pub nanos: u64,
}

/// Late wake-up, or cycle that took too long, with its causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateWakeUp {
    /// True for a cycle whose work took too long, false for a thread that woke up late.
    pub is_overrun: bool,
    /// Core of the thread, if it was pinned to one.
    pub core: Option<u64>,
    /// Number of the cycle.
    pub cycle: u64,
    /// Beginning: nanoseconds of CLOCK_TAI. `None` if the clock is not known.
    pub begin_tai_nanos: Option<i64>,
    /// Lateness in nanoseconds.
    pub nanos: u64,
    /// Causes, the longest first. Their times add up to the lateness.
    pub causes: Vec<LateCause>,
}

impl LateWakeUp {
    /// Reads a late wake-up from its object; `None` without a lateness.
    #[must_use]
    pub fn of_object(object: &Value) -> Option<Self> {
        let causes = object["causes"].as_array().into_iter().flatten();
        let mut causes: Vec<LateCause> = causes.take(MOST_CAUSES).map(cause).collect();
        causes.sort_by_key(|it| Reverse(it.nanos));
        Some(Self {
            is_overrun: object["late"] == "overrun",
            core: object["core"].as_u64(),
            cycle: object["cycle"].as_u64().unwrap_or(0),
            begin_tai_nanos: object["beginTaiNs"].as_i64(),
            nanos: object["lateNs"].as_u64()?,
            causes,
        })
    }

    /// Returns the late wake-ups in the description of a trace, the worst first. A damaged line has none.
    #[must_use]
    pub fn of_description(description: &[(String, String)]) -> Vec<Self> {
        let text = value(description, LATE_WAKE_UPS);
        let objects = text.and_then(|text| serde_json::from_str(text).ok());
        let objects: Vec<Value> = objects.unwrap_or_default();
        let mut all: Vec<Self> = objects
            .iter()
            .take(MOST)
            .filter_map(Self::of_object)
            .collect();
        Self::sort_worst(&mut all);
        all
    }

    /// Returns the number of all late wake-ups of a trace, also of those for which its description has no room.
    #[must_use]
    pub fn total(description: &[(String, String)]) -> Option<u64> {
        value(description, LATE_WAKE_UPS_TOTAL)?.parse().ok()
    }

    /// Sorts late wake-ups: the worst come first.
    pub fn sort_worst(all: &mut [Self]) {
        all.sort_by_key(|it| Reverse(it.nanos));
    }

    /// Returns the first `most` causes with their times in microseconds, and the sum of the others.
    #[must_use]
    pub fn causes_text(&self, most: usize) -> String {
        let shown = self.causes.iter().take(most);
        let mut parts: Vec<String> = shown
            .map(|it| format!("{} {}", it.text, micros(it.nanos)))
            .collect();
        let rest = self.causes.iter().skip(most).map(|it| it.nanos);
        // Numbers of a damaged file may have any sum.
        let rest = rest.fold(0, u64::saturating_add);
        if rest > 0 {
            parts.push(format!("others {}", micros(rest)));
        }
        parts.join(", ")
    }
}

fn micros(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1000.0)
}

fn value<'a>(description: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let mut lines = description.iter();
    let line = lines.find(|(known, _)| known == name);
    line.map(|(_, text)| text.as_str())
}

fn cause(share: &Value) -> LateCause {
    let text = |key: &str| share[key].as_str().map(plain);
    let kind = words(&text("cause").unwrap_or_default());
    // The name stands between the words. The longer part belongs to the thread or the idle state.
    let (kind, end) = match kind.strip_suffix(" and return") {
        Some(kind) => (kind.to_owned(), " and return"),
        None => (kind, ""),
    };
    let name = text("name").map(|name| format!(" {name}"));
    let priority = text("priority").map(|priority| format!(" ({priority})"));
    let late_while = match (kind.as_str(), &name, share["idleState"].as_u64()) {
        ("timer late", Some(_), _) => ", processor ran".to_owned(),
        ("timer late", None, Some(state)) => format!(", processor idle in state {state}"),
        ("timer late", None, None) => ", processor idle".to_owned(),
        _ => String::new(),
    };
    LateCause {
        text: format!(
            "{kind}{late_while}{}{}{end}",
            name.unwrap_or_default(),
            priority.unwrap_or_default()
        ),
        kind,
        nanos: share["ns"].as_u64().unwrap_or(0),
    }
}

/// Returns a text of a stranger's file without characters that command a terminal.
fn plain(text: &str) -> String {
    let letters = text.chars().take(LONGEST_NAME);
    letters
        .map(|it| if it.is_control() { '\u{fffd}' } else { it })
        .collect()
}

/// Returns the words of a name in camelCase.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(text: &str) -> Vec<(String, String)> {
        vec![
            ("cycle_ns".to_owned(), "1".to_owned()),
            (LATE_WAKE_UPS.to_owned(), text.to_owned()),
            (LATE_WAKE_UPS_TOTAL.to_owned(), "12".to_owned()),
        ]
    }

    #[test]
    fn causes_are_read_with_their_times() {
        let text = r#"[{"late":"overrun","core":null,"cycle":3,"lateNs":1500,"causes":[]},
            {"late":"wakeUp","core":1,"cycle":7,"beginTaiNs":-5,"lateNs":9000,"causes":[
                {"cause":"softirq","ns":1000,"name":"NET_RX"},
                {"cause":"thread","ns":7000,"name":"a\u001b[31m","thread":5,"priority":"priority 90"},
                {"cause":"timerLate","ns":600},{"cause":"timerLate","ns":500,"idleState":3},
                {"cause":"ownCode","ns":400},
                {"cause":"threadAndReturn","ns":30,"name":"b","priority":"nice 0"}]}]"#;
        let all = LateWakeUp::of_description(&description(text));
        let [worst, other] = all.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!((worst.cycle, worst.core, worst.nanos), (7, Some(1), 9000));
        assert_eq!(worst.begin_tai_nanos, Some(-5));
        assert_eq!(
            worst.causes_text(2),
            "thread a\u{fffd}[31m (priority 90) 7.0, softirq NET_RX 1.0, others 1.5"
        );
        let late = |place: usize| worst.causes.get(place).map(|it| it.text.as_str());
        assert_eq!(late(2), Some("timer late, processor idle"));
        assert_eq!(late(3), Some("timer late, processor idle in state 3"));
        assert_eq!(late(4), Some("own code"));
        assert_eq!(late(5), Some("thread b (nice 0) and return"));
        let kind = worst.causes.get(5).map(|it| it.kind.as_str());
        assert_eq!(kind, Some("thread"));
        assert!(other.is_overrun && other.core.is_none());
        assert_eq!(LateWakeUp::total(&description(text)), Some(12));
    }

    #[test]
    fn damaged_lines_have_none() {
        let lacking = r#"[1, null, {"late": "wakeUp"}, {"lateNs": -1}, {"lateNs": 1e300}]"#;
        for text in ["", "[{", "{}", "7", lacking] {
            assert_eq!(LateWakeUp::of_description(&description(text)), []);
        }
        let large = r#"[{"lateNs": 1, "causes": [{"ns": 18446744073709551615}, {"ns": 18446744073709551615}]}]"#;
        let all = LateWakeUp::of_description(&description(large));
        let text = all.first().map(|it| it.causes_text(0));
        assert_eq!(text.as_deref(), Some("others 18446744073709552.0"));
        assert_eq!(LateWakeUp::total(&[]), None);
    }
}
