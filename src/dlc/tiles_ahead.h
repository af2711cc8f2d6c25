/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles made ahead: a second thread permutes the next tiles of payloads while the first writes those before. Writing
 * into the page cache takes about as long as permuting, so both together take about half the time. */
#ifndef DLC_TILES_AHEAD_H
#define DLC_TILES_AHEAD_H

#include "dlc/write_container.h"
#include "ir/tiles.h"

struct tiles_ahead;

/* Starts the thread where two are asked for, or where there is a choice and a processor that is idle, and enough to
 * permute; NULL otherwise, or when it cannot be started. mapped: as view_tiles_start takes it. The payloads and their
 * sources must stay until the end. */
struct tiles_ahead *tiles_ahead_begin(const struct dlc_writing *w, const struct dlc_params *params, uint64_t mapped);
/* The next tile, in the order of the payloads and of the tiles of each, of all that are not in order. The tile before
 * is given back. ODLC_ERR_IO, without a diagnostic: its source cannot be read; no more may be asked for then. */
odlc_status tiles_ahead_next(struct tiles_ahead *ahead, struct made_tile *out) MUST_USE;
/* Ends the thread, whether all tiles were taken or not. NULL is allowed. */
void tiles_ahead_end(struct tiles_ahead *ahead);

#endif
