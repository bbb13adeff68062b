// Line protocol of a peer of `takt bench middleware`, version 1: options, commands, payload, timing and output.
// docs/add-a-peer.md describes it. A peer gives a function that sends a request and calls peer_answer for each answer.
#ifndef TAKT_PEER_H
#define TAKT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Largest payload in bytes.
#define PEER_LARGEST (1u << 20)

// Way in which the server answers. A peer has one address (topic, method, port) for each mode.
enum peer_mode { PEER_ECHO, PEER_ACK };

enum peer_role { PEER_SERVER, PEER_CLIENT };

struct peer_options {
    enum peer_role role;
    const char *address;
    // Address of the client: that of the server, if both are on one host.
    const char *client_address;
    int port;
    const char *folder;
    bool poll;
    int qos;
    const char *security;
    const char *transport;
    const char *network;
    const char *peer_network;
};

// Functions of a client. `send` returns false if the connection is lost. `receive` waits until it has called
// peer_answer, or until `deadline` (CLOCK_MONOTONIC, nanoseconds); it is null if another thread calls peer_answer.
struct peer_client {
    void *context;
    bool (*send)(void *context, enum peer_mode mode, const uint8_t *data, size_t size);
    bool (*receive)(void *context, int64_t deadline);
};

// Reads the command line. `known` names the options that the peer has, with their values: "poll qos=0,1,2". Ends the
// process with code 2 if the command line is wrong. Blocks SIGTERM and SIGINT: call it before any thread starts.
struct peer_options peer_parse(int argc, char **argv, const char *known);

// Blocks SIGTERM and SIGINT; a part of peer_parse.
void peer_prepare(void);

// Prints `info KEY VALUE`.
void peer_info(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints one line on stderr and ends the process with code 1.
void peer_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

// Time of CLOCK_MONOTONIC in nanoseconds.
int64_t peer_now(void);

// Sends requests in both modes until each has an answer: discovery is complete on both sides then. Fails after 10 s.
void peer_discover(const struct peer_options *options, const struct peer_client *client);

// Prints `ready` and serves the commands on stdin until `quit`, its end, or SIGTERM.
void peer_run_client(const struct peer_options *options, const struct peer_client *client);

// Takes an answer, in any thread. The time of the answer is the time of this call.
void peer_answer(const void *data, size_t size);

// True once the current request has its answer.
bool peer_answered(void);

// Prints `ready`; from now on the end of stdin or SIGTERM stops the server. `wake` may be null: it interrupts the
// loop of the peer, in another thread.
void peer_start_server(void (*wake)(void *context), void *context);

// Starts the thread that waits for a signal, and with `input` for the end of stdin; the process has to end then.
void peer_watch(bool input, void (*wake)(void *context), void *context);

// Reads a line from stdin without its end; false at the end of stdin, or if the process has to end.
bool peer_read_line(char *line, size_t size);

// True once the process has to end.
bool peer_stopped(void);

// Lets the process end.
void peer_stop(void);

// Waits until the process has to end.
void peer_wait_stopped(void);

// Sum of all bytes: the answer of an ACK.
uint8_t peer_sum(const void *data, size_t size);

// Address of this side on the way to the server, as text.
const char *peer_local_address(const struct peer_options *options);

// Path of a file in the folder.
char *peer_path(const struct peer_options *options, const char *name);

// Makes the authority, the certificates and the signed documents of DDS Security in the folder, if this side is the
// server: it starts first. Call it before any thread starts. src/dds-security.sh names the files.
void peer_make_identities(const struct peer_options *options);

// Name of this side's certificate and key.
const char *peer_identity(const struct peer_options *options);

#ifdef __cplusplus
}
#endif

#endif
