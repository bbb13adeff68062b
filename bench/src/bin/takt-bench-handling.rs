//! Program that measures the handling of requests and counts every call of malloc, for `takt bench transport`. It is a program of
//! its own beside `takt-bench`, because it has to replace malloc, and `takt-bench` keeps the system's malloc.

use takt_malloc as _;

fn main() -> std::process::ExitCode {
    takt_bench::transport::handling::main(std::env::args().skip(1), takt_malloc::allocations)
}
