//! The dissector.
/// The dissector.
pub fn lua_dissector() -> String {
    String::new()
}
