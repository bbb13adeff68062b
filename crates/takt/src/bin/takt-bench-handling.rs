//! Measures how requests are handled while every call of malloc counts: the part of `takt bench transport` that has to have
//! malloc replaced. `takt` itself keeps the system's, so this is a program of its own beside it.

use takt_malloc as _;

fn main() -> std::process::ExitCode {
    takt_bench::transport::handling::main(std::env::args().skip(1), takt_malloc::allocations)
}
