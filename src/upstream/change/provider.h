/* SPDX-License-Identifier: BSD-3-Clause */
/* Another crypto provider for all frames, while they are on their way. */
#pragma once

#include <stdbool.h>

#include "pipeline/change.h"
#include "upstream/upstream.h"

struct us_provider_change {
	struct upstream *u;
	struct crypto_queue *queue;
	void *const *schedules; /* of the new provider, two for each modem */
	struct change_cursor cursor; /* 0 */
};

/*
 * For struct worker_task of the upstream; `change` is the struct us_provider_change. Until it returns true no frame is taken out
 * of its segments: they wait for what the old provider has to be through. Nothing may be leaving that an earlier change
 * removed: replaced keys would be the old provider's. A step takes no more than 50 us.
 */
bool us_provider_change(void *change);
