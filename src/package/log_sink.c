/* SPDX-License-Identifier: Apache-2.0 */
#include "package/log_sink.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGES = 8, LENGTH = 256 };

static _Thread_local struct {
    bool open;
    size_t count; /* of all messages, those without room included */
    struct {
        QnnLog_Level_t level;
        char text[LENGTH];
    } kept[MESSAGES];
} sink;

void log_sink_callback(const char *format, QnnLog_Level_t level, uint64_t timestamp, va_list args)
{
    (void)timestamp;
    if (!sink.open || !format)
        return;
    if (sink.count < MESSAGES) {
        char *text = sink.kept[sink.count].text;
        vsnprintf(text, LENGTH, format, args);
        text[strcspn(text, "\r\n")] = '\0';
        sink.kept[sink.count].level = level;
    }
    sink.count++;
}

void log_sink_begin(void)
{
    sink.open = true;
    sink.count = 0;
}

void log_sink_end(struct diags *diags, const struct odlc_diag *place)
{
    const size_t count = sink.count;
    sink.open = false;
    for (size_t i = 0; i < count && i < MESSAGES; i++) {
        const char *text = sink.kept[i].text;
        if (sink.kept[i].level <= QNN_LOG_LEVEL_WARN)
            diag_warn(diags, place, "package-log", "the package says: %s", text);
        else
            diag_note(diags, place, "package-log", "the package says: %s", text);
    }
    if (count > MESSAGES)
        diag_note(diags, place, "package-log", "%zu more messages of the package are left out", count - MESSAGES);
}
