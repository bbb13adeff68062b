// Cyclone DDS as a node: a reader of a topic of its own, and a writer of the topic of each next node. A listener passes
// messages on in Cyclone's receive thread.
#include <dds/dds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "node.h"

#define DOMAIN 0

struct writers {
    const struct node_options *options;
    dds_entity_t of[NODE_STREAMS];
};

static dds_entity_t check(dds_entity_t made, const char *name) {
    if (made < 0) peer_fail("%s: %s", name, dds_strretcode(-made));
    return made;
}

// One port for discovery and data. Participants are announced to each node, or only to the next ones.
static void configure(const struct node_options *options) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) peer_fail("no memory");
    fprintf(out,
            "<CycloneDDS><Domain id=\"any\">"
            "<General><Interfaces><NetworkInterface address=\"%s\" multicast=\"false\"/></Interfaces>"
            "<AllowMulticast>false</AllowMulticast>"
            "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General>"
            "<Discovery><ParticipantIndex>0</ParticipantIndex><Peers>",
            options->address);
    for (size_t place = 0; place < options->peer_count; place++) {
        fprintf(out, "<Peer address=\"%s:%d\"/>", options->address, options->peers[place]);
    }
    fprintf(out,
            "</Peers><Ports><Base>%d</Base><DomainGain>0</DomainGain><ParticipantGain>0</ParticipantGain>"
            "<MulticastMetaOffset>1</MulticastMetaOffset><UnicastMetaOffset>0</UnicastMetaOffset>"
            "<MulticastDataOffset>2</MulticastDataOffset><UnicastDataOffset>0</UnicastDataOffset></Ports></Discovery>"
            "<Internal><SocketReceiveBufferSize min=\"default\"/></Internal>"
            "</Domain></CycloneDDS>",
            options->port);
    fclose(out);
    check(dds_create_domain(DOMAIN, text), "domain");
    free(text);
}

static bool send_next(void *context, size_t place, const void *data, size_t size) {
    const struct writers *writers = context;
    Message message = {.data = {(uint32_t)size, (uint32_t)size, (uint8_t *)(uintptr_t)data, false}};
    return dds_write(writers->of[place], &message) == DDS_RETCODE_OK;
}

// Waits until each next node has a reader that this writer knows.
static void connect_next(void *context) {
    const struct writers *writers = context;
    for (size_t place = 0; place < writers->options->next_count; place++) {
        dds_publication_matched_status_t status = {0};
        while (status.current_count == 0) {
            check(dds_get_publication_matched_status(writers->of[place], &status), "status");
            usleep(1000);
        }
    }
}

// Takes messages with the loan of the reader's own memory.
static void take(dds_entity_t reader, void *context) {
    (void)context;
    void *samples[1] = {NULL};
    dds_sample_info_t info;
    while (dds_take(reader, samples, &info, 1, 1) > 0) {
        const Message *message = samples[0];
        if (info.valid_data) node_take(message->data._buffer, message->data._length);
        dds_return_loan(reader, samples, 1);
    }
}

static dds_entity_t make_topic(dds_entity_t participant, int port) {
    char name[32];
    snprintf(name, sizeof name, "node%d", port);
    return check(dds_create_topic(participant, &Message_desc, name, NULL, NULL), "topic");
}

int main(int argc, char **argv) {
    const struct node_options options = node_parse(argc, argv);
    struct writers writers = {.options = &options};
    const struct node node = {&writers, connect_next, send_next, NULL, false};
    node_prepare(&options, &node);
    configure(&options);
    dds_entity_t participant = check(dds_create_participant(DOMAIN, NULL, NULL), "participant");
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
    for (size_t place = 0; place < options.next_count; place++) {
        dds_entity_t topic = make_topic(participant, options.next[place]);
        writers.of[place] = check(dds_create_writer(participant, topic, qos, NULL), "writer");
    }
    // The end has a reader that several streams write to: one message of each may wait.
    if (options.is_end) dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
    dds_listener_t *listener = dds_create_listener(NULL);
    dds_lset_data_available(listener, take);
    dds_entity_t reader = check(
        dds_create_reader(participant, make_topic(participant, options.port), qos, listener), "reader");
    dds_delete_listener(listener);
    dds_delete_qos(qos);
    node_run(&options, &node);
    dds_set_listener(reader, NULL);
    dds_delete(DDS_CYCLONEDDS_HANDLE);
    return 0;
}
