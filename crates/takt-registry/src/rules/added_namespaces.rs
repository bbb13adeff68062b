//! Namespaces that Providers have beside their own ones: a Provider appends their URIs to the NamespaceArray.
//!
//! The database keeps the URI of such a namespace, its Provider and the owner that is charged with it together: none of them is
//! durable without the others. When the Provider is forgotten, the namespace keeps its index and belongs to nobody. The next Provider
//! that adds a node there gets it.

use std::fmt::Display;

use takt_app::refusals::shown;
use takt_space::Caller;
use takt_ua::{StatusCode, UaString, Variant};

use super::Rules;
use crate::database::{AddedNamespace, OfClient};
use crate::forwarding::Naming;

/// Longest URI of a namespace in bytes.
const LONGEST_URI: usize = 1024;

/// Bytes of memory of an added namespace that waits for the disk, beside its URI.
const WAITING: usize = 512;

impl Rules {
    /// Adds namespaces for a Provider: it writes the NamespaceArray with more URIs at its end.
    pub(super) fn add_namespaces(
        &self,
        caller: &Caller,
        value: Variant,
        losses: u64,
    ) -> Result<(), StatusCode> {
        let Some((name, _)) = self.providers.speaker(caller) else {
            return Err(self.refuse_change(
                caller,
                &"only a registered Provider adds namespaces, after its Object of ProviderType",
            ));
        };
        let given = Vec::<UaString>::try_from(value).map_err(|_| StatusCode::BadTypeMismatch)?;
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let present = space.namespaces().all();
        let is_longer = given.len() >= present.len()
            && given
                .iter()
                .zip(&present)
                .all(|(given, present)| given.as_str() == present.as_ref());
        if !is_longer {
            let reason = "the NamespaceArray only gets more URIs at its end";
            return Err(self.refuse_namespace(caller, &reason, StatusCode::BadOutOfRange));
        }
        for (index, uri) in given.iter().enumerate().skip(present.len()) {
            self.add_namespace(caller, &name, (index, uri.as_str()), losses)?;
        }
        Ok(())
    }

    fn add_namespace(
        &self,
        caller: &Caller,
        provider: &str,
        (position, uri): (usize, &str),
        losses: u64,
    ) -> Result<(), StatusCode> {
        // The URIs of Takt say to whom their namespaces belong.
        if Naming::is_reserved(uri) || uri.len() > LONGEST_URI {
            return Err(self.refuse_change(
                caller,
                &format_args!("the namespace {} cannot be that of a Provider", shown(uri)),
            ));
        }
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        // Only one client at a time adds namespaces or nodes.
        let mut edit = space.edit();
        let full = |_| StatusCode::BadOutOfRange;
        let index = u16::try_from(position).map_err(full)?;
        let charged = self.names.admit_namespace(caller, provider)?;
        // Before it is recorded, because this may fail. If it is lost, the URI stays here, and belongs to nobody.
        edit.append_namespace(index, uri).map_err(|error| {
            let reason = format_args!("the namespace {} is not added: {error}", shown(uri));
            self.refuse_namespace(caller, &reason, error.status_code())
        })?;
        let added = AddedNamespace {
            index,
            uri: uri.to_owned(),
            provider: provider.to_owned(),
            charged,
        };
        self.give_namespace(added, losses)
    }

    /// Gives a namespace that belongs to nobody to a Provider.
    pub(super) fn take_namespace(
        &self,
        caller: &Caller,
        provider: &str,
        index: u16,
    ) -> Result<(), StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let losses = self.database.losses();
        let charged = self.names.admit_namespace(caller, provider)?;
        let uri = space.namespaces().uri(index);
        let uri = uri.ok_or(StatusCode::BadNodeIdRejected)?;
        let added = AddedNamespace {
            index,
            uri: uri.as_ref().to_owned(),
            provider: provider.to_owned(),
            charged,
        };
        self.give_namespace(added, losses)
    }

    /// Gives a namespace to a Provider, and to nobody if that is lost.
    fn give_namespace(&self, added: AddedNamespace, losses: u64) -> Result<(), StatusCode> {
        let (index, rules) = (added.index, self.weak());
        self.names.set_additional(index, "");
        let charge = self.reserve(WAITING + added.uri.len())?;
        let undo = move || {
            if let Some(rules) = rules.upgrade() {
                rules.names.free(index);
            }
        };
        // The loss may come at once, and is taken back after this.
        self.names.set(index, added.charged);
        self.names.set_additional(index, &added.provider);
        let of_client = OfClient {
            losses,
            undo: Box::new(undo),
            charge,
        };
        self.database
            .add_namespace(added, of_client)
            .map_err(|error| {
                self.names.free(index);
                super::refuse(&error)
            })
    }

    fn refuse_namespace(
        &self,
        caller: &Caller,
        reason: &dyn Display,
        status: StatusCode,
    ) -> StatusCode {
        let _ = self.refuse_change(caller, reason);
        status
    }
}
