/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies a configuration to a running server. For the control thread alone. */
#pragma once

#include "model/server_config.h"
#include "server/server.h"

#define RECONFIGURE_LINE 1536

/*
 * Applies the differences: changes in groups that stay, groups to add, groups to remove. Groups are
 * matched by ID. `next` must be valid and need not outlive the call. Without `force`, refuses to undo
 * changes that requests have made (unsaved.h). Returns true with a summary in `line`, or false with
 * the reason; then nothing has changed.
 */
bool server_reconfigure(struct server *s, const struct server_config *next, bool force,
			char line[RECONFIGURE_LINE]);
