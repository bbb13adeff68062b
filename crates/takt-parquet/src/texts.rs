//! Columns of text.

use parquet::data_type::ByteArray;

/// Texts of a column. Equal ones share their memory.
#[derive(Default)]
pub(crate) struct Texts {
    known: Vec<ByteArray>,
    pub(crate) values: Vec<ByteArray>,
}

impl Texts {
    /// Adds a value.
    pub(crate) fn add(&mut self, text: &str) {
        let mut known = self.known.iter().rev();
        let value = match known.find(|it| it.data() == text.as_bytes()) {
            Some(known) => known.clone(),
            None => {
                let value = ByteArray::from(text);
                self.known.push(value.clone());
                value
            }
        };
        self.values.push(value);
    }
}
