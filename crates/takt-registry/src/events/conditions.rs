//! Methods of the Conditions of Providers and mirrors: Acknowledge, Confirm, AddComment, Enable, Disable and those of shelving
//! (OPC 10000-9, 5.5, 5.7 and 5.8.17).
//!
//! Conditions share the Methods of their types, so one source takes all calls, and passes each to the server of its Object.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use takt_app::CONDITION_METHODS;
use takt_space::{
    AddressSpace, AddressSpaceError, MethodHandler, RemoteCall, RemoteMethod, RemoteOperations,
    RemoteReply, RemoteRequest, RemoteResults, RemoteSource, SourceKey, View,
};
use takt_ua::enumerations::{NodeClass, PermissionType};
use takt_ua::structures::CallMethodResult;
use takt_ua::{NodeId, StatusCode, ids};

use crate::forwarding::Gateway;
use crate::providers::ProviderState;
use crate::rules::Rules;

/// Finds the gateway of the mirror that has a namespace.
pub(crate) type MirrorGateways = Box<dyn Fn(u16) -> Option<Arc<Gateway>> + Send + Sync>;

/// Forwards the Methods of Conditions from now on.
pub(crate) fn bind_methods(
    space: &AddressSpace,
    rules: &Arc<Rules>,
    mirrors: MirrorGateways,
) -> Result<(), AddressSpaceError> {
    let source: Arc<dyn RemoteSource> = Arc::new(ConditionMethods {
        key: SourceKey::new(),
        rules: Arc::downgrade(rules),
        mirrors,
    });
    for id in CONDITION_METHODS {
        let method = NodeId::from(id);
        let handler = MethodHandler::Remote(RemoteMethod {
            source: Arc::clone(&source),
            object_id: NodeId::NULL,
            method_id: method.clone(),
            checks_arguments: false,
            takes_unknown_objects: true,
        });
        space.set_method(&method, handler)?;
    }
    Ok(())
}

struct ConditionMethods {
    key: SourceKey,
    rules: Weak<Rules>,
    mirrors: MirrorGateways,
}

impl ConditionMethods {
    /// Returns the gateway for calls of the Methods of Conditions in a namespace.
    fn gateway(
        &self,
        rules: &Rules,
        namespace: u16,
        calls: &mut [RemoteCall],
    ) -> Option<Arc<Gateway>> {
        let gateway = |state: &ProviderState| Arc::clone(&state.gateway);
        let of_provider = rules.providers.with_namespace(namespace, gateway);
        of_provider.or_else(|| {
            let of_mirror = (self.mirrors)(namespace)?;
            let space = rules.space()?;
            call_own_methods(&space.view(), calls);
            Some(of_mirror)
        })
    }
}

impl RemoteSource for ConditionMethods {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        let RemoteOperations::Call(calls) = request.operations else {
            return;
        };
        let refuse = |status| RemoteOperations::Call(calls.clone()).failed(status);
        let caller = request.caller.as_ref();
        let may_call =
            caller.is_some_and(|caller| caller.roles.permissions() & PermissionType::Call != 0);
        let Some(rules) = self.rules.upgrade().filter(|_| may_call) else {
            let denied = refuse(StatusCode::BadUserAccessDenied);
            return request.reply.answer(denied);
        };
        let count = calls.len();
        let mut parts: BTreeMap<u16, (Vec<usize>, Vec<_>)> = BTreeMap::new();
        for (index, call) in calls.into_iter().enumerate() {
            let (indexes, part) = parts.entry(call.object_id.namespace).or_default();
            indexes.push(index);
            part.push(call);
        }
        let collected = Arc::new(Collected {
            // A part may be dropped without an answer: its results stay as they are here.
            results: Mutex::new(vec![unanswered(); count]),
            reply: Mutex::new(Some(request.reply)),
        });
        for (namespace, (indexes, mut calls)) in parts {
            let part = Part {
                indexes,
                collected: Arc::clone(&collected),
            };
            match self.gateway(&rules, namespace, &mut calls) {
                Some(gateway) => gateway.forward(RemoteRequest {
                    // The size of each call is not known.
                    size: request.size / count.max(1) * calls.len(),
                    operations: RemoteOperations::Call(calls),
                    client: request.client,
                    caller: request.caller.clone(),
                    deadline: request.deadline,
                    hint: request.hint,
                    reply: Box::new(part),
                }),
                None => {
                    let failed = RemoteOperations::Call(calls).failed(StatusCode::BadNodeIdUnknown);
                    Box::new(part).answer(failed);
                }
            }
        }
    }
}

/// Replaces Methods of types by those that the Conditions have themselves: foreign servers may know no others, although they shall
/// (OPC 10000-9, 5.7.3).
fn call_own_methods(view: &View<'_>, calls: &mut [RemoteCall]) {
    for call in calls {
        let Some(method) = view.node(&call.method_id) else {
            continue;
        };
        let own = view.child(&call.object_id, ids::HAS_COMPONENT, method.browse_name());
        let own = own.filter(|own| own.namespace != 0);
        let class = |node: &NodeId| view.node(node).map(|node| node.node_class());
        if let Some(own) = own.filter(|own| class(own) == Some(NodeClass::Method)) {
            call.method_id = own;
        }
    }
}

fn unanswered() -> CallMethodResult {
    CallMethodResult {
        status_code: StatusCode::BadNoCommunication,
        ..CallMethodResult::default()
    }
}

/// Results of all parts of a request. It is answered when the last part is answered or dropped.
struct Collected {
    results: Mutex<Vec<CallMethodResult>>,
    reply: Mutex<Option<Box<dyn RemoteReply>>>,
}

impl Drop for Collected {
    fn drop(&mut self) {
        let results = self
            .results
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let reply = self.reply.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(reply) = reply.take() {
            reply.answer(RemoteResults::Call(std::mem::take(results)));
        }
    }
}

/// The calls of a request that one server answers.
struct Part {
    indexes: Vec<usize>,
    collected: Arc<Collected>,
}

impl RemoteReply for Part {
    fn is_awaited(&self) -> bool {
        let reply = self.collected.reply.lock();
        let reply = reply.unwrap_or_else(PoisonError::into_inner);
        reply.as_ref().is_some_and(|reply| reply.is_awaited())
    }

    fn answer(self: Box<Self>, results: RemoteResults) {
        let RemoteResults::Call(answers) = results else {
            return;
        };
        let results = self.collected.results.lock();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        for (index, answer) in self.indexes.iter().zip(answers) {
            if let Some(result) = results.get_mut(*index) {
                *result = answer;
            }
        }
    }
}
