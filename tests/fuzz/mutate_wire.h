/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to bytes of a protobuf message that keep it one: whole fields are moved about, values become others that are
 * worth a try, and the lengths of all messages around a change stay right. Depends on nothing but the seed, so it
 * serves fuzz engines and plain loops alike. */
#ifndef FUZZ_MUTATE_WIRE_H
#define FUZZ_MUTATE_WIRE_H

#include <protobuf-c/protobuf-c.h>

/* Texts that a field may be given beside those of the file. */
struct wire_words {
    const char *field; /* "NodeProto.op_type": the message's short name and the field's */
    const char *const *words;
    size_t count;
};

struct wire_language {
    const ProtobufCMessageDescriptor *message; /* what the bytes are */
    const struct wire_words *words;
    size_t n_words;
};

/* Changes the first `size` bytes of a buffer of max_size bytes, a few times. Returns the new size. Bytes that are no
 * such message are changed as far as they can be read. */
size_t mutate_wire(uint8_t *bytes, size_t size, size_t max_size, unsigned seed, const struct wire_language *language);

/* Makes of one message another that has some of a second one's fields; `out` has room for max_size bytes. Returns the
 * size, 0 when the first one alone does not fit. */
size_t cross_wire(const uint8_t *bytes, size_t size, const uint8_t *others, size_t others_size, uint8_t *out,
                  size_t max_size, unsigned seed, const struct wire_language *language);

#endif
