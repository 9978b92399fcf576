/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/counters.h"

static const char *const drop_names[] = {
#define DROP(id, name, meaning) name,
#include "pipeline/drop.def"
#undef DROP
};

static const char *const drop_meanings[] = {
#define DROP(id, name, meaning) meaning,
#include "pipeline/drop.def"
#undef DROP
};

static const char *const counter_names[] = {
#define COUNTER(id, name, meaning) name,
#include "pipeline/counter.def"
#undef COUNTER
};

static const char *const counter_meanings[] = {
#define COUNTER(id, name, meaning) meaning,
#include "pipeline/counter.def"
#undef COUNTER
};

const char *drop_name(enum drop_reason reason) {
	return drop_names[reason];
}

const char *drop_meaning(enum drop_reason reason) {
	return drop_meanings[reason];
}

const char *counter_name(enum counter counter) {
	return counter_names[counter];
}

const char *counter_meaning(enum counter counter) {
	return counter_meanings[counter];
}

void counters_add(struct counters *into, const struct counters *from) {
	for (unsigned i = 0; i < DROP_REASONS; i++)
		into->drops[i] += from->drops[i];
	for (unsigned i = 0; i < COUNTERS; i++)
		into->values[i] += from->values[i];
}

uint64_t counters_dropped(const struct counters *c) {
	uint64_t sum = 0;

	for (unsigned i = 0; i < DROP_REASONS; i++)
		sum += c->drops[i];
	return sum;
}
