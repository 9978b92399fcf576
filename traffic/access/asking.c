/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/asking.h"

#define UNITS_MAX UINT16_MAX /* N-byte units in the field of a request */

/* Queued bytes that neither requests nor known grants cover. */
static uint64_t unasked(const struct access_queue *f) {
	uint64_t covered = f->asked + f->coming;

	return f->waiting > covered ? f->waiting - covered : 0;
}

static unsigned room(const struct access_queue *f) {
	return f->set.outstanding == 0 ? 1 : f->set.outstanding;
}

bool asking_wanted(const struct access *a, const struct access_queue *f) {
	switch (access_modem_of(a, f)->conduct) {
	case ACCESS_SILENT: return false;
	case ACCESS_ENDLESS: return true;
	default: return unasked(f) > 0 && f->ask_count < room(f);
	}
}

static uint32_t in_units(const struct access_queue *f, uint64_t bytes) {
	uint32_t unit = f->set.request_unit == 0 ? 1 : f->set.request_unit;
	uint64_t units = (bytes + unit - 1) / unit;

	return (uint32_t)(units < UNITS_MAX ? units : UNITS_MAX) * unit;
}

uint32_t asking_request(struct access *a, struct access_queue *f, uint64_t at, bool contention) {
	const struct access_modem *m = access_modem_of(a, f);
	uint32_t bytes;

	if (!asking_wanted(a, f))
		return 0;
	/* it ignores answers, so its requests are not tracked */
	if (m->conduct == ACCESS_ENDLESS) {
		bytes = in_units(f, m->excess);
		a->counts.asked += bytes;
		return bytes;
	}
	bytes = in_units(f, unasked(f));
	f->asks[f->ask_count++] = (struct access_asked){at, bytes, contention};
	f->asked += bytes;
	a->counts.asked += bytes;
	return bytes;
}

static void drop_first(struct access_queue *f, unsigned count) {
	f->ask_count -= count;
	for (unsigned i = 0; i < f->ask_count; i++)
		f->asks[i] = f->asks[i + count];
}

int64_t asking_granted(struct access_queue *f, uint64_t bytes) {
	unsigned done = 0;

	for (; done < f->ask_count && bytes >= f->asks[done].bytes; done++) {
		bytes -= f->asks[done].bytes;
		f->asked -= f->asks[done].bytes;
	}
	drop_first(f, done);
	if (f->ask_count == 0 || bytes == 0)
		return (int64_t)bytes;
	f->asks[0].bytes -= (uint32_t)bytes;
	f->asked -= bytes;
	return -(int64_t)f->asks[0].bytes;
}

unsigned asking_forget(struct access_queue *f, uint64_t at, unsigned *contended) {
	unsigned kept = 0, forgotten = 0;

	*contended = 0;
	for (unsigned i = 0; i < f->ask_count; i++) {
		if (f->asks[i].at >= at) {
			f->asks[kept++] = f->asks[i];
			continue;
		}
		f->asked -= f->asks[i].bytes;
		forgotten++;
		*contended += f->asks[i].contention;
	}
	f->ask_count = kept;
	return forgotten;
}
