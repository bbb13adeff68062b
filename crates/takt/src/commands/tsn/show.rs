//! `takt tsn show`.

use miette::IntoDiagnostic;
use serde_json::json;
use takt_figures::{Column, Table};
use takt_rt::interrupt::Interrupt;
use takt_tsn::{ClassCounters, class_counters, is_interface_name, kernel_state};

use super::{advice, system};
use crate::arguments::TsnShowArguments;
use crate::output;

pub(super) fn run(arguments: &TsnShowArguments) -> miette::Result<()> {
    let interface = &arguments.interface;
    if !is_interface_name(interface) {
        return Err(advice::plan(&takt_tsn::PlanError::InterfaceName(
            interface.clone(),
        )));
    }
    let mut executor = system::executor(&arguments.system);
    let interrupt = Interrupt::install().into_diagnostic()?;
    loop {
        let state =
            kernel_state(&mut executor, interface).map_err(|error| advice::system(&error))?;
        print(interface, &class_counters(&state.0), arguments.json);
        let Some(interval) = arguments.interval else {
            return Ok(());
        };
        interrupt.wait(Some(interval));
        if interrupt.is_set() {
            return Ok(());
        }
        if !arguments.json {
            output::line("");
        }
    }
}

fn print(interface: &str, classes: &[ClassCounters], is_json: bool) {
    if is_json {
        for class in classes {
            let counters = class.counters;
            output::line(json!({
                "interface": interface,
                "class": class.class,
                "priorities": class.priorities,
                "discipline": class.queue,
                "sentFrames": counters.sent_frames,
                "sentBytes": counters.sent_bytes,
                "dropped": counters.dropped,
                "overlimits": counters.overlimits,
                "requeues": counters.requeues,
                "backlogFrames": counters.backlog_frames,
                "backlogBytes": counters.backlog_bytes,
            }));
        }
        return;
    }
    let mut table = Table::new([
        Column::text("class"),
        Column::text("PCP"),
        Column::text("qdisc"),
        Column::number("frames").group("sent"),
        Column::number("B").group("sent"),
        Column::number("dropped"),
        Column::number("overlimits"),
        Column::number("frames").group("backlog"),
        Column::number("B").group("backlog"),
    ]);
    for class in classes {
        let counters = class.counters;
        table.row([
            class
                .class
                .map_or_else(|| "all".to_owned(), |number| number.to_string()),
            ranges(&class.priorities),
            class.queue.clone(),
            counters.sent_frames.to_string(),
            counters.sent_bytes.to_string(),
            counters.dropped.to_string(),
            counters.overlimits.to_string(),
            counters.backlog_frames.to_string(),
            counters.backlog_bytes.to_string(),
        ]);
    }
    table
        .lines(takt_figures::width())
        .iter()
        .for_each(output::line);
}

/// Returns PCPs as ranges: `0-2 4-7`. Priorities above 7 are no PCPs.
fn ranges(priorities: &[u8]) -> String {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for pcp in priorities.iter().copied().filter(|priority| *priority < 8) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == pcp => *last = pcp,
            _ => ranges.push((pcp, pcp)),
        }
    }
    let text = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    text.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pcps_are_shown_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 4, 5, 6, 7, 8, 9]), "0-2 4-7");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[9]), "");
    }
}
