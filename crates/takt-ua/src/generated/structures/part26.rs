// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-26.

use crate::generated_support::{structure, structure_with_optional_fields};
use crate::{DateTime, Guid, LocalizedText, NodeId, UaString, Variant};

structure! {
    /// DataType `LogRecordsDataType`, `i=19745`, OPC 10000-26, 5.10.
    LogRecordsDataType = 19745, 19753 {
        "LogRecordArray" log_record_array: Vec<LogRecord>,
    }

    /// DataType `NameValuePair`, `i=19748`, OPC 10000-26, 5.7.
    NameValuePair = 19748, 19756 {
        "Name" name: UaString,
        "Value" value: Variant,
    }

    /// DataType `SpanContextDataType`, `i=19746`, OPC 10000-26, 5.6.2.
    SpanContextDataType = 19746, 19754 {
        "TraceId" trace_id: Guid,
        "SpanId" span_id: u64,
    }

    /// DataType `TraceContextDataType`, `i=19747`, OPC 10000-26, 5.6.3.
    TraceContextDataType = 19747, 19755 {
        "TraceId" trace_id: Guid,
        "SpanId" span_id: u64,
        "ParentSpanId" parent_span_id: u64,
        "ParentIdentifier" parent_identifier: UaString,
    }
}

structure_with_optional_fields! {
    /// DataType `LogRecord`, `i=19361`, OPC 10000-26, 5.5.
    LogRecord = 19361, 19379 {
        "Time" time: DateTime,
        "Severity" severity: u16,
        "EventType" event_type: NodeId = 0,
        "SourceNode" source_node: NodeId = 1,
        "SourceName" source_name: UaString = 2,
        "Message" message: LocalizedText,
        "TraceContext" trace_context: TraceContextDataType = 3,
        "AdditionalData" additional_data: Vec<NameValuePair> = 4,
    }
}
