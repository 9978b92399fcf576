/* SPDX-License-Identifier: BSD-3-Clause */
/* A server becomes what a configuration says, while it runs: by the control thread alone. */
#pragma once

#include "model/server_config.h"
#include "server/server.h"

#define RECONFIGURE_LINE 512

/*
 * What differs in each group that stays, groups that come, groups that go: groups are matched by their ids. `next`
 * was loaded and found good; it need not live on. Returns true with what was done in `line`, or false with what cannot
 * be done and why: then nothing was changed.
 */
bool server_reconfigure(struct server *s, const struct server_config *next,
			char line[RECONFIGURE_LINE]);
