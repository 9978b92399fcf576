/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What groups in service are at one moment, to be written as JSON later and piece by piece. A group is copied when it is to be
 * written, some objects at a time, or the rest of it before it changes: no step takes as long as copying all.
 */
#pragma once

#include <jansson.h>

#include "model/live/live_group.h"

struct snapshot;

/* NULL: no memory. `secrets`: with traffic encryption keys. */
struct snapshot *snapshot_create(bool secrets);

/* Adds a group behind those before it. From now on, snapshot_copy() must be called before the group changes or ends. Returns
 * false without memory. */
bool snapshot_add(struct snapshot *s, const struct live_group *l);

/* Copies what is not copied yet of a group that was added; any other group is left alone. Without memory, snapshot_write() will fail. */
void snapshot_copy(struct snapshot *s, const struct live_group *l);

/* Copies some of the next objects or writes the next object; all together are a list with the groups as group_json() has them. Returns
 * false when there was none left, or `failed` was set: no memory. */
bool snapshot_write(struct snapshot *s, json_dump_callback_t write, void *to, bool *failed);

/* Frees some objects that were not written, whose keys it wipes, and with the last ones the snapshot. Returns whether it is
 * freed; until then, it is to be called again. NULL is harmless, and freed. */
bool snapshot_free_part(struct snapshot *s);

/* Frees all of it at once. */
void snapshot_free(struct snapshot *s);
