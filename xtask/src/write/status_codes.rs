//! StatusCodes of the standard.

use std::fmt::Write as _;

use crate::model::Model;
use crate::output::GeneratedFile;

/// Associated constants of `StatusCode`, and the table of their names.
pub(crate) fn status_codes(model: &Model) -> GeneratedFile {
    let mut constants = String::new();
    let mut names = String::new();
    for (code, name) in &model.status_codes {
        let _ = writeln!(
            constants,
            "pub const {name}: StatusCode = StatusCode({code:#010X});"
        );
        let _ = writeln!(names, "({code:#010X}, \"{name}\"),");
    }
    let code = format!(
        "#![allow(missing_docs)] // The name says what the code means.\n\
         #![allow(non_upper_case_globals)] // The constants have the standard's names.\n\n\
         use super::StatusCode;\n\nimpl StatusCode {{\n{constants}}}\n\n\
         /// Codes and their names, ascending by code.\n\
         pub static STATUS_CODES: &[(u32, &str)] = &[\n{names}];\n"
    );
    super::file::file(
        "status_code/generated.rs",
        "The StatusCodes of the standard (OPC 10000-4, 7.38, and the parts that add to it).",
        &code,
    )
}
