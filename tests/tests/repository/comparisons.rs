//! Verdicts and ratios in the documents follow from the numbers beside them.

use std::fs;

use takt_tests::binary::repository;

/// Returns the cells of all rows of the tables of a document.
fn rows(document: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join("docs").join(document)).unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split('|');
        cells
            .map(|cell| cell.trim().replace("**", ""))
            .collect::<Vec<_>>()
    };
    rows.map(cells).collect()
}

/// Reads `VALUE (LOW-HIGH)`.
fn interval(cell: &str) -> Option<[f64; 3]> {
    let (value, interval) = cell.strip_suffix(')')?.split_once(" (")?;
    let (low, high) = interval.split_once('-')?;
    Some([value.parse().ok()?, low.parse().ok()?, high.parse().ok()?])
}

/// Returns the verdict of an interval on the goal that a ratio is at most a limit.
fn verdict([_, low, high]: [f64; 3], limit: f64) -> &'static str {
    match (high <= limit, low > limit) {
        (true, _) => "shown",
        (_, true) => "refuted",
        _ => "undecided",
    }
}

/// Least number of rounds with which a goal is decided.
const ROUNDS: u32 = 6;

#[test]
fn verdicts_of_the_middleware_follow_from_their_intervals() {
    let text = fs::read_to_string(repository().join("docs/middleware.md")).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let results = words.windows(2).position(|it| it == ["Results", "of"]);
    let words = &words[results.unwrap()..];
    let rounds = words.windows(2).find(|it| it[1] == "rounds,").unwrap()[0];
    let rounds: u32 = rounds.parse().unwrap();
    let mut judged = 0;
    for row in rows("middleware.md") {
        let [goal, limit, ratio, _, said] = row.as_slice() else {
            continue;
        };
        let (Some(ratio), Ok(limit)) = (interval(ratio), limit.parse::<f64>()) else {
            continue;
        };
        let verdict = match rounds < ROUNDS {
            true => "undecided",
            false => verdict(ratio, limit),
        };
        assert_eq!(verdict, said, "{goal}");
        judged += 1;
    }
    assert_eq!(judged, 13);
}

/// Returns the number of the verdicts shown, undecided and refuted.
fn counted(verdicts: &[&str]) -> Vec<String> {
    let of = |name: &str| verdicts.iter().filter(|it| **it == name).count();
    ["shown", "undecided", "refuted"]
        .map(|name| of(name).to_string())
        .to_vec()
}

#[test]
fn verdicts_of_the_reads_follow_from_their_table() {
    let rows = rows("performance.md");
    let (mut reads, mut tails, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let [nodes, policy, _, floor, speed, tail] = row.as_slice() else {
            continue;
        };
        let (Some(floor), Some([value, low, high]), Some(tail)) =
            (interval(floor), interval(speed), interval(tail))
        else {
            continue;
        };
        // At least 1 is the same as at most -1 of the negative numbers.
        reads.push(verdict([-value, -high, -low], -1.0));
        tails.push(verdict(tail, 1.0));
        if nodes == "1 node" && policy != "None" {
            floors.push(verdict(floor, 1.3));
        }
    }
    for (begin, verdicts) in [
        ("at least as many Reads", reads),
        ("p99 at most", tails),
        ("p50 of a secured Read", floors),
    ] {
        let row = rows.iter().find(|row| row[0].starts_with(begin)).unwrap();
        assert_eq!(row[1..], counted(&verdicts), "{begin}");
    }
}

#[test]
fn times_and_ratios_of_a_read_are_those_of_the_table() {
    let rows = rows("performance.md");
    let times = |begin: &str, end: &str| -> Vec<f64> {
        let is_meant = |row: &&Vec<String>| row[0].starts_with(begin) && row[0].ends_with(end);
        let row = rows.iter().find(is_meant).unwrap();
        row[1..].iter().filter_map(|it| it.parse().ok()).collect()
    };
    let spins = times("Takt, `opc.iox2`", "spin");
    let sleeps = times("Takt, `opc.iox2`", "sleep");
    let other = times("open62541's server", "sleep");
    let text = |path: &str| {
        let text = fs::read_to_string(repository().join(path)).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let readme = format!(
        "a Read takes {} µs if both sides spin, and {} µs on two cores or {} µs on one if they sleep",
        spins[0], sleeps[0], sleeps[1]
    );
    assert!(text("README.md").contains(&readme), "{readme}");
    let ratios = format!(
        "is {:.2} of that of open62541's server on one core, and {:.2} on two cores",
        sleeps[1] / other[1],
        sleeps[0] / other[0]
    );
    assert!(text("docs/performance.md").contains(&ratios), "{ratios}");
}

/// The two kinds of rounds of the middleware, processors near and far from each other.
#[test]
fn polling_shared_memory_is_slower_than_iceoryx2_in_all_cells() {
    let rows = rows("middleware.md");
    let numbers = |row: &Vec<String>| -> Vec<f64> {
        row[2..].iter().filter_map(|it| it.parse().ok()).collect()
    };
    let mut slower = 0;
    for (place, row) in rows.iter().enumerate() {
        if row.len() == 7 && ["near", "far"].contains(&row[0].as_str()) {
            let (other, takt) = (numbers(row), numbers(&rows[place + 1]));
            assert_eq!(rows[place + 1][1], "`takt-iox2`");
            slower += other
                .iter()
                .zip(&takt)
                .filter(|(it, takt)| takt > it)
                .count();
        }
    }
    assert_eq!(slower, 10);
}
