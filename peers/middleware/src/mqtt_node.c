// MQTT as a node, with Eclipse Paho C and mosquitto: it subscribes to a topic of its own and publishes to those of the next
// nodes. QoS 0. The thread that waits for a message reads it from the socket itself.
#include <MQTTClient.h>
#include <stdio.h>
#include <string.h>

#include "mqtt_socket.h"
#include "node.h"

struct connection {
    const struct node_options *options;
    MQTTClient client;
};

static void check(int code, const char *action) {
    if (code != MQTTCLIENT_SUCCESS) peer_fail("%s: code %d", action, code);
}

static const char *topic_of(int port) {
    static _Thread_local char topic[16];
    snprintf(topic, sizeof topic, "n%d", port);
    return topic;
}

// The broker knows all nodes already: each has subscribed before it was ready.
static void connect_next(void *context) { (void)context; }

static bool send_next(void *context, size_t place, const void *data, size_t size) {
    struct connection *connection = context;
    const char *topic = topic_of(connection->options->next[place]);
    return MQTTClient_publish(connection->client, topic, (int)size, data, 0, 0, NULL) == MQTTCLIENT_SUCCESS;
}

static bool receive(void *context, int64_t deadline) {
    struct connection *connection = context;
    char *topic;
    int length = 0;
    MQTTClient_message *message = NULL;
    int64_t left = (deadline - peer_now()) / 1000000;
    int code = MQTTClient_receive(connection->client, &topic, &length, &message, left < 1 ? 1 : (unsigned long)left);
    if (code != MQTTCLIENT_SUCCESS && code != MQTTCLIENT_TOPICNAME_TRUNCATED) return false;
    if (message == NULL) return MQTTClient_isConnected(connection->client);
    node_take(message->payload, (size_t)message->payloadlen);
    MQTTClient_freeMessage(&message);
    MQTTClient_free(topic);
    return true;
}

int main(int argc, char **argv) {
    const struct node_options options = node_parse(argc, argv);
    struct connection connection = {.options = &options};
    const struct node node = {&connection, connect_next, send_next, receive, false};
    char url[96], identity[32];
    snprintf(url, sizeof url, "tcp://%s:%d", options.address, options.broker);
    snprintf(identity, sizeof identity, "node%d", options.port);
    check(MQTTClient_create(&connection.client, url, identity, MQTTCLIENT_PERSISTENCE_NONE, NULL), "client");
    MQTTClient_connectOptions settings = MQTTClient_connectOptions_initializer;
    settings.cleansession = 1;
    settings.reliable = 0;
    settings.keepAliveInterval = 600;
    check(MQTTClient_connect(connection.client, &settings), "connect");
    mqtt_set_no_delay(options.broker);
    node_prepare(&options, &node);
    check(MQTTClient_subscribe(connection.client, topic_of(options.port), 0), "subscribe");
    node_run(&options, &node);
    MQTTClient_disconnect(connection.client, 1000);
    MQTTClient_destroy(&connection.client);
    return 0;
}
