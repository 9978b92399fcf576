/* SPDX-License-Identifier: BSD-3-Clause */
/* A cipher that takes two operations a frame: its keys, and the operations. */
#pragma once

#include "crypto/cryptodev_parts.h"

/* Two sessions. */
struct step_key {
	void *blocks; /* CBC, of the key's direction */
	void *rest; /* CTR, which encrypts in both */
};

/* Takes over both sessions; a NULL is one that could not be made. NULL when there is none, or no memory. */
struct step_key *cryptodev_step_key_make(struct cryptodev *c, struct step_key key);

/* Frees the sessions, and not the memory of the key. */
void cryptodev_step_key_end(struct cryptodev *c, const struct step_key *key);

/* The first of the operations that a frame of a stepwise cipher takes; all else of it is filled. */
void cryptodev_step_first(const struct cryptodev_queue *q, struct rte_crypto_op *op,
			  const struct crypto_frame *f, struct place *p);

/* The second one, as the first has come back: it is given to the device by cryptodev_steps_give(). */
void cryptodev_step_next(struct cryptodev_queue *q, struct rte_crypto_op *op, struct place *p);
void cryptodev_steps_give(struct cryptodev_queue *q);
