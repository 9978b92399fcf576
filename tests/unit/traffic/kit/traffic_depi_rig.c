/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic_depi_rig.h"

#include "test.h"

int depi_rig_open(void **state) {
	static struct depi_rig depi_rig;

	*state = &depi_rig;
	rig_open(&depi_rig.rig);
	return 0;
}

int depi_rig_close(void **state) {
	struct depi_rig *d = *state;

	rig_close(&d->rig);
	return 0;
}

void depi_rig_start(struct depi_rig *d, const char *mix) {
	rig_start(&d->rig, mix, 5);
	rig_take(&d->rig, d->frames, DEPI_RIG_PACKETS, NULL);
}

unsigned depi_rig_bonded(struct depi_rig *d, const struct rig_frame **out) {
	unsigned n = 0;

	for (unsigned i = 0; i < DEPI_RIG_PACKETS; i++) {
		if (d->frames[i].modem == 1) { /* the one that is not bonded */
			rig_send_frame(&d->rig, &d->frames[i]);
			continue;
		}
		d->frames[i].channel = 0;
		out[n++] = &d->frames[i];
	}
	return n;
}

void depi_rig_check_proven(const struct traffic_result *r) {
	assert_int_equal(r->sent, DEPI_RIG_PACKETS);
	assert_int_equal(r->proven, DEPI_RIG_PACKETS);
	assert_int_equal(r->lost + r->corrupted + r->duplicated + r->reordered, 0);
}

struct rig_segment rig_whole(const struct rig_frame *f) {
	return (struct rig_segment){f->bytes, f->size, true, true};
}

uint64_t rig_violations(const struct traffic_result *r) {
	uint64_t sum = 0;

	for (int i = 0; i < VIOLATIONS; i++)
		sum += r->violations[i];
	return sum;
}
