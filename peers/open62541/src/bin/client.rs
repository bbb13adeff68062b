//! An open62541 client that answers JSON lines, or measures Reads: see `peers/README.md`.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use open62541_sys as sys;
use serde_json::{Value, json};
use takt_peer_open62541::Status;
use takt_peer_open62541::bench;
use takt_peer_open62541::client::Client;
use takt_peer_open62541::convert::{
    attribute_id, from_data_value, from_variant, localized_text, node_class, status, to_variant,
};

const USAGE: &str = "\
usage: open62541-client ENDPOINT [SECURITY]
       open62541-client listen:PORT
       open62541-client ENDPOINT --bench NODE [--samples N] [--warmup N] [--core N] [--fifo PRIORITY]";

/// Milliseconds for one request.
const TIMEOUT: u32 = 10_000;

/// Time to wait for a server that connects.
const WAIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((endpoint, options)) = arguments.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let (security, options) = match options {
        [security] => (serde_json::from_str(security).ok(), &[][..]),
        options => (Some(Value::Null), options),
    };
    let options = bench::Options::parse(options).and_then(|options| {
        let security = security.ok_or("SECURITY is not JSON")?;
        Ok((options, security))
    });
    let (options, security) = match options {
        Ok(parsed) => parsed,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let client = match endpoint.strip_prefix("listen:").map(str::parse) {
        None => Client::connect(endpoint, TIMEOUT, &security),
        Some(Ok(port)) => Client::listen(port, TIMEOUT, WAIT),
        Some(Err(_)) => Err(format!("{endpoint}: no port")),
    };
    let client = match client {
        Ok(client) => client,
        Err(error) => {
            say(&json!({"ready": false, "error": error}));
            return ExitCode::FAILURE;
        }
    };
    match options {
        None => serve(client),
        Some(options) => match bench::run(client, &options) {
            Ok(result) => say(&result),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        },
    }
    ExitCode::SUCCESS
}

/// Answers requests until the input ends.
fn serve(mut client: Client) {
    say(&json!({"ready": true}));
    let mut subscribed = Vec::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if !line.trim().is_empty() {
            say(&answer(&mut client, &mut subscribed, &line));
        }
    }
}

/// One line to whoever drives this client.
fn say(answer: &Value) {
    let mut out = std::io::stdout().lock();
    // Nobody to tell if nobody listens.
    let _ = writeln!(out, "{answer}").and_then(|()| out.flush());
}

/// One request, whatever becomes of it.
fn answer(client: &mut Client, subscribed: &mut Vec<Value>, line: &str) -> Value {
    let request: Value = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return json!({"id": null, "ok": false, "error": error.to_string()}),
    };
    match operate(client, subscribed, &request) {
        Ok(result) => json!({"id": request["id"], "ok": true, "result": result}),
        Err(error) => json!({"id": request["id"], "ok": false, "error": error}),
    }
}

fn operate(
    client: &mut Client,
    subscribed: &mut Vec<Value>,
    request: &Value,
) -> Result<Value, String> {
    match request["op"].as_str().unwrap_or_default() {
        "browse" => browse(client, request),
        "read" => read(client, request),
        "write" => write(client, request),
        "call" => call(client, request),
        "translate" => translate(client, request),
        "namespaces" => namespaces(client),
        "endpoints" => Ok(client
            .endpoints()
            .map_err(text)?
            .iter()
            .map(endpoint)
            .collect()),
        "servers" => Ok(client.servers().map_err(text)?.iter().map(server).collect()),
        "connect" => {
            let endpoint = request["endpoint"].as_str().unwrap_or_default();
            *client = Client::connect(endpoint, TIMEOUT, &request["security"])?;
            Ok(Value::Null)
        }
        "subscribe" => subscribe(client, subscribed, request),
        "changes" => Ok(changes(client, subscribed, request)),
        "subscribe_events" => {
            let fields = request["fields"].as_array().into_iter().flatten();
            let fields: Vec<&str> = fields.filter_map(Value::as_str).collect();
            Ok(client.subscribe_events(&request["node"], &fields)?.into())
        }
        "events" => Ok(events(client, request)),
        "history" => history(client, request),
        other => Err(format!("no operation `{other}`")),
    }
}

fn text(status: Status) -> String {
    status.to_string()
}

/// The first of a response's results.
fn first(mut response: Value) -> Value {
    response["Results"][0].take()
}

/// Browse, and BrowseNext until no continuation point is left.
fn browse(client: &mut Client, request: &Value) -> Result<Value, String> {
    let direction = match request["direction"].as_str() {
        Some("inverse") => 1,
        Some("both") => 2,
        _ => 0,
    };
    let mut result = first(
        client
            .request::<sys::UA_BrowseRequest>(&json!({
                "RequestedMaxReferencesPerNode": request["max"].as_u64().unwrap_or(0),
                "NodesToBrowse": [{
                    "NodeId": request["node"],
                    "BrowseDirection": direction,
                    "ReferenceTypeId": request["reference"].as_str().unwrap_or("i=31"),
                    "IncludeSubtypes": true,
                    "ResultMask": 63,
                }],
            }))
            .map_err(text)?,
    );
    let mut references = Vec::new();
    loop {
        let code = status(&result["StatusCode"]);
        if code != "Good" {
            return Err(code);
        }
        references.extend(
            result["References"]
                .as_array()
                .into_iter()
                .flatten()
                .map(reference),
        );
        if result["ContinuationPoint"]
            .as_str()
            .is_none_or(str::is_empty)
        {
            return Ok(references.into());
        }
        let points = json!({"ContinuationPoints": [result["ContinuationPoint"]]});
        result = first(
            client
                .request::<sys::UA_BrowseNextRequest>(&points)
                .map_err(text)?,
        );
    }
}

fn reference(reference: &Value) -> Value {
    json!({
        "node": reference["NodeId"],
        "browseName": reference["BrowseName"],
        "displayName": reference["DisplayName"]["Text"],
        "class": node_class(&reference["NodeClass"]),
        "reference": reference["ReferenceTypeId"],
        "forward": reference["IsForward"],
        "typeDefinition": reference["TypeDefinition"],
    })
}

/// One Read of all nodes, with both timestamps.
fn read(client: &mut Client, request: &Value) -> Result<Value, String> {
    let attribute = attribute_id(request["attribute"].as_str().unwrap_or("Value"));
    let nodes: Vec<Value> = request["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|node| json!({"NodeId": node, "AttributeId": attribute, "IndexRange": request["range"]}))
        .collect();
    let response = client
        .request::<sys::UA_ReadRequest>(&json!({"TimestampsToReturn": 2, "NodesToRead": nodes}))
        .map_err(text)?;
    Ok(response["Results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(from_data_value)
        .collect())
}

/// One Write of one node; no timestamps, which many servers refuse.
fn write(client: &mut Client, request: &Value) -> Result<Value, String> {
    let item = json!({
        "NodeId": request["node"],
        "AttributeId": attribute_id(request["attribute"].as_str().unwrap_or("Value")),
        "IndexRange": request["range"],
        "Value": to_variant(request)?,
    });
    let response = client
        .request::<sys::UA_WriteRequest>(&json!({"NodesToWrite": [item]}))
        .map_err(text)?;
    Ok(json!({"status": status(&response["Results"][0])}))
}

/// One Call of one Method.
fn call(client: &mut Client, request: &Value) -> Result<Value, String> {
    let arguments = request["arguments"].as_array().into_iter().flatten();
    let inputs: Vec<Value> = arguments.map(to_variant).collect::<Result<_, _>>()?;
    let item = json!({"ObjectId": request["object"], "MethodId": request["method"], "InputArguments": inputs});
    let result = first(
        client
            .request::<sys::UA_CallRequest>(&json!({"MethodsToCall": [item]}))
            .map_err(text)?,
    );
    let list = |name: &str| result[name].as_array().into_iter().flatten();
    Ok(json!({
        "status": status(&result["StatusCode"]),
        "arguments": list("InputArgumentResults").map(status).collect::<Vec<_>>(),
        "outputs": list("OutputArguments").map(from_variant).collect::<Vec<_>>(),
    }))
}

/// TranslateBrowsePathsToNodeIds of one path over hierarchical references.
fn translate(client: &mut Client, request: &Value) -> Result<Value, String> {
    let names = request["path"].as_array().into_iter().flatten();
    let elements: Vec<Value> = names
        .map(|name| json!({"ReferenceTypeId": "i=33", "IncludeSubtypes": true, "TargetName": name}))
        .collect();
    let path = json!({"StartingNode": request["node"], "RelativePath": {"Elements": elements}});
    let result = first(
        client
            .request::<sys::UA_TranslateBrowsePathsToNodeIdsRequest>(
                &json!({"BrowsePaths": [path]}),
            )
            .map_err(text)?,
    );
    let targets = result["Targets"].as_array().into_iter().flatten();
    Ok(json!({
        "status": status(&result["StatusCode"]),
        "targets": targets.map(|target| target["TargetId"].clone()).collect::<Vec<_>>(),
    }))
}

/// A Subscription with one MonitoredItem for each node, which are added to those `subscribed`.
fn subscribe(
    client: &mut Client,
    subscribed: &mut Vec<Value>,
    request: &Value,
) -> Result<Value, String> {
    let sampling = request["sampling"].as_f64().unwrap_or(-1.0);
    let queue = request["queue"].as_u64().unwrap_or(1);
    let nodes = request["nodes"].as_array().into_iter().flatten();
    *subscribed = nodes.cloned().collect();
    let items: Vec<Value> = subscribed
        .iter()
        .map(|node| {
            json!({
                "ItemToMonitor": {"NodeId": node, "AttributeId": attribute_id("Value")},
                "MonitoringMode": 2,
                "RequestedParameters": {"SamplingInterval": sampling, "QueueSize": queue, "DiscardOldest": true},
            })
        })
        .collect();
    let interval = request["interval"].as_f64().unwrap_or(100.0);
    let statuses = client.subscribe(interval, &items).map_err(text)?;
    Ok(statuses.into())
}

/// The changes since the last time.
fn changes(client: &mut Client, subscribed: &[Value], request: &Value) -> Value {
    let timeout = Duration::from_secs_f64(request["timeout"].as_f64().unwrap_or(10.0));
    let changes = client.changes(timeout).into_iter();
    changes
        .map(|(position, value)| {
            let mut change = from_data_value(&value);
            change["node"] = subscribed.get(position).cloned().unwrap_or_default();
            change
        })
        .collect()
}

/// The fields of the Events since the last time.
fn events(client: &mut Client, request: &Value) -> Value {
    let timeout = Duration::from_secs_f64(request["timeout"].as_f64().unwrap_or(10.0));
    let fields = |event: &Value| -> Value {
        let fields = event.as_array().into_iter().flatten();
        fields.map(from_variant).collect()
    };
    client.events(timeout).iter().map(fields).collect()
}

/// The raw values of a node in the last hour, in pages.
fn history(client: &mut Client, request: &Value) -> Result<Value, String> {
    let page = request["page"]
        .as_u64()
        .and_then(|page| u32::try_from(page).ok());
    let pages = client.history(&request["node"], page.unwrap_or(0));
    let values = |page: &Value| -> Value {
        let values = page["DataValues"].as_array().into_iter().flatten();
        values.map(from_data_value).collect()
    };
    Ok(pages.map_err(text)?.iter().map(values).collect())
}

/// The server's NamespaceArray.
fn namespaces(client: &mut Client) -> Result<Value, String> {
    let mut values = read(client, &json!({"nodes": ["i=2255"]}))?;
    Ok(values[0]["value"].take())
}

fn endpoint(endpoint: &Value) -> Value {
    const MODES: [&str; 4] = ["Invalid", "None", "Sign", "SignAndEncrypt"];
    let mode = endpoint["SecurityMode"]
        .as_u64()
        .and_then(|mode| usize::try_from(mode).ok());
    json!({
        "url": endpoint["EndpointUrl"],
        "securityPolicy": endpoint["SecurityPolicyUri"],
        "securityMode": mode.and_then(|mode| MODES.get(mode)),
        "transportProfile": endpoint["TransportProfileUri"],
        "applicationUri": endpoint["Server"]["ApplicationUri"],
        "applicationName": localized_text(&endpoint["Server"]["ApplicationName"])["text"],
    })
}

fn server(server: &Value) -> Value {
    json!({
        "applicationUri": server["ApplicationUri"],
        "applicationName": localized_text(&server["ApplicationName"])["text"],
        "discoveryUrls": server["DiscoveryUrls"],
    })
}
