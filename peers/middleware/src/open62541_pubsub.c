// open62541 PubSub: UADP over UDP with one ByteString field. Each direction and mode has a UDP port, a publisher and a
// DataSetReader. The message goes out when the value changes (`UA_Server_triggerWriterGroupPublish`), not by a timer.
#include <open62541/plugin/log_stdout.h>
#include <open62541/server.h>
#include <open62541/server_config_default.h>
#include <open62541/server_pubsub.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

#define NO_SERVER_PORT 9
#define GROUP 1
// Largest ByteString that fits into a datagram with all headers.
#define LARGEST_DATAGRAM 65000

// Value that is published, and its WriterGroup, for a mode.
struct output {
    UA_ByteString data;
    UA_NodeId group;
    UA_Byte sum;
    bool pending;
};

static UA_Server *server;
static struct output outputs[2];
static uint8_t received[PEER_LARGEST];
static bool is_client;

static void check(UA_StatusCode status, const char *action) {
    if (status != UA_STATUSCODE_GOOD) peer_fail("%s: %s", action, UA_StatusCode_name(status));
}

static UA_StatusCode read_value(UA_Server *of, const UA_NodeId *session, void *session_context, const UA_NodeId *node,
                                void *context, UA_Boolean source_time, const UA_NumericRange *range,
                                UA_DataValue *value) {
    (void)of, (void)session, (void)session_context, (void)node, (void)source_time, (void)range;
    struct output *output = context;
    value->hasValue = true;
    value->value.storageType = UA_VARIANT_DATA_NODELETE;
    UA_Variant_setScalar(&value->value, &output->data, &UA_TYPES[UA_TYPES_BYTESTRING]);
    value->value.storageType = UA_VARIANT_DATA_NODELETE;
    return UA_STATUSCODE_GOOD;
}

// Called for each DataSetMessage. The server's answer is sent after the iteration that received the request.
static UA_StatusCode write_value(UA_Server *of, const UA_NodeId *session, void *session_context, const UA_NodeId *node,
                                 void *context, const UA_NumericRange *range, const UA_DataValue *value) {
    (void)of, (void)session, (void)session_context, (void)node, (void)range;
    if (!value->hasValue || !UA_Variant_hasScalarType(&value->value, &UA_TYPES[UA_TYPES_BYTESTRING])) {
        return UA_STATUSCODE_BADTYPEMISMATCH;
    }
    const UA_ByteString *data = value->value.data;
    struct output *output = context;
    if (is_client) {
        peer_answer(data->data, data->length);
    } else if (output == &outputs[PEER_ECHO]) {
        memcpy(received, data->data, data->length);
        output->data = (UA_ByteString){data->length, received};
        output->pending = true;
    } else {
        output->sum = peer_sum(data->data, data->length);
        output->data = (UA_ByteString){1, &output->sum};
        output->pending = true;
    }
    return UA_STATUSCODE_GOOD;
}

static UA_NodeId add_variable(UA_UInt32 number, const char *name, struct output *output) {
    UA_VariableAttributes attributes = UA_VariableAttributes_default;
    attributes.dataType = UA_TYPES[UA_TYPES_BYTESTRING].typeId;
    attributes.valueRank = UA_VALUERANK_SCALAR;
    attributes.accessLevel = UA_ACCESSLEVELMASK_READ | UA_ACCESSLEVELMASK_WRITE;
    UA_CallbackValueSource source = {read_value, write_value};
    UA_NodeId node = UA_NODEID_NUMERIC(1, number);
    check(UA_Server_addCallbackValueSourceVariableNode(server, node, UA_NS0ID(OBJECTSFOLDER), UA_NS0ID(ORGANIZES),
                                                       UA_QUALIFIEDNAME(1, (char *)(uintptr_t)name),
                                                       UA_NS0ID(BASEDATAVARIABLETYPE), attributes, source, output,
                                                       NULL),
          "Variable");
    return node;
}

// Requests go to the address of the server, answers to that of the client.
static const char *address_of(const struct peer_options *options, int port) {
    return port < options->port + 2 ? options->address : options->client_address;
}

// The host `localhost` stands for all addresses of this side; a connection without readers receives nothing.
static UA_NodeId add_connection(const struct peer_options *options, const char *host, int port, UA_UInt16 publisher) {
    char url[96], name[16];
    snprintf(name, sizeof name, "port %d", port);
    snprintf(url, sizeof url, "opc.udp://%s:%d/", host, port);
    UA_NetworkAddressUrlDataType address = {UA_STRING((char *)(uintptr_t)(options->network ? options->network : "")),
                                            UA_STRING(url)};
    UA_PubSubConnectionConfig config;
    memset(&config, 0, sizeof config);
    config.name = UA_STRING(name);
    config.transportProfileUri = UA_STRING("http://opcfoundation.org/UA-Profile/Transport/pubsub-udp-uadp");
    UA_Variant_setScalar(&config.address, &address, &UA_TYPES[UA_TYPES_NETWORKADDRESSURLDATATYPE]);
    config.publisherId.idType = UA_PUBLISHERIDTYPE_UINT16;
    config.publisherId.id.uint16 = publisher;
    UA_NodeId node;
    check(UA_Server_addPubSubConnection(server, &config, &node), "PubSubConnection");
    return node;
}

static void add_writer(const struct peer_options *options, int port, struct output *output, UA_NodeId variable) {
    UA_NodeId connection = add_connection(options, "localhost", port, (UA_UInt16)port);
    char name[16], url[96];
    snprintf(name, sizeof name, "data %d", port);
    snprintf(url, sizeof url, "opc.udp://%s:%d/", address_of(options, port), port);
    UA_PublishedDataSetConfig set;
    memset(&set, 0, sizeof set);
    set.publishedDataSetType = UA_PUBSUB_DATASET_PUBLISHEDITEMS;
    set.name = UA_STRING(name);
    UA_NodeId data_set;
    check(UA_Server_addPublishedDataSet(server, &set, &data_set).addResult, "PublishedDataSet");
    UA_DataSetFieldConfig field;
    memset(&field, 0, sizeof field);
    field.dataSetFieldType = UA_PUBSUB_DATASETFIELD_VARIABLE;
    field.field.variable.fieldNameAlias = UA_STRING("data");
    field.field.variable.publishParameters.publishedVariable = variable;
    field.field.variable.publishParameters.attributeId = UA_ATTRIBUTEID_VALUE;
    check(UA_Server_addDataSetField(server, data_set, &field, NULL).result, "field");
    UA_UadpWriterGroupMessageDataType header;
    UA_UadpWriterGroupMessageDataType_init(&header);
    header.networkMessageContentMask = (UA_UadpNetworkMessageContentMask)(
        UA_UADPNETWORKMESSAGECONTENTMASK_PUBLISHERID | UA_UADPNETWORKMESSAGECONTENTMASK_GROUPHEADER |
        UA_UADPNETWORKMESSAGECONTENTMASK_WRITERGROUPID | UA_UADPNETWORKMESSAGECONTENTMASK_PAYLOADHEADER);
    UA_WriterGroupConfig group;
    memset(&group, 0, sizeof group);
    group.name = UA_STRING("group");
    group.writerGroupId = GROUP;
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
    check(UA_Server_addWriterGroup(server, connection, &group, &output->group), "WriterGroup");
    UA_DataSetWriterConfig writer;
    memset(&writer, 0, sizeof writer);
    writer.name = UA_STRING("writer");
    writer.dataSetWriterId = GROUP;
    writer.keyFrameCount = 1;
    check(UA_Server_addDataSetWriter(server, output->group, data_set, &writer, NULL), "DataSetWriter");
}

static void add_reader(const struct peer_options *options, int port, UA_NodeId variable) {
    UA_NodeId connection = add_connection(options, address_of(options, port), port, (UA_UInt16)(port + 1000));
    UA_ReaderGroupConfig group;
    memset(&group, 0, sizeof group);
    group.name = UA_STRING("group");
    UA_NodeId node;
    check(UA_Server_addReaderGroup(server, connection, &group, &node), "ReaderGroup");
    UA_FieldMetaData field;
    UA_FieldMetaData_init(&field);
    field.name = UA_STRING("data");
    field.builtInType = UA_NS0ID_BYTESTRING;
    field.dataType = UA_TYPES[UA_TYPES_BYTESTRING].typeId;
    field.valueRank = UA_VALUERANK_SCALAR;
    UA_FieldTargetDataType target;
    UA_FieldTargetDataType_init(&target);
    target.attributeId = UA_ATTRIBUTEID_VALUE;
    target.targetNodeId = variable;
    UA_DataSetReaderConfig reader;
    memset(&reader, 0, sizeof reader);
    reader.name = UA_STRING("reader");
    reader.publisherId.idType = UA_PUBLISHERIDTYPE_UINT16;
    reader.publisherId.id.uint16 = (UA_UInt16)port;
    reader.writerGroupId = GROUP;
    reader.dataSetWriterId = GROUP;
    reader.dataSetMetaData.name = UA_STRING("data");
    reader.dataSetMetaData.fieldsSize = 1;
    reader.dataSetMetaData.fields = &field;
    reader.subscribedDataSetType = UA_PUBSUB_SDS_TARGET;
    reader.subscribedDataSet.target.targetVariablesSize = 1;
    reader.subscribedDataSet.target.targetVariables = &target;
    check(UA_Server_addDataSetReader(server, node, &reader, NULL), "DataSetReader");
}

// Opens both modes: requests on the first two ports, answers on the next two.
static void start(const struct peer_options *options) {
    UA_ServerConfig config;
    memset(&config, 0, sizeof config);
    config.logging = UA_Log_Stdout_new(UA_LOGLEVEL_FATAL);
    check(UA_ServerConfig_setMinimal(&config, (UA_UInt16)(options->port + NO_SERVER_PORT), NULL), "configuration");
    // Publisher and subscriber do not listen for clients.
    UA_Array_delete(config.serverUrls, config.serverUrlsSize, &UA_TYPES[UA_TYPES_STRING]);
    config.serverUrls = NULL;
    config.serverUrlsSize = 0;
    config.tcpEnabled = false;
    server = UA_Server_newWithConfig(&config);
    if (server == NULL) peer_fail("no server");
    for (int mode = 0; mode < 2; mode++) {
        int out = options->port + mode + (is_client ? 0 : 2), in = options->port + mode + (is_client ? 2 : 0);
        static const char *const names[2][2] = {{"EchoOut", "EchoIn"}, {"AckOut", "AckIn"}};
        UA_UInt32 number = 1 + 2 * (UA_UInt32)mode;
        add_writer(options, out, &outputs[mode], add_variable(number, names[mode][0], &outputs[mode]));
        add_reader(options, in, add_variable(number + 1, names[mode][1], &outputs[mode]));
    }
    check(UA_Server_run_startup(server), "start");
    check(UA_Server_enableAllPubSubComponents(server), "PubSub");
    for (int round = 0; round < 10; round++) UA_Server_run_iterate(server, false);
}

static bool send_request(void *context, enum peer_mode mode, const uint8_t *data, size_t size) {
    (void)context;
    if (size > LARGEST_DATAGRAM) peer_fail("a message is one UDP datagram: at most %d bytes", LARGEST_DATAGRAM);
    outputs[mode].data = (UA_ByteString){size, (UA_Byte *)(uintptr_t)data};
    return UA_Server_triggerWriterGroupPublish(server, outputs[mode].group) == UA_STATUSCODE_GOOD;
}

static bool receive_answer(void *context, int64_t deadline) {
    (void)deadline;
    UA_Server_run_iterate(server, !*(const bool *)context);
    return true;
}

int main(int argc, char **argv) {
    struct peer_options options = peer_parse(argc, argv, "poll interface client-address");
    peer_info("version", "%s", &UA_OPEN62541_VERSION[1]);
    peer_info("setting", "multithreading 0, build type Release");
    peer_info("setting", "publish on change, not by a timer");
    is_client = options.role == PEER_CLIENT;
    start(&options);
    if (is_client) {
        struct peer_client client = {&options.poll, send_request, receive_answer};
        peer_run_client(&options, &client);
    } else {
        peer_start_server(NULL, NULL);
        while (!peer_stopped()) {
            UA_Server_run_iterate(server, !options.poll);
            for (int mode = 0; mode < 2; mode++) {
                if (!outputs[mode].pending) continue;
                outputs[mode].pending = false;
                check(UA_Server_triggerWriterGroupPublish(server, outputs[mode].group), "publish");
            }
        }
    }
    UA_Server_run_shutdown(server);
    UA_Server_delete(server);
    return 0;
}
