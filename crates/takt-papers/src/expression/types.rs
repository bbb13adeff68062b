//! Types of values.

/// Kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A number without a unit; a share is one.
    Number,
    /// A time.
    Time,
    /// A text.
    Text,
    /// True or false.
    Truth,
}

impl ValueKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Time => "time",
            Self::Text => "text",
            Self::Truth => "truth",
        }
    }
}

/// Type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpressionType {
    /// Kind of its values.
    pub kind: ValueKind,
    /// True for one value for each of several cells.
    pub is_series: bool,
}

impl std::fmt::Display for ExpressionType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.kind.name();
        match self.is_series {
            true => write!(f, "a series of {name}s"),
            false => write!(f, "a {name}"),
        }
    }
}
