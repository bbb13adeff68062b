//! Nodes of each Session and each Subscription (OPC 10000-5, 6.3.3 to 6.3.5 and 7.10 to 7.16).
//!
//! * SubscriptionDiagnosticsArray, SessionDiagnosticsArray and SessionSecurityDiagnosticsArray have a Variable for each entry, and
//!   each entry has a Variable for each field.
//! * SessionsDiagnosticsSummary has an Object for each Session, whose NodeId is the SessionId (OPC 10000-4, 5.7.2).
//!
//! The nodes are computed when a client looks at them. A thousand Sessions would have 70 000.

use std::sync::{Arc, LazyLock};

use takt_space::namespace0::{Namespace0, StandardNode};
use takt_space::{
    AddressSpace, ClassAttributes, ComputedNode, ComputedNodes, ComputedReference, NodeAccess,
    NodeDefinition, UserRole, Value, VariableDefinition, value_rank,
};
use takt_ua::enumerations::PermissionType;
use takt_ua::{
    DataValue, ExtensionObject, Guid, IdentifierRef, NodeId, NodeIdRef, QualifiedName, StatusCode,
    Structure, Variant, ids,
};

use super::fields::{self, Field};
use super::sessions::{self, Clients};
use crate::identity::random::random;
use crate::session::Session;

const SUBSCRIPTIONS: u32 = ids::SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY;
const SUMMARY: u32 = ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY;
const SESSIONS: u32 =
    ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY;
const SECURITY: u32 =
    ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY;

/// Namespace of the nodes: that of the server itself, as that of SessionIds.
const NAMESPACE: u16 = 1;

/// First key of references to Subscriptions, behind those of the type and the parent.
const SUBSCRIPTION_KEYS: u64 = 16;

/// Names and counts of other clients: as for the arrays, but others do not see the nodes, whose names tell something already.
static ACCESS: LazyLock<NodeAccess> = LazyLock::new(|| {
    let mut access = NodeAccess::default();
    for role in [
        UserRole::Engineer,
        UserRole::ConfigureAdmin,
        UserRole::SecurityAdmin,
    ] {
        let seen = PermissionType::Browse | PermissionType::Read;
        access.grant(role, seen | PermissionType::ReadRolePermissions);
    }
    access
});

/// A complex Variable of one Session or Subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// SessionDiagnostics.
    Session,
    /// SessionSecurityDiagnostics.
    Security,
    /// SubscriptionDiagnosticsArray of one Session.
    Subscriptions,
    /// An entry of SubscriptionDiagnosticsArray.
    Subscription,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Session,
        Self::Security,
        Self::Subscriptions,
        Self::Subscription,
    ];

    /// Returns the VariableType.
    fn type_definition(self) -> u32 {
        match self {
            Self::Session => ids::SESSION_DIAGNOSTICS_VARIABLE_TYPE,
            Self::Security => ids::SESSION_SECURITY_DIAGNOSTICS_TYPE,
            Self::Subscriptions => ids::SUBSCRIPTION_DIAGNOSTICS_ARRAY_TYPE,
            Self::Subscription => ids::SUBSCRIPTION_DIAGNOSTICS_TYPE,
        }
    }

    /// Returns the names of the fields.
    fn fields(self) -> Vec<&'static str> {
        fn names<S>(fields: &[Field<S>]) -> Vec<&'static str> {
            fields.iter().map(|(name, _)| *name).collect()
        }
        match self {
            Self::Session => names(fields::SESSION),
            Self::Security => names(fields::SECURITY),
            Self::Subscriptions => Vec::new(),
            Self::Subscription => names(fields::SUBSCRIPTION),
        }
    }
}

/// A Variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    kind: Kind,
    /// Number of the SessionId, or the SubscriptionId.
    number: u32,
    /// Place of the field; `None`: the whole structure.
    field: Option<u8>,
}

/// A node that exists.
enum Found {
    Object(Arc<Session>),
    Variable(Place),
}

/// The nodes of all Sessions and Subscriptions.
struct DiagnosticsNodes {
    clients: Arc<Clients>,
    /// Random part of the NodeIds: those of another run of the server name nothing here.
    tag: [u8; 8],
}

/// Shows the nodes in the address space.
pub(crate) fn bind(space: &AddressSpace, clients: Arc<Clients>) {
    let nodes = DiagnosticsNodes {
        clients,
        // Without random numbers, SessionIds and SubscriptionIds still begin at different numbers.
        tag: random().unwrap_or_default(),
    };
    space.set_computed(Arc::new(nodes));
}

impl DiagnosticsNodes {
    fn id(&self, place: Place) -> NodeId {
        let kind = Kind::ALL.iter().position(|kind| *kind == place.kind);
        let kind = u16::try_from(kind.unwrap_or_default()).unwrap_or_default();
        let field = place.field.map_or(0, |field| u16::from(field) + 1);
        NodeId::guid(
            NAMESPACE,
            Guid {
                data1: place.number,
                data2: kind,
                data3: field,
                data4: self.tag,
            },
        )
    }

    fn whole(&self, kind: Kind, number: u32) -> NodeId {
        self.id(Place {
            kind,
            number,
            field: None,
        })
    }

    /// Returns the place that a NodeId names, whether or not its Session or Subscription exists.
    fn place(&self, guid: &Guid) -> Option<Place> {
        if guid.data4 != self.tag {
            return None;
        }
        let kind = *Kind::ALL.get(usize::from(guid.data2))?;
        let field = match guid.data3 {
            0 => None,
            number => Some(number - 1).filter(|at| usize::from(*at) < kind.fields().len()),
        };
        (field.is_some() == (guid.data3 != 0)).then_some(Place {
            kind,
            number: guid.data1,
            field: field.and_then(|at| u8::try_from(at).ok()),
        })
    }

    fn find(&self, node_id: NodeIdRef<'_>) -> Option<Found> {
        if node_id.namespace != NAMESPACE {
            return None;
        }
        match node_id.identifier {
            IdentifierRef::Numeric(number) => Some(Found::Object(self.session(number)?)),
            IdentifierRef::Guid(guid) => {
                let place = self.place(&guid)?;
                let exists = match place.kind {
                    Kind::Subscription => {
                        let ids = self.clients.subscriptions.snapshots();
                        ids.session_of(place.number).is_some()
                    }
                    _ => self.session(place.number).is_some(),
                };
                exists.then_some(Found::Variable(place))
            }
            _ => None,
        }
    }

    fn session(&self, number: u32) -> Option<Arc<Session>> {
        session(&self.clients, number)
    }

    fn object(session: &Session) -> NodeDefinition {
        let caller = session.caller.load();
        let name = match caller.session_name.as_str() {
            "" => session.id.to_string(),
            name => name.to_owned(),
        };
        let class = ClassAttributes::Object { event_notifier: 0 };
        let name = QualifiedName::new(NAMESPACE, name.as_str());
        NodeDefinition {
            access: Some(Box::new(ACCESS.clone())),
            ..NodeDefinition::new(session.id.clone(), name, class)
        }
    }

    fn variable(&self, place: Place) -> Option<NodeDefinition> {
        let kind = place.kind;
        let declared = Namespace0::get(kind.type_definition())?;
        let (name, shape) = match place.field {
            Some(field) => {
                let name = *kind.fields().get(usize::from(field))?;
                let declaration = component(declared, name)?;
                (QualifiedName::new(0, name), declaration)
            }
            None => {
                let name = match kind {
                    Kind::Session => QualifiedName::new(0, "SessionDiagnostics"),
                    Kind::Security => QualifiedName::new(0, "SessionSecurityDiagnostics"),
                    Kind::Subscriptions => QualifiedName::new(0, "SubscriptionDiagnosticsArray"),
                    Kind::Subscription => {
                        QualifiedName::new(NAMESPACE, place.number.to_string().as_str())
                    }
                };
                (name, declared)
            }
        };
        let variable = VariableDefinition {
            data_type: NodeId::from(shape.data_type()),
            // Types of structures leave the rank open.
            value_rank: match shape.value_rank() {
                value_rank::ANY => value_rank::SCALAR,
                rank => rank,
            },
            array_dimensions: shape.array_dimensions().to_vec(),
            ..VariableDefinition::default()
        };
        let access = match kind {
            Kind::Security => Namespace0::access(SECURITY)?,
            _ => &ACCESS,
        };
        let class = ClassAttributes::Variable(variable);
        Some(NodeDefinition {
            access: Some(Box::new(access.clone())),
            ..NodeDefinition::new(self.id(place), name, class)
        })
    }

    fn references_of_object(&self, number: u32) -> Vec<ComputedReference> {
        let components =
            [Kind::Session, Kind::Security, Kind::Subscriptions].map(|kind| (kind, number));
        let mut list = List::of_type(ids::SESSION_DIAGNOSTICS_OBJECT_TYPE);
        list.parent(NodeId::from(SUMMARY));
        for (kind, number) in components {
            list.component(self.whole(kind, number));
        }
        list.0
    }

    fn references_of_variable(&self, place: Place) -> Vec<ComputedReference> {
        let Place {
            kind,
            number,
            field,
        } = place;
        if field.is_some() {
            let mut list = List::of_type(ids::BASE_DATA_VARIABLE_TYPE);
            list.parent(self.whole(kind, number));
            return list.0;
        }
        let mut list = List::of_type(kind.type_definition());
        let session = |number| self.session(number).map(|session| session.id.clone());
        let ids = self.clients.subscriptions.snapshots();
        match kind {
            Kind::Session => list.parent(NodeId::from(SESSIONS)),
            Kind::Security => list.parent(NodeId::from(SECURITY)),
            Kind::Subscriptions => {}
            Kind::Subscription => {
                list.parent(NodeId::from(SUBSCRIPTIONS));
                let owner = ids.session_of(number);
                let owner = owner.and_then(|owner| self.clients.sessions.of_id(owner.as_ref()));
                if let Some(owner) = owner.filter(|owner| owner.is_activated()) {
                    list.parent(self.whole(Kind::Subscriptions, owner.number));
                }
            }
        }
        if kind != Kind::Subscription
            && let Some(object) = session(number)
        {
            list.parent(object.clone());
            if kind == Kind::Subscriptions {
                list.0.extend(self.entries(Some(&object)));
            }
        }
        for field in 0..kind.fields().len() {
            list.component(self.id(Place {
                field: u8::try_from(field).ok(),
                ..place
            }));
        }
        list.0
    }

    /// Returns the references of an array to the Subscriptions of one Session, or to all.
    fn entries(&self, session: Option<&NodeId>) -> Vec<ComputedReference> {
        let ids = self.clients.subscriptions.snapshots().ids_of(session);
        let entry = |id: u32| {
            let target = self.whole(Kind::Subscription, id);
            component_reference(SUBSCRIPTION_KEYS + u64::from(id), true, target)
        };
        ids.into_iter().map(entry).collect()
    }

    /// Returns references of a node of the standard to a node of each Session.
    fn of_each_session(&self, target: impl Fn(&Session) -> NodeId) -> Vec<ComputedReference> {
        let all = self.clients.sessions.activated();
        let reference = |session: &Arc<Session>| {
            component_reference(u64::from(session.number), true, target(session))
        };
        all.iter().map(reference).collect()
    }
}

impl ComputedNodes for DiagnosticsNodes {
    #[inline]
    fn has_references(&self, standard: u32) -> bool {
        matches!(standard, SUBSCRIPTIONS | SUMMARY | SESSIONS | SECURITY)
    }

    fn node(&self, node_id: NodeIdRef<'_>) -> Option<ComputedNode> {
        match self.find(node_id)? {
            Found::Object(session) => Some(ComputedNode {
                definition: Self::object(&session),
                value: None,
            }),
            Found::Variable(place) => {
                let clients = Arc::clone(&self.clients);
                Some(ComputedNode {
                    definition: self.variable(place)?,
                    value: Some(Value::callback(move || value(&clients, place))),
                })
            }
        }
    }

    fn references(&self, node_id: NodeIdRef<'_>) -> Vec<ComputedReference> {
        match node_id.standard_id() {
            Some(SUBSCRIPTIONS) => self.entries(None),
            Some(SUMMARY) => self.of_each_session(|session| session.id.clone()),
            Some(SESSIONS) => {
                self.of_each_session(|session| self.whole(Kind::Session, session.number))
            }
            Some(SECURITY) => {
                self.of_each_session(|session| self.whole(Kind::Security, session.number))
            }
            Some(_) => Vec::new(),
            None => match self.find(node_id) {
                Some(Found::Object(session)) => self.references_of_object(session.number),
                Some(Found::Variable(place)) => self.references_of_variable(place),
                None => Vec::new(),
            },
        }
    }
}

/// References of a node, in their order.
struct List(Vec<ComputedReference>);

impl List {
    fn of_type(type_definition: u32) -> Self {
        Self(vec![ComputedReference {
            key: 0,
            reference_type: ids::HAS_TYPE_DEFINITION,
            is_forward: true,
            target: NodeId::from(type_definition),
        }])
    }

    fn parent(&mut self, parent: NodeId) {
        let key = self.0.len() as u64;
        self.0.push(component_reference(key, false, parent));
    }

    fn component(&mut self, component: NodeId) {
        let key = self.0.len() as u64;
        self.0.push(component_reference(key, true, component));
    }
}

fn component_reference(key: u64, is_forward: bool, target: NodeId) -> ComputedReference {
    ComputedReference {
        key,
        reference_type: ids::HAS_COMPONENT,
        is_forward,
        target,
    }
}

/// Returns a component of a standard type.
fn component(of: StandardNode, name: &str) -> Option<StandardNode> {
    let references = of.references();
    let mut components = references
        .filter(|one| one.is_forward && one.reference_type == ids::HAS_COMPONENT)
        .filter_map(|one| Namespace0::get(one.target));
    components.find(|node| node.browse_name() == name)
}

/// Returns an activated Session.
fn session(clients: &Clients, number: u32) -> Option<Arc<Session>> {
    let session = clients.sessions.of_number(number)?;
    session.is_activated().then_some(session)
}

/// Returns the value of a Variable.
fn value(clients: &Clients, place: Place) -> DataValue {
    let gone = || DataValue::status(StatusCode::BadNodeIdUnknown);
    let field = place.field;
    if place.kind == Kind::Subscription {
        return match clients.subscription(place.number) {
            Some(None) => gone(),
            Some(Some(one)) => sessions::value(Some(part(&one, fields::SUBSCRIPTION, field))),
            None => sessions::value(None::<Variant>),
        };
    }
    let Some(session) = session(clients, place.number) else {
        return gone();
    };
    sessions::value(match place.kind {
        Kind::Security => Some(part(&sessions::security(&session), fields::SECURITY, field)),
        Kind::Subscriptions => clients.subscriptions_of(&session.id).map(|all| {
            let all = all.iter().map(ExtensionObject::from_structure);
            all.collect::<Vec<_>>().into()
        }),
        _ => clients
            .session(&session)
            .map(|one| part(&one, fields::SESSION, field)),
    })
}

/// Returns a field of a structure, or the whole.
fn part<S: Structure>(structure: &S, fields: &[Field<S>], field: Option<u8>) -> Variant {
    match field.and_then(|at| fields.get(usize::from(at))) {
        Some((_, field)) => field(structure),
        None => ExtensionObject::from_structure(structure).into(),
    }
}
