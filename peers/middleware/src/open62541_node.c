// open62541 as a node: a server with a Method that takes a message, and a client of each next server. The server has a
// thread of its own; a message is answered before it is passed on.
#include <open62541/client_config_default.h>
#include <open62541/client_highlevel.h>
#include <open62541/plugin/log_stdout.h>
#include <open62541/server.h>
#include <open62541/server_config_default.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "node.h"
#include "open62541_server.h"

#define METHOD 62541

struct connections {
    const struct node_options *options;
    UA_Client *clients[NODE_STREAMS];
};

static void check(UA_StatusCode status, const char *action) {
    if (status != UA_STATUSCODE_GOOD) peer_fail("%s: %s", action, UA_StatusCode_name(status));
}

static UA_StatusCode take(UA_Server *server, const UA_NodeId *session, void *session_context, const UA_NodeId *method,
                          void *method_context, const UA_NodeId *object, void *object_context, size_t inputs,
                          const UA_Variant *input, size_t outputs, UA_Variant *output) {
    (void)server, (void)session, (void)session_context, (void)method, (void)method_context, (void)object;
    (void)object_context, (void)outputs, (void)output;
    if (inputs != 1) return UA_STATUSCODE_BADARGUMENTSMISSING;
    const UA_ByteString *data = input->data;
    node_take(data->data, data->length);
    return UA_STATUSCODE_GOOD;
}

static UA_Server *make_server(const struct node_options *options) {
    UA_ServerConfig config;
    memset(&config, 0, sizeof config);
    config.logging = UA_Log_Stdout_new(UA_LOGLEVEL_FATAL);
    check(UA_ServerConfig_setMinimal(&config, (UA_UInt16)options->port, NULL), "configuration");
    UA_Server *server = open62541_server(&config, options->address, options->port);
    UA_Argument input;
    UA_Argument_init(&input);
    input.name = UA_STRING("Message");
    input.dataType = UA_TYPES[UA_TYPES_BYTESTRING].typeId;
    input.valueRank = UA_VALUERANK_SCALAR;
    UA_MethodAttributes attributes = UA_MethodAttributes_default;
    attributes.executable = attributes.userExecutable = true;
    check(UA_Server_addMethodNode(server, UA_NODEID_NUMERIC(1, METHOD), UA_NS0ID(OBJECTSFOLDER), UA_NS0ID(HASCOMPONENT),
                                  UA_QUALIFIEDNAME(1, "Take"), attributes, take, 1, &input, 0, NULL, NULL, NULL),
          "Method");
    check(UA_Server_run_startup(server), "start");
    return server;
}

static void *serve(void *server) {
    while (!peer_stopped()) UA_Server_run_iterate(server, true);
    return NULL;
}

static void connect_next(void *context) {
    struct connections *connections = context;
    for (size_t place = 0; place < connections->options->next_count; place++) {
        UA_ClientConfig config;
        memset(&config, 0, sizeof config);
        config.logging = UA_Log_Stdout_new(UA_LOGLEVEL_FATAL);
        check(UA_ClientConfig_setDefault(&config), "configuration");
        config.timeout = 10000;
        UA_Client *client = UA_Client_newWithConfig(&config);
        if (client == NULL) peer_fail("no client");
        char url[96];
        snprintf(url, sizeof url, "opc.tcp://%s:%d", connections->options->address, connections->options->next[place]);
        check(UA_Client_connect(client, url), "connect");
        connections->clients[place] = client;
    }
}

static bool send_next(void *context, size_t place, const void *data, size_t size) {
    struct connections *connections = context;
    UA_ByteString bytes = {size, (UA_Byte *)(uintptr_t)data};
    UA_Variant input;
    UA_Variant_init(&input);
    UA_Variant_setScalar(&input, &bytes, &UA_TYPES[UA_TYPES_BYTESTRING]);
    UA_Variant *output = NULL;
    size_t outputs = 0;
    UA_StatusCode status = UA_Client_call(connections->clients[place], UA_NS0ID(OBJECTSFOLDER),
                                          UA_NODEID_NUMERIC(1, METHOD), 1, &input, &outputs, &output);
    UA_Array_delete(output, outputs, &UA_TYPES[UA_TYPES_VARIANT]);
    return status == UA_STATUSCODE_GOOD;
}

int main(int argc, char **argv) {
    const struct node_options options = node_parse(argc, argv);
    struct connections connections = {.options = &options};
    struct node node = {&connections, connect_next, send_next, NULL, true};
    pthread_t thread;
    UA_Server *server = make_server(&options);
    node_prepare(&options, &node);
    if (pthread_create(&thread, NULL, serve, server) != 0) peer_fail("no thread");
    node_run(&options, &node);
    peer_stop();
    pthread_join(thread, NULL);
    for (size_t place = 0; place < options.next_count; place++) {
        if (connections.clients[place] == NULL) continue;
        UA_Client_disconnect(connections.clients[place]);
        UA_Client_delete(connections.clients[place]);
    }
    UA_Server_run_shutdown(server);
    UA_Server_delete(server);
    return 0;
}
