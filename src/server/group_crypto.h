/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group has of its crypto provider: a queue a direction, and the schedules of its modems' keys. */
#pragma once

#include "crypto/crypto.h"
#include "model/service_group.h"

struct group_crypto {
	struct crypto_provider *provider; /* the server's */
	struct crypto_queue *queues[2]; /* by enum crypto_direction */
	void **schedules; /* DOWNLINK, one for each place of a modem; NULL: none is there */
	void **up_schedules; /* UPLINK, two for each; NULL without an upstream */
};

/* Queues, and the keys of all modems of `sg`. Returns 0, or -1 after a message; to be freed by group_crypto_free() in
 * either case. */
int group_crypto_make(struct group_crypto *c, struct crypto_provider *provider,
		      const struct service_group *sg);

/* `sg` has the ciphers that the keys are of. What the queues still have is lost with them. Harmless on a zeroed one. */
void group_crypto_free(struct group_crypto *c, const struct service_group *sg);
