//! `takt call ENDPOINT METHOD [ARGUMENT…]`

use miette::miette;
use serde_json::json;
use takt_app::client::{Client, Follow};
use takt_app::{Attribute, ClientError};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::Argument;
use takt_ua::{NodeId, StatusCode, Variant, ids};

use super::browse::class_name;
use super::connect::{connect, node, node_id, node_of_provider};
use super::described::Described;
use super::write::{parse_as, parse_described};
use crate::arguments::CallArguments;
use crate::{explain, output};

pub fn run(arguments: &CallArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error| explain::client(&error);
    let Target { method, object } = target(&mut client, &arguments.method).map_err(explained)?;
    expect_method(&mut client, &method, &arguments.method)?;
    let object = match (&arguments.object, object) {
        (Some(object), _) => node(&mut client, object).map_err(explained)?,
        (None, Some(object)) => object,
        (None, None) => only_owner(&mut client, &method)?,
    };
    let signature = client.input_arguments(&method).map_err(explained)?;
    let mut described = Described::default();
    let inputs = parse_inputs(
        &mut client,
        &mut described,
        signature.as_deref(),
        &arguments.inputs,
    )?;
    let outputs = client.call_method(&object, &method, inputs);
    let outputs = outputs.map_err(|error| refused(&error, signature.as_deref()))?;
    let declared = if outputs.is_empty() {
        Vec::new()
    } else {
        // The Method was called: that its outputs are not described is no failure.
        client
            .output_arguments(&method)
            .unwrap_or_default()
            .unwrap_or_default()
    };
    let data_type = |at: usize| declared.get(at).map(|argument| &argument.data_type);
    let values = outputs.iter().enumerate();
    let values: Vec<_> = values.map(|(at, value)| (data_type(at), value)).collect();
    described.learn_declared(&mut client, &values);
    if arguments.connect.json {
        let values = values
            .iter()
            .map(|(data_type, value)| described.json(value, *data_type));
        let values: Vec<_> = values.collect();
        output::line(json!({ "method": arguments.method, "status": "Good", "outputs": values }));
    } else if outputs.is_empty() {
        output::line("Good");
    } else {
        for (data_type, value) in values {
            output::line(output::printable(&described.text(value, data_type)));
        }
    }
    Ok(())
}

/// Explains why a call failed, of a Method with this signature.
fn refused(error: &ClientError, signature: Option<&[Argument]>) -> miette::Report {
    match (error.status_code(), signature) {
        // The usual advice is to read the InputArguments.
        (StatusCode::BadTooManyArguments, None) => explain::with_help(
            error,
            "The Method has no Property InputArguments, so it takes no input arguments.",
        ),
        _ => explain::client(error),
    }
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

/// A Method, and the Object that a path to it names.
struct Target {
    method: NodeId,
    object: Option<NodeId>,
}

/// Finds the Method that the user names. Objects may share a Method, so the Object is the one that the path goes through.
fn target(client: &mut Client, text: &str) -> Result<Target, ClientError> {
    if let Some(method) = node_id(client, text)? {
        return Ok(Target {
            method,
            object: None,
        });
    }
    let (above, name) = divided(text);
    match client.find(text) {
        Ok(found) => Ok(Target {
            method: found.node_id.node_id,
            object: Some(match above {
                "" => NodeId::from(ids::OBJECTS_FOLDER),
                above => client.find(above)?.node_id.node_id,
            }),
        }),
        Err(error) if error.status_code() == StatusCode::BadNoMatch => {
            method_of_provider(client, above, name)?.ok_or(error)
        }
        Err(error) => Err(error),
    }
}

/// Divides a path into that of the Object and the name of its Method. A slash after `&` belongs to a name (OPC 10000-4, A.2).
fn divided(path: &str) -> (&str, &str) {
    let path = path.trim_matches('/');
    let mut slashes = path.rmatch_indices('/');
    let last = slashes.find(|(at, _)| !path[..*at].ends_with('&'));
    last.map_or(("", path), |(at, _)| (&path[..at], &path[at + 1..]))
}

/// Finds a Method below an Object of a Provider, whose path is its identifier.
fn method_of_provider(
    client: &mut Client,
    above: &str,
    name: &str,
) -> Result<Option<Target>, ClientError> {
    let own = |path| Target {
        method: path,
        object: None,
    };
    if above.is_empty() {
        return Ok(node_of_provider(client, name)?.map(own));
    }
    let Some(object) = node_of_provider(client, above)? else {
        return Ok(None);
    };
    let children = client.browse(&object, &Follow::children())?;
    let mut children = children.into_iter();
    let found = children.find(|child| child.browse_name.name.as_str() == name);
    Ok(found.map(|method| Target {
        method: method.node_id.node_id,
        object: Some(object),
    }))
}

/// Returns the only Object that has the Method as a component.
fn only_owner(client: &mut Client, method: &NodeId) -> miette::Result<NodeId> {
    let objects = client.objects_of_method(method);
    match &*objects.map_err(|error| explain::client(&error))? {
        [object] => Ok(object.clone()),
        [] => Err(explain::client(&ClientError::operation(
            method,
            StatusCode::BadMethodInvalid,
        ))),
        several => {
            let shown = several.iter().take(MOST_SHOWN).map(ToString::to_string);
            let shown: Vec<String> = shown.map(|id| output::printable(&id)).collect();
            Err(explain::with_help(
                format!(
                    "{} Objects have this Method, among them {}",
                    several.len(),
                    shown.join(", ")
                ),
                "Name the Object with --object, or the Method by its path: the Object is then the one in the path.",
            ))
        }
    }
}

/// Largest number of Objects that an error names.
const MOST_SHOWN: usize = 5;

fn parse_inputs(
    client: &mut Client,
    described: &mut Described,
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
        let names = match names.iter().all(|name| name.is_empty()) {
            true => String::new(),
            false => format!(" ({})", output::printable(&names.join(", "))),
        };
        return Err(miette!(
            "the Method takes {} input arguments{names}, {} were given",
            signature.len(),
            texts.len()
        ));
    }
    signature
        .iter()
        .zip(texts)
        .map(|(argument, text)| {
            let data_type = &argument.data_type;
            parse_described(client, described, text, data_type, argument.value_rank).map_err(
                |error| {
                    let name = output::printable(argument.name.as_str());
                    error.wrap_err(format!("the input argument {name}"))
                },
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_the_object_and_the_method() {
        assert_eq!(
            divided("Machine/Spindle/Start"),
            ("Machine/Spindle", "Start")
        );
        assert_eq!(divided("/Line&/1/Start/"), ("Line&/1", "Start"));
        assert_eq!(divided("A/Stop&/Go"), ("A", "Stop&/Go"));
        assert_eq!(divided("Start"), ("", "Start"));
    }
}
