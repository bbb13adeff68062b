//! AttributesToSet masks (OPC 10000-4, 7.24) that are used here.

pub(super) const ACCESS_LEVEL: u32 = 1 << 0;
pub(super) const ARRAY_DIMENSIONS: u32 = 1 << 1;
pub(super) const DATA_TYPE: u32 = 1 << 4;
pub(super) const DISPLAY_NAME: u32 = 1 << 6;
pub(super) const EVENT_NOTIFIER: u32 = 1 << 7;
pub(super) const EXECUTABLE: u32 = 1 << 8;
pub(super) const HISTORIZING: u32 = 1 << 9;
pub(super) const USER_ACCESS_LEVEL: u32 = 1 << 16;
pub(super) const USER_EXECUTABLE: u32 = 1 << 17;
pub(super) const VALUE_RANK: u32 = 1 << 19;
pub(super) const VALUE: u32 = 1 << 21;
