//! Bits of SpecifiedAttributes in AddNodes (OPC 10000-4, 7.24.1): the attributes that the client has set.

pub(super) const ACCESS_LEVEL: u32 = 1 << 0;
pub(super) const ARRAY_DIMENSIONS: u32 = 1 << 1;
pub(super) const CONTAINS_NO_LOOPS: u32 = 1 << 3;
pub(super) const DATA_TYPE: u32 = 1 << 4;
pub(super) const DESCRIPTION: u32 = 1 << 5;
pub(super) const DISPLAY_NAME: u32 = 1 << 6;
pub(super) const EVENT_NOTIFIER: u32 = 1 << 7;
pub(super) const EXECUTABLE: u32 = 1 << 8;
pub(super) const HISTORIZING: u32 = 1 << 9;
pub(super) const INVERSE_NAME: u32 = 1 << 10;
pub(super) const IS_ABSTRACT: u32 = 1 << 11;
pub(super) const MINIMUM_SAMPLING_INTERVAL: u32 = 1 << 12;
pub(super) const SYMMETRIC: u32 = 1 << 15;
pub(super) const USER_ACCESS_LEVEL: u32 = 1 << 16;
pub(super) const USER_EXECUTABLE: u32 = 1 << 17;
pub(super) const VALUE_RANK: u32 = 1 << 19;
pub(super) const VALUE: u32 = 1 << 21;
pub(super) const DATA_TYPE_DEFINITION: u32 = 1 << 22;
