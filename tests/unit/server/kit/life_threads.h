/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A life_bench whose workers run as threads: the calling thread has the traffic, another one is the control thread. What holds
 * at any speed is asserted.
 */
#pragma once

#include "life_bench.h"

#define LIFE_DRAIN_MS 20000 /* the longest that is waited for what comes at once */

/* What the control thread does, and what came of it. */
struct life_script {
	void (*turn)(struct life_script *s, unsigned turn);
	unsigned turns;
	const struct service_group
		*comes; /* has traffic, whether it is there or not; may be NULL */
	const char *failed; /* NULL: all went well */
	bool done;
};

/* For a turn: notes what is wrong, as only the calling thread may fail. */
void life_check(struct life_script *s, bool good, const char *what);

/*
 * Traffic of the first group until the script is played, and until all of it has come. Fails where a turn has, or where a packet
 * of the first group is lost; life_bench_take() looks at their order.
 */
void life_play(struct life_bench *b, struct life_script *s);
