/* SPDX-License-Identifier: Apache-2.0 */
/* What normalization makes of a Merge: its attribute says for each value for which output of the Switches it
 * arrives, and a last input what these decide by; without that input they are no sides of one conditional. */
#ifndef CONVERTERS_TENSORFLOW_SCHEMA_MERGE_SIDES_H
#define CONVERTERS_TENSORFLOW_SCHEMA_MERGE_SIDES_H

#define MERGE_SIDES "__sides"
#define NEVER_ALIVE (-1) /* the side of values that never arrive */

#endif
