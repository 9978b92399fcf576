/* SPDX-License-Identifier: BSD-3-Clause */
/* What providers are to do, plainly: ciphers by their tables, a frame from its beginning to its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/crypto.h"

struct model_frame {
	enum cipher cipher;
	const uint8_t *key, *iv;
	uint8_t *data;
	unsigned size, pdu, clear, parts;
};

/* Does to the frame what a provider does. Returns whether it is good; if not, its CRC is wrong or has no room. */
bool model_frame(enum crypto_direction direction, const struct model_frame *f);
