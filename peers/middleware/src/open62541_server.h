// Settings that all servers of open62541 have in common.
#ifndef TAKT_OPEN62541_SERVER_H
#define TAKT_OPEN62541_SERVER_H

#include <open62541/server.h>
#include <stdio.h>

#include "peer.h"

// Makes a server with this configuration, which listens at one address.
static inline UA_Server *open62541_server(UA_ServerConfig *config, const char *address, int port) {
    char url[96];
    snprintf(url, sizeof url, "opc.tcp://%s:%d", address, port);
    UA_Array_delete(config->serverUrls, config->serverUrlsSize, &UA_TYPES[UA_TYPES_STRING]);
    config->serverUrls = UA_Array_new(1, &UA_TYPES[UA_TYPES_STRING]);
    config->serverUrlsSize = 1;
    config->serverUrls[0] = UA_STRING_ALLOC(url);
    config->tcpReuseAddr = true;
    UA_Server *server = UA_Server_newWithConfig(config);
    if (server == NULL) peer_fail("no server");
    return server;
}

#endif
