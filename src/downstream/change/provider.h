/* SPDX-License-Identifier: BSD-3-Clause */
/* Another crypto provider for all frames, while packets are on their way. */
#pragma once

#include <stdbool.h>

#include "downstream/downstream.h"
#include "pipeline/change.h"

struct ds_provider_change {
	struct downstream *d;
	const struct service_group *sg; /* as it is in service */
	struct crypto_queue *queue;
	void *const *schedules; /* of the new provider, one for each modem */
	struct change_cursor cursor; /* 0 */
};

/*
 * For struct worker_task of the lower MAC; `change` is the struct ds_provider_change. Until it returns true, the lower MAC takes
 * nothing over: packets wait in the scheduler for what the old provider has to be through. So frames keep their
 * order. A step takes no more than 50 us.
 */
bool ds_provider_change(void *change);
