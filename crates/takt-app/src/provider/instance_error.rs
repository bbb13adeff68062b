//! Errors of instances that do not fit their types.

use takt_ua::BuiltInType;

use super::nodesets::TypeNameError;

/// Reason for which an [`Instance`](crate::Instance) does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstanceError {
    /// A type does not exist.
    #[error(transparent)]
    Type(#[from] TypeNameError),
    /// The type is abstract.
    #[error(
        "`{path}` is of the abstract type {name}: choose a subtype, with `Instance::member_type` for a member"
    )]
    Abstract {
        /// BrowsePath of the member; empty for the instance itself.
        path: String,
        /// Name of the type.
        name: String,
    },
    /// The type of a member is no subtype of the declared one.
    #[error("`{path}` cannot be of the type {name}, which is no subtype of {declared}")]
    NoSubtype {
        /// BrowsePath of the member.
        path: String,
        /// Name of the type.
        name: String,
        /// Name of the declared type.
        declared: String,
    },
    /// The type has no member with this path.
    #[error("there is no `{path}`{}{}", suggestion(.similar.as_deref()), of_place(.parent, .members))]
    UnknownMember {
        /// BrowsePath of the member.
        path: String,
        /// Most similar path.
        similar: Option<String>,
        /// Longest part of the path that exists.
        parent: String,
        /// Names of the members there.
        members: Vec<String>,
    },
    /// The path names a placeholder.
    #[error(
        "`{0}` is a placeholder: give it a name with `Instance::placeholder`, and use that name in paths"
    )]
    Unnamed(String),
    /// The path of a placeholder names another member.
    #[error("`{0}` is no placeholder")]
    NoPlaceholder(String),
    /// The type requires a node in the place of a placeholder.
    #[error("`{0}` needs at least one node in its place: see `Instance::placeholder`")]
    MissingPlaceholder(String),
    /// The member is of another NodeClass.
    #[error("`{path}` is no {expected}")]
    NodeClass {
        /// BrowsePath of the member.
        path: String,
        /// NodeClass that was bound.
        expected: &'static str,
    },
    /// The value has another DataType than the member.
    #[error("`{path}` has values of {found}, but its DataType is {declared}")]
    DataType {
        /// BrowsePath of the member.
        path: String,
        /// Built-in type of the values.
        found: BuiltInType,
        /// Name of the declared DataType.
        declared: String,
    },
    /// The value is an array, and the member is a scalar, or the other way round.
    #[error("`{path}` has values of the ValueRank {found}, but its ValueRank is {declared}")]
    ValueRank {
        /// BrowsePath of the member.
        path: String,
        /// ValueRank of the values.
        found: i32,
        /// ValueRank of the member.
        declared: i32,
    },
    /// A folder for the instance does not exist.
    #[error("there is no Object `{0}` below the Objects folder")]
    NoFolder(String),
    /// The instance has more nodes than one request may add.
    #[error("the instance has more than {limit} nodes")]
    TooManyNodes {
        /// Largest number of nodes.
        limit: usize,
    },
}

fn suggestion(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |similar| {
        format!(": did you mean `{similar}`?")
    })
}

fn of_place(parent: &str, members: &[String]) -> String {
    let place = match parent {
        "" => "The instance".to_owned(),
        parent => format!("`{parent}`"),
    };
    match members {
        [] => format!(" {place} has no members."),
        members => format!(" {place} has the members {}.", members.join(", ")),
    }
}
