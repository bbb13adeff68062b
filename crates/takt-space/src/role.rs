//! Roles of callers (OPC 10000-3, 4.9; OPC 10000-18).

use std::fmt;
use std::str::FromStr;

/// UserRole of a caller: what it may do. Each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum UserRole {
    /// Browse, read and subscribe.
    #[default]
    Observer,
    /// Write and call, too.
    Operator,
}

impl UserRole {
    /// Returns true if the caller may write Values and call Methods.
    #[inline]
    #[must_use]
    pub fn may_operate(self) -> bool {
        self >= Self::Operator
    }
}

impl fmt::Display for UserRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Observer => "observer",
            Self::Operator => "operator",
        })
    }
}

impl FromStr for UserRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "observer" => Ok(Self::Observer),
            "operator" => Ok(Self::Operator),
            _ => Err(format!("`{text}` is neither observer nor operator")),
        }
    }
}
