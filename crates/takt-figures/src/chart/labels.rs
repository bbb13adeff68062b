//! Places of labels, so that no label covers another.

/// Returns places of labels in a column: as near as possible to the wanted places, at least `gap` apart, between `low` and
/// `high`. The order is that of the wanted places. If there is not enough room for all labels, they are closer together.
pub(super) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let count = wanted.len();
    let room = (high - low).max(0.0) / count.saturating_sub(1).max(1) as f64;
    let gap = gap.min(room);
    // Without the gaps, places must not descend. The nearest such places are means of neighbours that would descend (isotonic
    // regression).
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (index, place) in wanted.iter().enumerate() {
        blocks.push((place - gap * index as f64, 1));
        while let [.., (before, count_before), (last, count_last)] = blocks.as_slice()
            && before > last
        {
            let count = count_before + count_last;
            let sum = before * *count_before as f64 + last * *count_last as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((sum / count as f64, count));
        }
    }
    let places = blocks
        .iter()
        .flat_map(|(place, count)| std::iter::repeat_n(*place, *count));
    let highest = high - gap * count.saturating_sub(1) as f64;
    let places = places.map(|place| place.min(highest).max(low));
    let gaps = (0..count).map(|index| gap * index as f64);
    places.zip(gaps).map(|(place, gap)| place + gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_as_little_as_possible() {
        assert_eq!(
            spread(&[10.0, 50.0, 90.0], 15.0, 0.0, 100.0),
            [10.0, 50.0, 90.0]
        );
        assert_eq!(spread(&[50.0, 50.0], 20.0, 0.0, 100.0), [40.0, 60.0]);
        assert_eq!(
            spread(&[0.0, 0.0, 100.0], 10.0, 0.0, 100.0),
            [0.0, 10.0, 100.0]
        );
        assert_eq!(spread(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
        assert_eq!(
            spread(&[5.0, 5.0, 5.0], 60.0, 0.0, 100.0),
            [0.0, 50.0, 100.0]
        );
        assert!(spread(&[], 10.0, 0.0, 1.0).is_empty());
    }
}
