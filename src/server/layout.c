/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/layout.h"

bool layout_has_upstream(const struct service_group *sg) {
	return sg->upstream_channel_count > 0;
}

static bool two_threads(const struct service_group *sg) {
	return sg->threads.downstream == LAYOUT_1DS2T;
}

unsigned layout_lower_worker(const struct service_group *sg) {
	return two_threads(sg) ? 1 : 0;
}

unsigned layout_upstream_worker(const struct service_group *sg) {
	if (sg->threads.upstream_core == sg->threads.upper_mac_core)
		return 0;
	if (two_threads(sg) && sg->threads.upstream_core == sg->threads.lower_mac_core)
		return 1;
	return two_threads(sg) ? 2 : 1;
}

unsigned layout_cores(const struct service_group *sg, unsigned cores[LAYOUT_MAX_WORKERS]) {
	unsigned n = 0;

	cores[n++] = sg->threads.upper_mac_core;
	if (two_threads(sg))
		cores[n++] = sg->threads.lower_mac_core;
	if (layout_has_upstream(sg) && layout_upstream_worker(sg) == n)
		cores[n++] = sg->threads.upstream_core;
	return n;
}

/* The name of a downstream worker, alone or with the upstream. */
static const char *name_of(const struct service_group *sg, unsigned worker, bool upstream) {
	static const char *const names[][2] = {
		{"upper and lower MAC", "upper and lower MAC, upstream"},
		{"upper MAC", "upper MAC, upstream"},
		{"lower MAC", "lower MAC, upstream"},
	};

	return names[two_threads(sg) ? 1 + worker : 0][upstream];
}

void layout_workers(const struct service_group *sg, struct worker workers[LAYOUT_MAX_WORKERS],
		    unsigned *count) {
	unsigned downstream = two_threads(sg) ? 2 : 1;
	unsigned upstream = layout_has_upstream(sg) ? layout_upstream_worker(sg) : UINT32_MAX;
	unsigned cores[LAYOUT_MAX_WORKERS];

	*count = layout_cores(sg, cores);
	for (unsigned w = 0; w < downstream; w++)
		workers[w].name = name_of(sg, w, w == upstream);
	if (upstream == downstream)
		workers[upstream].name = "upstream";
}
