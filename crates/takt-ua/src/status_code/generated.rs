// Written by `cargo xtask generate`. Do not edit.

//! The StatusCodes of the standard (OPC 10000-4, 7.38, and the parts that add to it).

#![allow(missing_docs)] // The name says what the code means.
#![allow(non_upper_case_globals)] // The constants have the standard's names.

use super::StatusCode;

impl StatusCode {
    pub const Good: StatusCode = StatusCode(0x00000000);
    pub const GoodSubscriptionTransferred: StatusCode = StatusCode(0x002D0000);
    pub const GoodCompletesAsynchronously: StatusCode = StatusCode(0x002E0000);
    pub const GoodOverload: StatusCode = StatusCode(0x002F0000);
    pub const GoodClamped: StatusCode = StatusCode(0x00300000);
    pub const GoodLocalOverride: StatusCode = StatusCode(0x00960000);
    pub const GoodEntryInserted: StatusCode = StatusCode(0x00A20000);
    pub const GoodEntryReplaced: StatusCode = StatusCode(0x00A30000);
    pub const GoodNoData: StatusCode = StatusCode(0x00A50000);
    pub const GoodMoreData: StatusCode = StatusCode(0x00A60000);
    pub const GoodCommunicationEvent: StatusCode = StatusCode(0x00A70000);
    pub const GoodShutdownEvent: StatusCode = StatusCode(0x00A80000);
    pub const GoodCallAgain: StatusCode = StatusCode(0x00A90000);
    pub const GoodNonCriticalTimeout: StatusCode = StatusCode(0x00AA0000);
    pub const GoodResultsMayBeIncomplete: StatusCode = StatusCode(0x00BA0000);
    pub const GoodDataIgnored: StatusCode = StatusCode(0x00D90000);
    pub const GoodEdited: StatusCode = StatusCode(0x00DC0000);
    pub const GoodPostActionFailed: StatusCode = StatusCode(0x00DD0000);
    pub const GoodRetransmissionQueueNotSupported: StatusCode = StatusCode(0x00DF0000);
    pub const GoodDependentValueChanged: StatusCode = StatusCode(0x00E00000);
    pub const GoodSubNormal: StatusCode = StatusCode(0x00EB0000);
    pub const GoodPasswordChangeRequired: StatusCode = StatusCode(0x00EF0000);
    pub const GoodEdited_DependentValueChanged: StatusCode = StatusCode(0x01160000);
    pub const GoodEdited_DominantValueChanged: StatusCode = StatusCode(0x01170000);
    pub const GoodEdited_DominantValueChanged_DependentValueChanged: StatusCode =
        StatusCode(0x01180000);
    pub const GoodCascadeInitializationAcknowledged: StatusCode = StatusCode(0x04010000);
    pub const GoodCascadeInitializationRequest: StatusCode = StatusCode(0x04020000);
    pub const GoodCascadeNotInvited: StatusCode = StatusCode(0x04030000);
    pub const GoodCascadeNotSelected: StatusCode = StatusCode(0x04040000);
    pub const GoodFaultStateActive: StatusCode = StatusCode(0x04070000);
    pub const GoodInitiateFaultState: StatusCode = StatusCode(0x04080000);
    pub const GoodCascade: StatusCode = StatusCode(0x04090000);
    pub const Uncertain: StatusCode = StatusCode(0x40000000);
    pub const UncertainReferenceOutOfServer: StatusCode = StatusCode(0x406C0000);
    pub const UncertainNoCommunicationLastUsableValue: StatusCode = StatusCode(0x408F0000);
    pub const UncertainLastUsableValue: StatusCode = StatusCode(0x40900000);
    pub const UncertainSubstituteValue: StatusCode = StatusCode(0x40910000);
    pub const UncertainInitialValue: StatusCode = StatusCode(0x40920000);
    pub const UncertainSensorNotAccurate: StatusCode = StatusCode(0x40930000);
    pub const UncertainEngineeringUnitsExceeded: StatusCode = StatusCode(0x40940000);
    pub const UncertainSubNormal: StatusCode = StatusCode(0x40950000);
    pub const UncertainDataSubNormal: StatusCode = StatusCode(0x40A40000);
    pub const UncertainReferenceNotDeleted: StatusCode = StatusCode(0x40BC0000);
    pub const UncertainNotAllNodesAvailable: StatusCode = StatusCode(0x40C00000);
    pub const UncertainDominantValueChanged: StatusCode = StatusCode(0x40DE0000);
    pub const UncertainDependentValueChanged: StatusCode = StatusCode(0x40E20000);
    pub const UncertainOverRange: StatusCode = StatusCode(0x40F20000);
    pub const UncertainUnderRange: StatusCode = StatusCode(0x40F30000);
    pub const UncertainTransducerInManual: StatusCode = StatusCode(0x42080000);
    pub const UncertainSimulatedValue: StatusCode = StatusCode(0x42090000);
    pub const UncertainSensorCalibration: StatusCode = StatusCode(0x420A0000);
    pub const UncertainConfigurationError: StatusCode = StatusCode(0x420F0000);
    pub const Bad: StatusCode = StatusCode(0x80000000);
    pub const BadUnexpectedError: StatusCode = StatusCode(0x80010000);
    pub const BadInternalError: StatusCode = StatusCode(0x80020000);
    pub const BadOutOfMemory: StatusCode = StatusCode(0x80030000);
    pub const BadResourceUnavailable: StatusCode = StatusCode(0x80040000);
    pub const BadCommunicationError: StatusCode = StatusCode(0x80050000);
    pub const BadEncodingError: StatusCode = StatusCode(0x80060000);
    pub const BadDecodingError: StatusCode = StatusCode(0x80070000);
    pub const BadEncodingLimitsExceeded: StatusCode = StatusCode(0x80080000);
    pub const BadUnknownResponse: StatusCode = StatusCode(0x80090000);
    pub const BadTimeout: StatusCode = StatusCode(0x800A0000);
    pub const BadServiceUnsupported: StatusCode = StatusCode(0x800B0000);
    pub const BadShutdown: StatusCode = StatusCode(0x800C0000);
    pub const BadServerNotConnected: StatusCode = StatusCode(0x800D0000);
    pub const BadServerHalted: StatusCode = StatusCode(0x800E0000);
    pub const BadNothingToDo: StatusCode = StatusCode(0x800F0000);
    pub const BadTooManyOperations: StatusCode = StatusCode(0x80100000);
    pub const BadDataTypeIdUnknown: StatusCode = StatusCode(0x80110000);
    pub const BadCertificateInvalid: StatusCode = StatusCode(0x80120000);
    pub const BadSecurityChecksFailed: StatusCode = StatusCode(0x80130000);
    pub const BadCertificateTimeInvalid: StatusCode = StatusCode(0x80140000);
    pub const BadCertificateIssuerTimeInvalid: StatusCode = StatusCode(0x80150000);
    pub const BadCertificateHostNameInvalid: StatusCode = StatusCode(0x80160000);
    pub const BadCertificateUriInvalid: StatusCode = StatusCode(0x80170000);
    pub const BadCertificateUseNotAllowed: StatusCode = StatusCode(0x80180000);
    pub const BadCertificateIssuerUseNotAllowed: StatusCode = StatusCode(0x80190000);
    pub const BadCertificateUntrusted: StatusCode = StatusCode(0x801A0000);
    pub const BadCertificateRevocationUnknown: StatusCode = StatusCode(0x801B0000);
    pub const BadCertificateIssuerRevocationUnknown: StatusCode = StatusCode(0x801C0000);
    pub const BadCertificateRevoked: StatusCode = StatusCode(0x801D0000);
    pub const BadCertificateIssuerRevoked: StatusCode = StatusCode(0x801E0000);
    pub const BadUserAccessDenied: StatusCode = StatusCode(0x801F0000);
    pub const BadIdentityTokenInvalid: StatusCode = StatusCode(0x80200000);
    pub const BadIdentityTokenRejected: StatusCode = StatusCode(0x80210000);
    pub const BadSecureChannelIdInvalid: StatusCode = StatusCode(0x80220000);
    pub const BadInvalidTimestamp: StatusCode = StatusCode(0x80230000);
    pub const BadNonceInvalid: StatusCode = StatusCode(0x80240000);
    pub const BadSessionIdInvalid: StatusCode = StatusCode(0x80250000);
    pub const BadSessionClosed: StatusCode = StatusCode(0x80260000);
    pub const BadSessionNotActivated: StatusCode = StatusCode(0x80270000);
    pub const BadSubscriptionIdInvalid: StatusCode = StatusCode(0x80280000);
    pub const BadRequestHeaderInvalid: StatusCode = StatusCode(0x802A0000);
    pub const BadTimestampsToReturnInvalid: StatusCode = StatusCode(0x802B0000);
    pub const BadRequestCancelledByClient: StatusCode = StatusCode(0x802C0000);
    pub const BadNoCommunication: StatusCode = StatusCode(0x80310000);
    pub const BadWaitingForInitialData: StatusCode = StatusCode(0x80320000);
    pub const BadNodeIdInvalid: StatusCode = StatusCode(0x80330000);
    pub const BadNodeIdUnknown: StatusCode = StatusCode(0x80340000);
    pub const BadAttributeIdInvalid: StatusCode = StatusCode(0x80350000);
    pub const BadIndexRangeInvalid: StatusCode = StatusCode(0x80360000);
    pub const BadIndexRangeNoData: StatusCode = StatusCode(0x80370000);
    pub const BadDataEncodingInvalid: StatusCode = StatusCode(0x80380000);
    pub const BadDataEncodingUnsupported: StatusCode = StatusCode(0x80390000);
    pub const BadNotReadable: StatusCode = StatusCode(0x803A0000);
    pub const BadNotWritable: StatusCode = StatusCode(0x803B0000);
    pub const BadOutOfRange: StatusCode = StatusCode(0x803C0000);
    pub const BadNotSupported: StatusCode = StatusCode(0x803D0000);
    pub const BadNotFound: StatusCode = StatusCode(0x803E0000);
    pub const BadObjectDeleted: StatusCode = StatusCode(0x803F0000);
    pub const BadNotImplemented: StatusCode = StatusCode(0x80400000);
    pub const BadMonitoringModeInvalid: StatusCode = StatusCode(0x80410000);
    pub const BadMonitoredItemIdInvalid: StatusCode = StatusCode(0x80420000);
    pub const BadMonitoredItemFilterInvalid: StatusCode = StatusCode(0x80430000);
    pub const BadMonitoredItemFilterUnsupported: StatusCode = StatusCode(0x80440000);
    pub const BadFilterNotAllowed: StatusCode = StatusCode(0x80450000);
    pub const BadStructureMissing: StatusCode = StatusCode(0x80460000);
    pub const BadEventFilterInvalid: StatusCode = StatusCode(0x80470000);
    pub const BadContentFilterInvalid: StatusCode = StatusCode(0x80480000);
    pub const BadFilterOperandInvalid: StatusCode = StatusCode(0x80490000);
    pub const BadContinuationPointInvalid: StatusCode = StatusCode(0x804A0000);
    pub const BadNoContinuationPoints: StatusCode = StatusCode(0x804B0000);
    pub const BadReferenceTypeIdInvalid: StatusCode = StatusCode(0x804C0000);
    pub const BadBrowseDirectionInvalid: StatusCode = StatusCode(0x804D0000);
    pub const BadNodeNotInView: StatusCode = StatusCode(0x804E0000);
    pub const BadServerUriInvalid: StatusCode = StatusCode(0x804F0000);
    pub const BadServerNameMissing: StatusCode = StatusCode(0x80500000);
    pub const BadDiscoveryUrlMissing: StatusCode = StatusCode(0x80510000);
    pub const BadSemaphoreFileMissing: StatusCode = StatusCode(0x80520000);
    pub const BadRequestTypeInvalid: StatusCode = StatusCode(0x80530000);
    pub const BadSecurityModeRejected: StatusCode = StatusCode(0x80540000);
    pub const BadSecurityPolicyRejected: StatusCode = StatusCode(0x80550000);
    pub const BadTooManySessions: StatusCode = StatusCode(0x80560000);
    pub const BadUserSignatureInvalid: StatusCode = StatusCode(0x80570000);
    pub const BadApplicationSignatureInvalid: StatusCode = StatusCode(0x80580000);
    pub const BadNoValidCertificates: StatusCode = StatusCode(0x80590000);
    pub const BadRequestCancelledByRequest: StatusCode = StatusCode(0x805A0000);
    pub const BadParentNodeIdInvalid: StatusCode = StatusCode(0x805B0000);
    pub const BadReferenceNotAllowed: StatusCode = StatusCode(0x805C0000);
    pub const BadNodeIdRejected: StatusCode = StatusCode(0x805D0000);
    pub const BadNodeIdExists: StatusCode = StatusCode(0x805E0000);
    pub const BadNodeClassInvalid: StatusCode = StatusCode(0x805F0000);
    pub const BadBrowseNameInvalid: StatusCode = StatusCode(0x80600000);
    pub const BadBrowseNameDuplicated: StatusCode = StatusCode(0x80610000);
    pub const BadNodeAttributesInvalid: StatusCode = StatusCode(0x80620000);
    pub const BadTypeDefinitionInvalid: StatusCode = StatusCode(0x80630000);
    pub const BadSourceNodeIdInvalid: StatusCode = StatusCode(0x80640000);
    pub const BadTargetNodeIdInvalid: StatusCode = StatusCode(0x80650000);
    pub const BadDuplicateReferenceNotAllowed: StatusCode = StatusCode(0x80660000);
    pub const BadInvalidSelfReference: StatusCode = StatusCode(0x80670000);
    pub const BadReferenceLocalOnly: StatusCode = StatusCode(0x80680000);
    pub const BadNoDeleteRights: StatusCode = StatusCode(0x80690000);
    pub const BadServerIndexInvalid: StatusCode = StatusCode(0x806A0000);
    pub const BadViewIdUnknown: StatusCode = StatusCode(0x806B0000);
    pub const BadTooManyMatches: StatusCode = StatusCode(0x806D0000);
    pub const BadQueryTooComplex: StatusCode = StatusCode(0x806E0000);
    pub const BadNoMatch: StatusCode = StatusCode(0x806F0000);
    pub const BadMaxAgeInvalid: StatusCode = StatusCode(0x80700000);
    pub const BadHistoryOperationInvalid: StatusCode = StatusCode(0x80710000);
    pub const BadHistoryOperationUnsupported: StatusCode = StatusCode(0x80720000);
    pub const BadWriteNotSupported: StatusCode = StatusCode(0x80730000);
    pub const BadTypeMismatch: StatusCode = StatusCode(0x80740000);
    pub const BadMethodInvalid: StatusCode = StatusCode(0x80750000);
    pub const BadArgumentsMissing: StatusCode = StatusCode(0x80760000);
    pub const BadTooManySubscriptions: StatusCode = StatusCode(0x80770000);
    pub const BadTooManyPublishRequests: StatusCode = StatusCode(0x80780000);
    pub const BadNoSubscription: StatusCode = StatusCode(0x80790000);
    pub const BadSequenceNumberUnknown: StatusCode = StatusCode(0x807A0000);
    pub const BadMessageNotAvailable: StatusCode = StatusCode(0x807B0000);
    pub const BadInsufficientClientProfile: StatusCode = StatusCode(0x807C0000);
    pub const BadTcpServerTooBusy: StatusCode = StatusCode(0x807D0000);
    pub const BadTcpMessageTypeInvalid: StatusCode = StatusCode(0x807E0000);
    pub const BadTcpSecureChannelUnknown: StatusCode = StatusCode(0x807F0000);
    pub const BadTcpMessageTooLarge: StatusCode = StatusCode(0x80800000);
    pub const BadTcpNotEnoughResources: StatusCode = StatusCode(0x80810000);
    pub const BadTcpInternalError: StatusCode = StatusCode(0x80820000);
    pub const BadTcpEndpointUrlInvalid: StatusCode = StatusCode(0x80830000);
    pub const BadRequestInterrupted: StatusCode = StatusCode(0x80840000);
    pub const BadRequestTimeout: StatusCode = StatusCode(0x80850000);
    pub const BadSecureChannelClosed: StatusCode = StatusCode(0x80860000);
    pub const BadSecureChannelTokenUnknown: StatusCode = StatusCode(0x80870000);
    pub const BadSequenceNumberInvalid: StatusCode = StatusCode(0x80880000);
    pub const BadConfigurationError: StatusCode = StatusCode(0x80890000);
    pub const BadNotConnected: StatusCode = StatusCode(0x808A0000);
    pub const BadDeviceFailure: StatusCode = StatusCode(0x808B0000);
    pub const BadSensorFailure: StatusCode = StatusCode(0x808C0000);
    pub const BadOutOfService: StatusCode = StatusCode(0x808D0000);
    pub const BadDeadbandFilterInvalid: StatusCode = StatusCode(0x808E0000);
    pub const BadRefreshInProgress: StatusCode = StatusCode(0x80970000);
    pub const BadConditionAlreadyDisabled: StatusCode = StatusCode(0x80980000);
    pub const BadConditionDisabled: StatusCode = StatusCode(0x80990000);
    pub const BadEventIdUnknown: StatusCode = StatusCode(0x809A0000);
    pub const BadNoData: StatusCode = StatusCode(0x809B0000);
    pub const BadDataLost: StatusCode = StatusCode(0x809D0000);
    pub const BadDataUnavailable: StatusCode = StatusCode(0x809E0000);
    pub const BadEntryExists: StatusCode = StatusCode(0x809F0000);
    pub const BadNoEntryExists: StatusCode = StatusCode(0x80A00000);
    pub const BadTimestampNotSupported: StatusCode = StatusCode(0x80A10000);
    pub const BadInvalidArgument: StatusCode = StatusCode(0x80AB0000);
    pub const BadConnectionRejected: StatusCode = StatusCode(0x80AC0000);
    pub const BadDisconnect: StatusCode = StatusCode(0x80AD0000);
    pub const BadConnectionClosed: StatusCode = StatusCode(0x80AE0000);
    pub const BadInvalidState: StatusCode = StatusCode(0x80AF0000);
    pub const BadEndOfStream: StatusCode = StatusCode(0x80B00000);
    pub const BadNoDataAvailable: StatusCode = StatusCode(0x80B10000);
    pub const BadWaitingForResponse: StatusCode = StatusCode(0x80B20000);
    pub const BadOperationAbandoned: StatusCode = StatusCode(0x80B30000);
    pub const BadExpectedStreamToBlock: StatusCode = StatusCode(0x80B40000);
    pub const BadWouldBlock: StatusCode = StatusCode(0x80B50000);
    pub const BadSyntaxError: StatusCode = StatusCode(0x80B60000);
    pub const BadMaxConnectionsReached: StatusCode = StatusCode(0x80B70000);
    pub const BadRequestTooLarge: StatusCode = StatusCode(0x80B80000);
    pub const BadResponseTooLarge: StatusCode = StatusCode(0x80B90000);
    pub const BadEventNotAcknowledgeable: StatusCode = StatusCode(0x80BB0000);
    pub const BadInvalidTimestampArgument: StatusCode = StatusCode(0x80BD0000);
    pub const BadProtocolVersionUnsupported: StatusCode = StatusCode(0x80BE0000);
    pub const BadStateNotActive: StatusCode = StatusCode(0x80BF0000);
    pub const BadFilterOperatorInvalid: StatusCode = StatusCode(0x80C10000);
    pub const BadFilterOperatorUnsupported: StatusCode = StatusCode(0x80C20000);
    pub const BadFilterOperandCountMismatch: StatusCode = StatusCode(0x80C30000);
    pub const BadFilterElementInvalid: StatusCode = StatusCode(0x80C40000);
    pub const BadFilterLiteralInvalid: StatusCode = StatusCode(0x80C50000);
    pub const BadIdentityChangeNotSupported: StatusCode = StatusCode(0x80C60000);
    pub const BadNotTypeDefinition: StatusCode = StatusCode(0x80C80000);
    pub const BadViewTimestampInvalid: StatusCode = StatusCode(0x80C90000);
    pub const BadViewParameterMismatch: StatusCode = StatusCode(0x80CA0000);
    pub const BadViewVersionInvalid: StatusCode = StatusCode(0x80CB0000);
    pub const BadConditionAlreadyEnabled: StatusCode = StatusCode(0x80CC0000);
    pub const BadDialogNotActive: StatusCode = StatusCode(0x80CD0000);
    pub const BadDialogResponseInvalid: StatusCode = StatusCode(0x80CE0000);
    pub const BadConditionBranchAlreadyAcked: StatusCode = StatusCode(0x80CF0000);
    pub const BadConditionBranchAlreadyConfirmed: StatusCode = StatusCode(0x80D00000);
    pub const BadConditionAlreadyShelved: StatusCode = StatusCode(0x80D10000);
    pub const BadConditionNotShelved: StatusCode = StatusCode(0x80D20000);
    pub const BadShelvingTimeOutOfRange: StatusCode = StatusCode(0x80D30000);
    pub const BadAggregateListMismatch: StatusCode = StatusCode(0x80D40000);
    pub const BadAggregateNotSupported: StatusCode = StatusCode(0x80D50000);
    pub const BadAggregateInvalidInputs: StatusCode = StatusCode(0x80D60000);
    pub const BadBoundNotFound: StatusCode = StatusCode(0x80D70000);
    pub const BadBoundNotSupported: StatusCode = StatusCode(0x80D80000);
    pub const BadAggregateConfigurationRejected: StatusCode = StatusCode(0x80DA0000);
    pub const BadTooManyMonitoredItems: StatusCode = StatusCode(0x80DB0000);
    pub const BadDominantValueChanged: StatusCode = StatusCode(0x80E10000);
    pub const BadDependentValueChanged: StatusCode = StatusCode(0x80E30000);
    pub const BadRequestNotAllowed: StatusCode = StatusCode(0x80E40000);
    pub const BadTooManyArguments: StatusCode = StatusCode(0x80E50000);
    pub const BadSecurityModeInsufficient: StatusCode = StatusCode(0x80E60000);
    pub const BadDataSetIdInvalid: StatusCode = StatusCode(0x80E70000);
    pub const BadTransactionPending: StatusCode = StatusCode(0x80E80000);
    pub const BadLocked: StatusCode = StatusCode(0x80E90000);
    pub const BadIndexRangeDataMismatch: StatusCode = StatusCode(0x80EA0000);
    pub const BadRequiresLock: StatusCode = StatusCode(0x80EC0000);
    pub const BadLocaleNotSupported: StatusCode = StatusCode(0x80ED0000);
    pub const BadServerTooBusy: StatusCode = StatusCode(0x80EE0000);
    pub const BadNoValue: StatusCode = StatusCode(0x80F00000);
    pub const BadTransactionFailed: StatusCode = StatusCode(0x80F10000);
    pub const BadCertificateChainIncomplete: StatusCode = StatusCode(0x810D0000);
    pub const BadLicenseExpired: StatusCode = StatusCode(0x810E0000);
    pub const BadLicenseLimitsExceeded: StatusCode = StatusCode(0x810F0000);
    pub const BadLicenseNotAvailable: StatusCode = StatusCode(0x81100000);
    pub const BadNotExecutable: StatusCode = StatusCode(0x81110000);
    pub const BadNumericOverflow: StatusCode = StatusCode(0x81120000);
    pub const BadRequestNotComplete: StatusCode = StatusCode(0x81130000);
    pub const BadCertificatePolicyCheckFailed: StatusCode = StatusCode(0x81140000);
    pub const BadAlreadyExists: StatusCode = StatusCode(0x81150000);
    pub const BadEdited_OutOfRange: StatusCode = StatusCode(0x81190000);
    pub const BadInitialValue_OutOfRange: StatusCode = StatusCode(0x811A0000);
    pub const BadOutOfRange_DominantValueChanged: StatusCode = StatusCode(0x811B0000);
    pub const BadEdited_OutOfRange_DominantValueChanged: StatusCode = StatusCode(0x811C0000);
    pub const BadOutOfRange_DominantValueChanged_DependentValueChanged: StatusCode =
        StatusCode(0x811D0000);
    pub const BadEdited_OutOfRange_DominantValueChanged_DependentValueChanged: StatusCode =
        StatusCode(0x811E0000);
    pub const BadTicketRequired: StatusCode = StatusCode(0x811F0000);
    pub const BadTicketInvalid: StatusCode = StatusCode(0x81200000);
}

/// Codes and their names, ascending by code.
pub static STATUS_CODES: &[(u32, &str)] = &[
    (0x00000000, "Good"),
    (0x002D0000, "GoodSubscriptionTransferred"),
    (0x002E0000, "GoodCompletesAsynchronously"),
    (0x002F0000, "GoodOverload"),
    (0x00300000, "GoodClamped"),
    (0x00960000, "GoodLocalOverride"),
    (0x00A20000, "GoodEntryInserted"),
    (0x00A30000, "GoodEntryReplaced"),
    (0x00A50000, "GoodNoData"),
    (0x00A60000, "GoodMoreData"),
    (0x00A70000, "GoodCommunicationEvent"),
    (0x00A80000, "GoodShutdownEvent"),
    (0x00A90000, "GoodCallAgain"),
    (0x00AA0000, "GoodNonCriticalTimeout"),
    (0x00BA0000, "GoodResultsMayBeIncomplete"),
    (0x00D90000, "GoodDataIgnored"),
    (0x00DC0000, "GoodEdited"),
    (0x00DD0000, "GoodPostActionFailed"),
    (0x00DF0000, "GoodRetransmissionQueueNotSupported"),
    (0x00E00000, "GoodDependentValueChanged"),
    (0x00EB0000, "GoodSubNormal"),
    (0x00EF0000, "GoodPasswordChangeRequired"),
    (0x01160000, "GoodEdited_DependentValueChanged"),
    (0x01170000, "GoodEdited_DominantValueChanged"),
    (
        0x01180000,
        "GoodEdited_DominantValueChanged_DependentValueChanged",
    ),
    (0x04010000, "GoodCascadeInitializationAcknowledged"),
    (0x04020000, "GoodCascadeInitializationRequest"),
    (0x04030000, "GoodCascadeNotInvited"),
    (0x04040000, "GoodCascadeNotSelected"),
    (0x04070000, "GoodFaultStateActive"),
    (0x04080000, "GoodInitiateFaultState"),
    (0x04090000, "GoodCascade"),
    (0x40000000, "Uncertain"),
    (0x406C0000, "UncertainReferenceOutOfServer"),
    (0x408F0000, "UncertainNoCommunicationLastUsableValue"),
    (0x40900000, "UncertainLastUsableValue"),
    (0x40910000, "UncertainSubstituteValue"),
    (0x40920000, "UncertainInitialValue"),
    (0x40930000, "UncertainSensorNotAccurate"),
    (0x40940000, "UncertainEngineeringUnitsExceeded"),
    (0x40950000, "UncertainSubNormal"),
    (0x40A40000, "UncertainDataSubNormal"),
    (0x40BC0000, "UncertainReferenceNotDeleted"),
    (0x40C00000, "UncertainNotAllNodesAvailable"),
    (0x40DE0000, "UncertainDominantValueChanged"),
    (0x40E20000, "UncertainDependentValueChanged"),
    (0x40F20000, "UncertainOverRange"),
    (0x40F30000, "UncertainUnderRange"),
    (0x42080000, "UncertainTransducerInManual"),
    (0x42090000, "UncertainSimulatedValue"),
    (0x420A0000, "UncertainSensorCalibration"),
    (0x420F0000, "UncertainConfigurationError"),
    (0x80000000, "Bad"),
    (0x80010000, "BadUnexpectedError"),
    (0x80020000, "BadInternalError"),
    (0x80030000, "BadOutOfMemory"),
    (0x80040000, "BadResourceUnavailable"),
    (0x80050000, "BadCommunicationError"),
    (0x80060000, "BadEncodingError"),
    (0x80070000, "BadDecodingError"),
    (0x80080000, "BadEncodingLimitsExceeded"),
    (0x80090000, "BadUnknownResponse"),
    (0x800A0000, "BadTimeout"),
    (0x800B0000, "BadServiceUnsupported"),
    (0x800C0000, "BadShutdown"),
    (0x800D0000, "BadServerNotConnected"),
    (0x800E0000, "BadServerHalted"),
    (0x800F0000, "BadNothingToDo"),
    (0x80100000, "BadTooManyOperations"),
    (0x80110000, "BadDataTypeIdUnknown"),
    (0x80120000, "BadCertificateInvalid"),
    (0x80130000, "BadSecurityChecksFailed"),
    (0x80140000, "BadCertificateTimeInvalid"),
    (0x80150000, "BadCertificateIssuerTimeInvalid"),
    (0x80160000, "BadCertificateHostNameInvalid"),
    (0x80170000, "BadCertificateUriInvalid"),
    (0x80180000, "BadCertificateUseNotAllowed"),
    (0x80190000, "BadCertificateIssuerUseNotAllowed"),
    (0x801A0000, "BadCertificateUntrusted"),
    (0x801B0000, "BadCertificateRevocationUnknown"),
    (0x801C0000, "BadCertificateIssuerRevocationUnknown"),
    (0x801D0000, "BadCertificateRevoked"),
    (0x801E0000, "BadCertificateIssuerRevoked"),
    (0x801F0000, "BadUserAccessDenied"),
    (0x80200000, "BadIdentityTokenInvalid"),
    (0x80210000, "BadIdentityTokenRejected"),
    (0x80220000, "BadSecureChannelIdInvalid"),
    (0x80230000, "BadInvalidTimestamp"),
    (0x80240000, "BadNonceInvalid"),
    (0x80250000, "BadSessionIdInvalid"),
    (0x80260000, "BadSessionClosed"),
    (0x80270000, "BadSessionNotActivated"),
    (0x80280000, "BadSubscriptionIdInvalid"),
    (0x802A0000, "BadRequestHeaderInvalid"),
    (0x802B0000, "BadTimestampsToReturnInvalid"),
    (0x802C0000, "BadRequestCancelledByClient"),
    (0x80310000, "BadNoCommunication"),
    (0x80320000, "BadWaitingForInitialData"),
    (0x80330000, "BadNodeIdInvalid"),
    (0x80340000, "BadNodeIdUnknown"),
    (0x80350000, "BadAttributeIdInvalid"),
    (0x80360000, "BadIndexRangeInvalid"),
    (0x80370000, "BadIndexRangeNoData"),
    (0x80380000, "BadDataEncodingInvalid"),
    (0x80390000, "BadDataEncodingUnsupported"),
    (0x803A0000, "BadNotReadable"),
    (0x803B0000, "BadNotWritable"),
    (0x803C0000, "BadOutOfRange"),
    (0x803D0000, "BadNotSupported"),
    (0x803E0000, "BadNotFound"),
    (0x803F0000, "BadObjectDeleted"),
    (0x80400000, "BadNotImplemented"),
    (0x80410000, "BadMonitoringModeInvalid"),
    (0x80420000, "BadMonitoredItemIdInvalid"),
    (0x80430000, "BadMonitoredItemFilterInvalid"),
    (0x80440000, "BadMonitoredItemFilterUnsupported"),
    (0x80450000, "BadFilterNotAllowed"),
    (0x80460000, "BadStructureMissing"),
    (0x80470000, "BadEventFilterInvalid"),
    (0x80480000, "BadContentFilterInvalid"),
    (0x80490000, "BadFilterOperandInvalid"),
    (0x804A0000, "BadContinuationPointInvalid"),
    (0x804B0000, "BadNoContinuationPoints"),
    (0x804C0000, "BadReferenceTypeIdInvalid"),
    (0x804D0000, "BadBrowseDirectionInvalid"),
    (0x804E0000, "BadNodeNotInView"),
    (0x804F0000, "BadServerUriInvalid"),
    (0x80500000, "BadServerNameMissing"),
    (0x80510000, "BadDiscoveryUrlMissing"),
    (0x80520000, "BadSemaphoreFileMissing"),
    (0x80530000, "BadRequestTypeInvalid"),
    (0x80540000, "BadSecurityModeRejected"),
    (0x80550000, "BadSecurityPolicyRejected"),
    (0x80560000, "BadTooManySessions"),
    (0x80570000, "BadUserSignatureInvalid"),
    (0x80580000, "BadApplicationSignatureInvalid"),
    (0x80590000, "BadNoValidCertificates"),
    (0x805A0000, "BadRequestCancelledByRequest"),
    (0x805B0000, "BadParentNodeIdInvalid"),
    (0x805C0000, "BadReferenceNotAllowed"),
    (0x805D0000, "BadNodeIdRejected"),
    (0x805E0000, "BadNodeIdExists"),
    (0x805F0000, "BadNodeClassInvalid"),
    (0x80600000, "BadBrowseNameInvalid"),
    (0x80610000, "BadBrowseNameDuplicated"),
    (0x80620000, "BadNodeAttributesInvalid"),
    (0x80630000, "BadTypeDefinitionInvalid"),
    (0x80640000, "BadSourceNodeIdInvalid"),
    (0x80650000, "BadTargetNodeIdInvalid"),
    (0x80660000, "BadDuplicateReferenceNotAllowed"),
    (0x80670000, "BadInvalidSelfReference"),
    (0x80680000, "BadReferenceLocalOnly"),
    (0x80690000, "BadNoDeleteRights"),
    (0x806A0000, "BadServerIndexInvalid"),
    (0x806B0000, "BadViewIdUnknown"),
    (0x806D0000, "BadTooManyMatches"),
    (0x806E0000, "BadQueryTooComplex"),
    (0x806F0000, "BadNoMatch"),
    (0x80700000, "BadMaxAgeInvalid"),
    (0x80710000, "BadHistoryOperationInvalid"),
    (0x80720000, "BadHistoryOperationUnsupported"),
    (0x80730000, "BadWriteNotSupported"),
    (0x80740000, "BadTypeMismatch"),
    (0x80750000, "BadMethodInvalid"),
    (0x80760000, "BadArgumentsMissing"),
    (0x80770000, "BadTooManySubscriptions"),
    (0x80780000, "BadTooManyPublishRequests"),
    (0x80790000, "BadNoSubscription"),
    (0x807A0000, "BadSequenceNumberUnknown"),
    (0x807B0000, "BadMessageNotAvailable"),
    (0x807C0000, "BadInsufficientClientProfile"),
    (0x807D0000, "BadTcpServerTooBusy"),
    (0x807E0000, "BadTcpMessageTypeInvalid"),
    (0x807F0000, "BadTcpSecureChannelUnknown"),
    (0x80800000, "BadTcpMessageTooLarge"),
    (0x80810000, "BadTcpNotEnoughResources"),
    (0x80820000, "BadTcpInternalError"),
    (0x80830000, "BadTcpEndpointUrlInvalid"),
    (0x80840000, "BadRequestInterrupted"),
    (0x80850000, "BadRequestTimeout"),
    (0x80860000, "BadSecureChannelClosed"),
    (0x80870000, "BadSecureChannelTokenUnknown"),
    (0x80880000, "BadSequenceNumberInvalid"),
    (0x80890000, "BadConfigurationError"),
    (0x808A0000, "BadNotConnected"),
    (0x808B0000, "BadDeviceFailure"),
    (0x808C0000, "BadSensorFailure"),
    (0x808D0000, "BadOutOfService"),
    (0x808E0000, "BadDeadbandFilterInvalid"),
    (0x80970000, "BadRefreshInProgress"),
    (0x80980000, "BadConditionAlreadyDisabled"),
    (0x80990000, "BadConditionDisabled"),
    (0x809A0000, "BadEventIdUnknown"),
    (0x809B0000, "BadNoData"),
    (0x809D0000, "BadDataLost"),
    (0x809E0000, "BadDataUnavailable"),
    (0x809F0000, "BadEntryExists"),
    (0x80A00000, "BadNoEntryExists"),
    (0x80A10000, "BadTimestampNotSupported"),
    (0x80AB0000, "BadInvalidArgument"),
    (0x80AC0000, "BadConnectionRejected"),
    (0x80AD0000, "BadDisconnect"),
    (0x80AE0000, "BadConnectionClosed"),
    (0x80AF0000, "BadInvalidState"),
    (0x80B00000, "BadEndOfStream"),
    (0x80B10000, "BadNoDataAvailable"),
    (0x80B20000, "BadWaitingForResponse"),
    (0x80B30000, "BadOperationAbandoned"),
    (0x80B40000, "BadExpectedStreamToBlock"),
    (0x80B50000, "BadWouldBlock"),
    (0x80B60000, "BadSyntaxError"),
    (0x80B70000, "BadMaxConnectionsReached"),
    (0x80B80000, "BadRequestTooLarge"),
    (0x80B90000, "BadResponseTooLarge"),
    (0x80BB0000, "BadEventNotAcknowledgeable"),
    (0x80BD0000, "BadInvalidTimestampArgument"),
    (0x80BE0000, "BadProtocolVersionUnsupported"),
    (0x80BF0000, "BadStateNotActive"),
    (0x80C10000, "BadFilterOperatorInvalid"),
    (0x80C20000, "BadFilterOperatorUnsupported"),
    (0x80C30000, "BadFilterOperandCountMismatch"),
    (0x80C40000, "BadFilterElementInvalid"),
    (0x80C50000, "BadFilterLiteralInvalid"),
    (0x80C60000, "BadIdentityChangeNotSupported"),
    (0x80C80000, "BadNotTypeDefinition"),
    (0x80C90000, "BadViewTimestampInvalid"),
    (0x80CA0000, "BadViewParameterMismatch"),
    (0x80CB0000, "BadViewVersionInvalid"),
    (0x80CC0000, "BadConditionAlreadyEnabled"),
    (0x80CD0000, "BadDialogNotActive"),
    (0x80CE0000, "BadDialogResponseInvalid"),
    (0x80CF0000, "BadConditionBranchAlreadyAcked"),
    (0x80D00000, "BadConditionBranchAlreadyConfirmed"),
    (0x80D10000, "BadConditionAlreadyShelved"),
    (0x80D20000, "BadConditionNotShelved"),
    (0x80D30000, "BadShelvingTimeOutOfRange"),
    (0x80D40000, "BadAggregateListMismatch"),
    (0x80D50000, "BadAggregateNotSupported"),
    (0x80D60000, "BadAggregateInvalidInputs"),
    (0x80D70000, "BadBoundNotFound"),
    (0x80D80000, "BadBoundNotSupported"),
    (0x80DA0000, "BadAggregateConfigurationRejected"),
    (0x80DB0000, "BadTooManyMonitoredItems"),
    (0x80E10000, "BadDominantValueChanged"),
    (0x80E30000, "BadDependentValueChanged"),
    (0x80E40000, "BadRequestNotAllowed"),
    (0x80E50000, "BadTooManyArguments"),
    (0x80E60000, "BadSecurityModeInsufficient"),
    (0x80E70000, "BadDataSetIdInvalid"),
    (0x80E80000, "BadTransactionPending"),
    (0x80E90000, "BadLocked"),
    (0x80EA0000, "BadIndexRangeDataMismatch"),
    (0x80EC0000, "BadRequiresLock"),
    (0x80ED0000, "BadLocaleNotSupported"),
    (0x80EE0000, "BadServerTooBusy"),
    (0x80F00000, "BadNoValue"),
    (0x80F10000, "BadTransactionFailed"),
    (0x810D0000, "BadCertificateChainIncomplete"),
    (0x810E0000, "BadLicenseExpired"),
    (0x810F0000, "BadLicenseLimitsExceeded"),
    (0x81100000, "BadLicenseNotAvailable"),
    (0x81110000, "BadNotExecutable"),
    (0x81120000, "BadNumericOverflow"),
    (0x81130000, "BadRequestNotComplete"),
    (0x81140000, "BadCertificatePolicyCheckFailed"),
    (0x81150000, "BadAlreadyExists"),
    (0x81190000, "BadEdited_OutOfRange"),
    (0x811A0000, "BadInitialValue_OutOfRange"),
    (0x811B0000, "BadOutOfRange_DominantValueChanged"),
    (0x811C0000, "BadEdited_OutOfRange_DominantValueChanged"),
    (
        0x811D0000,
        "BadOutOfRange_DominantValueChanged_DependentValueChanged",
    ),
    (
        0x811E0000,
        "BadEdited_OutOfRange_DominantValueChanged_DependentValueChanged",
    ),
    (0x811F0000, "BadTicketRequired"),
    (0x81200000, "BadTicketInvalid"),
];
