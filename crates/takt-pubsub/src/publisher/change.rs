//! Changes of values, which delta frames contain (OPC 10000-14, 6.2.3.7.1; OPC 10000-4, 7.22.2).

use takt_ua::structures::PublishedVariableDataType;
use takt_ua::{DataValue, Variant};

/// Smallest difference from the last sent value that is a change.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Deadband {
    /// Smallest absolute difference; 0 for any difference.
    absolute: f64,
}

/// DeadbandType of OPC 10000-4, 7.22.2.
const ABSOLUTE: u32 = 1;

impl Deadband {
    /// Returns the deadband of a Variable. A deadband in percent needs the Variable's EURange, which a Publisher does not have:
    /// any difference counts then.
    pub(crate) fn of_variable(variable: &PublishedVariableDataType) -> Self {
        let absolute = variable.deadband_type == ABSOLUTE && variable.deadband_value > 0.0;
        Self {
            absolute: if absolute {
                variable.deadband_value
            } else {
                0.0
            },
        }
    }

    /// Returns true if `value` is a change after `sent`.
    pub(crate) fn is_change(self, sent: &DataValue, value: &DataValue) -> bool {
        if sent.status_code() != value.status_code() {
            return true;
        }
        match (&sent.value, &value.value) {
            (Some(sent), Some(value)) => self.differs(sent, value),
            (sent, value) => sent != value,
        }
    }

    fn differs(self, sent: &Variant, value: &Variant) -> bool {
        if self.absolute == 0.0 {
            return sent != value;
        }
        // Another type is a change, even of an equal number.
        if sent.built_in_type() != value.built_in_type() {
            return true;
        }
        match (sent.as_array(), value.as_array()) {
            (None, None) => match (sent.as_f64(), value.as_f64()) {
                (Some(sent), Some(value)) => self.far(sent, value),
                _ => sent != value,
            },
            (Some(old), Some(new)) if old.lengths() == new.lengths() => old
                .elements
                .iter()
                .zip(new.elements.iter())
                .any(|(old, new)| match (old.as_f64(), new.as_f64()) {
                    (Some(old), Some(new)) => self.far(old, new),
                    _ => old != new,
                }),
            _ => true,
        }
    }

    fn far(self, sent: f64, value: f64) -> bool {
        let difference = (sent - value).abs();
        // The value has become NaN, or is no longer NaN.
        difference > self.absolute || sent.is_nan() != value.is_nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::StatusCode;

    fn deadband(absolute: f64) -> Deadband {
        Deadband::of_variable(&PublishedVariableDataType {
            deadband_type: ABSOLUTE,
            deadband_value: absolute,
            ..PublishedVariableDataType::default()
        })
    }

    #[test]
    fn small_differences_are_no_change() {
        let sent = DataValue::good(10.0);
        assert!(!deadband(1.0).is_change(&sent, &DataValue::good(11.0)));
        assert!(deadband(1.0).is_change(&sent, &DataValue::good(11.5)));
        assert!(deadband(0.0).is_change(&sent, &DataValue::good(10.1)));
        assert!(deadband(1.0).is_change(&sent, &DataValue::good(f64::NAN)));
        let uncertain = DataValue::good(10.0).with_status(StatusCode::Uncertain);
        assert!(deadband(1.0).is_change(&sent, &uncertain));
        let array = |values: &[f64]| DataValue::good(values.to_vec());
        assert!(!deadband(1.0).is_change(&array(&[1.0, 2.0]), &array(&[1.5, 2.5])));
        assert!(deadband(1.0).is_change(&array(&[1.0, 2.0]), &array(&[1.5, 3.5])));
    }

    #[test]
    fn another_type_or_shape_is_a_change_whatever_the_numbers_are() {
        let sent = DataValue::good(10.0);
        assert!(deadband(1.0).is_change(&sent, &DataValue::good(10_u32)));
        let matrix = |dimensions: &[u32]| {
            DataValue::good(takt_ua::Array {
                dimensions: dimensions.to_vec(),
                ..takt_ua::Array::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
            })
        };
        assert!(deadband(1.0).is_change(&matrix(&[2, 3]), &matrix(&[3, 2])));
        assert!(!deadband(1.0).is_change(&matrix(&[2, 3]), &matrix(&[2, 3])));
        // NaN does not hide the values behind it.
        let nan = DataValue::good(f64::NAN);
        assert!(deadband(1.0).is_change(&nan, &sent));
        assert!(!deadband(1.0).is_change(&nan, &nan));
    }
}
