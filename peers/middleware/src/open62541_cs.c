// open62541 as client and server over opc.tcp. A request is a Call of a Method with one ByteString: `Echo` returns it,
// `Acknowledge` returns one Byte.
#include <open62541/client_config_default.h>
#include <open62541/client_highlevel.h>
#include <open62541/client_highlevel_async.h>
#include <open62541/plugin/certificategroup_default.h>
#include <open62541/plugin/create_certificate.h>
#include <open62541/plugin/log_stdout.h>
#include <open62541/server.h>
#include <open62541/server_config_default.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "open62541_server.h"
#include "peer.h"

static const UA_UInt32 METHODS[2] = {62541, 62542};

struct connection {
    UA_Client *client;
    bool poll;
    bool lost;
};

static void check(UA_StatusCode status, const char *action) {
    if (status != UA_STATUSCODE_GOOD) peer_fail("%s: %s", action, UA_StatusCode_name(status));
}

static bool encrypted(const struct peer_options *options) { return strcmp(options->security, "basic256sha256") == 0; }

static void make_certificate(const char *uri, UA_ByteString *key, UA_ByteString *certificate) {
    UA_String subject[2] = {UA_STRING("O=Bench"), UA_STRING("CN=peer")};
    UA_String names[2] = {UA_STRING("DNS:localhost"), UA_String_fromChars(uri)};
    UA_UInt16 bits = 2048;
    UA_KeyValueMap *parameters = UA_KeyValueMap_new();
    UA_KeyValueMap_setScalar(parameters, UA_QUALIFIEDNAME(0, "key-size-bits"), &bits, &UA_TYPES[UA_TYPES_UINT16]);
    check(UA_CreateCertificate(UA_Log_Stdout, subject, 2, names, 2, UA_CERTIFICATEFORMAT_DER, parameters, key,
                               certificate),
          "certificate");
    UA_KeyValueMap_delete(parameters);
    UA_String_clear(&names[1]);
}

static UA_StatusCode call(UA_Server *server, const UA_NodeId *session, void *session_context, const UA_NodeId *method,
                          void *method_context, const UA_NodeId *object, void *object_context, size_t inputs,
                          const UA_Variant *input, size_t outputs, UA_Variant *output) {
    (void)server, (void)session, (void)session_context, (void)method_context, (void)object, (void)object_context;
    if (inputs != 1 || outputs != 1) return UA_STATUSCODE_BADARGUMENTSMISSING;
    const UA_ByteString *data = input->data;
    if (method->identifier.numeric == METHODS[PEER_ECHO]) {
        return UA_Variant_setScalarCopy(output, data, &UA_TYPES[UA_TYPES_BYTESTRING]);
    }
    UA_Byte sum = peer_sum(data->data, data->length);
    return UA_Variant_setScalarCopy(output, &sum, &UA_TYPES[UA_TYPES_BYTE]);
}

static void add_method(UA_Server *server, enum peer_mode mode) {
    UA_Argument input, output;
    UA_Argument_init(&input);
    input.name = UA_STRING("Data");
    input.dataType = UA_TYPES[UA_TYPES_BYTESTRING].typeId;
    input.valueRank = UA_VALUERANK_SCALAR;
    output = input;
    if (mode == PEER_ACK) output.dataType = UA_TYPES[UA_TYPES_BYTE].typeId;
    UA_MethodAttributes attributes = UA_MethodAttributes_default;
    attributes.executable = attributes.userExecutable = true;
    UA_QualifiedName name = UA_QUALIFIEDNAME(1, mode == PEER_ECHO ? "Echo" : "Acknowledge");
    check(UA_Server_addMethodNode(server, UA_NODEID_NUMERIC(1, METHODS[mode]), UA_NS0ID(OBJECTSFOLDER),
                                  UA_NS0ID(HASCOMPONENT), name, attributes, call, 1, &input, 1, &output, NULL, NULL),
          "Method");
}

static void serve(const struct peer_options *options) {
    UA_ServerConfig config;
    memset(&config, 0, sizeof config);
    config.logging = UA_Log_Stdout_new(UA_LOGLEVEL_FATAL);
    UA_UInt16 port = (UA_UInt16)options->port;
    if (encrypted(options)) {
        UA_ByteString key = UA_BYTESTRING_NULL, certificate = UA_BYTESTRING_NULL;
        make_certificate("URI:urn:open62541.unconfigured.application", &key, &certificate);
        check(UA_ServerConfig_setDefaultWithSecurityPolicies(&config, port, &certificate, &key, NULL, 0, NULL, 0, NULL,
                                                             0),
              "configuration");
        UA_CertificateGroup_AcceptAll(&config.secureChannelPKI);
        UA_CertificateGroup_AcceptAll(&config.sessionPKI);
        UA_ByteString_clear(&key);
        UA_ByteString_clear(&certificate);
    } else {
        check(UA_ServerConfig_setMinimal(&config, port, NULL), "configuration");
    }
    UA_Server *server = open62541_server(&config, options->address, options->port);
    add_method(server, PEER_ECHO);
    add_method(server, PEER_ACK);
    check(UA_Server_run_startup(server), "start");
    peer_start_server(NULL, NULL);
    while (!peer_stopped()) UA_Server_run_iterate(server, !options->poll);
    UA_Server_run_shutdown(server);
    UA_Server_delete(server);
}

static void answer(struct connection *connection, size_t count, const UA_Variant *output) {
    if (count != 1) {
        connection->lost = true;
    } else if (UA_Variant_hasScalarType(output, &UA_TYPES[UA_TYPES_BYTESTRING])) {
        const UA_ByteString *data = output->data;
        peer_answer(data->data, data->length);
    } else if (UA_Variant_hasScalarType(output, &UA_TYPES[UA_TYPES_BYTE])) {
        peer_answer(output->data, 1);
    } else {
        connection->lost = true;
    }
}

static void answered(UA_Client *client, void *context, UA_UInt32 request, UA_CallResponse *response) {
    (void)client, (void)request;
    UA_CallMethodResult *result = response->results;
    answer(context, response->resultsSize == 1 ? result->outputArgumentsSize : 0,
           response->resultsSize == 1 ? result->outputArguments : NULL);
}

static bool send_request(void *context, enum peer_mode mode, const uint8_t *data, size_t size) {
    struct connection *connection = context;
    UA_ByteString bytes = {size, (UA_Byte *)(uintptr_t)data};
    UA_Variant input;
    UA_Variant_init(&input);
    UA_Variant_setScalar(&input, &bytes, &UA_TYPES[UA_TYPES_BYTESTRING]);
    UA_NodeId object = UA_NS0ID(OBJECTSFOLDER), method = UA_NODEID_NUMERIC(1, METHODS[mode]);
    if (connection->poll) {
        return UA_Client_call_async(connection->client, object, method, 1, &input, answered, connection, NULL) ==
               UA_STATUSCODE_GOOD;
    }
    UA_Variant *output = NULL;
    size_t outputs = 0;
    UA_StatusCode status = UA_Client_call(connection->client, object, method, 1, &input, &outputs, &output);
    if (status == UA_STATUSCODE_BADTIMEOUT) return true;
    if (status != UA_STATUSCODE_GOOD) return false;
    answer(connection, outputs, output);
    UA_Array_delete(output, outputs, &UA_TYPES[UA_TYPES_VARIANT]);
    return !connection->lost;
}

// Busy polling. Without it the answer came in `send_request`, and a request without an answer has timed out there.
static bool receive_answer(void *context, int64_t deadline) {
    struct connection *connection = context;
    if (!connection->poll) {
        int64_t left = (deadline - peer_now()) / 1000;
        if (left > 0) usleep((useconds_t)left);
        return true;
    }
    return UA_Client_run_iterate(connection->client, 0) == UA_STATUSCODE_GOOD && !connection->lost;
}

static void request(const struct peer_options *options) {
    UA_ClientConfig config;
    memset(&config, 0, sizeof config);
    config.logging = UA_Log_Stdout_new(UA_LOGLEVEL_FATAL);
    if (encrypted(options)) {
        UA_ByteString key = UA_BYTESTRING_NULL, certificate = UA_BYTESTRING_NULL;
        make_certificate("URI:urn:open62541.unconfigured.application", &key, &certificate);
        check(UA_ClientConfig_setDefaultEncryption(&config, certificate, key, NULL, 0, NULL, 0), "configuration");
        UA_CertificateGroup_AcceptAll(&config.certificateVerification);
        config.securityMode = UA_MESSAGESECURITYMODE_SIGNANDENCRYPT;
        config.securityPolicyUri = UA_STRING_ALLOC("http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256");
        UA_ByteString_clear(&key);
        UA_ByteString_clear(&certificate);
    } else {
        check(UA_ClientConfig_setDefault(&config), "configuration");
    }
    config.timeout = 2000;
    struct connection connection = {UA_Client_newWithConfig(&config), options->poll, false};
    if (connection.client == NULL) peer_fail("no client");
    char url[96];
    snprintf(url, sizeof url, "opc.tcp://%s:%d", options->address, options->port);
    check(UA_Client_connect(connection.client, url), "connect");
    struct peer_client client = {&connection, send_request, receive_answer};
    peer_run_client(options, &client);
    UA_Client_disconnect(connection.client);
    UA_Client_delete(connection.client);
}

int main(int argc, char **argv) {
    struct peer_options options = peer_parse(argc, argv, "poll security=none,basic256sha256");
    peer_info("version", "%s", &UA_OPEN62541_VERSION[1]);
    peer_info("setting", "multithreading 0, build type Release");
    peer_info("setting", "request Call of a Method with one ByteString");
    if (encrypted(&options)) peer_info("setting", "Basic256Sha256, SignAndEncrypt, every certificate is accepted");
    if (options.role == PEER_SERVER) {
        serve(&options);
    } else {
        request(&options);
    }
    return 0;
}
