/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

enum { MOST_BYTES = 256 << 20 }; /* of a message: texts of diagnostics and names of nodes */

/* ---- writing ---- */

static void put_bytes(struct message *m, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_push(m->arena, &m->bytes, ((const uint8_t *)bytes)[i]);
}

struct message message_begin(struct arena *arena, uint64_t kind)
{
    struct message m = {.arena = arena};
    message_put(&m, kind);
    return m;
}

void message_put(struct message *m, uint64_t number)
{
    put_bytes(m, &number, sizeof number);
}

void message_put_text(struct message *m, const char *string)
{
    message_put(m, string ? strlen(string) + 1 : 0);
    put_bytes(m, string, string ? strlen(string) + 1 : 0);
}

static bool send_all(int socket, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

bool message_send(const struct message *m, int socket)
{
    const uint64_t size = m->bytes.count;
    return send_all(socket, &size, sizeof size) && send_all(socket, m->bytes.data, m->bytes.count);
}

/* ---- reading ---- */

static int64_t now_ms(void)
{
    return (int64_t)(clock_nanoseconds() / 1000000);
}

static enum receipt wait_for_bytes(int socket, int64_t deadline)
{
    for (;;) {
        struct pollfd fd = {.fd = socket, .events = POLLIN};
        const int64_t left = deadline ? deadline - now_ms() : -1;
        if (deadline && left <= 0)
            return RECEIVED_NOTHING_IN_TIME;
        if (poll(&fd, 1, left > INT32_MAX ? INT32_MAX : (int)left) > 0)
            return RECEIVED;
    }
}

static enum receipt receive_all(int socket, void *bytes, size_t count, int64_t deadline)
{
    for (char *at = bytes; count > 0;) {
        const enum receipt waited = wait_for_bytes(socket, deadline);
        if (waited != RECEIVED)
            return waited;
        const ssize_t got = recv(socket, at, count, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return RECEIVED_END;
        at += got;
        count -= (size_t)got;
    }
    return RECEIVED;
}

enum receipt message_receive(struct arena *arena, int socket, unsigned seconds, struct message *out)
{
    const int64_t deadline = seconds ? now_ms() + (int64_t)seconds * 1000 : 0;
    uint64_t size;
    *out = (struct message){.arena = arena};
    enum receipt receipt = receive_all(socket, &size, sizeof size, deadline);
    if (receipt != RECEIVED)
        return receipt;
    if (size > MOST_BYTES)
        return RECEIVED_END;
    out->bytes.data = arena_alloc(arena, size + 1);
    out->bytes.count = size;
    return receive_all(socket, out->bytes.data, size, deadline);
}

uint64_t message_get(struct message *m)
{
    uint64_t number = 0;
    if (m->broken || m->bytes.count - m->at < sizeof number) {
        m->broken = true;
        return 0;
    }
    memcpy(&number, m->bytes.data + m->at, sizeof number);
    m->at += sizeof number;
    return number;
}

const char *message_get_text(struct message *m)
{
    const uint64_t size = message_get(m);
    const char *string = (const char *)m->bytes.data + m->at;
    if (size == 0)
        return NULL;
    if (m->broken || size > m->bytes.count - m->at || string[size - 1] != '\0') {
        m->broken = true;
        return NULL;
    }
    m->at += size;
    return string;
}

size_t message_get_count(struct message *m)
{
    const uint64_t count = message_get(m);
    if (count <= m->bytes.count - m->at)
        return count;
    m->broken = true;
    return 0;
}
