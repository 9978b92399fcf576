/* SPDX-License-Identifier: BSD-3-Clause */
/* A key of a cipher that takes two operations a frame: cryptodev_steps.c. */
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
