// open62541 PubSub: UADP over UDP with one ByteString field. Each direction and mode has a UDP port, a publisher and a
// DataSetReader.
#include "open62541_udp.h"

#define NO_SERVER_PORT 9

// Output of a mode, and the server's answer that is not sent yet.
struct answer {
    struct udp_variable output;
    const uint8_t *data;
    size_t size;
};

static UA_Server *server;
static struct answer answers[2];
static uint8_t received[PEER_LARGEST];
static uint8_t sum;
static bool is_client;

// Takes a message. The server's answer is sent after the iteration that received the request.
static void take(void *context, const UA_ByteString *data) {
    struct answer *answer = context;
    if (is_client) {
        peer_answer(data->data, data->length);
    } else if (answer == &answers[PEER_ECHO]) {
        memcpy(received, data->data, data->length);
        answer->data = received;
        answer->size = data->length;
    } else {
        sum = peer_sum(data->data, data->length);
        answer->data = &sum;
        answer->size = 1;
    }
}

// Opens both modes: requests on the first two ports, to the address of the server, and answers on the next two, to that
// of the client.
static void start(const struct peer_options *options) {
    static struct udp_variable inputs[2] = {{.take = take, .context = &answers[PEER_ECHO]},
                                            {.take = take, .context = &answers[PEER_ACK]}};
    server = udp_server(options->port + NO_SERVER_PORT);
    const char *own = is_client ? options->client_address : options->address;
    const char *other = is_client ? options->address : options->client_address;
    for (int mode = 0; mode < 2; mode++) {
        int out = options->port + mode + (is_client ? 0 : 2), in = options->port + mode + (is_client ? 2 : 0);
        udp_add_writer(server, options->network, other, out, &answers[mode].output);
        udp_add_reader(server, options->network, own, in, &inputs[mode]);
    }
    udp_start(server);
}

static bool send_request(void *context, enum peer_mode mode, const uint8_t *data, size_t size) {
    (void)context;
    return udp_publish(server, &answers[mode].output, data, size);
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
                const uint8_t *data = answers[mode].data;
                answers[mode].data = NULL;
                if (data != NULL && !udp_publish(server, &answers[mode].output, data, answers[mode].size)) {
                    peer_fail("publish");
                }
            }
        }
    }
    UA_Server_run_shutdown(server);
    UA_Server_delete(server);
    return 0;
}
