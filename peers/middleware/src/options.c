// Command line of a peer.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

static void reject(const char *format, const char *text) {
    fprintf(stderr, format, text);
    fprintf(stderr, "\n");
    exit(2);
}

// True if the list "poll qos=0,1,2 security=none,tls" permits the option.
static bool permits(const char *known, const char *key, size_t key_size, const char *value) {
    for (const char *at = known; *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (strncmp(at, key, key_size) == 0) {
            if (key_size == size) return true;
            if (at[key_size] == '=') {
                const char *choice = at + key_size + 1;
                while (choice < at + size) {
                    size_t length = strcspn(choice, ", ");
                    if (strlen(value) == length && strncmp(choice, value, length) == 0) return true;
                    choice += length + 1;
                }
            }
        }
        at += size + (at[size] == ' ');
    }
    return false;
}

static void parse_option(struct peer_options *options, const char *text, const char *known) {
    const char *value = strchr(text, '=');
    if (value == NULL) reject("option `%s` has no value", text);
    size_t size = (size_t)(value - text);
    value++;
    if (!permits(known, text, size, value)) reject("this peer has no option `%s`", text);
    if (strncmp(text, "poll", size) == 0) {
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) reject("`%s`: true or false", text);
        options->poll = strcmp(value, "true") == 0;
    } else if (strncmp(text, "qos", size) == 0) {
        options->qos = atoi(value);
    } else if (strncmp(text, "security", size) == 0) {
        options->security = value;
    } else if (strncmp(text, "transport", size) == 0) {
        options->transport = value;
    } else if (strncmp(text, "client-address", size) == 0) {
        options->client_address = value;
    } else if (strncmp(text, "interface", size) == 0) {
        options->network = value;
    } else if (strncmp(text, "peer-interface", size) == 0) {
        options->peer_network = value;
    } else {
        reject("this peer has no option `%s`", text);
    }
}

struct peer_options peer_parse(int argc, char **argv, const char *known) {
    struct peer_options options = {.role = PEER_SERVER, .security = "none", .transport = ""};
    if (argc < 2) reject("usage: %s server|client --address IP --port N --folder DIR", argv[0]);
    if (strcmp(argv[1], "client") == 0) {
        options.role = PEER_CLIENT;
    } else if (strcmp(argv[1], "server") != 0) {
        reject("`%s` is no role: server or client", argv[1]);
    }
    for (int at = 2; at < argc; at += 2) {
        if (at + 1 == argc) reject("%s has no value", argv[at]);
        const char *value = argv[at + 1];
        if (strcmp(argv[at], "--address") == 0) {
            options.address = value;
        } else if (strcmp(argv[at], "--port") == 0) {
            char *end;
            long port = strtol(value, &end, 10);
            if (*end != '\0' || port < 1 || port > 65526) reject("`%s` is no port", value);
            options.port = (int)port;
        } else if (strcmp(argv[at], "--folder") == 0) {
            options.folder = value;
        } else if (strcmp(argv[at], "--option") == 0) {
            parse_option(&options, value, known);
        } else {
            reject("unknown argument %s", argv[at]);
        }
    }
    if (options.address == NULL || options.port == 0 || options.folder == NULL) {
        reject("%s: --address, --port and --folder are necessary", argv[0]);
    }
    if (options.client_address == NULL) options.client_address = options.address;
    peer_prepare();
    return options;
}
