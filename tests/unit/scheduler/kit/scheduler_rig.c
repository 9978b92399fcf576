/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test is made of, and what is measured in it. */
#include "scheduler_rig.h"

#include "test.h"

#include <math.h>
#include <stdlib.h>

#define ROOMY_BUFFER (16u << 20)
#define DEPI_ENCAP 58 /* Ethernet, IPv6, session ID */
#define DEPI_PSP_FIXED 4
#define PSP_ENTRY 2
#define DEPI_SEGMENTS 250
#define DEPI_FLUSH_NS 55000 /* no whole number of steps: nothing happens just then */
#define DEPI_MIN_FRAGMENT 16

struct rig rig_make(void) {
	return (struct rig){
		.config = {.packet_limit = 200000, .seed = 1},
		.step_ns = RIG_STEP_NS,
		.random = {12345},
	};
}

/* Room for one more behind `count`; the room doubles. */
static void *grow(void *list, size_t count, size_t size) {
	if ((count & (count - 1)) == 0)
		list = realloc(list, (count == 0 ? 1 : 2 * count) * size);
	assert_non_null(list);
	return list;
}

uint32_t rig_channel(struct rig *r, uint64_t rate) {
	size_t n = r->config.channel_count++;

	r->channel_configs = grow(r->channel_configs, n, sizeof(*r->channel_configs));
	r->channel_configs[n] = (struct scheduler_channel){.rate = rate};
	return (uint32_t)n;
}

uint32_t rig_group(struct rig *r, const uint32_t *channels, size_t count) {
	size_t n = r->config.group_count++;
	uint32_t *copy = calloc(count, sizeof(*copy));

	assert_non_null(copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = channels[i];
	r->group_configs = grow(r->group_configs, n, sizeof(*r->group_configs));
	r->group_configs[n] = (struct scheduler_group){copy, count};
	return (uint32_t)n;
}

uint32_t rig_group_range(struct rig *r, uint32_t first, uint32_t count) {
	uint32_t list[SCHEDULER_MAX_CHANNELS];

	for (uint32_t i = 0; i < count; i++)
		list[i] = first + i;
	return rig_group(r, list, count);
}

uint32_t rig_modem(struct rig *r, uint64_t rate, uint64_t burst) {
	size_t n = r->config.modem_count++;

	r->modem_configs = grow(r->modem_configs, n, sizeof(*r->modem_configs));
	r->modem_configs[n] = (struct scheduler_modem){{rate, burst}};
	return (uint32_t)n;
}

uint32_t rig_flow(struct rig *r, struct scheduler_flow f) {
	size_t n = r->config.flow_count++;

	if (f.weight == 0)
		f.weight = 1;
	if (f.max_buffer == 0)
		f.min_buffer = f.buffer = f.max_buffer = ROOMY_BUFFER;
	r->flow_configs = grow(r->flow_configs, n, sizeof(*r->flow_configs));
	r->flow_configs[n] = f;
	return (uint32_t)n;
}

void rig_use_depi(struct rig *r, uint16_t room) {
	for (size_t i = 0; i < r->config.channel_count; i++)
		r->channel_configs[i].depi = (struct scheduler_depi){
			.frame_bytes = DEPI_ENCAP + DEPI_PSP_FIXED,
			.room = room,
			.entry_bytes = PSP_ENTRY,
			.min_fragment = DEPI_MIN_FRAGMENT,
			.max_segments = DEPI_SEGMENTS,
			.flush_ns = DEPI_FLUSH_NS,
		};
}

struct scheduler_limit rig_limit(uint64_t rate) {
	uint64_t burst = rate / 8 / 100;

	return (struct scheduler_limit){rate, burst > 3044 ? burst : 3044};
}

static struct rig_envelope envelope(uint64_t rate, uint64_t burst) {
	return (struct rig_envelope){.rate = (double)rate / 8e9, .burst = (double)burst};
}

static uint64_t peak_burst(uint64_t rate) {
	uint64_t bytes = rate / 8 * SCHEDULER_PEAK_NS / RIG_S;

	return bytes > SCHEDULER_PEAK_BURST ? bytes : SCHEDULER_PEAK_BURST;
}

/* Reserved packets pass a modem's limit: its rate is then for the test to judge. */
static void watch_limits(struct rig *r) {
	for (size_t i = 0; i < r->config.modem_count; i++)
		r->modems[i] = envelope(r->modem_configs[i].aggregate.rate,
					r->modem_configs[i].aggregate.burst);
	for (size_t i = 0; i < r->config.flow_count; i++) {
		const struct scheduler_flow *f = &r->flow_configs[i];

		r->flows[i].sustained = envelope(f->sustained.rate, f->sustained.burst);
		r->flows[i].peak = envelope(f->peak, peak_burst(f->peak));
		if (f->reserved > 0)
			r->modems[f->modem].rate = 0;
	}
}

void rig_start(struct rig *r) {
	struct scheduler_config *c = &r->config;
	const char *why = NULL;

	if (c->modem_count == 0)
		rig_modem(r, 0, 0);
	c->channels = r->channel_configs;
	c->groups = r->group_configs;
	c->modems = r->modem_configs;
	c->flows = r->flow_configs;
	r->s = scheduler_create(c, &why);
	if (r->s == NULL)
		fail_msg("no scheduler: %s", why);
	r->flows = calloc(c->flow_count, sizeof(*r->flows));
	r->channels = calloc(c->channel_count, sizeof(*r->channels));
	r->groups = calloc(c->group_count, sizeof(*r->groups));
	r->modems = calloc(c->modem_count, sizeof(*r->modems));
	r->timed = calloc(c->flow_count, sizeof(*r->timed));
	assert_true(r->flows && r->channels && r->groups && r->modems && r->timed);
	for (size_t i = 0; i < c->channel_count; i++)
		r->channels[i].ns_per_byte = 8e9 / (double)c->channels[i].rate;
	if (c->rate_limit > 0)
		r->limit.ns_per_byte = 8e9 / (double)c->rate_limit;
	watch_limits(r);
}

void rig_mark(struct rig *r) {
	r->mark = r->now;
	for (size_t i = 0; i < r->config.flow_count; i++) {
		r->flows[i].packets = r->flows[i].bytes = r->flows[i].first_bytes = 0;
		r->flows[i].first_at = r->flows[i].last_at = r->now;
	}
	for (size_t i = 0; i < r->config.channel_count; i++)
		r->channels[i].idle_ns = 0;
	r->limit.idle_ns = 0;
}

double rig_rate(const struct rig *r, uint32_t flow) {
	const struct rig_flow *f = &r->flows[flow];

	if (f->last_at == f->first_at)
		return 0;
	return 8e9 * (double)(f->bytes - f->first_bytes) / (double)(f->last_at - f->first_at);
}

double rig_rate_sum(const struct rig *r, uint32_t first, uint32_t count) {
	uint64_t bytes = 0;

	for (uint32_t i = first; i < first + count; i++)
		bytes += r->flows[i].bytes;
	return 8e9 * (double)bytes / (double)(r->now - r->mark);
}

void rig_expect(const char *what, size_t index, double measured, double expected, double part) {
	if (fabs(measured - expected) > part * expected)
		fail_msg("%s %zu: %.7g where %.7g is expected", what, index, measured, expected);
}

static double fill(const struct rig *r, const struct rig_channel *ch) {
	double idle = ch->idle_ns, now = (double)r->now, mark = (double)r->mark;

	if (ch->free_at < now)
		idle += now - (ch->free_at > mark ? ch->free_at : mark);
	return 1 - idle / (now - mark);
}

double rig_fill(const struct rig *r, uint32_t channel) {
	return fill(r, &r->channels[channel]);
}

double rig_limit_fill(const struct rig *r) {
	return fill(r, &r->limit);
}

void rig_expect_filled(const struct rig *r, uint32_t first, uint32_t count) {
	for (uint32_t i = first; i < first + count; i++) {
		if (rig_fill(r, i) <= 0.995)
			fail_msg("channel %u is filled to %.4f", i, rig_fill(r, i));
	}
}

double rig_jain(const double *x, size_t n) {
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return squares == 0 ? 0 : sum * sum / ((double)n * squares);
}

/* What still waits, without regard to anything. */
static void drain(struct rig *r) {
	void *packets[64];
	unsigned n;

	assert_int_equal(scheduler_held(r->s), r->inside);
	while ((n = scheduler_drain(r->s, packets, 64)) > 0) {
		for (unsigned i = 0; i < n; i++) {
			struct rig_packet *p = packets[i];

			assert_true(p->inside);
			p->inside = false;
			r->inside--;
		}
	}
	assert_int_equal(r->inside, 0);
	assert_int_equal(scheduler_held(r->s), 0);
}

void rig_end(struct rig *r) {
	rig_judge_reports(r);
	drain(r);
	scheduler_free(r->s);
	for (size_t i = 0; i < r->config.group_count; i++)
		free((void *)(uintptr_t)r->group_configs[i].channels);
	for (size_t i = 0; i < r->block_count; i++)
		free(r->blocks[i]);
	free(r->blocks);
	free(r->channel_configs);
	free(r->group_configs);
	free(r->modem_configs);
	free(r->flow_configs);
	free(r->flows);
	free(r->channels);
	free(r->groups);
	free(r->modems);
	free(r->timed);
}
