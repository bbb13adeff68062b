//! Variables with the numbers of watched flows.

use std::collections::BTreeSet;
use std::sync::Arc;

use takt_pubsub::monitor::{FlowFigures, WatchedFlow, WatchedFlows, WatchedQuantity};
use takt_space::ValueSource;
use takt_ua::{BuiltInType, DataValue, DateTime, StatusCode, Variant};

use crate::provider::{Unit, Variable};

/// Path of the Object above the Variables of [`flow_variables`].
pub const FLOWS: &str = "Flows";

const MICROSECOND: Unit = Unit::new("B98", "\u{b5}s", "microsecond");

/// Returns the Variables of watched flows, for a [`Provider`](crate::Provider) in the process that runs the configuration. They are
/// computed from atomics on the serving thread, without a lock.
///
/// | path | value |
/// |---|---|
/// | `Flows/Count` | number of flows |
/// | `Flows/GreatestShare` | greatest measured time divided by its proven time, of all flows |
/// | `Flows/GreatestFlow` | name of the flow with this share |
/// | `Flows/Late` | number of times above their bounds, of all flows |
/// | `Flows/FLOW/Component` | `CONNECTION/GROUP` or `CONNECTION/READER` |
/// | `Flows/FLOW/Messages`, `Missing`, `Refused`, `Early`, `FromTheFuture`, `ClockSteps` | as in [`FlowFigures`] |
/// | `Flows/FLOW/Delay/Greatest`, `Proven` | greatest measured and longest proven time, in µs |
/// | `Flows/FLOW/Delay/Share`, `Near`, `Late` | as in [`TimeFigures`](takt_pubsub::monitor::TimeFigures) |
///
/// `Interval` and `Sending` have the same Variables as `Delay`. `Proven`, `Share`, `Near` and `Late` are left out if nothing is proven. A
/// share is UncertainInitialValue until something is measured. A `/`, `#` or `:` in the name of a flow is a `.` in the path;
/// equal names get numbers.
#[must_use]
pub fn flow_variables(flows: &WatchedFlows) -> Vec<Variable> {
    let (count, greatest, named, late) = (flows.len(), flows.clone(), flows.clone(), flows.clone());
    let mut variables = vec![
        number(format!("{FLOWS}/Count"), move || count as u64)
            .description("Number of watched flows"),
        share(format!("{FLOWS}/GreatestShare"), move || {
            greatest.greatest().map(|(_, share)| share)
        })
        .description("Greatest measured time divided by its proven time, of all flows"),
        Variable::callback(
            format!("{FLOWS}/GreatestFlow"),
            BuiltInType::String,
            move || {
                let greatest = named.greatest();
                let name = greatest.map(|(flow, _)| flow.description().name.as_str());
                Variant::String(name.unwrap_or_default().into())
            },
        )
        .inline()
        .description("Flow with the greatest share"),
        number(format!("{FLOWS}/Late"), move || late.late())
            .description("Number of times above their bounds, of all flows"),
    ];
    let mut taken: BTreeSet<String> = ["Count", "GreatestShare", "GreatestFlow", "Late"]
        .map(str::to_owned)
        .into();
    for flow in flows.iter() {
        let path = path_of(&flow.description().name, &mut taken);
        add_flow(&mut variables, flow, &path);
    }
    variables
}

/// Returns the path of a flow; equal names get numbers.
fn path_of(name: &str, taken: &mut BTreeSet<String>) -> String {
    // A slash would divide the path, and the others are for the Provider's own nodes.
    let name = match name.replace(['/', '#', ':'], ".") {
        empty if empty.is_empty() => "Flow".to_owned(),
        name => name,
    };
    let numbered = (2_u32..).map(|number| format!("{name} {number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(free.clone());
    format!("{FLOWS}/{free}")
}

fn add_flow(variables: &mut Vec<Variable>, flow: &Arc<WatchedFlow>, path: &str) {
    let component = flow.description().component.as_str();
    variables.push(Variable::stored(
        format!("{path}/Component"),
        Variant::String(component.into()),
    ));
    let mut add = |name: &str, of: fn(&FlowFigures) -> u64| {
        let flow = flow.clone();
        variables.push(number(
            format!("{path}/{name}"),
            move || of(&flow.figures()),
        ));
    };
    add("Messages", |it| it.messages);
    add("Missing", |it| it.missing);
    add("Refused", |it| it.refused);
    add("Early", |it| it.early);
    add("FromTheFuture", |it| it.from_the_future);
    add("ClockSteps", |it| it.clock_steps);
    for (place, time) in flow.figures().times.iter().enumerate() {
        let path = format!(
            "{path}/{}",
            match time.quantity {
                WatchedQuantity::Delay => "Delay",
                WatchedQuantity::Interval => "Interval",
                WatchedQuantity::Sending => "Sending",
            }
        );
        let micros = |nanos: u128| nanos as f64 / 1000.0;
        let of = flow.clone();
        let greatest = move || {
            let figures = of.figures();
            let time = figures.times.get(place);
            time.map_or(0.0, |time| micros(time.greatest.as_nanos()))
        };
        variables.push(
            Variable::callback(format!("{path}/Greatest"), BuiltInType::Double, greatest)
                .inline()
                .unit(MICROSECOND),
        );
        let Some(proven) = time.proven else {
            continue;
        };
        let proven = Variable::stored(format!("{path}/Proven"), micros(proven.as_nanos()));
        variables.push(proven.unit(MICROSECOND));
        let of = flow.clone();
        variables.push(share(format!("{path}/Share"), move || {
            of.figures().times.get(place)?.share()
        }));
        let of = flow.clone();
        variables.push(number(format!("{path}/Near"), move || {
            of.figures().times.get(place).map_or(0, |time| time.near)
        }));
        let of = flow.clone();
        variables.push(number(format!("{path}/Late"), move || {
            of.figures().times.get(place).map_or(0, |time| time.late)
        }));
    }
}

fn number(path: String, read: impl Fn() -> u64 + Send + Sync + 'static) -> Variable {
    Variable::callback(path, BuiltInType::UInt64, read).inline()
}

/// Creates a Variable with a share, which is not known at first.
fn share(path: String, read: impl Fn() -> Option<f64> + Send + Sync + 'static) -> Variable {
    struct Share<F>(F);
    impl<F: Fn() -> Option<f64> + Send + Sync> ValueSource for Share<F> {
        fn read(&self) -> DataValue {
            let share = (self.0)();
            DataValue {
                status: share.is_none().then_some(StatusCode::UncertainInitialValue),
                ..DataValue::good(Variant::Double(share.unwrap_or(0.0)))
                    .with_source_timestamp(DateTime::now())
            }
        }
    }
    Variable::source(path, BuiltInType::Double, Arc::new(Share(read))).inline()
}
