/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of groups in service at one moment, to be written as JSON later, in pieces. A group is
 * copied when it is written, some objects at a time; before it changes, the rest of it is copied.
 * So no step takes as long as a copy of all groups.
 */
#pragma once

#include <jansson.h>

#include "model/live/live_group.h"

struct snapshot;

/* NULL if memory is short. `secrets` includes traffic encryption keys. */
struct snapshot *snapshot_create(bool secrets);

/* Appends a group. From now on, call snapshot_copy() before the group changes or ends. Returns
 * false if memory is short. */
bool snapshot_add(struct snapshot *s, const struct live_group *l);

/* Copies the rest of a group that was added; no effect on other groups. If memory is short,
 * snapshot_write() will fail. */
void snapshot_copy(struct snapshot *s, const struct live_group *l);

/*
 * Copies some of the next objects or writes the next object. The result is a list of groups as
 * group_json() has them. Returns false when nothing is left or `failed` is set: no memory, or an
 * error of `write`.
 */
bool snapshot_write(struct snapshot *s, json_dump_callback_t write, void *to, bool *failed);

/* Frees some objects that were not written and wipes their keys; the last call frees the snapshot.
 * Returns whether it is freed; call it again until then. `s` may be NULL. */
bool snapshot_free_part(struct snapshot *s);

/* Frees all of it at once. */
void snapshot_free(struct snapshot *s);
