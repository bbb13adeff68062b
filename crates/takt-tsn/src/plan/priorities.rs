//! Maps from the Priority Code Point (PCP) to traffic classes: the table of IEEE 802.1Q, and those of the papers.

/// Recommended traffic class for a number of classes and a priority: IEEE 802.1Q-2022, Table 8-5. A row has 1 to 8
/// classes, a column is a priority. Class 0 is the lowest there.
const RECOMMENDED: [[u8; 8]; 8] = [
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1, 1, 1],
    [0, 0, 0, 0, 1, 1, 2, 2],
    [0, 0, 1, 1, 2, 2, 3, 3],
    [0, 0, 1, 1, 2, 2, 3, 4],
    [1, 0, 2, 2, 3, 3, 4, 5],
    [1, 0, 2, 3, 4, 4, 5, 6],
    [1, 0, 2, 3, 4, 5, 6, 7],
];

/// Table I of "Real-Time Performance of OPC UA", which is the table of IEEE 802.1Q for two SR classes (Table 34-1):
/// class A has PCP 3, class B has PCP 2.
const REAL_TIME_PERFORMANCE_TABLE_I: [u8; 8] = [1, 0, 6, 7, 2, 3, 4, 5];

/// Map from PCPs to classes for ports without a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorityPreset {
    /// IEEE 802.1Q-2022, Table 8-5, for 1 to 8 classes.
    Ieee8021q(u8),
    /// "Real-Time Performance of OPC UA", Table I: eight classes, SR class A (PCP 3) and B (PCP 2) above all others.
    RealTimePerformanceTable,
    /// "Real-Time Performance of OPC UA", section IV-C: the first queue for OPC UA (PCP 3), the second for all others.
    RealTimePerformance,
    /// "Assessment of OPC UA PubSub at Scale", sections IV-B and V-A: OPC UA (PCP 3), the second flow (PCP 2), best
    /// effort.
    AtScale,
}

impl PriorityPreset {
    /// Returns the PCPs of each class, highest class first. Each PCP is in one class.
    pub fn classes(self) -> Vec<Vec<u8>> {
        match self {
            Self::Ieee8021q(count) => {
                let row = usize::from(count.clamp(1, 8)) - 1;
                highest_first(&RECOMMENDED[row])
            }
            Self::RealTimePerformanceTable => highest_first(&REAL_TIME_PERFORMANCE_TABLE_I),
            Self::RealTimePerformance => vec![vec![3], vec![0, 1, 2, 4, 5, 6, 7]],
            Self::AtScale => vec![vec![3], vec![2], vec![0, 1, 4, 5, 6, 7]],
        }
    }

    /// Returns the source of the map.
    pub fn source(self) -> &'static str {
        match self {
            Self::Ieee8021q(_) => "IEEE 802.1Q-2022, Table 8-5",
            Self::RealTimePerformanceTable => "Real-Time Performance of OPC UA, Table I",
            Self::RealTimePerformance => "Real-Time Performance of OPC UA, section IV-C",
            Self::AtScale => "Assessment of OPC UA PubSub at Scale, sections IV-B and V-A",
        }
    }
}

/// Returns the PCPs of each class, highest first, from the class of each PCP, 0 being the lowest.
fn highest_first(class_of: &[u8; 8]) -> Vec<Vec<u8>> {
    let highest = class_of.iter().copied().max().unwrap_or(0);
    let members = |class: u8| (0..8u8).filter(move |pcp| class_of[usize::from(*pcp)] == class);
    (0..=highest)
        .rev()
        .map(|class| members(class).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_as_many_classes_as_it_says() {
        for count in 1..=8u8 {
            let classes = PriorityPreset::Ieee8021q(count).classes();
            assert_eq!(classes.len(), usize::from(count));
            let mut all: Vec<u8> = classes.concat();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn traffic_types_of_annex_i() {
        // Background (1) is below best effort (0); voice (5) and video (4) share a class up to seven classes.
        let classes = |count| PriorityPreset::Ieee8021q(count).classes();
        assert_eq!(classes(2), [vec![4, 5, 6, 7], vec![0, 1, 2, 3]]);
        assert_eq!(classes(4), [vec![6, 7], vec![4, 5], vec![2, 3], vec![0, 1]]);
        let seven = [
            vec![7],
            vec![6],
            vec![4, 5],
            vec![3],
            vec![2],
            vec![0],
            vec![1],
        ];
        assert_eq!(classes(7), seven);
    }

    #[test]
    fn the_reserved_classes_of_table_i_are_highest() {
        let classes = PriorityPreset::RealTimePerformanceTable.classes();
        let expected: [[u8; 1]; 8] = [[3], [2], [7], [6], [5], [4], [0], [1]];
        assert_eq!(classes, expected);
    }
}
