/* SPDX-License-Identifier: Apache-2.0 */
/* What a parser of the general kind costs: reads a model into memory and unpacks it with protobuf-c. The bytes of
 * tensors are copied as fields that the schema does not list; protobuf-c treats those as it does bytes.
 * usage: unpack MODEL */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "onnx.pb-c.h"

/* A whole file; NULL when it cannot be read. */
static uint8_t *read_all(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    uint8_t *data = NULL;
    size_t done = 0;
    ssize_t got = 1;
    if (fd >= 0 && fstat(fd, &st) == 0)
        data = malloc((size_t)st.st_size + 1);
    while (data && got > 0 && done < (size_t)st.st_size) {
        got = read(fd, data + done, (size_t)st.st_size - done);
        done += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    *size = done;
    return data;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    size_t size;
    uint8_t *data = read_all(argv[1], &size);
    Onnx__ModelProto *model = data ? onnx__model_proto__unpack(NULL, size, data) : NULL;
    int unpacked = model && model->graph;
    if (!unpacked)
        fprintf(stderr, "unpack: %s cannot be unpacked\n", argv[1]);
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    free(data);
    return unpacked ? 0 : 1;
}
