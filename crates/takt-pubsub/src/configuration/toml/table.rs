//! Tables of the file, as the structures that serde reads and writes.

/// Declares a table with all of its keys. A key whose value is the default of its type is left out, unless it is `required`.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($members:tt)* }) => {
        table!(@members [$(#[$doc])* $name] [] $($members)*);
    };
    (@members $head:tt [$($done:tt)*] $member:ident: $type:ty = required, $($others:tt)*) => {
        table!(@members $head [$($done)* $member: $type,] $($others)*);
    };
    (@members $head:tt [$($done:tt)*] $member:ident: $type:ty, $($others:tt)*) => {
        table!(
            @members $head
            [$($done)* #[serde(default, skip_serializing_if = "super::scalar::is_default")] $member: $type,]
            $($others)*
        );
    };
    (@members [$(#[$doc:meta])* $name:ident] [$($members:tt)*]) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($members)*
        }
    };
}

pub(super) use table;
