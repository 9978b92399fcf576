/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the bytes that a flow has requested and not been granted. */
#include "access/requests.h"

#define UNITS_MAX UINT16_MAX /* N-byte units in the field of a request */

/* Queued bytes that neither requests nor known grants cover. */
static uint64_t unrequested(const struct access_queue *f) {
	uint64_t covered = f->requested + f->pending_grants;

	return f->waiting > covered ? f->waiting - covered : 0;
}

static unsigned limit(const struct access_queue *f) {
	return f->set.outstanding == 0 ? 1 : f->set.outstanding;
}

bool requests_wanted(const struct access *a, const struct access_queue *f) {
	switch (access_modem_of(a, f)->conduct) {
	case ACCESS_SILENT: return false;
	case ACCESS_ENDLESS: return true;
	default: return unrequested(f) > 0 && f->request_count < limit(f);
	}
}

static uint32_t in_units(const struct access_queue *f, uint64_t bytes) {
	uint32_t unit = f->set.request_unit == 0 ? 1 : f->set.request_unit;
	uint64_t units = (bytes + unit - 1) / unit;

	return (uint32_t)(units < UNITS_MAX ? units : UNITS_MAX) * unit;
}

uint32_t requests_make(struct access *a, struct access_queue *f, uint64_t at, bool contention) {
	const struct access_modem *m = access_modem_of(a, f);
	uint32_t bytes;

	if (!requests_wanted(a, f))
		return 0;
	/* it ignores answers, so its requests are not tracked */
	if (m->conduct == ACCESS_ENDLESS) {
		bytes = in_units(f, m->excess);
		a->counts.requested += bytes;
		return bytes;
	}
	bytes = in_units(f, unrequested(f));
	f->requests[f->request_count++] = (struct access_request){at, bytes, contention};
	f->requested += bytes;
	a->counts.requested += bytes;
	return bytes;
}

static void drop_first(struct access_queue *f, unsigned count) {
	f->request_count -= count;
	for (unsigned i = 0; i < f->request_count; i++)
		f->requests[i] = f->requests[i + count];
}

int64_t requests_granted(struct access_queue *f, uint64_t bytes) {
	unsigned done = 0;

	for (; done < f->request_count && bytes >= f->requests[done].bytes; done++) {
		bytes -= f->requests[done].bytes;
		f->requested -= f->requests[done].bytes;
	}
	drop_first(f, done);
	if (f->request_count == 0 || bytes == 0)
		return (int64_t)bytes;
	f->requests[0].bytes -= (uint32_t)bytes;
	f->requested -= bytes;
	return -(int64_t)f->requests[0].bytes;
}

unsigned requests_forget(struct access_queue *f, uint64_t at, unsigned *contended) {
	unsigned kept = 0, forgotten = 0;

	*contended = 0;
	for (unsigned i = 0; i < f->request_count; i++) {
		if (f->requests[i].at >= at) {
			f->requests[kept++] = f->requests[i];
			continue;
		}
		f->requested -= f->requests[i].bytes;
		forgotten++;
		*contended += f->requests[i].contention;
	}
	f->request_count = kept;
	return forgotten;
}
