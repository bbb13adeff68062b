// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-11.

use crate::generated::enumerations::HistoryUpdateType;
use crate::generated_support::structure;
use crate::{DateTime, UaString, Variant};

structure! {
    /// DataType `Annotation`, `i=891`, OPC 10000-11, 6.6.6.
    Annotation = 891, 893 {
        "Message" message: UaString,
        "UserName" user_name: UaString,
        "AnnotationTime" annotation_time: DateTime,
    }

    /// DataType `HistoryEvent`, `i=659`, OPC 10000-11, 6.6.4.
    HistoryEvent = 659, 661 {
        "Events" events: Vec<HistoryEventFieldList>,
    }

    /// DataType `HistoryEventFieldList`, `i=920`, OPC 10000-11, 6.6.4.
    HistoryEventFieldList = 920, 922 {
        "EventFields" event_fields: Vec<Variant>,
    }

    /// DataType `HistoryModifiedEvent`, `i=32824`, OPC 10000-11, 6.6.5.
    HistoryModifiedEvent = 32824, 32825 {
        "Events" events: Vec<HistoryEventFieldList>,
        "ModificationInfos" modification_infos: Vec<ModificationInfo>,
    }

    /// DataType `ModificationInfo`, `i=11216`, OPC 10000-11, 6.6.5.
    ModificationInfo = 11216, 11226 {
        "ModificationTime" modification_time: DateTime,
        "UpdateType" update_type: HistoryUpdateType,
        "UserName" user_name: UaString,
    }
}
