/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of single modems and their service flows, on request. */
#include <string.h>

#include "downstream/cpe.h"
#include "model/units.h"
#include "scheduler/report.h"
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { MODEM_PACKETS, MODEM_BYTES, MODEM_WAITING_PACKETS, MODEM_WAITING_BYTES, MODEM_ACTIVE };
enum {
	FLOW_PACKETS,
	FLOW_BYTES,
	FLOW_WAITING_PACKETS,
	FLOW_WAITING_BYTES,
	FLOW_PROBABILITY,
	FLOW_RATE
};

/* samples per modem or flow, one per reason */
#define DROPS (SCHEDULER_VERDICTS - SCHEDULER_QUEUED - 1)

static bool modem_is_wanted(const struct metrics_selection *s, const struct modem *m) {
	return modem_exists(m) && (s->modem == NULL || memcmp(m->mac, s->modem, 6) == 0);
}

/* How a metric counts and collects its samples of one modem. */
struct of_modem {
	size_t (*count)(const struct metric_entry *entry, const struct modem *m);
	void (*collect)(const struct walk *w, const struct metric_entry *entry,
			const struct walk_group *g, size_t modem);
};

static enum metrics_skip skip(const struct walk *w, size_t count) {
	return w->sink->skip != NULL ? w->sink->skip(w->sink->arg, count) : METRICS_VISIT;
}

/* Visits each selected modem that the sink does not skip. After walk_pause(), the group and its
 * modems may have changed. */
static void modems_walk(const struct walk *w, const struct metric_entry *entry,
			const struct of_modem *of) {
	for (unsigned i = 0; i < w->group_count; i++) {
		const struct walk_group *g = &w->groups[i];

		for (size_t m = 0; walk_has(g) && m < g->served->sg->modem_count; m++) {
			const struct modem *modem = &g->served->sg->modems[m];
			enum metrics_skip what;

			if (!modem_is_wanted(w->selection, modem))
				continue;
			what = skip(w, of->count(entry, modem));
			if (what == METRICS_SKIP_REST)
				return;
			if (what == METRICS_SKIP)
				continue;
			of->collect(w, entry, g, m);
			walk_pause(w);
		}
	}
}

static void flow_read(const struct walk_group *g, size_t modem, size_t flow,
		      struct scheduler_flow_report *r) {
	const struct downstream *d = g->served->downstream;

	scheduler_report_flow(d->upper.scheduler, ds_flow_number(d, modem, flow), r);
}

/* The sum over a modem's service flows. */
static struct scheduler_flow_report modem_read(const struct walk_group *g, size_t index) {
	const struct modem *m = &g->served->sg->modems[index];
	struct scheduler_flow_report sum = {0}, r;

	for (size_t f = 0; f < m->service_flow_count; f++) {
		flow_read(g, index, f, &r);
		sum.packets += r.packets;
		sum.bytes += r.bytes;
		sum.waiting_packets += r.waiting_packets;
		sum.waiting_bytes += r.waiting_bytes;
		for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
			sum.drops[v] += r.drops[v];
	}
	return sum;
}

static const char *mac_of(const struct walk_group *g, size_t modem, char text[UNITS_TEXT_SIZE]) {
	units_format_mac(g->served->sg->modems[modem].mac, text);
	return text;
}

static void put_modem(const struct walk *w, const struct metric_entry *entry,
		      const struct walk_group *g, size_t modem) {
	struct scheduler_flow_report r = modem_read(g, modem);
	char mac[UNITS_TEXT_SIZE];
	uint64_t value = 0;

	switch (entry->which) {
	case MODEM_PACKETS: value = r.packets; break;
	case MODEM_BYTES: value = r.bytes; break;
	case MODEM_WAITING_PACKETS: value = r.waiting_packets; break;
	case MODEM_WAITING_BYTES: value = r.waiting_bytes; break;
	case MODEM_ACTIVE:
		value = cpe_active_addresses(&g->served->downstream->upper, modem);
		break;
	}
	walk_put(w, entry, value, LABELS(g->id, mac_of(g, modem, mac)));
}

static size_t count_one(const struct metric_entry *entry, const struct modem *m) {
	(void)entry;
	(void)m;
	return 1;
}

static void collect_modem(const struct walk *w, const struct metric_entry *entry) {
	modems_walk(w, entry, &(struct of_modem){count_one, put_modem});
}

static void put_modem_drops(const struct walk *w, const struct metric_entry *entry,
			    const struct walk_group *g, size_t modem) {
	struct scheduler_flow_report r = modem_read(g, modem);
	char mac[UNITS_TEXT_SIZE];

	mac_of(g, modem, mac);
	for (unsigned v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
		walk_put(w, entry, r.drops[v], LABELS(g->id, mac, drop_name(ds_refusals[v])));
}

static size_t count_drops(const struct metric_entry *entry, const struct modem *m) {
	(void)entry;
	(void)m;
	return DROPS;
}

static void collect_modem_drops(const struct walk *w, const struct metric_entry *entry) {
	modems_walk(w, entry, &(struct of_modem){count_drops, put_modem_drops});
}

static void put_flow(const struct walk *w, const struct metric_entry *entry,
		     const struct service_flow *f, const struct scheduler_flow_report *r,
		     const char *const labels[METRIC_LABELS]) {
	switch (entry->which) {
	case FLOW_PACKETS: walk_put(w, entry, r->packets, labels); break;
	case FLOW_BYTES: walk_put(w, entry, r->bytes, labels); break;
	case FLOW_WAITING_PACKETS: walk_put(w, entry, r->waiting_packets, labels); break;
	case FLOW_WAITING_BYTES: walk_put(w, entry, r->waiting_bytes, labels); break;
	case FLOW_PROBABILITY:
		if (f->aqm == AQM_DOCSIS_PIE)
			walk_put_real(w, entry, (double)r->drop_probability / UINT32_MAX, labels);
		break;
	case FLOW_RATE: walk_put_real(w, entry, (double)f->sustained_rate / 8, labels); break;
	}
}

static void put_flow_drops(const struct walk *w, const struct metric_entry *entry,
			   const struct scheduler_flow_report *r,
			   const char *const labels[METRIC_LABELS]) {
	for (unsigned v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
		walk_put(w, entry, r->drops[v],
			 LABELS(labels[0], labels[1], labels[2], drop_name(ds_refusals[v])));
}

static void put_flows_of(const struct walk *w, const struct metric_entry *entry,
			 const struct walk_group *g, size_t modem, bool drops) {
	const struct modem *m = &g->served->sg->modems[modem];
	char mac[UNITS_TEXT_SIZE], sfid[WALK_ID];

	mac_of(g, modem, mac);
	for (size_t f = 0; f < m->service_flow_count; f++) {
		const char *const *labels =
			LABELS(g->id, walk_id(sfid, m->service_flows[f].id), mac);
		struct scheduler_flow_report r;

		flow_read(g, modem, f, &r);
		if (drops)
			put_flow_drops(w, entry, &r, labels);
		else
			put_flow(w, entry, &m->service_flows[f], &r, labels);
	}
}

static void put_flow_samples(const struct walk *w, const struct metric_entry *entry,
			     const struct walk_group *g, size_t modem) {
	put_flows_of(w, entry, g, modem, false);
}

static void put_drops_of_flows(const struct walk *w, const struct metric_entry *entry,
			       const struct walk_group *g, size_t modem) {
	put_flows_of(w, entry, g, modem, true);
}

static size_t count_flows(const struct metric_entry *entry, const struct modem *m) {
	size_t count = 0;

	if (entry->which != FLOW_PROBABILITY)
		return m->service_flow_count;
	for (size_t f = 0; f < m->service_flow_count; f++)
		count += m->service_flows[f].aqm == AQM_DOCSIS_PIE;
	return count;
}

static void collect_flow(const struct walk *w, const struct metric_entry *entry) {
	modems_walk(w, entry, &(struct of_modem){count_flows, put_flow_samples});
}

static size_t count_flow_drops(const struct metric_entry *entry, const struct modem *m) {
	(void)entry;
	return m->service_flow_count * DROPS;
}

static void collect_flow_drops(const struct walk *w, const struct metric_entry *entry) {
	modems_walk(w, entry, &(struct of_modem){count_flow_drops, put_drops_of_flows});
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_modem_downstream_packets_total", COUNTER, "packets", OF_MODEM,
	       LABELLED("service_group", "modem"), collect_modem, MODEM_PACKETS,
	       "packets of a modem that were dequeued to a channel"),
	METRIC("vcmts_modem_downstream_bytes_total", COUNTER, "bytes", OF_MODEM,
	       LABELLED("service_group", "modem"), collect_modem, MODEM_BYTES,
	       "bytes of a modem that were dequeued to a channel, with CRC"),
	METRIC("vcmts_modem_downstream_dropped_packets_total", COUNTER, "packets", OF_MODEM,
	       LABELLED("service_group", "modem", "reason"), collect_modem_drops, 0,
	       "packets of a modem dropped at its queues, by reason"),
	METRIC("vcmts_modem_downstream_waiting_packets", GAUGE, "packets", OF_MODEM,
	       LABELLED("service_group", "modem"), collect_modem, MODEM_WAITING_PACKETS,
	       "packets in the queues of a modem"),
	METRIC("vcmts_modem_downstream_waiting_bytes", GAUGE, "bytes", OF_MODEM,
	       LABELLED("service_group", "modem"), collect_modem, MODEM_WAITING_BYTES,
	       "bytes in the queues of a modem, with CRC"),
	METRIC("vcmts_modem_active_addresses", GAUGE, "addresses", OF_MODEM,
	       LABELLED("service_group", "modem"), collect_modem, MODEM_ACTIVE,
	       "active addresses of a modem: those with packets in this period of cpe_timeout or "
	       "the one before"),
	METRIC("vcmts_flow_packets_total", COUNTER, "packets", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem"), collect_flow, FLOW_PACKETS,
	       "packets of a downstream service flow that were dequeued to a channel"),
	METRIC("vcmts_flow_bytes_total", COUNTER, "bytes", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem"), collect_flow, FLOW_BYTES,
	       "bytes of a downstream service flow that were dequeued to a channel, with CRC"),
	METRIC("vcmts_flow_dropped_packets_total", COUNTER, "packets", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem", "reason"), collect_flow_drops, 0,
	       "packets dropped at the queue of a service flow, by reason"),
	METRIC("vcmts_flow_waiting_packets", GAUGE, "packets", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem"), collect_flow, FLOW_WAITING_PACKETS,
	       "packets in the queue of a service flow"),
	METRIC("vcmts_flow_waiting_bytes", GAUGE, "bytes", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem"), collect_flow, FLOW_WAITING_BYTES,
	       "bytes in the queue of a service flow, with CRC"),
	METRIC("vcmts_flow_drop_probability_ratio", GAUGE, "ratio", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem"), collect_flow, FLOW_PROBABILITY,
	       "current drop probability of DOCSIS-PIE"),
	METRIC("vcmts_flow_max_sustained_bytes_per_second", GAUGE, "bytes_per_second", OF_FLOW,
	       LABELLED("service_group", "sfid", "modem"), collect_flow, FLOW_RATE,
	       "maximum sustained traffic rate, as configured; 0: no limit"),
};
const struct metric_entries modems_metrics = METRIC_ENTRIES(entries);
