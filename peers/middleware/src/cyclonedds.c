// Cyclone DDS. Each mode has two topics, for request and reply. A listener takes messages in Cyclone's receive thread.
#include <dds/dds.h>
#include <dds/version.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "peer.h"

#define DOMAIN 0

static dds_entity_t writers[2];
static bool is_server;

static dds_entity_t check(dds_entity_t made, const char *name) {
    if (made < 0) peer_fail("%s: %s", name, dds_strretcode(-made));
    return made;
}

static bool write_data(enum peer_mode mode, const uint8_t *data, size_t size) {
    Message message = {.data = {(uint32_t)size, (uint32_t)size, (uint8_t *)(uintptr_t)data, false}};
    return dds_write(writers[mode], &message) == DDS_RETCODE_OK;
}

static bool send_request(void *context, enum peer_mode mode, const uint8_t *data, size_t size) {
    (void)context;
    return write_data(mode, data, size);
}

// Takes messages with the loan of the reader's own memory.
static void take(dds_entity_t reader, void *context) {
    const enum peer_mode mode = *(const enum peer_mode *)context;
    void *samples[1] = {NULL};
    dds_sample_info_t info;
    while (dds_take(reader, samples, &info, 1, 1) > 0) {
        const Message *message = samples[0];
        if (!info.valid_data) {
            // The partner has left.
        } else if (!is_server) {
            peer_answer(message->data._buffer, message->data._length);
        } else if (mode == PEER_ECHO) {
            write_data(mode, message->data._buffer, message->data._length);
        } else {
            uint8_t sum = peer_sum(message->data._buffer, message->data._length);
            write_data(mode, &sum, 1);
        }
        dds_return_loan(reader, samples, 1);
    }
}

// Plugins of DDS Security and their files: what src/dds-security.sh has made.
static void describe_security(char *text, size_t size, const struct peer_options *options) {
    const char *folder = options->folder, *own = peer_identity(options);
    snprintf(text, size,
             "<Security><Authentication>"
             "<Library path=\"dds_security_auth\" initFunction=\"init_authentication\""
             " finalizeFunction=\"finalize_authentication\"/>"
             "<IdentityCA>file:%s/authority.crt</IdentityCA>"
             "<IdentityCertificate>file:%s/%s.crt</IdentityCertificate>"
             "<PrivateKey>file:%s/%s.key</PrivateKey></Authentication>"
             "<AccessControl><Library path=\"dds_security_ac\" initFunction=\"init_access_control\""
             " finalizeFunction=\"finalize_access_control\"/>"
             "<PermissionsCA>file:%s/authority.crt</PermissionsCA>"
             "<Governance>file:%s/governance.p7s</Governance>"
             "<Permissions>file:%s/permissions.p7s</Permissions></AccessControl>"
             "<Cryptographic><Library path=\"dds_security_crypto\" initFunction=\"init_crypto\""
             " finalizeFunction=\"finalize_crypto\"/></Cryptographic></Security>",
             folder, folder, own, folder, own, folder, folder, folder);
}

// Ports, all within the ten of the peer: discovery at 1 (server) and 3 (client), data at 2 and 4.
static void configure(const struct peer_options *options) {
    char text[8192], security[4096] = "";
    if (strcmp(options->security, "dds") == 0) {
        peer_make_identities(options);
        describe_security(security, sizeof security, options);
    }
    snprintf(text, sizeof text,
             "<CycloneDDS><Domain id=\"any\">"
             "<General><Interfaces><NetworkInterface address=\"%s\" multicast=\"false\"/></Interfaces>"
             "<AllowMulticast>false</AllowMulticast>"
             "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General>"
             "<Discovery><ParticipantIndex>%d</ParticipantIndex>"
             "<Peers><Peer address=\"%s:%d\"/></Peers>"
             "<Ports><Base>%d</Base><DomainGain>0</DomainGain><ParticipantGain>2</ParticipantGain>"
             "<MulticastMetaOffset>0</MulticastMetaOffset><UnicastMetaOffset>1</UnicastMetaOffset>"
             "<MulticastDataOffset>6</MulticastDataOffset><UnicastDataOffset>2</UnicastDataOffset></Ports></Discovery>"
             "<Internal><SocketReceiveBufferSize min=\"default\"/></Internal>%s"
             "</Domain></CycloneDDS>",
             peer_local_address(options), is_server ? 0 : 1, options->address, options->port + (is_server ? 3 : 1),
             options->port, security);
    check(dds_create_domain(DOMAIN, text), "domain");
}

int main(int argc, char **argv) {
    struct peer_options options = peer_parse(argc, argv, "security=none,dds");
    is_server = options.role == PEER_SERVER;
    peer_info("version", "%s", DDS_VERSION);
    peer_info("setting", "reliable, keep last 1, listener, unicast discovery");
    peer_info("setting", "MaxMessageSize 65500B, FragmentSize 65000B");
    configure(&options);
    dds_entity_t participant = check(dds_create_participant(DOMAIN, NULL, NULL), "participant");
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(2));
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
    static enum peer_mode modes[2] = {PEER_ECHO, PEER_ACK};
    dds_entity_t topics[2][2], readers[2];
    for (int mode = 0; mode < 2; mode++) {
        for (int side = 0; side < 2; side++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%s", mode == PEER_ECHO ? "echo" : "ack", side == 0 ? "request" : "reply");
            topics[mode][side] = check(dds_create_topic(participant, &Message_desc, name, NULL, NULL), "topic");
        }
        writers[mode] = check(dds_create_writer(participant, topics[mode][is_server], qos, NULL), "writer");
    }
    for (int mode = 0; mode < 2; mode++) {
        dds_listener_t *listener = dds_create_listener(&modes[mode]);
        dds_lset_data_available(listener, take);
        readers[mode] = check(dds_create_reader(participant, topics[mode][!is_server], qos, listener), "reader");
        dds_delete_listener(listener);
    }
    dds_delete_qos(qos);
    if (is_server) {
        peer_start_server(NULL, NULL);
        peer_wait_stopped();
    } else {
        struct peer_client client = {NULL, send_request, NULL};
        peer_discover(&options, &client);
        peer_run_client(&options, &client);
    }
    for (int mode = 0; mode < 2; mode++) dds_set_listener(readers[mode], NULL);
    dds_delete(DDS_CYCLONEDDS_HANDLE);
    return 0;
}
