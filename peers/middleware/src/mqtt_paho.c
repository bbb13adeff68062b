// MQTT with Eclipse Paho C and mosquitto. Each mode has two topics, for request and reply. Client and server use Paho's
// synchronous mode: the thread that waits for a message reads it from the socket itself.
#include <MQTTClient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mqtt_socket.h"
#include "peer.h"

static const char *const REQUESTS[2] = {"e", "a"};
static const char *const REPLIES[2] = {"E", "A"};
// Longest time that the server waits before it looks whether it has to end.
#define SERVER_WAIT_MS 200ul

struct connection {
    MQTTClient client;
    int qos;
    bool poll;
};

static void check(int code, const char *action) {
    if (code != MQTTCLIENT_SUCCESS) peer_fail("%s: code %d", action, code);
}

static bool publish(const struct connection *connection, const char *topic, const void *data, size_t size) {
    int code = MQTTClient_publish(connection->client, topic, (int)size, data, connection->qos, 0, NULL);
    return code == MQTTCLIENT_SUCCESS;
}

static bool send_request(void *context, enum peer_mode mode, const uint8_t *data, size_t size) {
    return publish(context, REQUESTS[mode], data, size);
}

// Receives a message; false if the connection is lost. `*message` is null if there is none in time.
static bool receive(const struct connection *connection, char **topic, MQTTClient_message **message, unsigned long ms) {
    int length = 0;
    *message = NULL;
    int code = MQTTClient_receive(connection->client, topic, &length, message, connection->poll ? 0 : ms);
    bool good = code == MQTTCLIENT_SUCCESS || code == MQTTCLIENT_TOPICNAME_TRUNCATED;
    return good && MQTTClient_isConnected(connection->client);
}

static bool receive_answer(void *context, int64_t deadline) {
    char *topic;
    MQTTClient_message *message;
    int64_t left = (deadline - peer_now()) / 1000000;
    if (!receive(context, &topic, &message, left < 1 ? 1 : (unsigned long)left)) return false;
    if (message != NULL) {
        peer_answer(message->payload, (size_t)message->payloadlen);
        MQTTClient_freeMessage(&message);
        MQTTClient_free(topic);
    }
    return true;
}

static void serve(const struct connection *connection) {
    peer_start_server(NULL, NULL);
    while (!peer_stopped()) {
        char *topic;
        MQTTClient_message *message;
        if (!receive(connection, &topic, &message, SERVER_WAIT_MS)) peer_fail("the connection is lost");
        if (message == NULL) continue;
        size_t size = (size_t)message->payloadlen;
        bool sent;
        if (strcmp(topic, REQUESTS[PEER_ECHO]) == 0) {
            sent = publish(connection, REPLIES[PEER_ECHO], message->payload, size);
        } else {
            uint8_t sum = peer_sum(message->payload, size);
            sent = publish(connection, REPLIES[PEER_ACK], &sum, 1);
        }
        MQTTClient_freeMessage(&message);
        MQTTClient_free(topic);
        if (!sent) peer_fail("the connection is lost");
    }
}

// The broker has TLS on its second port.
static int broker_port(const struct peer_options *options) {
    return options->port + (strcmp(options->security, "tls") == 0);
}

static void connect_broker(struct connection *connection, const struct peer_options *options) {
    bool encrypted = strcmp(options->security, "tls") == 0;
    char url[96];
    snprintf(url, sizeof url, "%s://%s:%d", encrypted ? "ssl" : "tcp", options->address, broker_port(options));
    const char *identity = options->role == PEER_SERVER ? "server" : "client";
    check(MQTTClient_create(&connection->client, url, identity, MQTTCLIENT_PERSISTENCE_NONE, NULL), "client");
    MQTTClient_connectOptions settings = MQTTClient_connectOptions_initializer;
    MQTTClient_SSLOptions tls = MQTTClient_SSLOptions_initializer;
    settings.cleansession = 1;
    settings.reliable = 0;
    settings.keepAliveInterval = 60;
    char *authority = peer_path(options, "server.crt");
    if (encrypted) {
        tls.trustStore = authority;
        tls.verify = 0;
        tls.sslVersion = MQTT_SSL_VERSION_TLS_1_2;
        settings.ssl = &tls;
    }
    check(MQTTClient_connect(connection->client, &settings), "connect");
    mqtt_set_no_delay(broker_port(options));
    peer_info("setting", "TCP_NODELAY set on Paho's socket");
    const char *const *topics = options->role == PEER_SERVER ? REQUESTS : REPLIES;
    for (int mode = 0; mode < 2; mode++) {
        check(MQTTClient_subscribe(connection->client, topics[mode], connection->qos), "subscribe");
    }
    free(authority);
}

int main(int argc, char **argv) {
    struct peer_options options = peer_parse(argc, argv, "poll qos=0,1,2 security=none,tls");
    struct connection connection = {NULL, options.qos, options.poll};
    MQTTClient_init_options init = MQTTClient_init_options_initializer;
    init.do_openssl_init = 1;
    MQTTClient_global_init(&init);
    for (const MQTTClient_nameValue *entry = MQTTClient_getVersionInfo(); entry->name != NULL; entry++) {
        if (strcmp(entry->name, "Version") == 0) peer_info("version", "%s", entry->value);
    }
    peer_info("setting", "broker set_tcp_nodelay true, max_inflight_messages 0, max_queued_messages 0");
    peer_info("setting", "synchronous mode, clean session, QoS %d", options.qos);
    connect_broker(&connection, &options);
    if (options.role == PEER_SERVER) {
        serve(&connection);
    } else {
        struct peer_client client = {&connection, send_request, receive_answer};
        peer_run_client(&options, &client);
    }
    MQTTClient_disconnect(connection.client, 1000);
    MQTTClient_destroy(&connection.client);
    return 0;
}
