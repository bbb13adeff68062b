//! Writes of attributes by Providers: each may write those of its own nodes, and the values that the registry keeps for it.
//!
//! A thread of its own carries them out, so that many large attributes delay no other client. Like NodeManagement, each Write is
//! answered when it is durable.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};
use std::time::Instant;

use takt_space::{
    AttributeWrites, Caller, Change, Edit, NewBinding, NodeRef, RemoteOperations, RemoteRequest,
    RemoteResults, RemoteSource, RemoteWrite, SourceKey, Value,
};
use takt_ua::{NodeId, NodeIdRef, StatusCode, Variant, ids};

use super::Rules;
use crate::database::DatabaseError;

/// AttributeIds (OPC 10000-6, A.1).
const VALUE: u32 = 13;
pub(super) const ACCESS_LEVEL: u32 = 17;
const USER_ACCESS_LEVEL: u32 = 18;

/// The rules for Writes of attributes.
pub(crate) struct OwnAttributes {
    rules: Weak<Rules>,
    writer: Arc<Writer>,
}

/// The thread that carries out the Writes. It ends when this is dropped.
struct Writer {
    /// Key of the source: the Writes of one request have the same, so they keep their order.
    key: SourceKey,
    requests: Sender<RemoteRequest>,
}

impl OwnAttributes {
    /// Starts the thread for the attributes of a registry.
    pub(crate) fn start(rules: &Arc<Rules>) -> io::Result<Arc<Self>> {
        let (send, requests) = mpsc::channel::<RemoteRequest>();
        let of_thread = Arc::downgrade(rules);
        let run = move || {
            carry_out(requests, |request| {
                let rules = of_thread.upgrade();
                rules.map(|rules| rules.write_all(request)).is_some()
            });
        };
        std::thread::Builder::new()
            .name("attributes".to_owned())
            .spawn(run)?;
        Ok(Arc::new(Self {
            rules: Arc::downgrade(rules),
            writer: Arc::new(Writer {
                key: SourceKey::new(),
                requests: send,
            }),
        }))
    }
}

impl AttributeWrites for OwnAttributes {
    fn masks(&self, caller: &Caller, node: &NodeRef<'_>) -> (u32, u32) {
        let Some(rules) = self.rules.upgrade() else {
            return (0, 0);
        };
        let namespace = node.node_id().namespace;
        let owner = rules.provider_of_namespace(namespace);
        match owner.filter(|_| node.is_added_by_change()) {
            None => (0, 0),
            Some(owner) => {
                let mask = node.owner_write_mask();
                let is_owner = rules
                    .providers
                    .speaker(caller)
                    .is_some_and(|(name, _)| name == owner);
                (mask, if is_owner { mask } else { 0 })
            }
        }
    }

    fn writer(&self, node: &NodeRef<'_>, attribute_id: u32) -> Option<Arc<dyn RemoteSource>> {
        if is_namespace_array(node.node_id(), attribute_id) {
            return Some(Arc::clone(&self.writer) as _);
        }
        let rules = self.rules.upgrade()?;
        let owner = rules.provider_of_namespace(node.node_id().namespace);
        owner.filter(|_| node.is_added_by_change())?;
        let is_written = match attribute_id {
            VALUE => matches!(node.value(), Some(Value::Stored(_))),
            USER_ACCESS_LEVEL => node.variable().is_some(),
            // The bits of a WriteMask have another order than the attributes: the Write itself finds out.
            _ => node.definition().is_some(),
        };
        is_written.then(|| Arc::clone(&self.writer) as _)
    }
}

impl RemoteSource for Writer {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        // The memory of waiting requests counts for their Sessions.
        if let Err(mpsc::SendError(request)) = self.requests.send(request) {
            let failed = request.operations.failed(StatusCode::BadShutdown);
            request.reply.answer(failed);
        }
    }
}

/// Carries out requests until `write` returns false. A request that nobody waits for any more is left out: its client gets no answer,
/// or one that says that the Writes were too late.
fn carry_out(requests: Receiver<RemoteRequest>, write: impl Fn(RemoteRequest) -> bool) {
    for request in requests {
        if request.deadline <= Instant::now() {
            let failed = request.operations.failed(StatusCode::BadTimeout);
            request.reply.answer(failed);
            continue;
        }
        if !request.reply.is_awaited() {
            continue;
        }
        // A panic ends this request, whose reply is dropped, and not the Writes of all later ones.
        match catch_unwind(AssertUnwindSafe(|| write(request))) {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => tracing::error!("Writes of attributes could not be carried out"),
        }
    }
}

impl Rules {
    /// Carries out the Writes of a request, and answers when they are durable.
    fn write_all(&self, request: RemoteRequest) {
        let (RemoteOperations::Write(writes), Some(caller)) =
            (&request.operations, &request.caller)
        else {
            let failed = request.operations.failed(StatusCode::BadInternalError);
            return request.reply.answer(failed);
        };
        // Before the Writes: a loss from here on may be that of their changes.
        let losses = self.database.losses();
        let results = writes
            .iter()
            .map(|write| match self.write(caller, write, losses) {
                Ok(()) => StatusCode::Good,
                Err(status) => status,
            });
        let mut results: Vec<StatusCode> = results.collect();
        let reply = request.reply;
        let then = move |settled: Result<(), Arc<DatabaseError>>| {
            if settled.is_err() {
                for good in results.iter_mut().filter(|result| result.is_good()) {
                    *good = StatusCode::BadResourceUnavailable;
                }
            }
            reply.answer(RemoteResults::Write(results));
        };
        self.database.settle(Some(losses), Box::new(then));
    }

    fn write(&self, caller: &Caller, write: &RemoteWrite, losses: u64) -> Result<(), StatusCode> {
        let value = write.value.value.clone().unwrap_or_default();
        let (node, attribute_id) = (&write.node_id, write.attribute_id);
        if is_namespace_array(node.as_ref(), attribute_id) {
            return self.add_namespaces(caller, value, losses);
        }
        self.own(caller, node, attribute_id)?;
        if attribute_id == USER_ACCESS_LEVEL {
            return self.is_access_level(node, &value);
        }
        self.change(caller, losses, |edit| {
            let time = write.value.source_timestamp;
            let change = edit.plan_set_attribute(node, attribute_id, value, time)?;
            Ok(((), vec![change]))
        })
    }

    /// Checks that the caller may write an attribute of a node.
    fn own(&self, caller: &Caller, node: &NodeId, attribute_id: u32) -> Result<(), StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let view = space.view();
        let target = view.node(node).ok_or(StatusCode::BadNodeIdUnknown)?;
        if let Err(status) = self.owns(caller, node) {
            return Err(match attribute_id {
                // Other clients get the StatusCode that their AccessLevel leads to.
                VALUE => StatusCode::BadNotWritable,
                _ => status,
            });
        }
        // The registry reads the values of nodes of its model when they are added, and has values of its own in some.
        let is_of_model = target.browse_name().namespace == self.model(0).namespace;
        let is_of_registry = is_of_model || matches!(target.value(), Some(Value::Cell(_)));
        match attribute_id {
            VALUE | ACCESS_LEVEL if is_of_registry => Err(StatusCode::BadNotWritable),
            _ => Ok(()),
        }
    }

    /// UserAccessLevel follows from AccessLevel and the Roles of a client, so only the value that it has is accepted.
    fn is_access_level(&self, node: &NodeId, value: &Variant) -> Result<(), StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let view = space.view();
        let variable = view.node(node).and_then(|node| node.variable());
        let level = variable
            .ok_or(StatusCode::BadAttributeIdInvalid)?
            .access_level;
        let [level, ..] = level.to_le_bytes();
        match value {
            Variant::Byte(given) if *given == level => Ok(()),
            Variant::Byte(_) => Err(StatusCode::BadNotWritable),
            _ => Err(StatusCode::BadTypeMismatch),
        }
    }

    /// Plans changes, keeps them and makes them visible, as an operation of NodeManagement.
    fn change<T>(
        &self,
        caller: &Caller,
        losses: u64,
        plan: impl FnOnce(&mut Edit<'_>) -> Result<(T, Vec<Change>), StatusCode>,
    ) -> Result<T, StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let (name, _) = self
            .providers
            .speaker(caller)
            .ok_or(StatusCode::BadUserAccessDenied)?;
        let mut edit = space.edit();
        let (result, changes) = plan(&mut edit)?;
        let memory = edit.reserve_memory(&changes);
        let memory = memory.map_err(|_| StatusCode::BadOutOfMemory)?;
        self.keep(&name, None, &changes, losses)?;
        drop(memory);
        for change in &changes {
            if let Err(error) = edit.apply(change, NewBinding::default()) {
                // All conditions were checked under the same lock, so this is a fault of the registry.
                tracing::error!(%error, "a change is stored and could not be made");
                if let Change::SetAttribute(change) = change {
                    let before = Change::SetAttribute(Box::new(change.opposite()));
                    let recorded = self.record_as(&name, vec![before]);
                    recorded.map_err(|error| super::refuse(&error))?;
                }
                return Err(error.status_code());
            }
        }
        Ok(result)
    }
}

/// Returns true for the Value of the NamespaceArray of the Server object.
fn is_namespace_array(node: NodeIdRef<'_>, attribute_id: u32) -> bool {
    attribute_id == VALUE && node.standard_id() == Some(ids::SERVER_NAMESPACE_ARRAY)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use takt_space::RemoteReply;
    use takt_ua::DataValue;

    use super::*;

    /// Receiver of results that notes them.
    struct Reply {
        is_awaited: bool,
        results: Sender<RemoteResults>,
    }

    impl RemoteReply for Reply {
        fn is_awaited(&self) -> bool {
            self.is_awaited
        }

        fn answer(self: Box<Self>, results: RemoteResults) {
            let _ = self.results.send(results);
        }
    }

    #[test]
    fn a_panic_ends_one_request_and_late_requests_write_nothing() {
        let (send, requests) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let request = |left: Duration, is_awaited: bool| RemoteRequest {
            operations: RemoteOperations::Write(vec![RemoteWrite {
                node_id: NodeId::NULL,
                attribute_id: VALUE,
                index_range: String::new(),
                value: DataValue::default(),
            }]),
            client: 0,
            caller: None,
            size: 0,
            deadline: Instant::now() + left,
            hint: None,
            reply: Box::new(Reply {
                is_awaited,
                results: answer.clone(),
            }),
        };
        let minute = Duration::from_secs(60);
        for request in [
            request(minute, true),
            request(Duration::ZERO, true),
            request(minute, false),
            request(minute, true),
        ] {
            send.send(request).unwrap();
        }
        drop((send, answer));
        let carried_out = AtomicUsize::new(0);
        carry_out(requests, |request| {
            assert_ne!(carried_out.fetch_add(1, Ordering::Relaxed), 0);
            request
                .reply
                .answer(request.operations.failed(StatusCode::Good));
            true
        });
        let statuses: Vec<StatusCode> = answers
            .iter()
            .flat_map(|results| match results {
                RemoteResults::Write(statuses) => statuses,
                _ => Vec::new(),
            })
            .collect();
        // The first is the one that panics, the third one that nobody waits for.
        assert_eq!(statuses, [StatusCode::BadTimeout, StatusCode::Good]);
        assert_eq!(carried_out.into_inner(), 2);
    }
}
