//! Pages of the kernel's trace buffers, and layouts of its events: the shares of an explained lateness add up to it.
//!
//! The input is the number of bytes of a `format` file (2 bytes, little-endian), the file, and pages of 1024 bytes. The seeds are pages
//! of a kernel for x86-64, with other ids of events and threads, and without names.

use takt_wakeup::trace::formats::Formats;
use takt_wakeup::{EventHistory, LateInterval, LateKind, WatchedCalls};

/// Thread that is late.
const THREAD: u32 = 100;

/// Size of a page in bytes. Those of kernels have 4096.
const PAGE: usize = 1024;

/// Fields of each event.
const COMMON: &str = "field:unsigned short common_type; offset:0; size:2;\n\
    field:unsigned char common_flags; offset:2; size:1;\nfield:int common_pid; offset:4; size:4;\n";

/// Events with their fields as kernels for x86-64 have them; the place in the list is the id.
const EVENTS: [(&str, &str); 15] = [
    (
        "sched_switch",
        "field:char prev_comm[16]; offset:8; size:16;\nfield:pid_t prev_pid; offset:24; size:4;\n\
         field:int prev_prio; offset:28; size:4;\nfield:long prev_state; offset:32; size:8;\n\
         field:char next_comm[16]; offset:40; size:16;\nfield:pid_t next_pid; offset:56; size:4;\n\
         field:int next_prio; offset:60; size:4;\n",
    ),
    (
        "sched_waking",
        "field:pid_t pid; offset:24; size:4;\nfield:int target_cpu; offset:32; size:4;\n",
    ),
    (
        "sched_migrate_task",
        "field:pid_t pid; offset:12; size:4;\nfield:int dest_cpu; offset:24; size:4;\n",
    ),
    (
        "irq_handler_entry",
        "field:__data_loc char[] name; offset:12; size:4;\n",
    ),
    ("irq_handler_exit", ""),
    (
        "softirq_entry",
        "field:unsigned int vec; offset:8; size:4;\n",
    ),
    (
        "softirq_exit",
        "field:unsigned int vec; offset:8; size:4;\n",
    ),
    ("sys_enter", "field:long id; offset:8; size:8;\n"),
    ("sys_exit", "field:long id; offset:8; size:8;\n"),
    ("page_fault_user", ""),
    ("local_timer_entry", ""),
    ("local_timer_exit", ""),
    ("reschedule_entry", ""),
    ("reschedule_exit", ""),
    (
        "cpu_idle",
        "field:u32 state; offset:8; size:4;\nfield:u32 cpu_id; offset:12; size:4;\n",
    ),
];

pub(crate) fn run(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (text, pages) = rest.split_at(length);
    let mut formats = Formats::default();
    for (id, (name, fields)) in EVENTS.iter().enumerate() {
        let text = format!("ID: {id}\n{COMMON}{fields}");
        let added = formats.add(name, &text).expect("a known layout");
        assert_eq!(usize::from(added), id);
    }
    // It may replace one of them, or be refused.
    let _ = formats.add("sched_waking", &String::from_utf8_lossy(text));
    let calls = match length % 2 {
        0 => WatchedCalls::Any,
        _ => WatchedCalls::OnlySleep,
    };
    let mut history = EventHistory::new(calls);
    history.watch(THREAD);
    for (processor, page) in (0..3).cycle().zip(pages.chunks(PAGE)) {
        history.add_page(&formats, processor, page, 8);
    }
    history.replay(300_000);
    history.replay(u64::MAX);
    for kind in [LateKind::WakeUp, LateKind::Overrun] {
        for (begin, end) in [(0, u64::MAX), (290_000, 420_000), (5, 1)] {
            let interval = LateInterval {
                thread: THREAD,
                cycle: 0,
                kind,
                begin,
                end,
            };
            let explained = history.explain(&[interval]);
            let explanation = explained.first().expect("one for each");
            let sum = explanation
                .shares
                .iter()
                .try_fold(0_u64, |sum, share| sum.checked_add(share.nanos));
            assert_eq!(sum, Some(explanation.nanos()));
            for share in &explanation.shares {
                let text = share.cause.to_string();
                assert!(text.chars().all(|c| !c.is_control()), "{text:?}");
            }
        }
    }
}
