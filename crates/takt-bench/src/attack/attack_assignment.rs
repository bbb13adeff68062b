//! Assignment of an attacker: an attacker may start others.

use serde::{Deserialize, Serialize};

use super::kind::Attack;
use super::target::AttackTarget;

/// Assignment of an attacker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttackAssignment {
    pub(super) attack: Attack,
    pub(super) target: AttackTarget,
    /// Divisor of the counts.
    pub(super) divisor: u32,
}
