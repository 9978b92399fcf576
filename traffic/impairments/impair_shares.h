/* SPDX-License-Identifier: BSD-3-Clause */
/* The requested impairments and their shares. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum impairment {
#define IMPAIRMENT(enumerator, name, target, meaning) IMPAIR_##enumerator,
#include "impairments/impairment.def"
#undef IMPAIRMENT
	IMPAIRMENTS, /* no impairment */
};

/* What an impairment hits. At most one hits each packet, burst, frame, MAP or modem. */
enum impair_target {
	IMPAIR_PACKET,
	IMPAIR_BURST,
	IMPAIR_FRAME,
	IMPAIR_ACCESS, /* MAPs, requests and scheduled modems */
};

struct impair_shares {
	double share[IMPAIRMENTS]; /* 0..1 */
};

const char *impair_name(enum impairment kind);
enum impair_target impair_target(enum impairment kind);

/* Whether any impairment is requested. */
bool impair_any(const struct impair_shares *shares);

/* Whether any impairment of this target is requested. */
bool impair_any_of(const struct impair_shares *shares, enum impair_target target);

/*
 * Parses KIND=SHARE[,KIND=SHARE..], a share as 0.1% or 0.001. Returns false with a message in `error`
 * (`size` bytes; IMPAIR_ERROR suffices) for a name that is unknown or given twice, a malformed share, or a
 * sum above 1. The message for an unknown name lists the known ones.
 */
#define IMPAIR_ERROR 512
bool impair_parse(const char *text, struct impair_shares *out, char *error, size_t size);
