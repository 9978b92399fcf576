/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another crypto provider for a group in service, in two parts: server_provider_prepare() does all that can fail and
 * changes nothing that is served, server_provider_take() cannot fail.
 */
#pragma once

#include <stdbool.h>

#include "model/live/live_group.h"
#include "server/server.h"

struct provider_change;

/* Whether `next` names another provider or device than the group has. */
bool server_provider_differs(const struct served_group *g, const struct crypto_config *next);

/*
 * Opens the provider that a group asks for and compares it with the ciphers of its modems. Returns NULL with one line in
 * `why` where there is none, or one that does not do them.
 */
struct crypto_provider *server_provider_check(struct server *s, const struct service_group *sg,
					      char why[LIVE_LINE]);

/*
 * Opens queues of the provider and makes the keys of `to_be`: the group, by slot, as it will be when the change is taken;
 * it outlives the change. Returns NULL with one line in `why` when memory is short or the device has no more queues or
 * sessions: then nothing was changed.
 */
struct provider_change *server_provider_prepare(struct server *s, unsigned group,
						const struct crypto_config *next,
						const struct service_group *to_be,
						char why[LIVE_LINE]);

/*
 * From its return on, the new provider has all frames of the group; frees the change. No frame is lost, and frames keep
 * their order: they wait in the group until the old provider has returned what it has. The group has become what it was
 * prepared for, and what earlier changes removed has left. Cannot fail.
 */
void server_provider_take(struct provider_change *c);

/* Frees one that is not to be made: nothing was changed. NULL is harmless. */
void server_provider_abandon(struct provider_change *c);
