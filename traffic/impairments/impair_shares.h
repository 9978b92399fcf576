/* SPDX-License-Identifier: BSD-3-Clause */
/* Which impairments were asked for, and how much of each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum impairment {
#define IMPAIRMENT(enumerator, name, target, meaning) IMPAIR_##enumerator,
#include "impairments/impairment.def"
#undef IMPAIRMENT
	IMPAIRMENTS, /* none */
};

/* What is hit; each packet, burst and frame by at most one. */
enum impair_target {
	IMPAIR_PACKET,
	IMPAIR_BURST,
	IMPAIR_FRAME,
	IMPAIR_ACCESS, /* MAPs, requests and modems that wait for their grants */
};

struct impair_shares {
	double share[IMPAIRMENTS]; /* 0..1 */
};

const char *impair_name(enum impairment kind);
enum impair_target impair_target(enum impairment kind);

/* Whether any is asked for. */
bool impair_any(const struct impair_shares *shares);

/* Whether any is asked for that hits such a target. */
bool impair_any_of(const struct impair_shares *shares, enum impair_target target);

/*
 * Reads KIND=SHARE[,KIND=SHARE..], a share as 0.1% or 0.001. Returns false with a message in `error`
 * for what is unknown (it lists what is not; IMPAIR_ERROR bytes have room for that), given twice, not a
 * share, or more than all together.
 */
#define IMPAIR_ERROR 512
bool impair_parse(const char *text, struct impair_shares *out, char *error, size_t size);
