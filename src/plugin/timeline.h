/* SPDX-License-Identifier: Apache-2.0 */
/* The units of the simulated target. */
#ifndef PLUGIN_TIMELINE_H
#define PLUGIN_TIMELINE_H

/* Threads with vectors, and matrix units: what a target has differs; these are the host's assumption. */
enum { TIMELINE_HVX = 4, TIMELINE_HMX = 1 };

#endif
