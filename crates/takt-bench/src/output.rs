//! Where results go: lines for people, or JSON, one object a line, for programs.

use serde::Serialize;

use super::error::BenchError;

/// Hands on each line.
pub(crate) struct Output<L> {
    line: L,
    json: bool,
}

impl<L: FnMut(String)> Output<L> {
    pub(crate) fn new(line: L, json: bool) -> Self {
        Self { line, json }
    }

    /// Something for people, who read the error output if the result is for programs.
    pub(crate) fn note(&mut self, note: &str) {
        if self.json {
            tracing::info!("{note}");
        } else {
            (self.line)(note.to_owned());
        }
    }

    /// A line that only people need.
    pub(crate) fn line(&mut self, text: &str) {
        if !self.json {
            (self.line)(text.to_owned());
        }
    }

    /// A result, for both.
    pub(crate) fn object<T: Serialize + std::fmt::Display>(
        &mut self,
        object: &T,
    ) -> Result<(), BenchError> {
        if self.json {
            return self.json(object);
        }
        (self.line)(object.to_string());
        Ok(())
    }

    /// A result that people are shown in another form.
    pub(crate) fn json<T: Serialize>(&mut self, object: &T) -> Result<(), BenchError> {
        if self.json {
            let line = serde_json::to_string(object);
            (self.line)(line.map_err(|error| BenchError::Option(error.to_string()))?);
        }
        Ok(())
    }
}
