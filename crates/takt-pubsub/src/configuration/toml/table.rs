//! Tables of the file, as the structures that serde reads and writes.

/// Declares a table with all of its keys. A key whose value is the default of its type is left out, unless it is `required`.
/// `settings<U, J, B>` stands for the keys of the settings of messages and of the transport: with UADP, with JSON, at a broker.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($members:tt)* }) => {
        table!(@members [$(#[$doc])* $name] [] $($members)*);
    };
    (@members $head:tt [$($done:tt)*] settings<$uadp:ty, $json:ty, $broker:ty>, $($others:tt)*) => {
        table!(
            @members $head [$($done)*]
            uadp: Option<$uadp>,
            json: Option<$json>,
            message_settings: Option<Spanned<AnyStructure>>,
            broker: Option<$broker>,
            transport_settings: Option<Spanned<AnyStructure>>,
            $($others)*
        );
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
