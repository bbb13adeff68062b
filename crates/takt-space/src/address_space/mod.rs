//! The address space (OPC 10000-3): nodes and references, sources of values, and changes of all of them.
//!
//! Namespace 0 is a read-only table that all processes share. Additions to it, and all other nodes, are in one hash map that is
//! read without a lock. Changes take one lock of their own, so that each is checked against the state that it changes; readers
//! never wait for it.

mod apply;
mod attribute_change;
mod attribute_writes;
mod binding;
mod change_lock;
mod computed;
mod counted;
mod counters;
mod data_type_definition;
mod definition;
mod edit;
mod error;
mod generic_attributes;
mod hierarchy;
mod instantiate;
mod items;
mod kept_nodes;
mod links;
mod members;
mod memory;
mod methods;
mod name_cache;
mod namespaces;
mod node;
mod node_builder;
mod null_value;
mod plan;
mod plan_node;
mod reference;
mod reference_list;
mod references;
mod rules;
mod space;
mod specified;
mod types;
mod view;

pub use apply::NewBinding;
pub use attribute_writes::AttributeWrites;
pub use computed::{ComputedNode, ComputedNodes, ComputedReference};
pub use definition::{ClassAttributes, NodeDefinition, VariableDefinition, value_rank};
pub use edit::{Edit, NewReference};
pub use error::AddressSpaceError;
pub use hierarchy::TypeFilter;
pub use members::{ModellingRule, TypeMember};
pub use namespaces::{Namespaces, STANDARD_NAMESPACE};
pub use node::{Binding, BindingGuard, MethodBinding, NodeRef, VariableRef};
pub use node_builder::NodeBuilder;
pub use reference::{ReferenceView, Target, TargetRef};
pub use references::References;
pub use space::AddressSpace;
pub use types::Fit;
pub use view::View;
