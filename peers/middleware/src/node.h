// Node of `takt bench nodes`: a process in a chain of processes. docs/add-a-peer.md describes its line protocol. A peer
// gives functions that connect and send, and calls node_take for each message.
#ifndef TAKT_NODE_H
#define TAKT_NODE_H

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

// Most streams of messages.
#define NODE_STREAMS 100
// Most nodes that a node announces itself to.
#define NODE_PEERS 10100

struct node_options {
    // True for the process that sends all messages and takes them at their end; false for a hop, which passes them on.
    bool is_end;
    const char *address;
    // Number of this node: its TCP port, or a part of its topic's name.
    int port;
    // Numbers of the nodes to which messages go: one for a hop, one for each stream for the end.
    int next[NODE_STREAMS];
    size_t next_count;
    // Nodes to which this one announces itself, if it has discovery: the next ones by default.
    int peers[NODE_PEERS];
    size_t peer_count;
    // Port of the broker, or 0.
    int broker;
    const char *folder;
};

// Functions of a node.
struct node {
    void *context;
    // Connects to the nodes to which messages go, and returns once they can receive.
    void (*connect)(void *context);
    // Sends a message to the node with this place in `next`. False if the connection is lost.
    bool (*send)(void *context, size_t place, const void *data, size_t size);
    // Waits until it has called node_take, or until `deadline` (CLOCK_MONOTONIC, nanoseconds). False if the connection is
    // lost. Null if another thread calls node_take.
    bool (*receive)(void *context, int64_t deadline);
    // True if node_take may not send: a hop then sends in its main thread.
    bool has_queue;
};

// Reads the command line. Ends the process with code 2 if it is wrong. Call it before any thread starts.
struct node_options node_parse(int argc, char **argv);

// Prepares node_take: call it before a message can come.
void node_prepare(const struct node_options *options, const struct node *node);

// Prints `ready`, connects when it is told to, and passes messages on or serves commands until its standard input ends.
void node_run(const struct node_options *options, const struct node *node);

// Takes a message for this node, in any thread.
void node_take(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
