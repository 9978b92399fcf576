/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of the process: versions, changes, memory, buffers and the metrics endpoint. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_version.h>

#include "crypto/isa.h"
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum {
	PROCESS_START,
	PROCESS_UPTIME,
	PROCESS_TSC,
	PROCESS_GROUPS,
	PROCESS_REMOVED,
	PROCESS_IDLE_REFUSED
};
enum { POOL_SIZE, POOL_FREE };
enum { HTTP_PAGES, HTTP_PAGE_SECONDS, HTTP_PAGE_BYTES, HTTP_CONNECTIONS };

static void collect_build(const struct walk *w, const struct metric_entry *entry) {
	walk_put(w, entry, 1, LABELS(w->source->version, rte_version(), crypto_library_version()));
}

static double seconds_of(clockid_t clock) {
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void metrics_source_start(struct metrics_source *source) {
	source->start_time = seconds_of(CLOCK_REALTIME);
	source->started = seconds_of(CLOCK_MONOTONIC);
}

double metrics_uptime(const struct metrics_source *source) {
	return source->started > 0 ? seconds_of(CLOCK_MONOTONIC) - source->started : 0;
}

static void collect_process(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;

	switch (entry->which) {
	case PROCESS_START: walk_put_real(w, entry, w->source->start_time, LABELS(NULL)); break;
	case PROCESS_UPTIME:
		walk_put_real(w, entry, metrics_uptime(w->source), LABELS(NULL));
		break;
	case PROCESS_TSC: walk_put(w, entry, rte_get_tsc_hz(), LABELS(NULL)); break;
	case PROCESS_GROUPS: walk_put(w, entry, w->group_count, LABELS(NULL)); break;
	case PROCESS_IDLE_REFUSED: walk_put(w, entry, s->idle_refused, LABELS(NULL)); break;
	case PROCESS_REMOVED: walk_put(w, entry, s->removed.groups, LABELS(NULL)); break;
	}
}

static void collect_changes(const struct walk *w, const struct metric_entry *entry) {
	walk_put(w, entry, w->source->server->generation, LABELS("made"));
	walk_put(w, entry, w->source->server->refused, LABELS("refused"));
}

/* Resident bytes of the process; 0 if unknown. */
static uint64_t resident(void) {
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void collect_memory(const struct walk *w, const struct metric_entry *entry) {
	uint64_t heap = 0, used = 0;

	for (unsigned i = 0; i < rte_socket_count(); i++) {
		struct rte_malloc_socket_stats stats;

		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) != 0)
			continue;
		heap += stats.heap_totalsz_bytes;
		used += stats.heap_allocsz_bytes;
	}
	walk_put(w, entry, resident(), LABELS("resident"));
	walk_put(w, entry, heap, LABELS("dpdk_heap"));
	walk_put(w, entry, used, LABELS("dpdk_heap_used"));
}

static void collect_pools(const struct walk *w, const struct metric_entry *entry) {
	const struct server_pools *p = &w->source->server->pools;
	const struct {
		const char *name;
		const struct rte_mempool *pool;
	} pools[] = {
		{"packets", p->packets},
		{"depi_headers", p->depi_headers},
		{"depi_fragments", p->depi_fragments},
		{"linear", p->linear},
		{"uepi", p->uepi},
		{"frames", p->frames != p->uepi ? p->frames : NULL},
		{"pieces", p->pieces},
	};

	for (size_t i = 0; i < RTE_DIM(pools); i++) {
		if (pools[i].pool != NULL)
			walk_put(w, entry,
				 entry->which == POOL_SIZE ? pools[i].pool->size
							   : rte_mempool_avail_count(pools[i].pool),
				 LABELS(pools[i].name));
	}
}

const uint16_t metrics_http_codes[METRICS_HTTP_CODES] = {200, 400, 404, 405, 406, 413, 500, 503};
const char *const metrics_http_ends[3] = {"client", "timeout", "error"};

static void collect_http_answers(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned c = 0; w->source->http != NULL && c < METRICS_HTTP_CODES; c++) {
		char code[WALK_ID];

		walk_put(w, entry, w->source->http->answers[c],
			 LABELS(walk_id(code, metrics_http_codes[c])));
	}
}

static void collect_http_ends(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned e = 0; w->source->http != NULL && e < RTE_DIM(metrics_http_ends); e++)
		walk_put(w, entry, w->source->http->aborted[e], LABELS(metrics_http_ends[e]));
}

static void collect_http(const struct walk *w, const struct metric_entry *entry) {
	const struct metrics_http_counts *http = w->source->http;

	if (http == NULL)
		return;
	switch (entry->which) {
	case HTTP_PAGES: walk_put(w, entry, http->pages, LABELS(NULL)); break;
	case HTTP_PAGE_SECONDS:
		walk_put_real(w, entry, (double)http->page_ns / 1e9, LABELS(NULL));
		break;
	case HTTP_PAGE_BYTES: walk_put(w, entry, http->page_bytes, LABELS(NULL)); break;
	case HTTP_CONNECTIONS: walk_put(w, entry, http->connections, LABELS(NULL)); break;
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_idle_refused_total", COUNTER, "", PLAIN, LABELLED(NULL), collect_process,
	       PROCESS_IDLE_REFUSED,
	       "requests for idle kinds that this machine does not support: workers poll instead"),
	METRIC("vcmts_build_info", GAUGE, "", PLAIN, LABELLED("version", "dpdk", "ipsec_mb"),
	       collect_build, 0, "versions of OpenVCMTS and its libraries: always 1"),
	METRIC("vcmts_start_time_seconds", GAUGE, "seconds", PLAIN, LABELLED(NULL), collect_process,
	       PROCESS_START, "start time of the server, in seconds since 1970"),
	METRIC("vcmts_uptime_seconds", GAUGE, "seconds", PLAIN, LABELLED(NULL), collect_process,
	       PROCESS_UPTIME, "time since the server was started"),
	METRIC("vcmts_tsc_hz", GAUGE, "", PLAIN, LABELLED(NULL), collect_process, PROCESS_TSC,
	       "TSC cycles per second"),
	METRIC("vcmts_service_groups", GAUGE, "service_groups", PLAIN, LABELLED(NULL),
	       collect_process, PROCESS_GROUPS, "service groups in service"),
	METRIC("vcmts_removed_service_groups_total", COUNTER, "service_groups", PLAIN,
	       LABELLED(NULL), collect_process, PROCESS_REMOVED,
	       "removed service groups, whose series have ended"),
	METRIC("vcmts_changes_total", COUNTER, "changes", PLAIN, LABELLED("result"),
	       collect_changes, 0, "changes of objects and service groups since the start"),
	METRIC("vcmts_memory_bytes", GAUGE, "bytes", PLAIN, LABELLED("kind"), collect_memory, 0,
	       "memory: resident of the process; size and used part of DPDK's heaps"),
	METRIC("vcmts_pool_buffers", GAUGE, "buffers", PLAIN, LABELLED("pool"), collect_pools,
	       POOL_SIZE, "packet buffers of a pool"),
	METRIC("vcmts_pool_buffers_free", GAUGE, "", PLAIN, LABELLED("pool"), collect_pools,
	       POOL_FREE, "free packet buffers of a pool"),
	METRIC("vcmts_http_answers_total", COUNTER, "answers", PLAIN, LABELLED("code"),
	       collect_http_answers, 0, "responses of the metrics endpoint, by status code"),
	METRIC("vcmts_http_cut_off_total", COUNTER, "", PLAIN, LABELLED("reason"),
	       collect_http_ends, 0,
	       "connections to the metrics endpoint that ended before "
	       "their response was complete"),
	METRIC("vcmts_http_connections", GAUGE, "connections", PLAIN, LABELLED(NULL), collect_http,
	       HTTP_CONNECTIONS, "open connections to the metrics endpoint"),
	METRIC("vcmts_http_pages_total", COUNTER, "pages", PLAIN, LABELLED(NULL), collect_http,
	       HTTP_PAGES, "generated metrics pages; several clients may get the same one"),
	METRIC("vcmts_http_page_seconds_total", COUNTER, "seconds", PLAIN, LABELLED(NULL),
	       collect_http, HTTP_PAGE_SECONDS, "time to generate metrics pages, on the main core"),
	METRIC("vcmts_http_page_bytes", GAUGE, "bytes", PLAIN, LABELLED(NULL), collect_http,
	       HTTP_PAGE_BYTES, "size of the last generated page"),
};
const struct metric_entries process_metrics = METRIC_ENTRIES(entries);
