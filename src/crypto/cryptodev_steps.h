/* SPDX-License-Identifier: BSD-3-Clause */
/* Ciphers with two operations per frame: their keys and operations. */
#pragma once

#include "crypto/cryptodev_parts.h"

/* The two sessions of a key. */
struct step_key {
	void *blocks; /* CBC, in the direction of the key */
	void *residual; /* CTR, which encrypts in both directions */
};

/* Takes ownership of both sessions; NULL is one that could not be created. Returns NULL without
 * a session or memory. */
struct step_key *cryptodev_step_key_make(struct cryptodev *c, struct step_key key);

/* Frees the sessions, but not the memory of the key. */
void cryptodev_step_key_end(struct cryptodev *c, const struct step_key *key);

/* Fills in the first operation of a frame; the caller has set its other fields. */
void cryptodev_step_first(const struct cryptodev_queue *q, struct rte_crypto_op *op,
			  const struct crypto_frame *f, struct slot *p);

/* Prepares the second operation when the first has returned. cryptodev_steps_submit() submits it. */
void cryptodev_step_next(struct cryptodev_queue *q, struct rte_crypto_op *op, struct slot *p);
void cryptodev_steps_submit(struct cryptodev_queue *q);
