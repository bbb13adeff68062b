//! Backend `uml`: User-Mode Linux with all queueing disciplines, links with a rate, and virtual time.
//!
//! * [`KernelCache`]: the place of the built kernel.
//! * [`KernelSource`], [`build_kernel`]: from a source package or an unpacked tree to the kernel.
//! * [`Machine`]: a running kernel, whose first process is Takt. It executes a prepared run, with this host's files.
//! * [`ready_made`], [`load_modules`]: Debian's kernel instead, for functional runs without a build (backend `uml-ready`).
//! * [`initialize`], [`power_off`]: begin and end of that process.
//!
//! Time is virtual (`time-travel=inf-cpu`): it stands still while any thread works, and jumps to the next timer otherwise. So the same run
//! gives the same files, bit by bit, on every machine. Work of processors takes no time; threads delay themselves by the latencies of the
//! scenario.

mod archive;
mod build;
mod cache;
mod configuration;
mod error;
mod first_process;
mod machine;
mod programs;
mod ready_made;
mod source;

pub use build::{BuildObserver, BuildStep, SPACE_MEGABYTES, build_kernel, remove_killed_build};
pub use cache::KernelCache;
pub use error::UmlError;
pub use first_process::{initialize, is_first_process, power_off};
pub use machine::{Machine, PROGRESS, ReportLine};
pub use ready_made::{READY_MADE_PACKAGE, load_modules, ready_made};
pub use source::{KernelSource, SOURCE_PACKAGE};

/// Files that are added to the kernel's tree or replace files there: path in the tree, and text.
const FILES: [(&str, &str); 7] = [
    (
        "drivers/net/takt_link/takt_link.h",
        include_str!("../../uml/takt_link/takt_link.h"),
    ),
    (
        "drivers/net/takt_link/takt_link_device.c",
        include_str!("../../uml/takt_link/takt_link_device.c"),
    ),
    (
        "drivers/net/takt_link/takt_link_wire.c",
        include_str!("../../uml/takt_link/takt_link_wire.c"),
    ),
    (
        "drivers/net/takt_link/takt_link_offload.c",
        include_str!("../../uml/takt_link/takt_link_offload.c"),
    ),
    (
        "drivers/net/takt_link/takt_link_clock.c",
        include_str!("../../uml/takt_link/takt_link_clock.c"),
    ),
    (
        "drivers/net/takt_link/Makefile",
        include_str!("../../uml/takt_link/Makefile"),
    ),
    (
        "arch/um/include/asm/archrandom.h",
        include_str!("../../uml/archrandom.h"),
    ),
];

/// File of the kernel's tree that gets the line which builds the link device.
const DRIVERS: &str = "drivers/net/Makefile";

/// That line.
const DRIVER_LINE: &str = "obj-y += takt_link/";

/// Lines of the kernel's tree that are replaced: path, present text and new text. User-Mode Linux counts virtual time in steps of 256 ns, each
/// reading of a clock takes a step, and no timer is set less than 500 ns ahead, or by Linux itself 1 us. The lab counts nanoseconds. A
/// system call that fails takes 1 us there, so that a loop of them comes to an end; interrupts are off meanwhile, and timers late.
///
/// Its start checks how processes are traced with one that stops itself. If the machine is killed meanwhile, that process would stay for
/// ever, so it ends with its parent, as the others do.
///
/// User-Mode Linux keeps 2696 bytes of a process's extended registers (XSAVE). Processors with AMX have 11 008, and their kernel refuses to set a
/// part of them; it ignores what is too much.
const CHANGES: [(&str, &str, &str); 8] = [
    (
        "arch/um/include/linux/time-internal.h",
        "#define TIMER_MULTIPLIER 256",
        "#define TIMER_MULTIPLIER 1",
    ),
    (
        "arch/um/include/linux/time-internal.h",
        "#define TIMER_MIN_DELTA  500",
        "#define TIMER_MIN_DELTA  1",
    ),
    (
        "kernel/time/clockevents.c",
        "return clc > 1000 ? clc : 1000;",
        "return clc > 1 ? clc : 1;",
    ),
    (
        "arch/um/kernel/skas/syscall.c",
        "um_udelay(1);",
        "um_ndelay(1);",
    ),
    (
        "arch/um/os-Linux/start_up.c",
        "static void ptrace_child(void)\n{",
        "static int checker;\n\nstatic void ptrace_child(void)\n\n{",
    ),
    (
        "arch/um/os-Linux/start_up.c",
        "ppid = getppid();\n\tint sc_result;\n\n",
        "ppid = checker;\n\tint sc_result;\n\n\tos_set_pdeathsig();\n\tif (getppid() != checker)\n\t\texit(1);\n",
    ),
    (
        "arch/um/os-Linux/start_up.c",
        "\tpid = fork();\n\tif (pid == 0)\n\t\tptrace_child();",
        "\tchecker = os_getpid();\n\tpid = fork();\n\tif (!pid)\n\t\tptrace_child();",
    ),
    (
        "arch/x86/um/user-offsets.c",
        "DEFINE_LONGS(HOST_FP_SIZE, 2696);",
        "DEFINE_LONGS(HOST_FP_SIZE, 12288);",
    ),
];
