//! `takt call ENDPOINT METHOD [ARGUMENT…]`

use miette::miette;
use serde_json::json;
use takt_app::client::{Client, Follow};
use takt_app::{Attribute, ClientError};
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::Argument;
use takt_ua::{Elements, NodeId, StatusCode, Variant, ids};

use super::browse::class_name;
use super::connect::{connect, node};
use super::write::parse_as;
use crate::arguments::CallArguments;
use crate::{explain, output};

pub fn run(arguments: &CallArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error| explain::client(&error);
    let method = node(&mut client, &arguments.method).map_err(explained)?;
    expect_method(&mut client, &method, &arguments.method)?;
    let object = match &arguments.object {
        Some(object) => node(&mut client, object),
        None => owner(&mut client, &method),
    }
    .map_err(explained)?;
    let signature = input_arguments(&mut client, &method).map_err(explained)?;
    let inputs = parse_inputs(&mut client, signature.as_deref(), &arguments.inputs)?;
    let outputs = client
        .call_method(&object, &method, inputs)
        .map_err(explained)?;
    if arguments.connect.json {
        let values: Vec<_> = outputs.iter().map(takt_ua::json::to_value).collect();
        output::line(json!({ "method": arguments.method, "status": "Good", "outputs": values }));
    } else if outputs.is_empty() {
        output::line("Good");
    } else {
        for value in &outputs {
            output::line(value);
        }
    }
    Ok(())
}

/// Refuses a node of another class, because a server can only say that it does not know such a Method.
fn expect_method(client: &mut Client, node: &NodeId, text: &str) -> miette::Result<()> {
    let class = client
        .read_attribute(node, Attribute::NodeClass)
        .map_err(|error| explain::client(&error))?;
    let class = match class.value {
        Some(Variant::Int32(class)) => NodeClass(class),
        // The server gives the reason when the Method is called.
        _ => return Ok(()),
    };
    if class == NodeClass::Method {
        return Ok(());
    }
    let help = match class {
        NodeClass::Variable => "`takt read` and `takt write` use the value of a Variable.",
        _ => "`takt browse ENDPOINT` shows the Methods.",
    };
    Err(explain::with_help(
        format!("{text} is of NodeClass {}, not a Method", class_name(class)),
        help,
    ))
}

/// Returns the Object that has the Method as a component.
fn owner(client: &mut Client, method: &NodeId) -> Result<NodeId, ClientError> {
    let parent = Follow {
        reference_type: NodeId::numeric(0, ids::HAS_COMPONENT),
        direction: BrowseDirection::Inverse,
    };
    let found = client.browse(method, &parent)?.into_iter().next();
    found
        .map(|reference| reference.node_id.node_id)
        .ok_or_else(|| ClientError::operation(method, StatusCode::BadMethodInvalid))
}

/// Returns the Method's `InputArguments`; `None` if it does not show them.
fn input_arguments(
    client: &mut Client,
    method: &NodeId,
) -> Result<Option<Vec<Argument>>, ClientError> {
    let properties = client.browse(method, &Follow::forward(ids::HAS_PROPERTY))?;
    let Some(property) = properties
        .iter()
        .find(|property| property.browse_name.name.as_str() == "InputArguments")
    else {
        return Ok(None);
    };
    let value = client.read_good(&property.node_id.node_id)?;
    let Variant::Array(array) = value else {
        return Ok(Some(Vec::new()));
    };
    let Elements::ExtensionObject(objects) = array.elements else {
        return Ok(Some(Vec::new()));
    };
    objects
        .iter()
        .map(|object| {
            object
                .decode_as::<Argument>()
                .map_err(|_| ClientError::operation(method, StatusCode::BadDecodingError))
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

fn parse_inputs(
    client: &mut Client,
    signature: Option<&[Argument]>,
    texts: &[String],
) -> miette::Result<Vec<Variant>> {
    let Some(signature) = signature else {
        return texts.iter().map(|text| parse_as(text, None, -1)).collect();
    };
    if signature.len() != texts.len() {
        let names: Vec<&str> = signature
            .iter()
            .map(|argument| argument.name.as_str())
            .collect();
        return Err(miette!(
            "the Method takes {} input arguments ({}), {} were given",
            signature.len(),
            names.join(", "),
            texts.len()
        ));
    }
    signature
        .iter()
        .zip(texts)
        .map(|(argument, text)| {
            let built_in_type = client
                .built_in_type(&argument.data_type)
                .map_err(|error| explain::client(&error))?;
            parse_as(text, built_in_type, argument.value_rank)
        })
        .collect()
}
