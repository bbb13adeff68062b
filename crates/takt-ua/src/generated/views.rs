// Written by `cargo xtask generate`. Do not edit.

//! Borrowed forms of the messages of Read, Write and Call: decoding allocates nothing.

use crate::binary::{Encoded, ListRef};
use crate::generated::enumerations::TimestampsToReturn;
use crate::generated::structures::{
    CallMethodRequest, CallMethodResult, CallRequest, CallResponse, ReadRequest, ReadResponse,
    ReadValueId, RequestHeader, ResponseHeader, WriteRequest, WriteResponse, WriteValue,
};
use crate::generated_support::view;
use crate::{
    DataValueRef, DateTime, DiagnosticInfo, ExtensionObjectRef, NodeIdRef, QualifiedNameRef,
    StatusCode, UaString, VariantRef,
};

view! {
    /// Borrowed form of [`CallMethodRequest`].
    CallMethodRequestRef = CallMethodRequest {
        "ObjectId" object_id: NodeIdRef<'a>,
        "MethodId" method_id: NodeIdRef<'a>,
        "InputArguments" input_arguments: ListRef<'a, VariantRef<'a>>,
    }

    /// Borrowed form of [`CallMethodResult`].
    CallMethodResultRef = CallMethodResult {
        "StatusCode" status_code: StatusCode,
        "InputArgumentResults" input_argument_results: ListRef<'a, StatusCode>,
        "InputArgumentDiagnosticInfos" input_argument_diagnostic_infos: ListRef<'a, Encoded<'a, DiagnosticInfo>>,
        "OutputArguments" output_arguments: ListRef<'a, VariantRef<'a>>,
    }

    /// Borrowed form of [`CallRequest`].
    CallRequestRef = CallRequest {
        "RequestHeader" request_header: RequestHeaderRef<'a>,
        "MethodsToCall" methods_to_call: ListRef<'a, CallMethodRequestRef<'a>>,
    }

    /// Borrowed form of [`CallResponse`].
    CallResponseRef = CallResponse {
        "ResponseHeader" response_header: ResponseHeaderRef<'a>,
        "Results" results: ListRef<'a, CallMethodResultRef<'a>>,
        "DiagnosticInfos" diagnostic_infos: ListRef<'a, Encoded<'a, DiagnosticInfo>>,
    }

    /// Borrowed form of [`ReadRequest`].
    ReadRequestRef = ReadRequest {
        "RequestHeader" request_header: RequestHeaderRef<'a>,
        "MaxAge" max_age: f64,
        "TimestampsToReturn" timestamps_to_return: TimestampsToReturn,
        "NodesToRead" nodes_to_read: ListRef<'a, ReadValueIdRef<'a>>,
    }

    /// Borrowed form of [`ReadResponse`].
    ReadResponseRef = ReadResponse {
        "ResponseHeader" response_header: ResponseHeaderRef<'a>,
        "Results" results: ListRef<'a, DataValueRef<'a>>,
        "DiagnosticInfos" diagnostic_infos: ListRef<'a, Encoded<'a, DiagnosticInfo>>,
    }

    /// Borrowed form of [`ReadValueId`].
    ReadValueIdRef = ReadValueId {
        "NodeId" node_id: NodeIdRef<'a>,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: Option<&'a str>,
        "DataEncoding" data_encoding: QualifiedNameRef<'a>,
    }

    /// Borrowed form of [`RequestHeader`].
    RequestHeaderRef = RequestHeader {
        "AuthenticationToken" authentication_token: NodeIdRef<'a>,
        "Timestamp" timestamp: DateTime,
        "RequestHandle" request_handle: u32,
        "ReturnDiagnostics" return_diagnostics: u32,
        "AuditEntryId" audit_entry_id: Option<&'a str>,
        "TimeoutHint" timeout_hint: u32,
        "AdditionalHeader" additional_header: ExtensionObjectRef<'a>,
    }

    /// Borrowed form of [`ResponseHeader`].
    ResponseHeaderRef = ResponseHeader {
        "Timestamp" timestamp: DateTime,
        "RequestHandle" request_handle: u32,
        "ServiceResult" service_result: StatusCode,
        "ServiceDiagnostics" service_diagnostics: Encoded<'a, DiagnosticInfo>,
        "StringTable" string_table: ListRef<'a, Option<&'a str>>,
        "AdditionalHeader" additional_header: ExtensionObjectRef<'a>,
    }

    /// Borrowed form of [`WriteRequest`].
    WriteRequestRef = WriteRequest {
        "RequestHeader" request_header: RequestHeaderRef<'a>,
        "NodesToWrite" nodes_to_write: ListRef<'a, WriteValueRef<'a>>,
    }

    /// Borrowed form of [`WriteResponse`].
    WriteResponseRef = WriteResponse {
        "ResponseHeader" response_header: ResponseHeaderRef<'a>,
        "Results" results: ListRef<'a, StatusCode>,
        "DiagnosticInfos" diagnostic_infos: ListRef<'a, Encoded<'a, DiagnosticInfo>>,
    }

    /// Borrowed form of [`WriteValue`].
    WriteValueRef = WriteValue {
        "NodeId" node_id: NodeIdRef<'a>,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: Option<&'a str>,
        "Value" value: DataValueRef<'a>,
    }
}

impl CallMethodRequestRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> CallMethodRequest {
        CallMethodRequest {
            object_id: self.object_id.to_owned(),
            method_id: self.method_id.to_owned(),
            input_arguments: self
                .input_arguments
                .iter()
                .map(|element| element.to_owned())
                .collect(),
        }
    }
}

impl CallMethodResultRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> CallMethodResult {
        CallMethodResult {
            status_code: self.status_code,
            input_argument_results: self.input_argument_results.iter().collect(),
            input_argument_diagnostic_infos: self
                .input_argument_diagnostic_infos
                .iter()
                .map(|element| element.get().unwrap_or_default())
                .collect(),
            output_arguments: self
                .output_arguments
                .iter()
                .map(|element| element.to_owned())
                .collect(),
        }
    }
}

impl CallRequestRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> CallRequest {
        CallRequest {
            request_header: self.request_header.to_owned(),
            methods_to_call: self
                .methods_to_call
                .iter()
                .map(|element| element.to_owned())
                .collect(),
        }
    }
}

impl CallResponseRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> CallResponse {
        CallResponse {
            response_header: self.response_header.to_owned(),
            results: self
                .results
                .iter()
                .map(|element| element.to_owned())
                .collect(),
            diagnostic_infos: self
                .diagnostic_infos
                .iter()
                .map(|element| element.get().unwrap_or_default())
                .collect(),
        }
    }
}

impl ReadRequestRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> ReadRequest {
        ReadRequest {
            request_header: self.request_header.to_owned(),
            max_age: self.max_age,
            timestamps_to_return: self.timestamps_to_return,
            nodes_to_read: self
                .nodes_to_read
                .iter()
                .map(|element| element.to_owned())
                .collect(),
        }
    }
}

impl ReadResponseRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> ReadResponse {
        ReadResponse {
            response_header: self.response_header.to_owned(),
            results: self
                .results
                .iter()
                .map(|element| element.to_owned())
                .collect(),
            diagnostic_infos: self
                .diagnostic_infos
                .iter()
                .map(|element| element.get().unwrap_or_default())
                .collect(),
        }
    }
}

impl ReadValueIdRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> ReadValueId {
        ReadValueId {
            node_id: self.node_id.to_owned(),
            attribute_id: self.attribute_id,
            index_range: UaString::from(self.index_range),
            data_encoding: self.data_encoding.to_owned(),
        }
    }
}

impl RequestHeaderRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> RequestHeader {
        RequestHeader {
            authentication_token: self.authentication_token.to_owned(),
            timestamp: self.timestamp,
            request_handle: self.request_handle,
            return_diagnostics: self.return_diagnostics,
            audit_entry_id: UaString::from(self.audit_entry_id),
            timeout_hint: self.timeout_hint,
            additional_header: self.additional_header.to_owned(),
        }
    }
}

impl ResponseHeaderRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> ResponseHeader {
        ResponseHeader {
            timestamp: self.timestamp,
            request_handle: self.request_handle,
            service_result: self.service_result,
            service_diagnostics: self.service_diagnostics.get().unwrap_or_default(),
            string_table: self.string_table.iter().map(UaString::from).collect(),
            additional_header: self.additional_header.to_owned(),
        }
    }
}

impl WriteRequestRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> WriteRequest {
        WriteRequest {
            request_header: self.request_header.to_owned(),
            nodes_to_write: self
                .nodes_to_write
                .iter()
                .map(|element| element.to_owned())
                .collect(),
        }
    }
}

impl WriteResponseRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> WriteResponse {
        WriteResponse {
            response_header: self.response_header.to_owned(),
            results: self.results.iter().collect(),
            diagnostic_infos: self
                .diagnostic_infos
                .iter()
                .map(|element| element.get().unwrap_or_default())
                .collect(),
        }
    }
}

impl WriteValueRef<'_> {
    /// The owned form.
    pub fn to_owned(&self) -> WriteValue {
        WriteValue {
            node_id: self.node_id.to_owned(),
            attribute_id: self.attribute_id,
            index_range: UaString::from(self.index_range),
            value: self.value.to_owned(),
        }
    }
}
