/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler's whole life. The input steers its configuration, arrivals, dequeues, the clock,
 * drains and changes, good ones and broken ones (scheduler_steer.h); after each step all must be as
 * docs/scheduler.md has it (scheduler_watch.h). Packets are blocks of memory of their own, and
 * arrays have exactly the size that the scheduler is told, so that the address sanitizer sees a
 * packet that comes out twice and every entry too far.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "scheduler_steer.h"
#include "scheduler_watch.h"

#define ACTIONS 300
#define STEPS 256 /* of the clock, for each packet that waits */
#define SECOND 1000000000ull
#define HOUR (3600 * SECOND) /* a longer jump counts as one of an hour */

/* What a configuration is made of. */
struct plan {
	struct scheduler_config config;
	struct scheduler_channel channels[SCHEDULER_MAX_CHANNELS];
	struct scheduler_group groups[WATCH_GROUPS];
	uint32_t *members[WATCH_GROUPS];
	struct scheduler_modem modems[WATCH_MODEMS];
	struct scheduler_flow flows[WATCH_FLOWS];
};

static struct steer in;
static struct watch watch;
static uint64_t clock_ns; /* what the caller takes for the time */
static bool far_gone; /* by_the_hour() was */

static void *exactly(size_t count, size_t size) {
	void *memory = calloc(count > 0 ? count : 1, size);

	CHECK(memory != NULL);
	return memory;
}

/* As it is good. */
static void plan_make(struct plan *p) {
	static const uint32_t limits[8] = {500, 64, 8, 2, 1, 1000, 40, 100};
	uint8_t counts = steer_byte(&in), more = steer_byte(&in);

	in.channel_count = (counts & 7) == 7 ? SCHEDULER_MAX_CHANNELS : 1u + (counts & 7);
	in.group_count = 1 + (counts >> 3 & 3);
	in.modem_count = 1 + (counts >> 5 & 3);
	p->config = (struct scheduler_config){
		.channels = p->channels,
		.channel_count = in.channel_count,
		.groups = p->groups,
		.group_count = in.group_count,
		.modems = p->modems,
		.modem_count = in.modem_count,
		.flows = p->flows,
		.flow_count = 1 + more % WATCH_FLOWS,
		.packet_limit = limits[more >> 5],
		.seed = more,
	};
	if ((counts & 0x80) != 0)
		p->config.rate_limit = steer_rate(&in);
	for (uint32_t i = 0; i < in.channel_count; i++)
		p->channels[i] = i < 8 ? steer_channel(&in) : p->channels[i % 8];
	for (uint32_t i = 0; i < in.group_count; i++)
		p->members[i] = steer_group(&in, &p->groups[i]);
	for (uint32_t i = 0; i < in.modem_count; i++)
		p->modems[i].aggregate = steer_limit(&in);
	for (uint32_t i = 0; i < p->config.flow_count; i++)
		p->flows[i] = steer_flow(&in);
}

/* Something in it becomes none. */
static void plan_spoil(struct plan *p) {
	uint8_t what = steer_byte(&in);

	switch (what & 15) {
	case 0: p->config.channel_count = 0; break;
	case 1: p->config.channel_count = SCHEDULER_MAX_CHANNELS + 1; break;
	case 2: p->config.group_count = 0; break;
	case 3: p->config.modem_count = 0; break;
	case 4: p->config.flow_count = 0; break;
	case 5: p->config.packet_limit = 0; break;
	case 6: p->config.rate_limit = steer_bad_rate(&in); break;
	case 7: p->channels[in.channel_count - 1].rate = steer_bad_rate(&in); break;
	case 8: p->channels[0].rate = steer_bad_rate(&in); break;
	case 9: p->modems[in.modem_count - 1].aggregate.rate = steer_bad_rate(&in); break;
	case 10: p->modems[0].aggregate = (struct scheduler_limit){1000000, 0}; break;
	case 11: steer_spoil_group(&in, &p->groups[0], p->members[0]); break;
	default: steer_spoil_flow(&in, &p->flows[what % p->config.flow_count]);
	}
}

/* All that was told at the creation, of which the scheduler has copies. */
static void plan_watch(const struct plan *p) {
	memset(&watch, 0, sizeof(watch));
	watch.channel_count = in.channel_count;
	watch.group_count = in.group_count;
	watch.modem_count = in.modem_count;
	watch.flow_count = (uint32_t)p->config.flow_count;
	watch.packet_limit = p->config.packet_limit;
	watch_set_limit(&watch, p->config.rate_limit);
	for (uint32_t i = 0; i < watch.channel_count; i++)
		watch_set_channel(&watch, i, &p->channels[i]);
	for (uint32_t i = 0; i < watch.group_count; i++)
		watch_set_group(&watch, i, &p->groups[i]);
	for (uint32_t i = 0; i < watch.modem_count; i++)
		watch_set_modem(&watch, i, &p->modems[i]);
	for (uint32_t i = 0; i < watch.flow_count; i++) {
		watch.flows[i].last = &watch.flows[i].first;
		watch_set_flow(&watch, i, &p->flows[i]);
	}
}

/* A group without a channel is one that is not in use. */
static bool group_is_taken(uint32_t i, const struct scheduler_group *g) {
	for (uint32_t f = 0; f < watch.flow_count; f++) {
		if (watch.flows[f].set.group == i)
			return false;
	}
	return g->channel_count == 0;
}

static void create(void) {
	struct plan *p = exactly(1, sizeof(*p));
	const char *why = NULL;
	bool broken;

	plan_make(p);
	broken = (steer_byte(&in) & 0xc0) == 0xc0;
	plan_watch(p);
	if (broken)
		plan_spoil(p);
	if (broken && group_is_taken(0, &p->groups[0])) {
		broken = false;
		watch_set_group(&watch, 0, &p->groups[0]);
	}
	watch.s = scheduler_create(&p->config, &why);
	CHECK((watch.s == NULL) == broken && (why != NULL) == broken);
	for (uint32_t i = 0; i < in.group_count; i++)
		free(p->members[i]);
	free(p);
}

static void arrive(void) {
	uint8_t how = steer_byte(&in), flow = steer_byte(&in);
	unsigned n = how & 0x80 ? how & 0x3f : how & 3;
	struct scheduler_arrival *arrivals = exactly(n, sizeof(*arrivals));
	enum scheduler_verdict *verdicts = exactly(n, sizeof(*verdicts));
	uint32_t bytes = steer_size(&in);
	unsigned queued = 0, taken;

	for (unsigned i = 0; i < n; i++) {
		struct watch_packet *p = exactly(1, sizeof(*p));

		p->flow = (flow & 0x80 ? flow + i : flow) % watch.flow_count;
		p->bytes = flow & 0x40 ? steer_size(&in) : bytes;
		arrivals[i] = (struct scheduler_arrival){p, p->flow, p->bytes};
	}
	watch_time(&watch, clock_ns);
	taken = scheduler_enqueue(watch.s, clock_ns, arrivals, n, verdicts);
	for (unsigned i = 0; i < n; i++) {
		queued += verdicts[i] == SCHEDULER_QUEUED;
		watch_verdict(&watch, &arrivals[i], verdicts[i]);
	}
	CHECK(taken == queued);
	free(arrivals);
	free(verdicts);
}

/*
 * Returns how many came out. Before scheduler_next() there is nothing. It is UINT64_MAX also where
 * something waits, but for a time that lies behind the clock's last moment.
 */
static unsigned depart(unsigned n) {
	struct scheduler_grant *grants = exactly(n, sizeof(*grants));
	uint64_t next = scheduler_next(watch.s), latest = watch.now;
	unsigned done;

	if (watch.held == 0)
		CHECK(next == UINT64_MAX);
	else
		CHECK(next < UINT64_MAX || watch_patience(&watch) >= UINT64_MAX - latest);
	watch_time(&watch, clock_ns);
	done = scheduler_dequeue(watch.s, clock_ns, grants, n);
	CHECK(done <= n && (done == 0 || next <= watch.now));
	for (unsigned i = 0; i < done; i++)
		watch_grant(&watch, &grants[i]);
	free(grants);
	return done;
}

static void drain(uint32_t flow, unsigned n) {
	void **packets = exactly(n, sizeof(*packets));
	uint32_t waiting = watch.held;
	unsigned done;

	if (flow < watch.flow_count) {
		waiting = watch.flows[flow].counts.waiting_packets;
		done = scheduler_drain_flow(watch.s, flow, packets, n);
	} else {
		done = scheduler_drain(watch.s, packets, n);
	}
	CHECK(done == (n < waiting ? n : waiting));
	for (unsigned i = 0; i < done; i++) {
		CHECK(flow >= watch.flow_count ||
		      ((struct watch_packet *)packets[i])->flow == flow);
		watch_drained(&watch, packets[i]);
	}
	free(packets);
}

/* So far that the scheduler begins to count anew, which jumps do not bring about. As it takes a
 * while, once an input. */
static void by_the_hour(void) {
	if (far_gone)
		return;
	far_gone = true;
	for (int i = 0; i < 24 * 250; i++) {
		clock_ns = clock_ns < UINT64_MAX - HOUR ? clock_ns + HOUR : UINT64_MAX;
		watch_time(&watch, clock_ns);
		CHECK(scheduler_dequeue(watch.s, clock_ns, NULL, 0) == 0);
	}
}

static void step_clock(uint8_t how) {
	static const uint64_t steps[16] = {
		1,	  100,	  1000,	       4096, 30000,	SCHEDULER_LEAD_NS, 1000000,
		16000000, SECOND, 60 * SECOND, HOUR, 24 * HOUR, 365 * 24 * HOUR,   0,
		0,	  0,
	};
	uint64_t step = steps[how & 15] * (1 + (how >> 4));

	switch (how) {
	case 0xfc: by_the_hour(); break;
	case 0xfd: clock_ns = UINT64_MAX; break;
	case 0xfe: clock_ns = 0; break;
	case 0xff: clock_ns -= clock_ns < SECOND ? clock_ns : SECOND; break;
	default: clock_ns = clock_ns < UINT64_MAX - step ? clock_ns + step : UINT64_MAX;
	}
}

/* A broken setting is refused, any other taken; a flow with packets cannot be put out of use, nor have a
 * group that is. */
static void change_flow(uint8_t i, bool broken) {
	struct scheduler_flow f = steer_flow(&in);
	const char *why;

	i %= watch.flow_count;
	if (broken)
		steer_spoil_flow(&in, &f);
	else if (f.group == SCHEDULER_NONE)
		broken = watch.flows[i].counts.waiting_packets > 0;
	else
		broken = watch.groups[f.group].set.channel_count == 0;
	why = scheduler_set_flow(watch.s, i, &f);
	CHECK((why != NULL) == broken);
	if (!broken)
		watch_set_flow(&watch, i, &f);
}

static void change_group(uint8_t i, bool broken) {
	struct scheduler_group g;
	uint32_t *channels = steer_group(&in, &g);
	const char *why;

	i %= watch.group_count;
	if (broken)
		steer_spoil_group(&in, &g, channels);
	if (broken && group_is_taken(i, &g))
		broken = false;
	why = scheduler_set_group(watch.s, i, &g);
	CHECK((why != NULL) == broken);
	if (!broken)
		watch_set_group(&watch, i, &g);
	free(channels);
}

static void change_channel(uint8_t i, bool broken) {
	struct scheduler_channel c = steer_channel(&in);
	const char *why;

	i = (uint8_t)(i % watch.channel_count);
	if (broken)
		c.rate = steer_bad_rate(&in);
	why = scheduler_set_channel(watch.s, i, &c);
	CHECK((why != NULL) == broken);
	if (!broken)
		watch_set_channel(&watch, i, &c);
}

static void change_modem(uint8_t i, bool broken) {
	struct scheduler_modem m = {steer_limit(&in)};
	const char *why;

	i %= watch.modem_count;
	if (broken)
		m.aggregate.rate = steer_bad_rate(&in);
	why = scheduler_set_modem(watch.s, i, &m);
	CHECK((why != NULL) == broken);
	if (!broken)
		watch_set_modem(&watch, i, &m);
}

static void change_limit(bool broken) {
	uint64_t rate = broken ? steer_bad_rate(&in) : steer_rate(&in);

	CHECK((scheduler_set_rate_limit(watch.s, rate) != NULL) == broken);
	if (!broken)
		watch_set_limit(&watch, rate);
}

static void change(uint8_t how) {
	bool broken = (how & 0x80) != 0;
	uint8_t i = steer_byte(&in);

	switch (how >> 4 & 7) {
	case 0: change_channel(i, broken); break;
	case 1: change_group(i, broken); break;
	case 2: change_modem(i, broken); break;
	case 3: change_limit(broken); break;
	default: change_flow(i, broken);
	}
}

static void act(void) {
	uint8_t action = steer_byte(&in);

	switch (action & 15) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4: arrive(); break;
	case 5:
	case 6:
	case 7: depart(1 + (action >> 4)); break;
	case 8: depart(steer_byte(&in)); break;
	case 9:
	case 10: step_clock(steer_byte(&in)); break;
	case 11:
		clock_ns =
			scheduler_next(watch.s) < UINT64_MAX ? scheduler_next(watch.s) : clock_ns;
		break;
	case 12: drain(action >> 4, steer_byte(&in)); break;
	default: change(action);
	}
	watch_reports(&watch);
}

/* All that waits goes in its time, when the clock goes on as scheduler_next() says. */
static void settle(void) {
	fine_time patience = watch_patience(&watch);
	uint64_t steps = (uint64_t)STEPS * (watch.held + 16), until;

	clock_ns = watch.now;
	if (patience >= UINT64_MAX - clock_ns)
		return;
	until = clock_ns + (uint64_t)patience;
	steps += (uint64_t)patience / HOUR;
	while (watch.held > 0) {
		uint64_t next;

		while (depart(64) > 0)
			watch_reports(&watch);
		next = scheduler_next(watch.s);
		CHECK(watch.held == 0 || (steps-- > 0 && clock_ns <= until));
		if (watch.held > 0)
			clock_ns = next <= clock_ns	    ? clock_ns + 1000
				   : next - clock_ns > HOUR ? clock_ns + HOUR
							    : next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const uint64_t begins[4] = {0, 12345678912345, 1ull << 63, UINT64_MAX - SECOND};

	in = (struct steer){.at = data, .end = data + size};
	clock_ns = begins[steer_byte(&in) & 3];
	far_gone = false;
	create();
	if (watch.s == NULL)
		return 0;
	watch_reports(&watch);
	for (int i = 0; i < ACTIONS && in.at < in.end; i++)
		act();
	settle();
	drain(UINT32_MAX, watch.held + 1);
	watch_reports(&watch);
	watch_delays(&watch);
	scheduler_free(watch.s);
	return 0;
}
