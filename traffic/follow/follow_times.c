/* SPDX-License-Identifier: BSD-3-Clause */
/* Records how long the traffic is behind the changes of the server. */
#include "follow/follow_times.h"

#include <stdio.h>

#include "pipeline/percentiles.h"

int follow_times_create(struct follow_times *t, uint64_t tsc_hz) {
	*t = (struct follow_times){.behind = percentiles_create(), .tsc_hz = tsc_hz};
	if (t->behind != NULL)
		return 0;
	fputs("traffic: no memory to follow the server\n", stderr);
	return -1;
}

void follow_times_free(struct follow_times *t) {
	if (t->behind != NULL)
		hdr_close(t->behind);
	t->behind = NULL;
}

void follow_times_applied(struct follow_times *t, uint64_t now) {
	if (t->applied_at == 0)
		t->applied_at = now;
}

void follow_times_current(struct follow_times *t, uint64_t now) {
	if (t->applied_at == 0)
		return;
	hdr_record_value(t->behind,
			 (int64_t)((double)(now - t->applied_at) * 1e9 / (double)t->tsc_hz));
	t->applied_at = 0;
}

json_t *follow_times_json(const struct follow_times *t, uint64_t changes, uint64_t paused) {
	return json_pack("{s:I, s:o, s:f}", "changes", (json_int_t)changes, "behind_us",
			 percentiles_json(t->behind), "held_us",
			 (double)paused * 1e6 / (double)t->tsc_hz);
}
