/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the crypto provider of all frames while packets are pending. */
#pragma once

#include <stdbool.h>

#include "downstream/downstream.h"
#include "pipeline/change.h"

struct ds_provider_change {
	struct downstream *d;
	const struct service_group *sg; /* as in service */
	struct crypto_queue *queue;
	void *const *schedules; /* of the new provider, by modem */
	struct change_cursor cursor; /* initially 0 */
};

/*
 * For struct worker_task of the lower MAC; `change` is the struct ds_provider_change. Until it
 * returns true, the lower MAC dequeues nothing. Packets wait in the scheduler until the old
 * provider has completed its frames, so that frames keep their order. A step takes at most 50 us.
 */
bool ds_provider_change(void *change);
