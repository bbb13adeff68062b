// Written by `cargo xtask generate`. Do not edit.

//! Enumerations and option sets of namespace 0.

#![allow(non_upper_case_globals)] // The constants have the standard's names.

use crate::generated_support::{enumeration, option_set};

enumeration! {
    /// Enumeration `ActionState`, `i=18595`, OPC 10000-14, 6.2.11.2.1.
    ActionState = 18595 {
        Idle = 0,
        Executing = 1,
        Done = 2,
    }

    /// Enumeration `ApplicationType`, `i=307`, OPC 10000-4, 7.4.
    ApplicationType = 307 {
        Server = 0,
        Client = 1,
        ClientAndServer = 2,
        DiscoveryServer = 3,
    }

    /// Enumeration `AxisScaleEnumeration`, `i=12077`, OPC 10000-8, 5.6.8.
    AxisScaleEnumeration = 12077 {
        Linear = 0,
        Log = 1,
        Ln = 2,
    }

    /// Enumeration `BrokerTransportQualityOfService`, `i=15008`, OPC 10000-14, 6.4.2.1.
    BrokerTransportQualityOfService = 15008 {
        NotSpecified = 0,
        BestEffort = 1,
        AtLeastOnce = 2,
        AtMostOnce = 3,
        ExactlyOnce = 4,
    }

    /// Enumeration `BrowseDirection`, `i=510`.
    BrowseDirection = 510 {
        Forward = 0,
        Inverse = 1,
        Both = 2,
        Invalid = 3,
    }

    /// Enumeration `BrowseResultMask`, `i=517`.
    BrowseResultMask = 517 {
        None = 0,
        ReferenceTypeId = 1,
        IsForward = 2,
        NodeClass = 4,
        BrowseName = 8,
        DisplayName = 16,
        TypeDefinition = 32,
        All = 63,
        ReferenceTypeInfo = 3,
        TargetInfo = 60,
    }

    /// Enumeration `ChassisIdSubtype`, `i=18947`, OPC 10000-22, 5.3.1.9.
    ChassisIdSubtype = 18947 {
        ChassisComponent = 1,
        InterfaceAlias = 2,
        PortComponent = 3,
        MacAddress = 4,
        NetworkAddress = 5,
        InterfaceName = 6,
        Local = 7,
    }

    /// Enumeration `ConfigurationUpdateType`, `i=15539`, OPC 10000-12, 7.8.5.7.
    ConfigurationUpdateType = 15539 {
        Insert = 1,
        Replace = 2,
        InsertOrReplace = 3,
        Delete = 4,
    }

    /// Enumeration `ConversionLimitEnum`, `i=32436`, OPC 10000-8, 6.6.3.
    ConversionLimitEnum = 32436 {
        NoConversion = 0,
        Limited = 1,
        Unlimited = 2,
    }

    /// Enumeration `DataChangeTrigger`, `i=717`.
    DataChangeTrigger = 717 {
        Status = 0,
        StatusValue = 1,
        StatusValueTimestamp = 2,
    }

    /// Enumeration `DataSetOrderingType`, `i=20408`, OPC 10000-14, 6.3.1.1.3.
    DataSetOrderingType = 20408 {
        Undefined = 0,
        AscendingWriterId = 1,
        AscendingWriterIdSingle = 2,
    }

    /// Enumeration `DeadbandType`, `i=718`.
    DeadbandType = 718 {
        None = 0,
        Absolute = 1,
        Percent = 2,
    }

    /// Enumeration `DiagnosticsLevel`, `i=19723`, OPC 10000-14, 9.1.11.4.
    DiagnosticsLevel = 19723 {
        Basic = 0,
        Advanced = 1,
        Info = 2,
        Log = 3,
        Debug = 4,
    }

    /// Enumeration `Duplex`, `i=24210`, OPC 10000-22, 5.3.1.1.
    Duplex = 24210 {
        Full = 0,
        Half = 1,
        Unknown = 2,
    }

    /// Enumeration `ExceptionDeviationFormat`, `i=890`, OPC 10000-11, 5.2.2.
    ExceptionDeviationFormat = 890 {
        AbsoluteValue = 0,
        PercentOfValue = 1,
        PercentOfRange = 2,
        PercentOfEURange = 3,
        Unknown = 4,
    }

    /// Enumeration `FilterOperator`, `i=576`, OPC 10000-4, 7.7.3.
    FilterOperator = 576 {
        Equals = 0,
        IsNull = 1,
        GreaterThan = 2,
        LessThan = 3,
        GreaterThanOrEqual = 4,
        LessThanOrEqual = 5,
        Like = 6,
        Not = 7,
        Between = 8,
        InList = 9,
        And = 10,
        Or = 11,
        Cast = 12,
        InView = 13,
        OfType = 14,
        RelatedTo = 15,
        BitwiseAnd = 16,
        BitwiseOr = 17,
    }

    /// Enumeration `HistoryUpdateType`, `i=11234`, OPC 10000-11, 6.7.
    HistoryUpdateType = 11234 {
        Insert = 1,
        Replace = 2,
        Update = 3,
        Delete = 4,
    }

    /// Enumeration `IdType`, `i=256`, OPC 10000-3, 8.2.3.
    IdType = 256 {
        Numeric = 0,
        String = 1,
        Guid = 2,
        Opaque = 3,
    }

    /// Enumeration `IdentityCriteriaType`, `i=15632`, OPC 10000-18, 4.4.4.
    IdentityCriteriaType = 15632 {
        UserName = 1,
        Thumbprint = 2,
        Role = 3,
        GroupId = 4,
        Anonymous = 5,
        AuthenticatedUser = 6,
        Application = 7,
        X509Subject = 8,
        TrustedApplication = 9,
    }

    /// Enumeration `InterfaceAdminStatus`, `i=24212`, OPC 10000-22, 5.3.1.2.
    InterfaceAdminStatus = 24212 {
        Up = 0,
        Down = 1,
        Testing = 2,
    }

    /// Enumeration `InterfaceOperStatus`, `i=24214`, OPC 10000-22, 5.3.1.3.
    InterfaceOperStatus = 24214 {
        Up = 0,
        Down = 1,
        Testing = 2,
        Unknown = 3,
        Dormant = 4,
        NotPresent = 5,
        LowerLayerDown = 6,
    }

    /// Enumeration `ManAddrIfSubtype`, `i=18951`, OPC 10000-22, 5.3.1.11.
    ManAddrIfSubtype = 18951 {
        None = 0,
        Unknown = 1,
        PortRef = 2,
        SystemPortNumber = 3,
    }

    /// Enumeration `MessageSecurityMode`, `i=302`, OPC 10000-4, 7.20.
    MessageSecurityMode = 302 {
        Invalid = 0,
        None = 1,
        Sign = 2,
        SignAndEncrypt = 3,
    }

    /// Enumeration `ModelChangeStructureVerbMask`, `i=11941`.
    ModelChangeStructureVerbMask = 11941 {
        NodeAdded = 1,
        NodeDeleted = 2,
        ReferenceAdded = 4,
        ReferenceDeleted = 8,
        DataTypeChanged = 16,
    }

    /// Enumeration `MonitoringMode`, `i=716`.
    MonitoringMode = 716 {
        Disabled = 0,
        Sampling = 1,
        Reporting = 2,
    }

    /// Enumeration `NamingRuleType`, `i=120`.
    NamingRuleType = 120 {
        Mandatory = 1,
        Optional = 2,
        Constraint = 3,
    }

    /// Enumeration `NegotiationStatus`, `i=24216`, OPC 10000-22, 5.3.1.4.
    NegotiationStatus = 24216 {
        InProgress = 0,
        Complete = 1,
        Failed = 2,
        Unknown = 3,
        NoNegotiation = 4,
    }

    /// Enumeration `NodeAttributesMask`, `i=348`.
    NodeAttributesMask = 348 {
        None = 0,
        AccessLevel = 1,
        ArrayDimensions = 2,
        BrowseName = 4,
        ContainsNoLoops = 8,
        DataType = 16,
        Description = 32,
        DisplayName = 64,
        EventNotifier = 128,
        Executable = 256,
        Historizing = 512,
        InverseName = 1024,
        IsAbstract = 2048,
        MinimumSamplingInterval = 4096,
        NodeClass = 8192,
        NodeId = 16384,
        Symmetric = 32768,
        UserAccessLevel = 65536,
        UserExecutable = 131072,
        UserWriteMask = 262144,
        ValueRank = 524288,
        WriteMask = 1048576,
        Value = 2097152,
        DataTypeDefinition = 4194304,
        RolePermissions = 8388608,
        AccessRestrictions = 16777216,
        All = 33554431,
        BaseNode = 26501220,
        Object = 26501348,
        ObjectType = 26503268,
        Variable = 26571383,
        VariableType = 28600438,
        Method = 26632548,
        ReferenceType = 26537060,
        View = 26501356,
    }

    /// Enumeration `NodeClass`, `i=257`, OPC 10000-3, 8.29.
    NodeClass = 257 {
        Unspecified = 0,
        Object = 1,
        Variable = 2,
        Method = 4,
        ObjectType = 8,
        VariableType = 16,
        ReferenceType = 32,
        DataType = 64,
        View = 128,
    }

    /// Enumeration `OpenFileMode`, `i=11939`.
    OpenFileMode = 11939 {
        Read = 1,
        Write = 2,
        EraseExisting = 4,
        Append = 8,
    }

    /// Enumeration `OverrideValueHandling`, `i=15874`, OPC 10000-14, 6.2.10.2.4.
    OverrideValueHandling = 15874 {
        Disabled = 0,
        LastUsableValue = 1,
        OverrideValue = 2,
    }

    /// Enumeration `PerformUpdateType`, `i=11293`, OPC 10000-11, 6.8.
    PerformUpdateType = 11293 {
        Insert = 1,
        Replace = 2,
        Update = 3,
        Remove = 4,
    }

    /// Enumeration `PortIdSubtype`, `i=18949`, OPC 10000-22, 5.3.1.10.
    PortIdSubtype = 18949 {
        InterfaceAlias = 1,
        PortComponent = 2,
        MacAddress = 3,
        NetworkAddress = 4,
        InterfaceName = 5,
        AgentCircuitId = 6,
        Local = 7,
    }

    /// Enumeration `PubSubDiagnosticsCounterClassification`, `i=19730`, OPC 10000-14, 9.1.11.6.
    PubSubDiagnosticsCounterClassification = 19730 {
        Information = 0,
        Error = 1,
    }

    /// Enumeration `PubSubState`, `i=14647`, OPC 10000-14, 6.2.1.
    PubSubState = 14647 {
        Disabled = 0,
        Paused = 1,
        Operational = 2,
        Error = 3,
        PreOperational = 4,
    }

    /// Enumeration `RedundancySupport`, `i=851`, OPC 10000-5, 12.5.
    RedundancySupport = 851 {
        None = 0,
        Cold = 1,
        Warm = 2,
        Hot = 3,
        Transparent = 4,
        HotAndMirrored = 5,
    }

    /// Enumeration `RedundantServerMode`, `i=32417`, OPC 10000-5, 12.44.
    RedundantServerMode = 32417 {
        PrimaryWithBackup = 0,
        PrimaryOnly = 1,
        BackupReady = 2,
        BackupNotReady = 3,
    }

    /// Enumeration `SecurityTokenRequestType`, `i=315`, OPC 10000-5, 12.3.12.
    SecurityTokenRequestType = 315 {
        Issue = 0,
        Renew = 1,
    }

    /// Enumeration `ServerState`, `i=852`, OPC 10000-5, 12.6.
    ServerState = 852 {
        Running = 0,
        Failed = 1,
        NoConfiguration = 2,
        Suspended = 3,
        Shutdown = 4,
        Test = 5,
        CommunicationFault = 6,
        Unknown = 7,
    }

    /// Enumeration `SortOrderType`, `i=18646`.
    SortOrderType = 18646 {
        Ascending = 0,
        Descending = 1,
    }

    /// Enumeration `StructureType`, `i=98`, OPC 10000-3, 8.49.
    StructureType = 98 {
        Structure = 0,
        StructureWithOptionalFields = 1,
        Union = 2,
        StructureWithSubtypedValues = 3,
        UnionWithSubtypedValues = 4,
    }

    /// Enumeration `TimestampsToReturn`, `i=625`.
    TimestampsToReturn = 625 {
        Source = 0,
        Server = 1,
        Both = 2,
        Neither = 3,
        Invalid = 4,
    }

    /// Enumeration `TrustListMasks`, `i=12552`, OPC 10000-12, 7.8.2.9.
    TrustListMasks = 12552 {
        None = 0,
        TrustedCertificates = 1,
        TrustedCrls = 2,
        IssuerCertificates = 4,
        IssuerCrls = 8,
        All = 15,
    }

    /// Enumeration `TsnFailureCode`, `i=24218`, OPC 10000-22, 5.3.1.5.
    TsnFailureCode = 24218 {
        NoFailure = 0,
        InsufficientBandwidth = 1,
        InsufficientResources = 2,
        InsufficientTrafficClassBandwidth = 3,
        StreamIdInUse = 4,
        StreamDestinationAddressInUse = 5,
        StreamPreemptedByHigherRank = 6,
        LatencyHasChanged = 7,
        EgressPortNotAvbCapable = 8,
        UseDifferentDestinationAddress = 9,
        OutOfMsrpResources = 10,
        OutOfMmrpResources = 11,
        CannotStoreDestinationAddress = 12,
        PriorityIsNotAnSrcClass = 13,
        MaxFrameSizeTooLarge = 14,
        MaxFanInPortsLimitReached = 15,
        FirstValueChangedForStreamId = 16,
        VlanBlockedOnEgress = 17,
        VlanTaggingDisabledOnEgress = 18,
        SrClassPriorityMismatch = 19,
        FeatureNotPropagated = 20,
        MaxLatencyExceeded = 21,
        BridgeDoesNotProvideNetworkId = 22,
        StreamTransformNotSupported = 23,
        StreamIdTypeNotSupported = 24,
        FeatureNotSupported = 25,
    }

    /// Enumeration `TsnListenerStatus`, `i=24224`, OPC 10000-22, 5.3.1.8.
    TsnListenerStatus = 24224 {
        None = 0,
        Ready = 1,
        PartialFailed = 2,
        Failed = 3,
    }

    /// Enumeration `TsnStreamState`, `i=24220`, OPC 10000-22, 5.3.1.6.
    TsnStreamState = 24220 {
        Disabled = 0,
        Configuring = 1,
        Ready = 2,
        Operational = 3,
        Error = 4,
    }

    /// Enumeration `TsnTalkerStatus`, `i=24222`, OPC 10000-22, 5.3.1.7.
    TsnTalkerStatus = 24222 {
        None = 0,
        Ready = 1,
        Failed = 2,
    }

    /// Enumeration `UserTokenType`, `i=303`, OPC 10000-4, 7.42.
    UserTokenType = 303 {
        Anonymous = 0,
        UserName = 1,
        Certificate = 2,
        IssuedToken = 3,
    }
}

option_set! {
    /// Option set `AccessLevelExType`, `i=15406`, OPC 10000-3, 8.58.
    AccessLevelExType: u32 = 15406 {
        CurrentRead = 1,
        CurrentWrite = 2,
        HistoryRead = 4,
        HistoryWrite = 8,
        SemanticChange = 16,
        StatusWrite = 32,
        TimestampWrite = 64,
        NonatomicRead = 256,
        NonatomicWrite = 512,
        WriteFullArrayOnly = 1024,
        NoSubDataTypes = 2048,
        NonVolatile = 4096,
        Constant = 8192,
    }

    /// Option set `AccessLevelType`, `i=15031`, OPC 10000-3, 8.57.
    AccessLevelType: u8 = 15031 {
        CurrentRead = 1,
        CurrentWrite = 2,
        HistoryRead = 4,
        HistoryWrite = 8,
        SemanticChange = 16,
        StatusWrite = 32,
        TimestampWrite = 64,
    }

    /// Option set `AccessRestrictionType`, `i=95`, OPC 10000-3, 8.56.
    AccessRestrictionType: u16 = 95 {
        SigningRequired = 1,
        EncryptionRequired = 2,
        SessionRequired = 4,
        ApplyRestrictionsToBrowse = 8,
    }

    /// Option set `AlarmMask`, `i=32251`, OPC 10000-9, 8.3.
    AlarmMask: u16 = 32251 {
        Active = 1,
        Unacknowledged = 2,
        Unconfirmed = 4,
    }

    /// Option set `AttributeWriteMask`, `i=347`, OPC 10000-3, 8.60.
    AttributeWriteMask: u32 = 347 {
        AccessLevel = 1,
        ArrayDimensions = 2,
        BrowseName = 4,
        ContainsNoLoops = 8,
        DataType = 16,
        Description = 32,
        DisplayName = 64,
        EventNotifier = 128,
        Executable = 256,
        Historizing = 512,
        InverseName = 1024,
        IsAbstract = 2048,
        MinimumSamplingInterval = 4096,
        NodeClass = 8192,
        NodeId = 16384,
        Symmetric = 32768,
        UserAccessLevel = 65536,
        UserExecutable = 131072,
        UserWriteMask = 262144,
        ValueRank = 524288,
        WriteMask = 1048576,
        ValueForVariableType = 2097152,
        DataTypeDefinition = 4194304,
        RolePermissions = 8388608,
        AccessRestrictions = 16777216,
        AccessLevelEx = 33554432,
    }

    /// Option set `DataSetFieldContentMask`, `i=15583`, OPC 10000-14, 6.2.4.2.
    DataSetFieldContentMask: u32 = 15583 {
        StatusCode = 1,
        SourceTimestamp = 2,
        ServerTimestamp = 4,
        SourcePicoSeconds = 8,
        ServerPicoSeconds = 16,
        RawData = 32,
    }

    /// Option set `DataSetFieldFlags`, `i=15904`, OPC 10000-14, 6.2.3.2.5.
    DataSetFieldFlags: u16 = 15904 {
        PromotedField = 1,
    }

    /// Option set `EventNotifierType`, `i=15033`, OPC 10000-3, 8.59.
    EventNotifierType: u8 = 15033 {
        SubscribeToEvents = 1,
        HistoryRead = 4,
        HistoryWrite = 8,
    }

    /// Option set `JsonDataSetMessageContentMask`, `i=15658`, OPC 10000-14, 6.3.2.3.1.
    JsonDataSetMessageContentMask: u32 = 15658 {
        DataSetWriterId = 1,
        MetaDataVersion = 2,
        SequenceNumber = 4,
        Timestamp = 8,
        Status = 16,
        MessageType = 32,
        DataSetWriterName = 64,
        FieldEncoding1 = 128,
        PublisherId = 256,
        WriterGroupName = 512,
        MinorVersion = 1024,
        FieldEncoding2 = 2048,
    }

    /// Option set `JsonNetworkMessageContentMask`, `i=15654`, OPC 10000-14, 6.3.2.1.1.
    JsonNetworkMessageContentMask: u32 = 15654 {
        NetworkMessageHeader = 1,
        DataSetMessageHeader = 2,
        SingleDataSetMessage = 4,
        PublisherId = 8,
        DataSetClassId = 16,
        ReplyTo = 32,
        WriterGroupName = 64,
    }

    /// Option set `LldpSystemCapabilitiesMap`, `i=18956`, OPC 10000-22, 5.3.3.1.
    LldpSystemCapabilitiesMap: u32 = 18956 {
        Other = 1,
        Repeater = 2,
        Bridge = 4,
        WlanAccessPoint = 8,
        Router = 16,
        Telephone = 32,
        DocsisCableDevice = 64,
        StationOnly = 128,
        CvlanComponent = 256,
        SvlanComponent = 512,
        TwoPortMacRelay = 1024,
    }

    /// Option set `LogRecordMask`, `i=19749`, OPC 10000-26, 5.8.
    LogRecordMask: u32 = 19749 {
        EventType = 1,
        SourceNode = 2,
        SourceName = 4,
        TraceContext = 8,
        AdditionalData = 16,
    }

    /// Option set `PasswordOptionsMask`, `i=24277`, OPC 10000-18, 5.2.2.
    PasswordOptionsMask: u32 = 24277 {
        SupportInitialPasswordChange = 1,
        SupportDisableUser = 2,
        SupportDisableDeleteForUser = 4,
        SupportNoChangeForUser = 8,
        SupportDescriptionForUser = 16,
        RequiresUpperCaseCharacters = 32,
        RequiresLowerCaseCharacters = 64,
        RequiresDigitCharacters = 128,
        RequiresSpecialCharacters = 256,
    }

    /// Option set `PermissionType`, `i=94`, OPC 10000-3, 8.55.
    PermissionType: u32 = 94 {
        Browse = 1,
        ReadRolePermissions = 2,
        WriteAttribute = 4,
        WriteRolePermissions = 8,
        WriteHistorizing = 16,
        Read = 32,
        Write = 64,
        ReadHistory = 128,
        InsertHistory = 256,
        ModifyHistory = 512,
        DeleteHistory = 1024,
        ReceiveEvents = 2048,
        Call = 4096,
        AddReference = 8192,
        RemoveReference = 16384,
        DeleteNode = 32768,
        AddNode = 65536,
    }

    /// Option set `PubSubConfigurationRefMask`, `i=25517`, OPC 10000-14, 9.1.3.7.2.
    PubSubConfigurationRefMask: u32 = 25517 {
        ElementAdd = 1,
        ElementMatch = 2,
        ElementModify = 4,
        ElementRemove = 8,
        ReferenceWriter = 16,
        ReferenceReader = 32,
        ReferenceWriterGroup = 64,
        ReferenceReaderGroup = 128,
        ReferenceConnection = 256,
        ReferencePubDataset = 512,
        ReferenceSubDataset = 1024,
        ReferenceSecurityGroup = 2048,
        ReferencePushTarget = 4096,
    }

    /// Option set `TrustListValidationOptions`, `i=23564`, OPC 10000-12, 7.8.2.10.
    TrustListValidationOptions: u32 = 23564 {
        SuppressCertificateExpired = 1,
        SuppressHostNameInvalid = 2,
        SuppressRevocationStatusUnknown = 4,
        SuppressIssuerCertificateExpired = 8,
        SuppressIssuerRevocationStatusUnknown = 16,
        CheckRevocationStatusOnline = 32,
        CheckRevocationStatusOffline = 64,
    }

    /// Option set `UadpDataSetMessageContentMask`, `i=15646`, OPC 10000-14, 6.3.1.3.2.
    UadpDataSetMessageContentMask: u32 = 15646 {
        Timestamp = 1,
        PicoSeconds = 2,
        Status = 4,
        MajorVersion = 8,
        MinorVersion = 16,
        SequenceNumber = 32,
    }

    /// Option set `UadpNetworkMessageContentMask`, `i=15642`, OPC 10000-14, 6.3.1.1.4.
    UadpNetworkMessageContentMask: u32 = 15642 {
        PublisherId = 1,
        GroupHeader = 2,
        WriterGroupId = 4,
        GroupVersion = 8,
        NetworkMessageNumber = 16,
        SequenceNumber = 32,
        PayloadHeader = 64,
        Timestamp = 128,
        PicoSeconds = 256,
        DataSetClassId = 512,
        PromotedFields = 1024,
    }

    /// Option set `UserConfigurationMask`, `i=24279`, OPC 10000-18, 5.2.3.
    UserConfigurationMask: u32 = 24279 {
        NoDelete = 1,
        Disabled = 2,
        NoChangeByUser = 4,
        MustChangePassword = 8,
    }
}
