/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf's text form (.pbtxt) as wire bytes, so that there is one decoder for both. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_PBTXT_H
#define CONVERTERS_TENSORFLOW_SOURCE_PBTXT_H

#include <protobuf-c/protobuf-c.h>

#include "base/file.h"

/* Files of this size are refused; protobuf has no messages of more than half of it. */
#define PBTXT_MAX_BYTES (UINT64_C(4) << 30)

/* Reads the whole text as one such message. *out holds the bytes in the arena, under the text's path; wire_check finds
 * nothing to complain of but elements of tensors. The first thing that is wrong is reported with line and column.
 *
 * Fields that the descriptor does not know are checked for their syntax and left out, as are extensions and Any
 * messages. Lengths of texts and messages take five bytes and lists are not packed: other writers use fewer bytes. */
odlc_status pbtxt_to_wire(struct arena *arena, struct diags *diags, const struct file *text,
                          const ProtobufCMessageDescriptor *message, struct file **out) MUST_USE;

#endif
