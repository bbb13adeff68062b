//! The checks without Subscriptions, and the list of all.

use std::collections::HashSet;
use std::time::Duration;

use opcua::types::{
    Array, BrowseDirection, BrowseResult, DataValue, DateTime, NodeId, NumericRange, ObjectId,
    StatusCode, VariableId, Variant, VariantScalarTypeId,
};

use crate::session::{Session, attribute, first, status};
use crate::{Counted, Failed, Task, alarms, expect, expect_status, subscriptions};

/// Runs the check with this name, if there is one.
pub(crate) async fn run(name: &str, task: &Task) -> Option<Counted> {
    Some(match name {
        "browse_continuation" => browse_continuation(task).await,
        "all_attributes" => all_attributes(task).await,
        "index_range" => index_range(task).await,
        "write_plain" => write_plain(task).await,
        "write_timestamps" => write_timestamps(task).await,
        "call" => call(task).await,
        "renewal" => renewal(task).await,
        "ten_thousand_nodes" => ten_thousand_nodes(task).await,
        "million_elements" => million_elements(task).await,
        "subscription" => subscriptions::subscription(task).await,
        "deadband" => subscriptions::deadband(task).await,
        "triggering" => subscriptions::triggering(task).await,
        "republish" => subscriptions::republish(task).await,
        "transfer" => subscriptions::transfer(task).await,
        "restart" => subscriptions::restart(task).await,
        "machine" => subscriptions::machine(task).await,
        "event" => alarms::event(task).await,
        "history" => alarms::history(task).await,
        "reverse" => reverse(task).await,
        _ => return None,
    })
}

fn server() -> NodeId {
    ObjectId::Server.into()
}

/// Returns the result of BrowseNext.
async fn next(session: &Session, result: &BrowseResult) -> Result<BrowseResult, Failed> {
    let point = &result.continuation_point;
    let next = first(session.browse_next(point, false).await?)?;
    expect_status("BrowseNext", next.status_code, StatusCode::Good)?;
    Ok(next)
}

/// Browse and BrowseNext with 1 to 3 references give all references in their order.
async fn browse_continuation(task: &Task) -> Counted {
    let session = task.session().await?;
    let mut continued = 0;
    let names = |result: &BrowseResult| -> Vec<String> {
        let references = result.references.iter().flatten();
        references
            .map(|reference| reference.node_id.to_string())
            .collect()
    };
    let whole = names(
        &session
            .browse(server(), 0, BrowseDirection::Forward)
            .await?,
    );
    for most in 1..=3 {
        let mut found = Vec::new();
        let mut result = session
            .browse(server(), most, BrowseDirection::Forward)
            .await?;
        loop {
            let part = names(&result);
            expect(part.len() <= most as usize, || {
                format!("{} instead of {most}", part.len())
            })?;
            found.extend(part);
            if result.continuation_point.is_null_or_empty() {
                break;
            }
            result = next(&session, &result).await?;
            continued += 1;
        }
        expect(found == whole, || format!("{found:?} instead of {whole:?}"))?;
        let result = session
            .browse(server(), most, BrowseDirection::Forward)
            .await?;
        session
            .browse_next(&result.continuation_point, true)
            .await?;
        let gone = first(
            session
                .browse_next(&result.continuation_point, false)
                .await?,
        )?;
        let invalid = StatusCode::BadContinuationPointInvalid;
        expect_status("a released continuation point", gone.status_code, invalid)?;
    }
    Ok(continued)
}

/// Returns all nodes below one, without those below `Many` and `Large`.
async fn walk(session: &Session, start: NodeId) -> Result<Vec<NodeId>, Failed> {
    let mut known = HashSet::from([start.clone()]);
    let (mut found, mut waiting) = (vec![start.clone()], vec![start]);
    while let Some(node) = waiting.pop() {
        let mut result = session.browse(node, 100, BrowseDirection::Forward).await?;
        loop {
            expect_status("Browse", result.status_code, StatusCode::Good)?;
            for reference in result.references.iter().flatten() {
                let node = &reference.node_id.node_id;
                if known.insert(node.clone()) {
                    found.push(node.clone());
                    if !["Many", "Large"].contains(&reference.browse_name.name.as_ref()) {
                        waiting.push(node.clone());
                    }
                }
            }
            if result.continuation_point.is_null_or_empty() {
                break;
            }
            result = next(session, &result).await?;
        }
    }
    Ok(found)
}

/// Returns the status of a value of namespace 0 that is not for every user (arrays of all clients) or channel (their security), or does not
/// exist (size of a trust list).
fn withheld(node: &NodeId) -> Option<StatusCode> {
    match node.to_string().as_str() {
        "i=2290" | "i=3707" => Some(StatusCode::BadUserAccessDenied),
        "i=3708" => Some(StatusCode::BadSecurityModeInsufficient),
        "i=12643" => Some(StatusCode::BadNotSupported),
        _ => None,
    }
}

/// Each attribute of each node is Good or does not exist; instance declarations may have no value.
async fn all_attributes(task: &Task) -> Counted {
    let session = task.session().await?;
    let nodes = walk(&session, task.start()?).await?;
    let items: Vec<_> = nodes
        .iter()
        .flat_map(|node| (1..=27).map(|number| attribute(node.clone(), number)))
        .collect();
    let mut gone = 0;
    for batch in items.chunks(10_000) {
        let results = session.read(batch.to_vec()).await?;
        expect(results.len() == batch.len(), || {
            format!("{} results", results.len())
        })?;
        for (item, result) in batch.iter().zip(&results) {
            let (node, number, status) = (&item.node_id, item.attribute_id, status(result));
            // A node of the diagnostics: its Session has ended meanwhile.
            if status == StatusCode::BadNodeIdUnknown && node.namespace == 1 {
                gone += 1;
                continue;
            }
            let missing = status == StatusCode::BadAttributeIdInvalid && number > 4;
            let empty = status == StatusCode::BadWaitingForInitialData && number == 13;
            // The security of a Session in the diagnostics: its channel has to be encrypted.
            let of_session =
                status == StatusCode::BadSecurityModeInsufficient && node.namespace == 1;
            let refused = (of_session || withheld(node) == Some(status)) && number > 4;
            expect(
                status == StatusCode::Good || missing || empty || refused,
                || format!("{node}, {number}: {status}"),
            )?;
            if number == 1 {
                let own = Some(Variant::from(node.clone()));
                expect(result.value == own, || {
                    format!("{node} has {:?}", result.value)
                })?;
            }
        }
    }
    // Two Sessions have fewer attributes.
    expect(gone < 4_000, || {
        format!("{gone} attributes of nodes that are gone")
    })?;
    Ok(nodes.len())
}

/// Returns an array of UInt32.
pub(crate) fn numbers(values: impl IntoIterator<Item = u32>) -> Variant {
    Variant::from(values.into_iter().collect::<Vec<u32>>())
}

/// Parts of arrays, matrices and Strings are read and written.
async fn index_range(task: &Task) -> Counted {
    let session = task.session().await?;
    let doubles = [2.0, 3.0, 5.0, 6.0].map(Variant::Double).to_vec();
    let matrix = Array::new_multi(VariantScalarTypeId::Double, doubles, vec![2, 2])?;
    for (path, part, expected) in [
        ("Values/Array", "5", numbers([5])),
        ("Values/Array", "1:3", numbers(1..=3)),
        ("Values/Array", "14:20", numbers([14, 15])),
        ("Values/Matrix", "0:1,1:2", Variant::Array(Box::new(matrix))),
        ("Values/String", "0:3", Variant::from("Takt")),
    ] {
        let range = NumericRange::new(part).map_err(|_| Failed(part.to_owned()))?;
        let value = session.part(path, range).await?;
        expect_status(format!("{path}[{part}]"), status(&value), StatusCode::Good)?;
        expect(value.value == Some(expected), || {
            format!("{path}[{part}]: {value:?}")
        })?;
    }
    // The library sends no text that is not a range.
    for (range, expected) in [
        (NumericRange::Index(16), StatusCode::BadIndexRangeNoData),
        (NumericRange::Range(3, 1), StatusCode::BadIndexRangeInvalid),
    ] {
        let value = session.part("Values/Array", range).await?;
        expect_status("Values/Array", status(&value), expected)?;
    }
    for values in [[71, 72], [7, 8]] {
        let written = DataValue::value_only(numbers(values));
        let status = session
            .write("Values/Array", written, NumericRange::Range(7, 8))
            .await?;
        expect_status("Write of Values/Array[7:8]", status, StatusCode::Good)?;
        let array = session.value("Values/Array").await?;
        let expected = numbers((0..7).chain(values).chain(9..16));
        expect(array == expected, || format!("{array:?}"))?;
    }
    Ok(9)
}

/// Values without timestamps are written, and those that do not fit are refused.
async fn write_plain(task: &Task) -> Counted {
    let session = task.session().await?;
    let mut done = 0;
    for (path, value, expected) in [
        ("Values/Double", Variant::Double(7.25), StatusCode::Good),
        (
            "Values/Double",
            Variant::UInt32(7),
            StatusCode::BadTypeMismatch,
        ),
        (
            "Values/ReadOnly",
            Variant::Int64(7),
            StatusCode::BadNotWritable,
        ),
        (
            "Values/Nothing",
            Variant::UInt32(7),
            StatusCode::BadNodeIdUnknown,
        ),
        ("Values/String", Variant::from("Grüße"), StatusCode::Good),
        (
            "Values/String",
            Variant::from("Takt: equal time"),
            StatusCode::Good,
        ),
        ("Values/Double", Variant::Double(2.5), StatusCode::Good),
    ] {
        let written = DataValue::value_only(value.clone());
        let status = session.write(path, written, NumericRange::None).await?;
        expect_status(format!("Write of {path}"), status, expected)?;
        if expected == StatusCode::Good {
            let read = session.value(path).await?;
            expect(read == value, || format!("{path}: {read:?}"))?;
        }
        done += 1;
    }
    Ok(done)
}

/// Values with a timestamp and a StatusCode are stored with both.
async fn write_timestamps(task: &Task) -> Counted {
    let session = task.session().await?;
    let time = DateTime::ymd_hms(2024, 2, 29, 12, 34, 56);
    let value = DataValue {
        status: Some(StatusCode::UncertainSubNormal),
        source_timestamp: Some(time),
        ..DataValue::value_only(3.5)
    };
    let written = session
        .write("Values/Double", value, NumericRange::None)
        .await?;
    expect_status("Write", written, StatusCode::Good)?;
    let read = session.part("Values/Double", NumericRange::None).await?;
    expect(read.value == Some(Variant::Double(3.5)), || {
        format!("{read:?}")
    })?;
    expect_status("Read", status(&read), StatusCode::UncertainSubNormal)?;
    expect(read.source_timestamp == Some(time), || format!("{read:?}"))?;
    expect(read.server_timestamp.is_some(), || format!("{read:?}"))?;
    // The library's own way of writing has the StatusCode Good and both timestamps.
    let own = session
        .write("Values/Double", DataValue::new_now(2.5), NumericRange::None)
        .await?;
    expect_status("new_now", own, StatusCode::Good)?;
    Ok(5)
}

/// A Method is called; wrong calls are refused.
async fn call(task: &Task) -> Counted {
    let session = task.session().await?;
    let (six, seven) = (Variant::Double(6.0), Variant::Double(7.0));
    let product = session
        .call("Multiply", vec![six.clone(), seven.clone()])
        .await?;
    expect_status("Multiply", product.status_code, StatusCode::Good)?;
    let expected = Some(vec![Variant::Double(42.0)]);
    expect(product.output_arguments == expected, || {
        format!("{product:?}")
    })?;
    let text = Variant::from("six");
    for (method, arguments, expected) in [
        (
            "Multiply",
            vec![six.clone()],
            StatusCode::BadArgumentsMissing,
        ),
        (
            "Multiply",
            vec![six.clone(), six, seven.clone()],
            StatusCode::BadTooManyArguments,
        ),
        (
            "Multiply",
            vec![text, seven],
            StatusCode::BadInvalidArgument,
        ),
        ("Refuse", vec![], StatusCode::BadInvalidState),
    ] {
        let result = session.call(method, arguments).await?;
        expect_status(method, result.status_code, expected)?;
        if expected == StatusCode::BadInvalidArgument {
            let each = Some(vec![StatusCode::BadTypeMismatch, StatusCode::Good]);
            expect(result.input_argument_results == each, || {
                format!("{result:?}")
            })?;
        }
    }
    Ok(5)
}

/// The server names itself on a connection that it has opened.
async fn reverse(task: &Task) -> Counted {
    let session = task.session().await?;
    let names = session.read(vec![attribute(VariableId::Server_ServerArray.into(), 13)]);
    let names = names.await?;
    let expected = Variant::from(vec![task.field("start").to_owned()]);
    expect(names[0].value.as_ref() == Some(&expected), || {
        format!("{names:?}")
    })?;
    Ok(names.len())
}

/// The channel is renewed every second while values are read.
async fn renewal(task: &Task) -> Counted {
    // The client renews after three quarters of the lifetime.
    let session = task.session_with_lifetime(1_333).await?;
    let mut done = 0;
    while done < 100 || task.want("renewed").await?["renewed"].as_u64() < Some(2) {
        let value = session.value("Values/Double").await?;
        expect(value == Variant::Double(2.5), || format!("{value:?}"))?;
        done += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(done)
}

/// One Read has 10 000 nodes.
async fn ten_thousand_nodes(task: &Task) -> Counted {
    let session = task.session().await?;
    let count = 10_000;
    let path = |n: u32| format!("Many/Group{}/Value{n}", n / 100);
    let items = (0..count).map(|n| attribute(session.node(&path(n)), 13));
    let results = session.read(items.collect()).await?;
    for (n, result) in (0..count).zip(&results) {
        expect_status(path(n), status(result), StatusCode::Good)?;
        expect(result.value == Some(Variant::UInt32(n)), || {
            format!("{}: {result:?}", path(n))
        })?;
    }
    Ok(results.len())
}

/// An array of a million elements is read and written.
async fn million_elements(task: &Task) -> Counted {
    let session = task.session().await?;
    let count = 1_000_000;
    let (up, down) = (numbers(0..count), numbers((1..=count).rev()));
    expect(session.value("Large/Million").await? == up, || {
        "wrong elements".to_owned()
    })?;
    for values in [down, up] {
        session.set("Large/Million", values.clone()).await?;
        let found = session.value("Large/Million").await?;
        expect(found == values, || {
            "wrong elements after the Write".to_owned()
        })?;
    }
    Ok(count as usize)
}
