//! Layouts of events: the `format` files of tracefs.

use std::collections::HashMap;

use super::bytes::{signed, unsigned};
use super::event::{
    KernelName, KernelPriority, KernelThread, Left, TraceEntry, TraceEvent, Vector,
};

/// Flag of `common_flags` within an interrupt (`TRACE_FLAG_HARDIRQ`, `include/linux/trace_events.h`).
const IN_INTERRUPT: u64 = 0x08;
/// Flag within a softirq (`TRACE_FLAG_SOFTIRQ`).
const IN_SOFTIRQ: u64 = 0x10;

/// State of `cpu_idle` when the processor leaves its idle state (`PWR_EVENT_EXIT`, `include/trace/events/power.h`).
pub(crate) const NO_IDLE_STATE: u32 = u32::MAX;

/// Fields of each event, which every event has at the same place.
const COMMON: [&str; 3] = ["common_type", "common_flags", "common_pid"];

/// Error of a `format` file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file has no id.
    #[error("the format of the event {event} has no ID")]
    Id {
        /// Name of the event.
        event: String,
    },
    /// The file lacks a field, or the field has an unknown type.
    #[error("the format of the event {event} has no usable field {field}")]
    Field {
        /// Name of the event.
        event: String,
        /// Name of the field.
        field: &'static str,
    },
}

/// Place of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    offset: usize,
    size: usize,
    is_location: bool,
}

impl Field {
    fn unsigned(self, data: &[u8]) -> Option<u64> {
        unsigned(data, self.offset, self.size)
    }

    fn signed(self, data: &[u8]) -> Option<i64> {
        signed(data, self.offset, self.size)
    }

    fn thread(self, data: &[u8]) -> Option<u32> {
        u32::try_from(self.signed(data)?).ok()
    }

    /// Returns the bytes of a text: those of the field, or those to which it points (`__data_loc`: offset and length).
    fn name(self, data: &[u8]) -> Option<KernelName> {
        let (offset, size) = match self.is_location {
            false => (self.offset, self.size),
            true => {
                let location = usize::try_from(self.unsigned(data)?).ok()?;
                (location & 0xFFFF, location >> 16)
            }
        };
        let text = data.get(offset..offset.checked_add(size)?)?;
        Some(KernelName::new(text))
    }
}

/// Meaning of an event, with the places of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Layout {
    Switch {
        previous: [Field; 3],
        state: Field,
        next: [Field; 3],
    },
    Waking {
        thread: Field,
        place: Option<Field>,
    },
    Migrate {
        thread: Field,
        to: Field,
    },
    Interrupt(Field),
    InterruptEnd,
    VectorBegin(Vector),
    VectorEnd(Vector),
    Softirq(Field),
    SoftirqEnd(Field),
    IdleState(Field),
    PageFault,
    SystemCall(Field),
    SystemCallEnd(Field),
}

/// Events that are used: group and name. [`required`] names those without which nothing can be told.
#[must_use]
pub fn used() -> Vec<(&'static str, String)> {
    let plain = [
        ("sched", "sched_switch"),
        ("sched", "sched_waking"),
        ("sched", "sched_migrate_task"),
        ("irq", "irq_handler_entry"),
        ("irq", "irq_handler_exit"),
        ("irq", "softirq_entry"),
        ("irq", "softirq_exit"),
        ("raw_syscalls", "sys_enter"),
        ("raw_syscalls", "sys_exit"),
        ("exceptions", "page_fault_user"),
        ("exceptions", "page_fault_kernel"),
        ("power", "cpu_idle"),
    ];
    let plain = plain.map(|(group, name)| (group, name.to_owned()));
    let ends = ["entry", "exit"];
    let vectors = Vector::ALL.iter().flat_map(|(_, name)| {
        let name = move |end| ("irq_vectors", format!("{name}_{end}"));
        ends.iter().map(name)
    });
    plain.into_iter().chain(vectors).collect()
}

/// Returns true for an event without which no cause can be told.
#[must_use]
pub fn required(group: &str) -> bool {
    matches!(group, "sched" | "irq" | "raw_syscalls")
}

/// Layouts of the events that a kernel has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Formats {
    layouts: HashMap<u16, Layout>,
    common: Option<[Field; 3]>,
}

impl Formats {
    /// Adds an event: the text of its `format` file. Returns its id.
    ///
    /// # Errors
    /// [`FormatError`]: this version of the event is unknown.
    pub fn add(&mut self, name: &str, text: &str) -> Result<u16, FormatError> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"));
        let id = id.and_then(|id| id.trim().parse().ok());
        let id = id.ok_or_else(|| FormatError::Id {
            event: name.to_owned(),
        })?;
        let fields = fields(text);
        let field = |field: &'static str| {
            fields
                .get(field)
                .copied()
                .ok_or_else(|| FormatError::Field {
                    event: name.to_owned(),
                    field,
                })
        };
        let vector = |end: &str| {
            let found = name.strip_suffix(end)?;
            let mut all = Vector::ALL.iter();
            all.find(|(_, known)| *known == found).map(|it| it.0)
        };
        let layout = match name {
            "sched_switch" => Layout::Switch {
                previous: [field("prev_pid")?, field("prev_prio")?, field("prev_comm")?],
                state: field("prev_state")?,
                next: [field("next_pid")?, field("next_prio")?, field("next_comm")?],
            },
            "sched_waking" => Layout::Waking {
                thread: field("pid")?,
                place: field("target_cpu").ok(),
            },
            "sched_migrate_task" => Layout::Migrate {
                thread: field("pid")?,
                to: field("dest_cpu")?,
            },
            "irq_handler_entry" => Layout::Interrupt(field("name")?),
            "irq_handler_exit" => Layout::InterruptEnd,
            "softirq_entry" => Layout::Softirq(field("vec")?),
            "softirq_exit" => Layout::SoftirqEnd(field("vec")?),
            "cpu_idle" => Layout::IdleState(field("state")?),
            "sys_enter" => Layout::SystemCall(field("id")?),
            "sys_exit" => Layout::SystemCallEnd(field("id")?),
            "page_fault_user" | "page_fault_kernel" => Layout::PageFault,
            _ => match (vector("_entry"), vector("_exit")) {
                (Some(vector), _) => Layout::VectorBegin(vector),
                (None, Some(vector)) => Layout::VectorEnd(vector),
                (None, None) => return Ok(id),
            },
        };
        let [kind, flags, thread] = COMMON;
        self.common = Some([field(kind)?, field(flags)?, field(thread)?]);
        self.layouts.insert(id, layout);
        Ok(id)
    }

    /// Returns the event in the data of a record; `None` for other events, and for damaged data.
    #[must_use]
    pub fn entry(&self, nanos: u64, processor: u32, data: &[u8]) -> Option<TraceEntry> {
        let [kind, flags, thread] = self.common?;
        let kind = u16::try_from(kind.unsigned(data)?).ok()?;
        let event = self.layouts.get(&kind)?.event(data)?;
        let flags = flags.unsigned(data)?;
        Some(TraceEntry {
            nanos,
            processor,
            thread: thread.thread(data)?,
            in_interrupt: flags & IN_INTERRUPT != 0,
            in_softirq: flags & IN_SOFTIRQ != 0,
            event,
        })
    }
}

impl Layout {
    fn event(&self, data: &[u8]) -> Option<TraceEvent> {
        let thread = |[id, priority, name]: &[Field; 3]| {
            Some(KernelThread {
                id: id.thread(data)?,
                name: name.name(data)?,
                priority: KernelPriority(i32::try_from(priority.signed(data)?).ok()?),
            })
        };
        let softirq = |number: &Field| u8::try_from(number.unsigned(data)?).ok();
        Some(match self {
            Self::Switch {
                previous,
                state,
                next,
            } => TraceEvent::Switch {
                previous: thread(previous)?,
                left: Left::of_state(state.signed(data)?),
                next: thread(next)?,
            },
            Self::Waking { thread, place } => TraceEvent::Waking {
                thread: thread.thread(data)?,
                place: place.and_then(|it| it.thread(data)),
            },
            Self::Migrate { thread, to } => TraceEvent::Migrate {
                thread: thread.thread(data)?,
                to: to.thread(data)?,
            },
            Self::Interrupt(name) => TraceEvent::Interrupt {
                name: name.name(data)?,
            },
            Self::InterruptEnd => TraceEvent::InterruptEnd,
            Self::VectorBegin(vector) => TraceEvent::VectorBegin(*vector),
            Self::VectorEnd(vector) => TraceEvent::VectorEnd(*vector),
            Self::Softirq(number) => TraceEvent::Softirq(softirq(number)?),
            Self::SoftirqEnd(number) => TraceEvent::SoftirqEnd(softirq(number)?),
            Self::IdleState(state) => {
                let state = u32::try_from(state.unsigned(data)?).ok()?;
                TraceEvent::IdleState(Some(state).filter(|state| *state != NO_IDLE_STATE))
            }
            Self::PageFault => TraceEvent::PageFault,
            Self::SystemCall(id) => TraceEvent::SystemCall(id.signed(data)?),
            Self::SystemCallEnd(id) => TraceEvent::SystemCallEnd(id.signed(data)?),
        })
    }
}

/// Returns the fields of a `format` file by their names.
fn fields(text: &str) -> HashMap<&str, Field> {
    text.lines().filter_map(field).collect()
}

/// Returns the field of a line `field:TYPE NAME; offset:N; size:N; signed:N;`.
fn field(line: &str) -> Option<(&str, Field)> {
    let (declaration, rest) = line.trim().strip_prefix("field:")?.split_once(';')?;
    let number = |key: &str| -> Option<usize> {
        let (_, after) = rest.split_once(key)?;
        after.split(';').next()?.trim().parse().ok()
    };
    // An array has its length behind the name, `char comm[16]`, or before it, `__data_loc char[] comm`.
    let name = declaration.split_whitespace().next_back()?;
    let name = name.split('[').next()?;
    let place = Field {
        offset: number("offset:")?,
        size: number("size:")?,
        is_location: declaration.contains("__data_loc"),
    };
    Some((name, place))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

    fn format(id: u16, fields: &str) -> String {
        format!("name: x\nID: {id}\nformat:\n{COMMON}{fields}\nprint fmt: \"x\"\n")
    }

    #[test]
    fn fields_are_read_at_their_places() {
        let mut formats = Formats::default();
        let text = format(
            7,
            "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n\
             \tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n",
        );
        assert_eq!(formats.add("irq_handler_entry", &text), Ok(7));
        let mut data = 7_u16.to_ne_bytes().to_vec();
        data.extend([0x08, 0]);
        data.extend(42_i32.to_ne_bytes());
        data.extend(9_i32.to_ne_bytes());
        data.extend((5_u32 << 16 | 16).to_ne_bytes());
        data.extend(b"eth0\0");
        let expected = TraceEntry {
            nanos: 5,
            processor: 1,
            thread: 42,
            in_interrupt: true,
            in_softirq: false,
            event: TraceEvent::Interrupt {
                name: KernelName::new(b"eth0"),
            },
        };
        assert_eq!(formats.entry(5, 1, &data), Some(expected));
        for length in 0..data.len() {
            assert_eq!(formats.entry(5, 1, &data[..length]), None, "{length}");
        }
        data[0] = 8;
        assert_eq!(formats.entry(5, 1, &data), None, "another event");
    }

    #[test]
    fn unknown_versions_of_an_event_are_refused() {
        let mut formats = Formats::default();
        let refused = formats.add("sched_waking", &format(1, "")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the format of the event sched_waking has no usable field pid"
        );
        let refused = formats.add("sched_waking", "name: x").unwrap_err();
        assert!(matches!(refused, FormatError::Id { .. }));
    }
}
