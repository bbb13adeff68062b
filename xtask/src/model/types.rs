//! Structures and enumerations of the model.

/// A Structure DataType.
pub(crate) struct Structure {
    pub(crate) type_id: u32,
    pub(crate) binary_encoding_id: u32,
    pub(crate) xml_encoding_id: Option<u32>,
    pub(crate) is_abstract: bool,
    /// Citation of its definition; `None` if it is only in the binary type dictionary.
    pub(crate) clause: Option<String>,
    pub(crate) fields: Vec<Field>,
}

impl Structure {
    pub(crate) fn has_optional_fields(&self) -> bool {
        self.fields.iter().any(|field| field.is_optional)
    }
}

/// Field of a structure; those of the base types come first.
#[derive(Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    pub(crate) is_array: bool,
    pub(crate) is_optional: bool,
}

/// Type of a field or of its elements.
#[derive(Clone, PartialEq)]
pub(crate) enum FieldType {
    /// A built-in type by its number in OPC 10000-6, 5.1.2.
    BuiltIn(u32),
    Structure(String),
    Enumeration(String),
}

/// An Enumeration DataType or an option set.
pub(crate) struct Enumeration {
    pub(crate) type_id: u32,
    pub(crate) clause: Option<String>,
    /// Built-in type of the bits of an option set, whose values are masks; `None` for an enumeration.
    pub(crate) option_set: Option<u32>,
    pub(crate) values: Vec<(String, u32)>,
}
