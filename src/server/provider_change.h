/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the crypto provider of a group in service. server_provider_prepare() does everything that
 * can fail and changes nothing in service; server_provider_apply() cannot fail. */
#pragma once

#include <stdbool.h>

#include "model/live/live_group.h"
#include "server/server.h"

struct provider_change;

/* Whether `next` names another provider or device than the group uses. */
bool server_provider_differs(const struct served_group *g, const struct crypto_config *next);

/* Opens the provider that a group asks for and checks that it supports the ciphers of the modems.
 * Returns NULL with one line in `why` if not. */
struct crypto_provider *server_provider_check(struct server *s, const struct service_group *sg,
					      char why[LIVE_LINE]);

/*
 * Opens queues of the provider and makes the keys of `to_be`, which is the group as it will be when
 * the change is applied; it must outlive the change. Returns NULL with one line in `why` if memory,
 * queues or sessions run out; then nothing has changed.
 */
struct provider_change *server_provider_prepare(struct server *s, unsigned group,
						const struct crypto_config *next,
						const struct service_group *to_be,
						char why[LIVE_LINE]);

/*
 * Moves all frames of the group to the new provider and frees the change. No frame is lost or
 * reordered: frames wait in the group until the old provider has returned the earlier ones. The
 * group must have become `to_be`, and earlier changes must have retired. Cannot fail.
 */
void server_provider_apply(struct provider_change *c);

/* Frees a change that is not applied; nothing has changed. `c` may be NULL. */
void server_provider_abandon(struct provider_change *c);
