/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between two processes over a socket: numbers and texts one after another. What is received is bounded and
 * checked: the other process may have gone astray. */
#ifndef API_MESSAGE_H
#define API_MESSAGE_H

#include "base/arena.h"
#include "base/vec.h"
#include "opendlc/status.h"

struct message {
    struct arena *arena;
    VEC(uint8_t) bytes;
    size_t at;   /* how far it is read */
    bool broken; /* something was read that is not there */
};

/* Number first of all what the message is. */
struct message message_begin(struct arena *arena, uint64_t kind);
void message_put(struct message *m, uint64_t number);
void message_put_text(struct message *m, const char *string); /* NULL is kept */
/* False: the other process is gone. */
bool message_send(const struct message *m, int socket);

enum receipt { RECEIVED, RECEIVED_END, RECEIVED_NOTHING_IN_TIME };
/* Waits for a message, at most so many seconds; 0: as long as it takes. */
enum receipt message_receive(struct arena *arena, int socket, unsigned seconds, struct message *out);
/* 0 and NULL where there is nothing. */
uint64_t message_get(struct message *m);
const char *message_get_text(struct message *m);
/* A number of things that follow, each of at least one byte. */
size_t message_get_count(struct message *m);

#endif
