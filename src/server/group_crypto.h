/* SPDX-License-Identifier: BSD-3-Clause */
/* A group's part of its crypto provider: one queue per direction and the key schedules of its
 * modems. */
#pragma once

#include "crypto/crypto.h"
#include "model/service_group.h"

struct group_crypto {
	struct crypto_provider *provider; /* owned by the server */
	struct crypto_queue *queues[2]; /* indexed by enum crypto_direction */
	void **schedules; /* DOWNLINK, one per modem slot; NULL: the slot is free */
	void **up_schedules; /* UPLINK, two per modem slot; NULL without an upstream */
};

/* Opens the queues and makes the keys of all modems of `sg`. Returns 0, or -1 and logs the reason.
 * The caller calls group_crypto_free() in either case. */
int group_crypto_make(struct group_crypto *c, struct crypto_provider *provider,
		      const struct service_group *sg);

/* `sg` must have the ciphers of the keys. Frames that are still in the queues are lost. Accepts a
 * zeroed struct. */
void group_crypto_free(struct group_crypto *c, const struct service_group *sg);
