/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_fair.h"

#include "test.h"

#include <string.h>

struct fair {
	unsigned items;
	double limit[FAIR_MODEMS]; /* own rate; 0: none */
	double room[1 << FAIR_MODEMS]; /* what each set of them can reach */
	double share[FAIR_MODEMS];
	bool done[FAIR_MODEMS];
};

static double share_at(const struct fair *f, unsigned i, double level) {
	if (f->done[i])
		return f->share[i];
	return f->limit[i] > 0 && f->limit[i] < level ? f->limit[i] : level;
}

static double load_of(const struct fair *f, unsigned set, double level) {
	double sum = 0;

	for (unsigned i = 0; i < f->items; i++) {
		if (set >> i & 1)
			sum += share_at(f, i, level);
	}
	return sum;
}

static bool fits(const struct fair *f, double level) {
	for (unsigned set = 1; set < 1u << f->items; set++) {
		if (load_of(f, set, level) > f->room[set] * (1 + 1e-9))
			return false;
	}
	return true;
}

/* Who can grow no more at this level? Returns how many can. */
static unsigned stop_full(struct fair *f, double level) {
	bool full[FAIR_MODEMS] = {false};
	unsigned growing = 0;

	for (unsigned set = 1; set < 1u << f->items; set++) {
		if (load_of(f, set, level) < f->room[set] * (1 - 1e-6))
			continue;
		for (unsigned i = 0; i < f->items; i++)
			full[i] |= set >> i & 1;
	}
	for (unsigned i = 0; i < f->items; i++) {
		f->share[i] = share_at(f, i, level);
		f->done[i] |= full[i] || (f->limit[i] > 0 && f->limit[i] <= level);
		growing += !f->done[i];
	}
	return growing;
}

static void fill_up(struct fair *f) {
	do {
		double low = 0, high = 1e12;

		for (int i = 0; i < 80; i++) {
			double middle = (low + high) / 2;

			if (fits(f, middle))
				low = middle;
			else
				high = middle;
		}
		if (stop_full(f, low) == 0)
			return;
	} while (true);
}

/* What the channels bring that any modem of the set can reach. */
static double room_of(const struct rig *r, unsigned set) {
	bool reached[SCHEDULER_MAX_CHANNELS] = {false};
	double room = 0;

	for (unsigned i = 0; set >> i > 0; i++) {
		const struct scheduler_group *g = &r->group_configs[r->flow_configs[i].group];

		for (size_t k = 0; set >> i & 1 && k < g->channel_count; k++)
			reached[g->channels[k]] = true;
	}
	for (size_t k = 0; k < r->config.channel_count; k++)
		room += reached[k] ? (double)r->channel_configs[k].rate : 0;
	if (r->config.rate_limit > 0 && room > (double)r->config.rate_limit)
		room = (double)r->config.rate_limit;
	return room;
}

unsigned fair_shares(const struct rig *r, double *shares) {
	static struct fair fair;
	struct fair *f = &fair;

	memset(f, 0, sizeof(*f));
	f->items = (unsigned)r->config.flow_count;
	assert_true(f->items <= FAIR_MODEMS);
	for (unsigned i = 0; i < f->items; i++)
		f->limit[i] = (double)r->flow_configs[i].sustained.rate;
	for (unsigned set = 1; set < 1u << f->items; set++)
		f->room[set] = room_of(r, set);
	fill_up(f);
	memcpy(shares, f->share, f->items * sizeof(*shares));
	return f->items;
}
