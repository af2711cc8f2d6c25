/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz engine and a target have of each other: the interface of libFuzzer, which AFL++ has, too. */
#ifndef FUZZ_ENGINE_H
#define FUZZ_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/* A target: tries an input, and aborts where something is wrong that no sanitizer sees. Gives 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A mutator that knows the form of inputs; libFuzzer alone calls it. Gives the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);

/* Makes of two inputs one. Gives its size, 0 when there is none. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *bytes, size_t size, const uint8_t *others, size_t others_size,
                                 uint8_t *out, size_t max_size, unsigned seed);

/* libFuzzer's own mutations, for mutators. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);

#endif
