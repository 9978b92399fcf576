/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/latency.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/clock.h"
#include "pipeline/percentiles.h"

#define WRITER_POLL_US 20

static pthread_mutex_t readers = PTHREAD_MUTEX_INITIALIZER;

void latency_readers_lock(void) {
	pthread_mutex_lock(&readers);
}

void latency_readers_unlock(void) {
	pthread_mutex_unlock(&readers);
}

static int latency_create_histograms(struct latency *l) {
	l->spare = percentiles_create();
	l->recent = percentiles_create();
	l->whole = percentiles_create();
	l->into = percentiles_create();
	return l->spare && l->recent && l->whole && l->into ? 0 : -1;
}

void latency_free(struct latency *l) {
	struct hdr_histogram *all[] = {l->into, l->spare, l->recent, l->whole};

	for (unsigned i = 0; i < RTE_DIM(all); i++) {
		if (all[i] != NULL)
			hdr_close(all[i]);
	}
	*l = (struct latency){.simulated = l->simulated};
}

int latency_reserve(struct latency *l) {
	int ret = 0;

	latency_readers_lock();
	if (l->into == NULL)
		ret = latency_create_histograms(l);
	if (ret != 0)
		latency_free(l);
	latency_readers_unlock();
	return ret;
}

int latency_prepare(struct latency *l) {
	if (l->on)
		return 0;
	if (latency_reserve(l) != 0)
		return -1;
	latency_readers_lock();
	latency_collect(l);
	hdr_reset(l->recent);
	hdr_reset(l->whole);
	latency_readers_unlock();
	return 0;
}

void latency_set(struct latency *l, bool on) {
	if (on && !l->on) {
		uint64_t hz = l->simulated == NULL ? rte_get_tsc_hz() : CLOCK_NS_PER_S;

		l->ns_per_tick_q32 = (uint64_t)(((unsigned __int128)CLOCK_NS_PER_S << 32) / hz);
		l->since = RTE_MAX(latency_now(l), 1u); /* 0 means no arrival time */
	}
	__atomic_store_n(&l->on, on, __ATOMIC_RELEASE);
}

int latency_switch(struct latency *l, bool on) {
	if (on && latency_prepare(l) != 0)
		return -1;
	latency_set(l, on);
	return 0;
}

void latency_simulate(struct latency *l, const uint64_t *ns) {
	l->simulated = ns;
}

bool latency_measured(const struct latency *l) {
	return l->whole != NULL;
}

/* Makes `bursts` odd before it reads the histogram; the reader relies on this order. */
static struct hdr_histogram *latency_record_begin(struct latency *l) {
	__atomic_store_n(&l->bursts, l->bursts + 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&l->into, __ATOMIC_SEQ_CST);
}

static void latency_record_end(struct latency *l) {
	__atomic_store_n(&l->bursts, l->bursts + 1, __ATOMIC_RELEASE);
}

/* Waits until the writer no longer uses the old histogram: `bursts` is odd while it records a burst. */
static void latency_synchronize(const struct latency *l) {
	uint32_t seen = __atomic_load_n(&l->bursts, __ATOMIC_SEQ_CST);

	while ((seen & 1) != 0 && __atomic_load_n(&l->bursts, __ATOMIC_ACQUIRE) == seen)
		usleep(WRITER_POLL_US);
}

void latency_collect(struct latency *l) {
	struct hdr_histogram *recorded = __atomic_exchange_n(&l->into, l->spare, __ATOMIC_SEQ_CST);

	latency_synchronize(l);
	hdr_add(l->recent, recorded);
	hdr_add(l->whole, recorded);
	hdr_reset(recorded);
	l->spare = recorded;
}

void latency_reset(struct latency *l) {
	hdr_reset(l->recent);
}

static int64_t latency_ns(const struct latency *l, uint64_t from, uint64_t to) {
	uint64_t ticks = to > from ? to - from : 0; /* TSCs of two cores may differ slightly */
	uint64_t ns = (uint64_t)(((unsigned __int128)ticks * l->ns_per_tick_q32) >> 32);

	return (int64_t)RTE_MIN(ns, (uint64_t)PERCENTILES_MAX_NS);
}

/* Packets of one burst are adjacent, and are recorded together. */
static void latency_record_times(const struct latency *l, struct hdr_histogram *h,
				 const uint64_t *arrived, unsigned n, uint64_t now) {
	for (unsigned i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && arrived[i + run] == arrived[i]; run++)
			;
		if (arrived[i] >= l->since)
			hdr_record_values(h, latency_ns(l, arrived[i], now), run);
	}
}

void latency_record(struct latency *l, const uint64_t *arrived, unsigned n) {
	uint64_t now = latency_now(l);

	latency_record_times(l, latency_record_begin(l), arrived, n, now);
	latency_record_end(l);
}

int latency_line_create(struct latency_line *line, uint32_t packets) {
	uint32_t size = rte_align32pow2(packets);

	if (line->size > 0)
		return 0;
	line->arrived = calloc(size, sizeof(*line->arrived));
	if (line->arrived == NULL)
		return -1;
	__atomic_store_n(&line->size, size, __ATOMIC_RELEASE);
	return 0;
}

void latency_line_free(struct latency_line *line) {
	free(line->arrived);
	*line = (struct latency_line){0};
}

uint16_t latency_line_add(struct latency_line *line, const struct latency *l,
			  const struct rte_mbuf *frame) {
	uint32_t before = line->count;

	/* The first buffer contains the headers. */
	for (struct rte_mbuf *m = frame->next; m != NULL && line->count < line->size; m = m->next) {
		uint64_t arrived = packet_meta(m)->arrived;

		if (arrived >= l->since)
			line->arrived[(line->first + line->count++) & (line->size - 1)] = arrived;
	}
	return (uint16_t)(line->count - before);
}

void latency_line_record(struct latency_line *line, struct latency *l, uint32_t n) {
	uint64_t now = latency_now(l);
	struct hdr_histogram *h = latency_record_begin(l);
	uint32_t straight = RTE_MIN(n, line->size - line->first);

	latency_record_times(l, h, line->arrived + line->first, straight, now);
	latency_record_times(l, h, line->arrived, n - straight, now);
	latency_record_end(l);
	line->first = (line->first + n) & (line->size - 1);
	line->count -= n;
}
