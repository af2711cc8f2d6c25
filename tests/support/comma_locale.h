/* SPDX-License-Identifier: Apache-2.0 */
/* A locale that writes numbers with commas. It is made where localedef is, and looked for elsewhere. */
#ifndef TESTS_SUPPORT_COMMA_LOCALE_H
#define TESTS_SUPPORT_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline bool choose_made_locale(void)
{
    static const char source[] =
        "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n";
    char folder[] = "/tmp/locale-XXXXXX", command[256];
    if (!mkdtemp(folder))
        return false;
    /* It warns of all that the source does not define, which counts in its status. */
    snprintf(command, sizeof command, "cd %s && localedef -c -i /dev/stdin ./comma >log 2>&1", folder);
    FILE *pipe = popen(command, "w");
    if (pipe) {
        fputs(source, pipe);
        pclose(pipe);
    }
    setenv("LOCPATH", folder, 1);
    bool chosen = setlocale(LC_ALL, "comma");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && chosen;
}

/* Chooses it for all of the process. False, which is said on stdout, when there is none. */
static inline bool choose_comma_locale(void)
{
    static const char *const installed[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool chosen = choose_made_locale();
    for (size_t i = 0; i < sizeof installed / sizeof *installed && !chosen; i++)
        chosen = setlocale(LC_ALL, installed[i]);
    if (!chosen)
        printf("SKIP: no locale here writes numbers with commas\n");
    return chosen;
}

#endif
