/* SPDX-License-Identifier: BSD-3-Clause */
/* Another crypto provider for a group in service. */
#pragma once

#include <stdbool.h>

#include "model/live/live_group.h"
#include "server/server.h"

/* Whether `next` names another provider or device than the group has. */
bool server_provider_differs(const struct served_group *g, const struct crypto_config *next);

/*
 * Opens the provider that a group asks for and holds it against the ciphers of its modems. Returns NULL with one line in
 * `why` where there is none, or one that does not do them.
 */
struct crypto_provider *server_provider_check(struct server *s, const struct service_group *sg,
					      char why[LIVE_LINE]);

/*
 * The group's frames go to that provider from now on. Nothing is lost, and frames keep their order: they wait where they are
 * until the old one is through with what it has. Returns false with one line in `why` when memory or the device has
 * no place for all keys: then it is as it was. What an earlier change removed has left (server_changes_settle()).
 */
bool server_provider_change(struct server *s, unsigned group, const struct crypto_config *next,
			    char why[LIVE_LINE]);
