/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the crypto provider of all frames in service. */
#pragma once

#include <stdbool.h>

#include "pipeline/change.h"
#include "upstream/upstream.h"

struct us_provider_change {
	struct upstream *u;
	struct crypto_queue *queue;
	void *const *schedules; /* of the new provider, two per modem */
	struct change_cursor cursor; /* the caller sets it to 0 */
};

/*
 * Step for struct worker_task of the upstream; `change` is a struct us_provider_change. A step
 * takes at most 50 us.
 *
 * Until it returns true, segments wait until the old provider has returned its frames. No earlier
 * change may be retiring, as its replaced keys would belong to the old provider.
 */
bool us_provider_change(void *change);
