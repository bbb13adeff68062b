//! OPC UA address space: nodes, references, namespace 0, NodeSets, and the sources of values and Methods (OPC 10000-3).
//!
//! The crate has no services and no Sessions: `takt-services` reads, browses and changes an [`AddressSpace`] on behalf of clients.
//!
//! * [`AddressSpace`], [`View`], [`Edit`], [`NodeBuilder`]: nodes and references, read without a lock.
//! * [`Value`]: a cell, a [`StoredValue`], a callback ([`ValueSource`], [`CachedValue`]), or a value that is
//!   answered later.
//! * [`LocalMethod`]: code that a client calls, with the client's [`Caller`] as an argument.
//! * [`RemoteSource`]: another server, or worker threads, to which operations are forwarded.
//! * [`Event`]: an Event as a value, with fields by BrowsePath.
//! * [`Change`]: a change by a client, which can be stored and applied again.
//! * [`namespace0`]: the standard's nodes, a read-only table.

#![forbid(unsafe_code)]

pub mod access_level;
mod address_space;
mod caller;
mod change;
mod event;
mod event_record;
mod method;
pub mod namespace0;
mod node_access;
mod nodeset_import;
mod publish;
mod remote;
mod role;
mod stored;
mod value;
mod value_source;

pub use address_space::{
    AddressSpace, AddressSpaceError, AttributeWrites, Binding, BindingGuard, ClassAttributes,
    ComputedNode, ComputedNodes, ComputedReference, Edit, Fit, MethodBinding, ModellingRule,
    Namespaces, NewBinding, NewReference, NodeBuilder, NodeDefinition, NodeRef, ReferenceView,
    References, STANDARD_NAMESPACE, Target, TargetRef, TypeFilter, TypeMember, VariableDefinition,
    VariableRef, View, value_rank,
};
pub use caller::{Caller, Channel, ChannelSecurity, Peer, UserIdentity};
pub use change::{AttributeChange, Change, ValueStamp};
pub use event::{Audience, Event, EventField};
pub use event_record::EventRecordError;
pub use method::{
    CallError, InputArguments, LocalMethod, MethodCall, MethodHandler, OutputArguments, Spans,
};
pub use node_access::NodeAccess;
pub use nodeset_import::{DanglingReference, ImportError, ImportReason, ImportedNodeSet};
pub use publish::PublishValueError;
pub use remote::{
    RemoteCall, RemoteHistoryRead, RemoteMethod, RemoteOperations, RemoteRead, RemoteReply,
    RemoteRequest, RemoteResults, RemoteSource, RemoteValue, RemoteWrite, SourceKey,
};
pub use role::{RoleSet, UserRole};
pub use stored::{ChangeObserver, StoredValue};
pub use value::Value;
pub use value_source::{CachedValue, ValueSource};
