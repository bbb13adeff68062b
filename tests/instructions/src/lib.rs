//! Instruction counts of the hot paths: see the benchmark `instructions`, which `./test instructions` runs.
