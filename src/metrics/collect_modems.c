/* SPDX-License-Identifier: BSD-3-Clause */
/* Of single modems and their service flows, where they are asked for. */
#include <string.h>

#include "downstream/cpe.h"
#include "metrics/walk.h"
#include "metrics/which.h"
#include "model/units.h"
#include "scheduler/report.h"

static bool modem_is_wanted(const struct metrics_selection *s, const struct modem *m) {
	return modem_is_there(m) && (s->modem == NULL || memcmp(m->mac, s->modem, 6) == 0);
}

/* The next modem that is wanted, from `*place` on, which moves behind it. */
static const struct modem *modem_next(const struct walk *w, const struct walk_group *g,
				      size_t *place) {
	const struct service_group *sg = g->served->sg;

	while (*place < sg->modem_count) {
		const struct modem *m = &sg->modems[(*place)++];

		if (modem_is_wanted(w->selection, m))
			return m;
	}
	return NULL;
}

static void flow_read(const struct walk_group *g, size_t modem, size_t flow,
		      struct scheduler_flow_report *r) {
	const struct downstream *d = g->served->downstream;

	scheduler_report_flow(d->upper.scheduler, ds_flow_number(d, modem, flow), r);
}

/* The sum of a modem's service flows. */
static struct scheduler_flow_report modem_read(const struct walk_group *g, size_t place) {
	const struct modem *m = &g->served->sg->modems[place];
	struct scheduler_flow_report sum = {0}, r;

	for (size_t f = 0; f < m->service_flow_count; f++) {
		flow_read(g, place, f, &r);
		sum.packets += r.packets;
		sum.bytes += r.bytes;
		sum.waiting_packets += r.waiting_packets;
		sum.waiting_bytes += r.waiting_bytes;
		for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
			sum.drops[v] += r.drops[v];
	}
	return sum;
}

void collect_modem(const struct walk *w, const struct metric_row *row) {
	for (unsigned i = 0; i < w->group_count; i++) {
		const struct walk_group *g = &w->groups[i];
		const struct modem *m;
		size_t place = 0;

		while ((m = modem_next(w, g, &place)) != NULL) {
			struct scheduler_flow_report r = modem_read(g, place - 1);
			char mac[UNITS_TEXT_SIZE];
			uint64_t value = 0;

			switch (row->which) {
			case MODEM_PACKETS: value = r.packets; break;
			case MODEM_BYTES: value = r.bytes; break;
			case MODEM_WAITING_PACKETS: value = r.waiting_packets; break;
			case MODEM_WAITING_BYTES: value = r.waiting_bytes; break;
			case MODEM_ACTIVE:
				value = cpe_active_addresses(&g->served->downstream->upper,
							     place - 1);
				break;
			}
			units_format_mac(m->mac, mac);
			walk_put(w, row, value, LABELS(g->id, mac));
		}
	}
}

void collect_modem_drops(const struct walk *w, const struct metric_row *row) {
	for (unsigned i = 0; i < w->group_count; i++) {
		const struct walk_group *g = &w->groups[i];
		const struct modem *m;
		size_t place = 0;

		while ((m = modem_next(w, g, &place)) != NULL) {
			struct scheduler_flow_report r = modem_read(g, place - 1);
			char mac[UNITS_TEXT_SIZE];

			units_format_mac(m->mac, mac);
			for (unsigned v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
				walk_put(w, row, r.drops[v],
					 LABELS(g->id, mac, drop_name(ds_refusals[v])));
		}
	}
}

static void put_flow(const struct walk *w, const struct metric_row *row,
		     const struct service_flow *f, const struct scheduler_flow_report *r,
		     const char *const labels[METRIC_LABELS]) {
	switch (row->which) {
	case FLOW_PACKETS: walk_put(w, row, r->packets, labels); break;
	case FLOW_BYTES: walk_put(w, row, r->bytes, labels); break;
	case FLOW_WAITING_PACKETS: walk_put(w, row, r->waiting_packets, labels); break;
	case FLOW_WAITING_BYTES: walk_put(w, row, r->waiting_bytes, labels); break;
	case FLOW_PROBABILITY:
		if (f->aqm == AQM_DOCSIS_PIE)
			walk_put_real(w, row, (double)r->drop_probability / UINT32_MAX, labels);
		break;
	case FLOW_RATE: walk_put_real(w, row, (double)f->sustained_rate / 8, labels); break;
	}
}

static void put_flow_drops(const struct walk *w, const struct metric_row *row,
			   const struct scheduler_flow_report *r,
			   const char *const labels[METRIC_LABELS]) {
	for (unsigned v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
		walk_put(w, row, r->drops[v],
			 LABELS(labels[0], labels[1], labels[2], drop_name(ds_refusals[v])));
}

static void put_flows_of(const struct walk *w, const struct metric_row *row,
			 const struct walk_group *g, size_t place, bool drops) {
	const struct modem *m = &g->served->sg->modems[place];
	char mac[UNITS_TEXT_SIZE], sfid[WALK_ID];

	units_format_mac(m->mac, mac);
	for (size_t f = 0; f < m->service_flow_count; f++) {
		const char *const *labels =
			LABELS(g->id, walk_id(sfid, m->service_flows[f].id), mac);
		struct scheduler_flow_report r;

		flow_read(g, place, f, &r);
		if (drops)
			put_flow_drops(w, row, &r, labels);
		else
			put_flow(w, row, &m->service_flows[f], &r, labels);
	}
}

static void collect_flows(const struct walk *w, const struct metric_row *row, bool drops) {
	for (unsigned i = 0; i < w->group_count; i++) {
		size_t place = 0;

		while (modem_next(w, &w->groups[i], &place) != NULL)
			put_flows_of(w, row, &w->groups[i], place - 1, drops);
	}
}

void collect_flow(const struct walk *w, const struct metric_row *row) {
	collect_flows(w, row, false);
}

void collect_flow_drops(const struct walk *w, const struct metric_row *row) {
	collect_flows(w, row, true);
}
