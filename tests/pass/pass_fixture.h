/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as text for tests of passes: a context with an arena of its own for each test. */
#ifndef TESTS_PASS_PASS_FIXTURE_H
#define TESTS_PASS_PASS_FIXTURE_H

#include "pass/pass.h"

extern struct arena *arena, *scratch;
extern struct diags diags;
extern struct pass_options options; /* all off; what context.options points to */
extern struct pass_context context;

/* Before and after each test: a checked fixture. */
void start(void);
void stop(void);

/* Fails the test, with all that was reported. */
void must(odlc_status status);
/* The graph of a text that is right. */
struct graph *parsed(const char *text);

#endif
