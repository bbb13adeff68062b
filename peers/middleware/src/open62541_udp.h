// PubSub of open62541 over UDP, as its peer and its node have it: a UADP message with one ByteString. It goes out when
// the value changes, not by a timer.
#ifndef TAKT_OPEN62541_UDP_H
#define TAKT_OPEN62541_UDP_H

#include <open62541/plugin/log_stdout.h>
#include <open62541/server.h>
#include <open62541/server_config_default.h>
#include <open62541/server_pubsub.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

#define UDP_GROUP 1
// Largest ByteString that fits into a datagram with all headers. open62541 does not divide messages.
#define UDP_LARGEST 65000

// Variable of a UDP port: its value is published by a WriterGroup, or a function takes each value that a reader writes.
struct udp_variable {
    UA_ByteString data;
    UA_NodeId group;
    void (*take)(void *context, const UA_ByteString *data);
    void *context;
};

static inline void udp_check(UA_StatusCode status, const char *action) {
    if (status != UA_STATUSCODE_GOOD) peer_fail("%s: %s", action, UA_StatusCode_name(status));
}

// Makes a server that does not listen for clients.
static inline UA_Server *udp_server(int port) {
    UA_ServerConfig config;
    memset(&config, 0, sizeof config);
    config.logging = UA_Log_Stdout_new(UA_LOGLEVEL_FATAL);
    udp_check(UA_ServerConfig_setMinimal(&config, (UA_UInt16)port, NULL), "configuration");
    UA_Array_delete(config.serverUrls, config.serverUrlsSize, &UA_TYPES[UA_TYPES_STRING]);
    config.serverUrls = NULL;
    config.serverUrlsSize = 0;
    config.tcpEnabled = false;
    UA_Server *server = UA_Server_newWithConfig(&config);
    if (server == NULL) peer_fail("no server");
    return server;
}

// Starts the server, and opens the sockets of all readers and writers.
static inline void udp_start(UA_Server *server) {
    udp_check(UA_Server_run_startup(server), "start");
    udp_check(UA_Server_enableAllPubSubComponents(server), "PubSub");
    for (int round = 0; round < 10; round++) UA_Server_run_iterate(server, false);
}

static inline UA_StatusCode udp_read(UA_Server *server, const UA_NodeId *session, void *session_context,
                                     const UA_NodeId *node, void *context, UA_Boolean source_time,
                                     const UA_NumericRange *range, UA_DataValue *value) {
    (void)server, (void)session, (void)session_context, (void)node, (void)source_time, (void)range;
    struct udp_variable *variable = context;
    value->hasValue = true;
    UA_Variant_setScalar(&value->value, &variable->data, &UA_TYPES[UA_TYPES_BYTESTRING]);
    value->value.storageType = UA_VARIANT_DATA_NODELETE;
    return UA_STATUSCODE_GOOD;
}

static inline UA_StatusCode udp_write(UA_Server *server, const UA_NodeId *session, void *session_context,
                                      const UA_NodeId *node, void *context, const UA_NumericRange *range,
                                      const UA_DataValue *value) {
    (void)server, (void)session, (void)session_context, (void)node, (void)range;
    if (!value->hasValue || !UA_Variant_hasScalarType(&value->value, &UA_TYPES[UA_TYPES_BYTESTRING])) {
        return UA_STATUSCODE_BADTYPEMISMATCH;
    }
    const struct udp_variable *variable = context;
    variable->take(variable->context, value->value.data);
    return UA_STATUSCODE_GOOD;
}

static inline UA_NodeId udp_add_variable(UA_Server *server, int port, struct udp_variable *variable) {
    UA_VariableAttributes attributes = UA_VariableAttributes_default;
    attributes.dataType = UA_TYPES[UA_TYPES_BYTESTRING].typeId;
    attributes.valueRank = UA_VALUERANK_SCALAR;
    attributes.accessLevel = UA_ACCESSLEVELMASK_READ | UA_ACCESSLEVELMASK_WRITE;
    char name[16];
    snprintf(name, sizeof name, "data %d", port);
    UA_CallbackValueSource source = {udp_read, udp_write};
    UA_NodeId node = UA_NODEID_NUMERIC(1, (UA_UInt32)port);
    udp_check(UA_Server_addCallbackValueSourceVariableNode(server, node, UA_NS0ID(OBJECTSFOLDER), UA_NS0ID(ORGANIZES),
                                                           UA_QUALIFIEDNAME(1, name), UA_NS0ID(BASEDATAVARIABLETYPE),
                                                           attributes, source, variable, NULL),
              "Variable");
    return node;
}

// The host `localhost` stands for all addresses of this side; a connection without readers receives nothing. `network`
// names the network interface, or is null.
static inline UA_NodeId udp_add_connection(UA_Server *server, const char *network, const char *host, int port,
                                           int publisher) {
    char url[96], name[16];
    snprintf(name, sizeof name, "port %d", port);
    snprintf(url, sizeof url, "opc.udp://%s:%d/", host, port);
    UA_NetworkAddressUrlDataType address = {UA_STRING((char *)(uintptr_t)(network ? network : "")), UA_STRING(url)};
    UA_PubSubConnectionConfig config;
    memset(&config, 0, sizeof config);
    config.name = UA_STRING(name);
    config.transportProfileUri = UA_STRING("http://opcfoundation.org/UA-Profile/Transport/pubsub-udp-uadp");
    UA_Variant_setScalar(&config.address, &address, &UA_TYPES[UA_TYPES_NETWORKADDRESSURLDATATYPE]);
    config.publisherId.idType = UA_PUBLISHERIDTYPE_UINT16;
    config.publisherId.id.uint16 = (UA_UInt16)publisher;
    UA_NodeId node;
    udp_check(UA_Server_addPubSubConnection(server, &config, &node), "PubSubConnection");
    return node;
}

// Adds a DataSetWriter to a UDP port of an address. The PublisherId is this port, so a reader takes the messages of all
// writers to its port.
static inline void udp_add_writer(UA_Server *server, const char *network, const char *host, int port,
                                  struct udp_variable *variable) {
    UA_NodeId connection = udp_add_connection(server, network, "localhost", port, port);
    char name[16], url[96];
    snprintf(name, sizeof name, "data %d", port);
    snprintf(url, sizeof url, "opc.udp://%s:%d/", host, port);
    UA_PublishedDataSetConfig set;
    memset(&set, 0, sizeof set);
    set.publishedDataSetType = UA_PUBSUB_DATASET_PUBLISHEDITEMS;
    set.name = UA_STRING(name);
    UA_NodeId data_set;
    udp_check(UA_Server_addPublishedDataSet(server, &set, &data_set).addResult, "PublishedDataSet");
    UA_DataSetFieldConfig field;
    memset(&field, 0, sizeof field);
    field.dataSetFieldType = UA_PUBSUB_DATASETFIELD_VARIABLE;
    field.field.variable.fieldNameAlias = UA_STRING("data");
    field.field.variable.publishParameters.publishedVariable = udp_add_variable(server, port, variable);
    field.field.variable.publishParameters.attributeId = UA_ATTRIBUTEID_VALUE;
    udp_check(UA_Server_addDataSetField(server, data_set, &field, NULL).result, "field");
    UA_UadpWriterGroupMessageDataType header;
    UA_UadpWriterGroupMessageDataType_init(&header);
    header.networkMessageContentMask = (UA_UadpNetworkMessageContentMask)(
        UA_UADPNETWORKMESSAGECONTENTMASK_PUBLISHERID | UA_UADPNETWORKMESSAGECONTENTMASK_GROUPHEADER |
        UA_UADPNETWORKMESSAGECONTENTMASK_WRITERGROUPID | UA_UADPNETWORKMESSAGECONTENTMASK_PAYLOADHEADER);
    UA_WriterGroupConfig group;
    memset(&group, 0, sizeof group);
    group.name = UA_STRING("group");
    group.writerGroupId = UDP_GROUP;
    // The timer of the group shall not publish: the interval is longer than any run.
    group.publishingInterval = 86400000.0;
    group.encodingMimeType = UA_PUBSUB_ENCODING_UADP;
    UA_ExtensionObject_setValue(&group.messageSettings, &header, &UA_TYPES[UA_TYPES_UADPWRITERGROUPMESSAGEDATATYPE]);
    UA_NetworkAddressUrlDataType address;
    UA_NetworkAddressUrlDataType_init(&address);
    address.url = UA_STRING(url);
    UA_DatagramWriterGroupTransport2DataType transport;
    UA_DatagramWriterGroupTransport2DataType_init(&transport);
    UA_ExtensionObject_setValue(&transport.address, &address, &UA_TYPES[UA_TYPES_NETWORKADDRESSURLDATATYPE]);
    UA_ExtensionObject_setValue(&group.transportSettings, &transport,
                                &UA_TYPES[UA_TYPES_DATAGRAMWRITERGROUPTRANSPORT2DATATYPE]);
    udp_check(UA_Server_addWriterGroup(server, connection, &group, &variable->group), "WriterGroup");
    UA_DataSetWriterConfig writer;
    memset(&writer, 0, sizeof writer);
    writer.name = UA_STRING("writer");
    writer.dataSetWriterId = UDP_GROUP;
    writer.keyFrameCount = 1;
    udp_check(UA_Server_addDataSetWriter(server, variable->group, data_set, &writer, NULL), "DataSetWriter");
}

// Adds a DataSetReader at a UDP port of this side.
static inline void udp_add_reader(UA_Server *server, const char *network, const char *host, int port,
                                  struct udp_variable *variable) {
    UA_NodeId connection = udp_add_connection(server, network, host, port, port + 1000);
    UA_ReaderGroupConfig group;
    memset(&group, 0, sizeof group);
    group.name = UA_STRING("group");
    UA_NodeId node;
    udp_check(UA_Server_addReaderGroup(server, connection, &group, &node), "ReaderGroup");
    UA_FieldMetaData field;
    UA_FieldMetaData_init(&field);
    field.name = UA_STRING("data");
    field.builtInType = UA_NS0ID_BYTESTRING;
    field.dataType = UA_TYPES[UA_TYPES_BYTESTRING].typeId;
    field.valueRank = UA_VALUERANK_SCALAR;
    UA_FieldTargetDataType target;
    UA_FieldTargetDataType_init(&target);
    target.attributeId = UA_ATTRIBUTEID_VALUE;
    target.targetNodeId = udp_add_variable(server, port, variable);
    UA_DataSetReaderConfig reader;
    memset(&reader, 0, sizeof reader);
    reader.name = UA_STRING("reader");
    reader.publisherId.idType = UA_PUBLISHERIDTYPE_UINT16;
    reader.publisherId.id.uint16 = (UA_UInt16)port;
    reader.writerGroupId = UDP_GROUP;
    reader.dataSetWriterId = UDP_GROUP;
    reader.dataSetMetaData.name = UA_STRING("data");
    reader.dataSetMetaData.fieldsSize = 1;
    reader.dataSetMetaData.fields = &field;
    reader.subscribedDataSetType = UA_PUBSUB_SDS_TARGET;
    reader.subscribedDataSet.target.targetVariablesSize = 1;
    reader.subscribedDataSet.target.targetVariables = &target;
    udp_check(UA_Server_addDataSetReader(server, node, &reader, NULL), "DataSetReader");
}

// Publishes a value, which has to last as long as this call.
static inline bool udp_publish(UA_Server *server, struct udp_variable *variable, const void *data, size_t size) {
    if (size > UDP_LARGEST) peer_fail("a message is one UDP datagram: at most %d bytes", UDP_LARGEST);
    variable->data = (UA_ByteString){size, (UA_Byte *)(uintptr_t)data};
    return UA_Server_triggerWriterGroupPublish(server, variable->group) == UA_STATUSCODE_GOOD;
}

#endif
