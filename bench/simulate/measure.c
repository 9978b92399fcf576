/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include <stdlib.h>

#define LONGEST ((int64_t)1 << 38) /* 1/16 us */

struct hdr_histogram *measure_histogram(void) {
	struct hdr_histogram *h = NULL;

	return hdr_init(1, LONGEST, 3, &h) == 0 ? h : NULL;
}

void measure_delay(struct hdr_histogram *h, uint64_t delay) {
	hdr_record_value(h, (int64_t)(delay * 16 / 1000));
}

void measure_grant(struct flow_measure *m, uint32_t bytes, uint64_t delay, bool counts) {
	m->current.packets++;
	m->current.bytes += bytes;
	m->current.delay_sum += delay;
	if (delay > m->current.delay_max)
		m->current.delay_max = delay;
	if (!counts)
		return;
	m->packets++;
	m->bytes += bytes;
	measure_delay(m->delay, delay);
}

void measure_drop(struct flow_measure *m, enum scheduler_verdict why, bool counts) {
	m->current.drops++;
	if (counts)
		m->drops[why]++;
}

bool measure_sample(struct flow_measure *m, const struct scheduler_flow_report *r) {
	if (m->sample_count == m->sample_capacity) {
		size_t capacity = m->sample_capacity == 0 ? 1024 : 2 * m->sample_capacity;
		struct sample *samples = reallocarray(m->samples, capacity, sizeof(*samples));

		if (samples == NULL)
			return false;
		m->samples = samples;
		m->sample_capacity = capacity;
	}
	m->current.waiting_bytes = r->waiting_bytes;
	m->current.probability = r->drop_probability / 4294967296.;
	m->samples[m->sample_count++] = m->current;
	m->current = (struct sample){0};
	return true;
}
