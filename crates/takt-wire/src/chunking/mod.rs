//! Long payloads as [chunks](crate::chunk), and back (OPC 10000-14, 7.2.4.4.4).

mod reassembler;
#[cfg(test)]
mod tests;
mod writer;

pub use reassembler::{ChunkReassembler, ReassembledPayload, ReassemblyError, ReassemblyLimits};
pub use writer::ChunkWriter;
