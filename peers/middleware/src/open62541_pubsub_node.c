// open62541 PubSub as a node: a DataSetReader at a UDP port of its own, and a DataSetWriter for each next node. The
// callback that takes a message passes it on.
#include "node.h"
#include "open62541_udp.h"

struct links {
    UA_Server *server;
    struct udp_variable outputs[NODE_STREAMS];
};

// The next nodes have opened their ports already: each was ready before.
static void connect_next(void *context) { (void)context; }

static bool send_next(void *context, size_t place, const void *data, size_t size) {
    struct links *links = context;
    return udp_publish(links->server, &links->outputs[place], data, size);
}

static bool receive(void *context, int64_t deadline) {
    (void)deadline;
    UA_Server_run_iterate(((struct links *)context)->server, true);
    return true;
}

static void take(void *context, const UA_ByteString *data) {
    (void)context;
    node_take(data->data, data->length);
}

int main(int argc, char **argv) {
    const struct node_options options = node_parse(argc, argv);
    static struct links links;
    static struct udp_variable input = {.take = take};
    const struct node node = {&links, connect_next, send_next, receive, false};
    links.server = udp_server(options.port);
    udp_add_reader(links.server, NULL, options.address, options.port, &input);
    for (size_t place = 0; place < options.next_count; place++) {
        udp_add_writer(links.server, NULL, options.address, options.next[place], &links.outputs[place]);
    }
    udp_start(links.server);
    node_prepare(&options, &node);
    node_run(&options, &node);
    UA_Server_run_shutdown(links.server);
    UA_Server_delete(links.server);
    return 0;
}
