//! C structures of open62541 and their JSON.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::{from_mut, from_ref};

use open62541_sys as sys;
use serde_json::Value;

use crate::Status;

/// A structure that open62541 describes in its table of types.
///
/// # Safety
/// `UA_TYPES[INDEX]` must describe exactly this type.
pub unsafe trait Described: Sized {
    /// Where its description is in `UA_TYPES`.
    const INDEX: u32;
}

macro_rules! described {
    ($($name:ident = $index:ident),* $(,)?) => {$(
        // SAFETY: open62541 generates the type and the index from the same definition, under the same name.
        unsafe impl Described for sys::$name {
            const INDEX: u32 = sys::$index;
        }
    )*};
}

described! {
    UA_Byte = UA_TYPES_BYTE,
    UA_UInt32 = UA_TYPES_UINT32,
    UA_Double = UA_TYPES_DOUBLE,
    UA_String = UA_TYPES_STRING,
    UA_NodeId = UA_TYPES_NODEID,
    UA_Variant = UA_TYPES_VARIANT,
    UA_DataValue = UA_TYPES_DATAVALUE,
    UA_ExtensionObject = UA_TYPES_EXTENSIONOBJECT,
    UA_LocalizedText = UA_TYPES_LOCALIZEDTEXT,
    UA_QualifiedName = UA_TYPES_QUALIFIEDNAME,
    UA_NetworkAddressUrlDataType = UA_TYPES_NETWORKADDRESSURLDATATYPE,
    UA_ReadValueId = UA_TYPES_READVALUEID,
    UA_PublishedVariableDataType = UA_TYPES_PUBLISHEDVARIABLEDATATYPE,
    UA_TargetVariablesDataType = UA_TYPES_TARGETVARIABLESDATATYPE,
    UA_UadpWriterGroupMessageDataType = UA_TYPES_UADPWRITERGROUPMESSAGEDATATYPE,
    UA_UadpDataSetWriterMessageDataType = UA_TYPES_UADPDATASETWRITERMESSAGEDATATYPE,
    UA_UadpDataSetReaderMessageDataType = UA_TYPES_UADPDATASETREADERMESSAGEDATATYPE,
    UA_DataSetMetaDataType = UA_TYPES_DATASETMETADATATYPE,
    UA_Argument = UA_TYPES_ARGUMENT,
    UA_ObjectAttributes = UA_TYPES_OBJECTATTRIBUTES,
    UA_ObjectTypeAttributes = UA_TYPES_OBJECTTYPEATTRIBUTES,
    UA_VariableAttributes = UA_TYPES_VARIABLEATTRIBUTES,
    UA_MethodAttributes = UA_TYPES_METHODATTRIBUTES,
    UA_IssuedIdentityToken = UA_TYPES_ISSUEDIDENTITYTOKEN,
    UA_CreateSubscriptionRequest = UA_TYPES_CREATESUBSCRIPTIONREQUEST,
    UA_CreateSubscriptionResponse = UA_TYPES_CREATESUBSCRIPTIONRESPONSE,
    UA_MonitoredItemCreateRequest = UA_TYPES_MONITOREDITEMCREATEREQUEST,
    UA_MonitoredItemCreateResult = UA_TYPES_MONITOREDITEMCREATERESULT,
    UA_EndpointDescription = UA_TYPES_ENDPOINTDESCRIPTION,
    UA_ApplicationDescription = UA_TYPES_APPLICATIONDESCRIPTION,
    UA_ReadRequest = UA_TYPES_READREQUEST,
    UA_ReadResponse = UA_TYPES_READRESPONSE,
    UA_WriteRequest = UA_TYPES_WRITEREQUEST,
    UA_WriteResponse = UA_TYPES_WRITERESPONSE,
    UA_CallRequest = UA_TYPES_CALLREQUEST,
    UA_CallResponse = UA_TYPES_CALLRESPONSE,
    UA_BrowseRequest = UA_TYPES_BROWSEREQUEST,
    UA_BrowseResponse = UA_TYPES_BROWSERESPONSE,
    UA_BrowseNextRequest = UA_TYPES_BROWSENEXTREQUEST,
    UA_BrowseNextResponse = UA_TYPES_BROWSENEXTRESPONSE,
    UA_TranslateBrowsePathsToNodeIdsRequest = UA_TYPES_TRANSLATEBROWSEPATHSTONODEIDSREQUEST,
    UA_TranslateBrowsePathsToNodeIdsResponse = UA_TYPES_TRANSLATEBROWSEPATHSTONODEIDSRESPONSE,
}

/// The description of a type.
pub(crate) fn description<T: Described>() -> *const sys::UA_DataType {
    // SAFETY: the table is never changed after the program was loaded, and the index is one of its own.
    unsafe {
        (&raw const sys::UA_TYPES)
            .cast::<sys::UA_DataType>()
            .add(T::INDEX as usize)
    }
}

/// A structure and everything that it owns in open62541's heap.
pub struct Owned<T: Described>(T);

impl<T: Described> Owned<T> {
    /// Takes over what a function of open62541 returned.
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    /// The structure that this JSON (OPC 10000-6, 5.4, as open62541 reads it) describes.
    ///
    /// # Errors
    /// BadDecodingError if it does not.
    pub fn from_json(json: &Value) -> Result<Self, Status> {
        let mut text = json.to_string().into_bytes();
        let source = sys::UA_ByteString {
            length: text.len(),
            data: text.as_mut_ptr(),
        };
        let mut value = MaybeUninit::<T>::zeroed();
        // SAFETY: `source` outlives the call, and `value` has room for the type described. open62541 initialises it first, and
        // leaves it initialised and empty if it fails, so that it can be cleared either way.
        let status = unsafe {
            sys::UA_decodeJson(
                from_ref(&source),
                value.as_mut_ptr().cast(),
                description::<T>(),
                std::ptr::null(),
            )
        };
        // SAFETY: just initialised.
        let value = Self(unsafe { value.assume_init() });
        Status::check(status)?;
        Ok(value)
    }

    /// Its JSON.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn to_json(&self) -> Result<Value, Status> {
        to_json(&self.0)
    }

    /// The structure, to be read.
    #[must_use]
    pub fn get(&self) -> &T {
        &self.0
    }

    /// A copy of the structure's bytes for a function that takes it by value and leaves what it owns to the caller.
    pub(crate) fn lend(&self) -> T {
        // SAFETY: the structures are plain C data. The copy has no destructor and is used only while `self` lives.
        unsafe { std::ptr::read(from_ref(&self.0)) }
    }
}

impl<T: Described> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the structure is initialised and what it points to was allocated by open62541 and belongs to it.
        unsafe { sys::UA_clear(from_mut(&mut self.0).cast(), description::<T>()) };
    }
}

/// The JSON of a structure.
///
/// # Errors
/// Error of open62541.
pub fn to_json<T: Described>(value: &T) -> Result<Value, Status> {
    let mut text = sys::UA_ByteString::default();
    let options = sys::UA_EncodeJsonOptions {
        useReversible: true,
        stringNodeIds: true,
        ..Default::default()
    };
    // SAFETY: `value` is of the type described; into an empty byte string open62541 allocates what it needs.
    let status = unsafe {
        sys::UA_encodeJson(
            from_ref(value).cast(),
            description::<T>(),
            &raw mut text,
            from_ref(&options),
        )
    };
    let json = serde_json::from_slice(bytes(&text));
    // SAFETY: allocated by open62541 in the call above; not used again.
    unsafe { sys::UA_String_clear(&raw mut text) };
    Status::check(status)?;
    json.map_err(|_| Status(sys::UA_STATUSCODE_BADENCODINGERROR))
}

/// The bytes of a String or ByteString.
#[must_use]
pub fn bytes(string: &sys::UA_String) -> &[u8] {
    if string.length == 0 {
        return &[];
    }
    // SAFETY: a string with a length points to so many bytes, which live as long as it does.
    unsafe { std::slice::from_raw_parts(string.data, string.length) }
}

/// The elements of a C array.
///
/// # Safety
/// If `length` is not 0, `data` must point to so many initialised elements, which live as long as the result is used.
pub(crate) unsafe fn elements<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as demanded of the caller.
    unsafe { std::slice::from_raw_parts(data, length) }
}

/// The name of the structure in namespace 0 with this NodeId, `i=…`.
#[must_use]
pub fn type_name(node_id: &str) -> Option<String> {
    let wanted: u32 = node_id.strip_prefix("i=")?.parse().ok()?;
    // SAFETY: the table is never changed after the program was loaded.
    let types = unsafe {
        elements(
            (&raw const sys::UA_TYPES).cast::<sys::UA_DataType>(),
            sys::UA_TYPES_COUNT as usize,
        )
    };
    let found = types.iter().find(|description| {
        let id = &description.typeId;
        // SAFETY: the union's numeric member is initialised if the type says so.
        id.namespaceIndex == 0
            && id.identifierType == sys::UA_NodeIdType::UA_NODEIDTYPE_NUMERIC
            && unsafe { *id.identifier.numeric.as_ref() } == wanted
    })?;
    // SAFETY: the names in the table are constant, zero-terminated texts.
    Some(
        unsafe { CStr::from_ptr(found.typeName) }
            .to_string_lossy()
            .into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_survives_json() {
        let request = Owned::<sys::UA_ReadRequest>::from_json(&json!({
            "TimestampsToReturn": 2,
            "NodesToRead": [{"NodeId": "ns=2;s=Speed", "AttributeId": 13}],
        }))
        .unwrap();
        assert_eq!(request.get().nodesToReadSize, 1);
        let json = request.to_json().unwrap();
        assert_eq!(json["NodesToRead"][0]["AttributeId"], 13);
        assert_eq!(json["NodesToRead"][0]["NodeId"], "ns=2;s=Speed", "{json}");
    }

    #[test]
    fn nonsense_is_an_error() {
        assert!(Owned::<sys::UA_ReadRequest>::from_json(&json!({"NodesToRead": "x"})).is_err());
    }
}
