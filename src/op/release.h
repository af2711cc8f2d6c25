/* SPDX-License-Identifier: Apache-2.0 */
/* Releases of the vendor's tools: which operators their containers are known to have, and how these are spelled there.
 */
#ifndef OP_RELEASE_H
#define OP_RELEASE_H

#include "op/op.h"

/* A release as a number that can be compared: RELEASE(2, 20). */
#define RELEASE(major, minor) ((uint32_t)(major)*1000 + (uint32_t)(minor))
#define RELEASE_OLDEST RELEASE(2, 18)  /* that containers are written for */
#define RELEASE_DEFAULT RELEASE(2, 20) /* … where nobody asks for another one */
/* Files of 2.20 have the older forms, those of 2.22 the newer ones. Where between the two the change was is not known:
 * the first release after 2.20 counts as newer. */
#define RELEASE_NEWER RELEASE(2, 21)

/* How an operator's type is written. */
struct op_spelling {
    const char *type;
    const char *selector; /* the supplemental param that carries the operator's name; NULL: none does */
    bool has_operation;   /* a param `operation` tells the operators of the type apart */
    int32_t operation;
};
/* In containers of that release. Any number before RELEASE_NEWER, 0 too, stands for the older form. */
struct op_spelling op_spelling(const struct op *op, uint32_t release);

/* The type in the older form ("Neuron") of one in any form ("ElementWiseNeuron"). */
const char *op_older_type(const char *type);

/* The oldest release from which a container, or a report of one, is known that has ops of this type (of rows:
 * dlc_type); 0: none is. */
uint32_t op_type_known_since(const char *dlc_type);

#endif
