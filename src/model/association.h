/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation of a security association's key that downstream frames have. */
#pragma once

#include <string.h>

#include "model/service_group.h"

#define ASSOCIATION_SEQUENCES 16 /* numbers of keys; after the last comes 0 */

static inline const uint8_t *association_key(const struct security_association *sa) {
	return sa->use_next_key ? sa->next_key : sa->key;
}

static inline const uint8_t *association_iv(const struct security_association *sa) {
	return sa->use_next_key ? sa->next_iv : sa->iv;
}

static inline uint8_t association_sequence(const struct security_association *sa) {
	return (uint8_t)((sa->key_sequence + sa->use_next_key) % ASSOCIATION_SEQUENCES);
}
