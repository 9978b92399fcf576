/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/docsis_clock.h"

#include <time.h>

#include "model/grants/grants_times.h"
#include "pipeline/clock.h"

void docsis_clock_init(struct docsis_clock *c) {
	*c = (struct docsis_clock){.look_at = UINT64_MAX};
}

static uint64_t system_now(void) {
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

void docsis_clock_start(struct docsis_clock *c, uint64_t now) {
	c->ahead = system_now() - now;
	c->look_at = now + DOCSIS_CLOCK_LOOK_NS;
}

bool docsis_clock_look(struct docsis_clock *c, uint64_t now) {
	return docsis_clock_follow(c, now, system_now());
}

bool docsis_clock_follow(struct docsis_clock *c, uint64_t now, uint64_t system) {
	int64_t behind = (int64_t)(system - (now + c->ahead));
	int64_t most = (int64_t)((now + DOCSIS_CLOCK_LOOK_NS - c->look_at) / DOCSIS_CLOCK_SLEW);
	bool jump = behind > DOCSIS_CLOCK_JUMP_NS || behind < -DOCSIS_CLOCK_JUMP_NS;

	c->look_at = now + DOCSIS_CLOCK_LOOK_NS;
	if (!jump && behind > most)
		behind = most;
	else if (!jump && behind < -most)
		behind = -most;
	c->ahead += (uint64_t)behind;
	c->jumps += jump;
	return jump;
}

uint64_t docsis_clock_time(const struct docsis_clock *c, uint64_t now) {
	return grants_samples(now + c->ahead);
}

uint64_t docsis_clock_when(const struct docsis_clock *c, uint64_t samples) {
	uint64_t at = grants_ns(samples);

	return at > c->ahead ? at - c->ahead : 0;
}
