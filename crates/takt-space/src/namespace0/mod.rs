//! Namespace 0: the nodes of the OPC UA standard, as a read-only table inside the executable.
//!
//! The table is generated from the standard's NodeSet by `cargo xtask generate namespace0`, and committed as `table.bin`. It
//! contains no pointers, so it needs no relocation and no start-up work: its pages are mapped from the executable, shared
//! between all processes that run it, and read from disk only when they are touched. Every look-up reads the table in
//! place; nothing is allocated.
//!
//! The table omits descriptive texts (Description of nodes, arguments and fields), RolePermissions and AccessRestrictions, and
//! the two type dictionaries that OPC 10000-5 has deprecated (values of `i=7617` and `i=8252`, two thirds of a megabyte).
//! References are complete: each is listed at both of its nodes.
//!
//! # Layout
//!
//! Integers are little-endian. Offsets in the header count from the start of the table, other offsets from the start
//! of their section. "None" is the largest value of the field.
//!
//! | offset | header, 64 bytes |
//! |---|---|
//! | 0 | `TKN0` |
//! | 4 | version of the layout: 1 |
//! | 8, 12 | nodes: count, offset |
//! | 16, 20 | index: entries, offset |
//! | 24, 28 | references: count, offset |
//! | 32, 36 | ReferenceTypes: count, offset |
//! | 40, 44 | strings: bytes, offset |
//! | 48, 52 | blobs: bytes, offset |
//! | 56 | size of the table |
//! | 60 | 0 |
//!
//! | section | content |
//! |---|---|
//! | nodes | records of 36 bytes, ascending by identifier |
//! | index | for each identifier from 0 a `u16`: the position of its node in *nodes* |
//! | references | `u32` each, grouped by node: bit 31 forward, bits 16 to 30 position in *ReferenceTypes*, bits 0 to 15 position of the other node in *nodes* |
//! | ReferenceTypes | `u32` each: identifier |
//! | strings | `u16` length and UTF-8 each |
//! | blobs | `u32` length and bytes each, aligned to 4 |
//!
//! | offset | node, 36 bytes |
//! |---|---|
//! | 0 | `u32` identifier |
//! | 4 | `u32` BrowseName: offset in *strings* |
//! | 8 | `u32` DisplayName: offset in *strings* |
//! | 12 | `u32` first reference: position in *references* |
//! | 16 | `u16` number of references |
//! | 18 | `u8` NodeClass |
//! | 19 | `u8` bit 0 IsAbstract, bit 1 Symmetric, bit 2 Executable |
//! | 20 | `u32` Variable, VariableType: identifier of the DataType; ReferenceType: InverseName, offset in *strings* |
//! | 24 | `u32` offset in *blobs*; Variable, VariableType: the encoded Variant; DataType: the encoded ExtensionObject of DataTypeDefinition |
//! | 28 | `u32` Variable, VariableType: ArrayDimensions, offset in *blobs* |
//! | 32 | `i8` ValueRank |
//! | 33 | `u8` Variable: AccessLevel; Object: EventNotifier |
//! | 34 | `u16` supertype: position in *nodes* |

pub(crate) mod access;
mod bytes;
mod node;
mod nodes;
mod table;

#[cfg(test)]
mod damage;
#[cfg(test)]
mod tests;

pub use node::{StandardNode, StandardReference};
pub use nodes::Namespace0;
