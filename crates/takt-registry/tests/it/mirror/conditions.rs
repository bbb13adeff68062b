//! Methods of Conditions that their server knows only as Methods of the Conditions themselves.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use takt_app::model;
use takt_space::{
    AddressSpace, ClassAttributes, MethodHandler, NewReference, NodeDefinition, RemoteMethod,
    RemoteRequest, RemoteSource, SourceKey,
};
use takt_ua::structures::{CallMethodRequest, CallRequest};
use takt_ua::{ByteString, LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids};

use crate::mirror::foreign::{Foreign, object};
use crate::mirror::support::{PATIENCE, eventually, find, mirror, registry};

/// Number of accepted calls.
#[derive(Default)]
struct Calls {
    key: SourceKey,
    count: AtomicU32,
}

impl RemoteSource for Calls {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let results = request.operations.failed(StatusCode::Good);
        request.reply.answer(results);
    }
}

/// Adds a Condition with Acknowledge as a Method of its own.
fn condition(space: &AddressSpace, calls: &Arc<Calls>) {
    let namespace = space.namespaces().register("urn:test:alarms").unwrap();
    let condition = NodeId::numeric(namespace, 1);
    object(space, &condition, "Alarm", ids::ALARM_CONDITION_TYPE);
    let method = NodeId::numeric(namespace, 2);
    let class = ClassAttributes::Method { executable: true };
    let name = QualifiedName::new(0, "Acknowledge");
    let component = NewReference::inverse(ids::HAS_COMPONENT, condition);
    let definition = NodeDefinition::new(method.clone(), name, class);
    space.edit().add_node(definition, &[component]).unwrap();
    let handler = MethodHandler::Remote(RemoteMethod {
        source: Arc::clone(calls) as Arc<dyn RemoteSource>,
        object_id: NodeId::NULL,
        method_id: method.clone(),
        checks_arguments: true,
        takes_unknown_objects: false,
    });
    space.set_method(&method, handler).unwrap();
}

#[test]
fn a_method_of_the_type_is_called_as_the_one_of_the_condition() {
    let directory = tempfile::tempdir().unwrap();
    let directory: &Path = directory.path();
    let calls = Arc::new(Calls::default());
    let server = Foreign::start(directory, 0, |space| condition(space, &calls));
    let mirrors = vec![mirror("Press", &server.endpoint())];
    let (_registry, mut client) = registry(directory, mirrors);
    let condition = eventually("the Condition", PATIENCE, || {
        find(&mut client, "Press/Alarm")
    });
    let inputs = || {
        let id = ByteString::from(vec![1]);
        vec![id.into(), LocalizedText::from("seen").into()]
    };
    let mut call = |method: u32| client.call_method(&condition, &method.into(), inputs());
    eventually("the mirror is available", PATIENCE, || {
        call(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE).ok()
    });
    assert_eq!(calls.count.load(Ordering::Relaxed), 1);
    // The Condition has no Confirm, and the server none for its type.
    let refused = call(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_CONFIRM).unwrap_err();
    assert_ne!(refused.status_code(), StatusCode::Good);
    assert_eq!(calls.count.load(Ordering::Relaxed), 1);
}

#[test]
fn methods_of_conditions_and_of_the_registry_are_called_together() {
    let directory = tempfile::tempdir().unwrap();
    let directory: &Path = directory.path();
    let calls = Arc::new(Calls::default());
    let server = Foreign::start(directory, 0, |space| condition(space, &calls));
    let mirrors = vec![mirror("Press", &server.endpoint())];
    let (_registry, mut client) = registry(directory, mirrors);
    let condition = eventually("the Condition", PATIENCE, || {
        find(&mut client, "Press/Alarm")
    });
    let acknowledge = CallMethodRequest {
        object_id: condition,
        method_id: ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE.into(),
        input_arguments: vec![
            ByteString::from(vec![1]).into(),
            LocalizedText::from("seen").into(),
        ],
    };
    let model = client.namespace_index(model::NAMESPACE_URI);
    let model = model.unwrap().unwrap();
    // The Methods of the registry are durable: they are deferred as well.
    let forget = CallMethodRequest {
        object_id: NodeId::numeric(model, model::REGISTRY),
        method_id: NodeId::numeric(model, model::REGISTRY_FORGET),
        input_arguments: vec![Variant::from("Nobody")],
    };
    let mut call = |methods_to_call: Vec<CallMethodRequest>| -> Vec<StatusCode> {
        let response = client.call(CallRequest {
            methods_to_call,
            ..CallRequest::default()
        });
        let results = response.unwrap().results;
        results.iter().map(|result| result.status_code).collect()
    };
    let acknowledged = eventually("the mirror is available", PATIENCE, || {
        let results = call(vec![acknowledge.clone()]);
        (results[0] == StatusCode::Good).then_some(results[0])
    });
    // The mirror may have repeated a call while it connected.
    let before = calls.count.load(Ordering::Relaxed);
    let forgotten = call(vec![forget.clone()])[0];
    assert_ne!(forgotten, acknowledged);
    let results = call(vec![acknowledge.clone(), forget.clone()]);
    assert_eq!(results, [acknowledged, forgotten]);
    let results = call(vec![forget, acknowledge]);
    assert_eq!(results, [forgotten, acknowledged]);
    assert_eq!(calls.count.load(Ordering::Relaxed) - before, 2);
}
