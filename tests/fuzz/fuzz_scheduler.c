/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the downstream scheduler. The input controls its configuration, arrivals, dequeues, the
 * clock, drains, and valid and invalid changes (scheduler_input.h). After each step
 * scheduler_monitor.h checks the rules of docs/scheduler.md. Packets and arrays are in memory of
 * exactly their size, so that the address sanitizer detects packets that leave twice, and access
 * beyond arrays. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "scheduler_input.h"
#include "scheduler_monitor.h"

#define ACTIONS 300
#define STEPS 256 /* of the clock, per queued packet */
#define SECOND 1000000000ull
#define HOUR (3600 * SECOND) /* ns; a longer jump counts as this */

/* A configuration with its arrays. */
struct setup {
	struct scheduler_config config;
	struct scheduler_channel channels[SCHEDULER_MAX_CHANNELS];
	struct scheduler_group groups[MONITOR_GROUPS];
	uint32_t *members[MONITOR_GROUPS];
	struct scheduler_modem modems[MONITOR_MODEMS];
	struct scheduler_flow flows[MONITOR_FLOWS];
};

static struct scheduler_input in;
static struct monitor monitor;
static uint64_t clock_ns; /* the time of the caller */
static bool hours_done; /* advance_hours() has run */

static void *alloc_exact(size_t count, size_t size) {
	void *memory = calloc(count > 0 ? count : 1, size);

	CHECK(memory != NULL);
	return memory;
}

/* Reads a valid configuration. */
static void read_setup(struct setup *p) {
	static const uint32_t limits[8] = {500, 64, 8, 2, 1, 1000, 40, 100};
	uint8_t counts = input_byte(&in), more = input_byte(&in);

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
		.flow_count = 1 + more % MONITOR_FLOWS,
		.packet_limit = limits[more >> 5],
		.seed = more,
	};
	if ((counts & 0x80) != 0)
		p->config.rate_limit = input_rate(&in);
	for (uint32_t i = 0; i < in.channel_count; i++)
		p->channels[i] = i < 8 ? input_channel(&in) : p->channels[i % 8];
	for (uint32_t i = 0; i < in.group_count; i++)
		p->members[i] = input_group(&in, &p->groups[i]);
	for (uint32_t i = 0; i < in.modem_count; i++)
		p->modems[i].aggregate = input_limit(&in);
	for (uint32_t i = 0; i < p->config.flow_count; i++)
		p->flows[i] = input_flow(&in);
}

/* Makes something in it invalid. */
static void spoil_setup(struct setup *p) {
	uint8_t what = input_byte(&in);

	switch (what & 15) {
	case 0: p->config.channel_count = 0; break;
	case 1: p->config.channel_count = SCHEDULER_MAX_CHANNELS + 1; break;
	case 2: p->config.group_count = 0; break;
	case 3: p->config.modem_count = 0; break;
	case 4: p->config.flow_count = 0; break;
	case 5: p->config.packet_limit = 0; break;
	case 6: p->config.rate_limit = input_bad_rate(&in); break;
	case 7: p->channels[in.channel_count - 1].rate = input_bad_rate(&in); break;
	case 8: p->channels[0].rate = input_bad_rate(&in); break;
	case 9: p->modems[in.modem_count - 1].aggregate.rate = input_bad_rate(&in); break;
	case 10: p->modems[0].aggregate = (struct scheduler_limit){1000000, 0}; break;
	case 11: spoil_group(&in, &p->groups[0], p->members[0]); break;
	default: spoil_flow(&in, &p->flows[what % p->config.flow_count]);
	}
}

/* Passes the configuration to the monitor. The scheduler has copies. */
static void monitor_setup(const struct setup *p) {
	memset(&monitor, 0, sizeof(monitor));
	monitor.channel_count = in.channel_count;
	monitor.group_count = in.group_count;
	monitor.modem_count = in.modem_count;
	monitor.flow_count = (uint32_t)p->config.flow_count;
	monitor.packet_limit = p->config.packet_limit;
	monitor_set_limit(&monitor, p->config.rate_limit);
	for (uint32_t i = 0; i < monitor.channel_count; i++)
		monitor_set_channel(&monitor, i, &p->channels[i]);
	for (uint32_t i = 0; i < monitor.group_count; i++)
		monitor_set_group(&monitor, i, &p->groups[i]);
	for (uint32_t i = 0; i < monitor.modem_count; i++)
		monitor_set_modem(&monitor, i, &p->modems[i]);
	for (uint32_t i = 0; i < monitor.flow_count; i++) {
		monitor.flows[i].last = &monitor.flows[i].first;
		monitor_set_flow(&monitor, i, &p->flows[i]);
	}
}

/* A group without a channel is valid if no flow uses it. */
static bool is_valid_empty_group(uint32_t i, const struct scheduler_group *g) {
	for (uint32_t f = 0; f < monitor.flow_count; f++) {
		if (monitor.flows[f].set.group == i)
			return false;
	}
	return g->channel_count == 0;
}

static void create(void) {
	struct setup *p = alloc_exact(1, sizeof(*p));
	const char *why = NULL;
	bool invalid;

	read_setup(p);
	invalid = (input_byte(&in) & 0xc0) == 0xc0;
	monitor_setup(p);
	if (invalid)
		spoil_setup(p);
	if (invalid && is_valid_empty_group(0, &p->groups[0])) {
		invalid = false;
		monitor_set_group(&monitor, 0, &p->groups[0]);
	}
	monitor.s = scheduler_create(&p->config, &why);
	CHECK((monitor.s == NULL) == invalid && (why != NULL) == invalid);
	for (uint32_t i = 0; i < in.group_count; i++)
		free(p->members[i]);
	free(p);
}

/* Enqueues packets of one flow or of several, and checks the verdicts. */
static void enqueue(void) {
	uint8_t how = input_byte(&in), flow = input_byte(&in);
	unsigned n = how & 0x80 ? how & 0x3f : how & 3;
	struct scheduler_arrival *arrivals = alloc_exact(n, sizeof(*arrivals));
	enum scheduler_verdict *verdicts = alloc_exact(n, sizeof(*verdicts));
	uint32_t bytes = input_size(&in);
	unsigned queued = 0, count;

	for (unsigned i = 0; i < n; i++) {
		struct monitor_packet *p = alloc_exact(1, sizeof(*p));

		p->flow = (flow & 0x80 ? flow + i : flow) % monitor.flow_count;
		p->bytes = flow & 0x40 ? input_size(&in) : bytes;
		arrivals[i] = (struct scheduler_arrival){p, p->flow, p->bytes};
	}
	monitor_time(&monitor, clock_ns);
	count = scheduler_enqueue(monitor.s, clock_ns, arrivals, n, verdicts);
	for (unsigned i = 0; i < n; i++) {
		queued += verdicts[i] == SCHEDULER_QUEUED;
		monitor_verdict(&monitor, &arrivals[i], verdicts[i]);
	}
	CHECK(count == queued);
	free(arrivals);
	free(verdicts);
}

/* Returns how many packets left: none before scheduler_next(), which is UINT64_MAX also for times
 * beyond the end of the clock. */
static unsigned dequeue(unsigned n) {
	struct scheduler_grant *grants = alloc_exact(n, sizeof(*grants));
	uint64_t next = scheduler_next(monitor.s), latest = monitor.now;
	unsigned done;

	if (monitor.queued == 0)
		CHECK(next == UINT64_MAX);
	else
		CHECK(next < UINT64_MAX || monitor_deadline(&monitor) >= UINT64_MAX - latest);
	monitor_time(&monitor, clock_ns);
	done = scheduler_dequeue(monitor.s, clock_ns, grants, n);
	CHECK(done <= n && (done == 0 || next <= monitor.now));
	for (unsigned i = 0; i < done; i++)
		monitor_grant(&monitor, &grants[i]);
	free(grants);
	return done;
}

/* Drains up to `n` packets of a flow, or of all flows if there is no such flow. */
static void drain(uint32_t flow, unsigned n) {
	void **packets = alloc_exact(n, sizeof(*packets));
	uint32_t queued = monitor.queued;
	unsigned done;

	if (flow < monitor.flow_count) {
		queued = monitor.flows[flow].counts.waiting_packets;
		done = scheduler_drain_flow(monitor.s, flow, packets, n);
	} else {
		done = scheduler_drain(monitor.s, packets, n);
	}
	CHECK(done == (n < queued ? n : queued));
	for (unsigned i = 0; i < done; i++) {
		CHECK(flow >= monitor.flow_count ||
		      ((struct monitor_packet *)packets[i])->flow == flow);
		monitor_drained(&monitor, packets[i]);
	}
	free(packets);
}

/* Advances until the scheduler rebases its ticks, which jumps do not cause. Once per input. */
static void advance_hours(void) {
	if (hours_done)
		return;
	hours_done = true;
	for (int i = 0; i < 24 * 250; i++) {
		clock_ns = clock_ns < UINT64_MAX - HOUR ? clock_ns + HOUR : UINT64_MAX;
		monitor_time(&monitor, clock_ns);
		CHECK(scheduler_dequeue(monitor.s, clock_ns, NULL, 0) == 0);
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
	case 0xfc: advance_hours(); break;
	case 0xfd: clock_ns = UINT64_MAX; break;
	case 0xfe: clock_ns = 0; break;
	case 0xff: clock_ns -= clock_ns < SECOND ? clock_ns : SECOND; break;
	default: clock_ns = clock_ns < UINT64_MAX - step ? clock_ns + step : UINT64_MAX;
	}
}

/* An invalid setting is refused, and any other accepted. A flow with packets cannot be removed, nor
 * get a group without channels. */
static void change_flow(uint8_t i, bool invalid) {
	struct scheduler_flow f = input_flow(&in);
	const char *why;

	i %= monitor.flow_count;
	if (invalid)
		spoil_flow(&in, &f);
	else if (f.group == SCHEDULER_NONE)
		invalid = monitor.flows[i].counts.waiting_packets > 0;
	else
		invalid = monitor.groups[f.group].set.channel_count == 0;
	why = scheduler_set_flow(monitor.s, i, &f);
	CHECK((why != NULL) == invalid);
	if (!invalid)
		monitor_set_flow(&monitor, i, &f);
}

static void change_group(uint8_t i, bool invalid) {
	struct scheduler_group g;
	uint32_t *channels = input_group(&in, &g);
	const char *why;

	i %= monitor.group_count;
	if (invalid)
		spoil_group(&in, &g, channels);
	if (invalid && is_valid_empty_group(i, &g))
		invalid = false;
	why = scheduler_set_group(monitor.s, i, &g);
	CHECK((why != NULL) == invalid);
	if (!invalid)
		monitor_set_group(&monitor, i, &g);
	free(channels);
}

static void change_channel(uint8_t i, bool invalid) {
	struct scheduler_channel c = input_channel(&in);
	const char *why;

	i = (uint8_t)(i % monitor.channel_count);
	if (invalid)
		c.rate = input_bad_rate(&in);
	why = scheduler_set_channel(monitor.s, i, &c);
	CHECK((why != NULL) == invalid);
	if (!invalid)
		monitor_set_channel(&monitor, i, &c);
}

static void change_modem(uint8_t i, bool invalid) {
	struct scheduler_modem m = {input_limit(&in)};
	const char *why;

	i %= monitor.modem_count;
	if (invalid)
		m.aggregate.rate = input_bad_rate(&in);
	why = scheduler_set_modem(monitor.s, i, &m);
	CHECK((why != NULL) == invalid);
	if (!invalid)
		monitor_set_modem(&monitor, i, &m);
}

static void change_limit(bool invalid) {
	uint64_t rate = invalid ? input_bad_rate(&in) : input_rate(&in);

	CHECK((scheduler_set_rate_limit(monitor.s, rate) != NULL) == invalid);
	if (!invalid)
		monitor_set_limit(&monitor, rate);
}

static void change(uint8_t how) {
	bool invalid = (how & 0x80) != 0;
	uint8_t i = input_byte(&in);

	switch (how >> 4 & 7) {
	case 0: change_channel(i, invalid); break;
	case 1: change_group(i, invalid); break;
	case 2: change_modem(i, invalid); break;
	case 3: change_limit(invalid); break;
	default: change_flow(i, invalid);
	}
}

static void run_action(void) {
	uint8_t action = input_byte(&in);

	switch (action & 15) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4: enqueue(); break;
	case 5:
	case 6:
	case 7: dequeue(1 + (action >> 4)); break;
	case 8: dequeue(input_byte(&in)); break;
	case 9:
	case 10: step_clock(input_byte(&in)); break;
	case 11:
		clock_ns = scheduler_next(monitor.s) < UINT64_MAX ? scheduler_next(monitor.s)
								  : clock_ns;
		break;
	case 12: drain(action >> 4, input_byte(&in)); break;
	default: change(action);
	}
	monitor_reports(&monitor);
}

/* All queued packets leave in time, if the clock follows scheduler_next(). */
static void settle(void) {
	fine_time deadline = monitor_deadline(&monitor);
	uint64_t steps = (uint64_t)STEPS * (monitor.queued + 16), until;

	clock_ns = monitor.now;
	if (deadline >= UINT64_MAX - clock_ns)
		return;
	until = clock_ns + (uint64_t)deadline;
	steps += (uint64_t)deadline / HOUR;
	while (monitor.queued > 0) {
		uint64_t next;

		while (dequeue(64) > 0)
			monitor_reports(&monitor);
		next = scheduler_next(monitor.s);
		CHECK(monitor.queued == 0 || (steps-- > 0 && clock_ns <= until));
		if (monitor.queued > 0)
			clock_ns = next <= clock_ns	    ? clock_ns + 1000
				   : next - clock_ns > HOUR ? clock_ns + HOUR
							    : next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const uint64_t begins[4] = {0, 12345678912345, 1ull << 63, UINT64_MAX - SECOND};

	in = (struct scheduler_input){.at = data, .end = data + size};
	clock_ns = begins[input_byte(&in) & 3];
	hours_done = false;
	create();
	if (monitor.s == NULL)
		return 0;
	monitor_reports(&monitor);
	for (int i = 0; i < ACTIONS && in.at < in.end; i++)
		run_action();
	settle();
	drain(UINT32_MAX, monitor.queued + 1);
	monitor_reports(&monitor);
	monitor_delays(&monitor);
	scheduler_free(monitor.s);
	return 0;
}
