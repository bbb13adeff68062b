//! AttributeIds (OPC 10000-6, A.1).

macro_rules! attributes {
    ($($name:ident = $id:literal,)*) => {
        /// The attributes of a node (OPC 10000-6, A.1).
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        #[allow(missing_docs, reason = "the standard's own names")]
        pub enum Attribute {
            $($name = $id,)*
        }

        impl Attribute {
            /// Returns the attribute with this name, in any capitalisation.
            pub fn from_name(name: &str) -> Option<Self> {
                $(if name.eq_ignore_ascii_case(stringify!($name)) {
                    return Some(Self::$name);
                })*
                None
            }
        }
    };
}

attributes! {
    NodeId = 1,
    NodeClass = 2,
    BrowseName = 3,
    DisplayName = 4,
    Description = 5,
    WriteMask = 6,
    UserWriteMask = 7,
    IsAbstract = 8,
    Symmetric = 9,
    InverseName = 10,
    ContainsNoLoops = 11,
    EventNotifier = 12,
    Value = 13,
    DataType = 14,
    ValueRank = 15,
    ArrayDimensions = 16,
    AccessLevel = 17,
    UserAccessLevel = 18,
    MinimumSamplingInterval = 19,
    Historizing = 20,
    Executable = 21,
    UserExecutable = 22,
    DataTypeDefinition = 23,
    RolePermissions = 24,
    UserRolePermissions = 25,
    AccessRestrictions = 26,
    AccessLevelEx = 27,
}
