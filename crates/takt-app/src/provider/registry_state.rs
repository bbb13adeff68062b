//! State of the registration of a Provider, for its application.

use std::sync::{Mutex, PoisonError};

/// State of the registration of a Provider at its registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryState {
    /// The Provider was started [without a registry](crate::ProviderBuilder::without_registry).
    Disabled,
    /// The Provider is not registered, and tries again and again: Consumers do not find it, or find it as not available.
    NotRegistered {
        /// Reason of the last attempt that failed; `None` before the first one.
        reason: Option<String>,
    },
    /// The registry answers, and the Provider adds its nodes.
    Registering,
    /// The Provider is available at the registry.
    Registered,
}

impl std::fmt::Display for RegistryState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Disabled => f.write_str("without a registry"),
            Self::NotRegistered { reason: None } => f.write_str("not registered"),
            Self::NotRegistered {
                reason: Some(reason),
            } => write!(f, "not registered: {reason}"),
            Self::Registering => f.write_str("registering"),
            Self::Registered => f.write_str("registered"),
        }
    }
}

/// A [`RegistryState`] that the registration sets and the application reads.
pub(super) struct SharedState(Mutex<RegistryState>);

impl SharedState {
    pub(super) fn new(state: RegistryState) -> Self {
        Self(Mutex::new(state))
    }

    pub(super) fn get(&self) -> RegistryState {
        self.lock().clone()
    }

    pub(super) fn is_registered(&self) -> bool {
        *self.lock() == RegistryState::Registered
    }

    /// Sets the state; returns the previous one.
    pub(super) fn set(&self, state: RegistryState) -> RegistryState {
        std::mem::replace(&mut *self.lock(), state)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RegistryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
