/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports rates and delays that the meters measured, where they show whether a limit was kept. */
#include "summary/summary_qos.h"

#include <stdlib.h>

/* Limits are reported only above this excess over the rate, or above this time with a backlog. */
#define OVER_S 1e-3
#define WAITED_S 0.5
#define LINES_MAX 256
/* A channel with a lower load does not limit the flows. */
#define LOAD_FREE 0.8

/* A rate limit, its owner and its measurement. */
struct line {
	const char *of;
	uint32_t id;
	const struct rate_limit *limit;
	const struct backlog *backlog;
	bool alone; /* no other limit applies */
};

struct writer {
	const struct meters *q;
	json_t *lines;
	uint64_t measured;
	bool group_free; /* the service group's rate does not limit */
	bool shaped;
};

/* Reports a limit that was exceeded, or that a long backlog shows to be used in full. Counts all limits. */
static void line_add(struct writer *w, const struct line *line) {
	const struct rate_limit *l = line->limit;
	double over = rate_limit_over(l) / w->q->hz;
	double waited = (double)line->backlog->cycles / w->q->hz;

	if (l->rate <= 0 || l->last == 0)
		return;
	w->measured++;
	if ((over < OVER_S && (waited < WAITED_S || !line->alone)) ||
	    json_array_size(w->lines) == LINES_MAX)
		return;
	json_array_append_new(w->lines,
			      json_pack("{s:s, s:I, s:f, s:f, s:f, s:b, s:f, s:I}", "of", line->of,
					"id", (json_int_t)line->id, "rate", l->rate * 8 * w->q->hz,
					"burst", l->burst, "over_s", over, "alone", line->alone,
					"waited_s", waited, "waited_bytes",
					(json_int_t)line->backlog->bytes));
}

static bool group_is_free(const struct writer *w, uint32_t group) {
	return w->group_free && !w->shaped && w->q->groups[group].load < LOAD_FREE;
}

static void flows_add(struct writer *w) {
	static const struct backlog none;
	const struct meters *q = w->q;

	for (uint32_t i = 0; i < q->flow_count; i++) {
		const struct meter_flow *f = &q->flows[i];
		bool alone = f->id != 0 && !(q->modems[f->modem].aggregate.rate > 0) &&
			     !f->reserves && f->sustained.rate > 0 && group_is_free(w, f->group);

		line_add(w,
			 &(struct line){"service flow", f->id, &f->sustained, &f->backlog, alone});
		line_add(w, &(struct line){"peak rate", f->id, &f->peak, &none, false});
	}
}

/* A modem's rate is measured only if no other limit applies to any of its flows. */
static void modems_add(struct writer *w) {
	const struct meters *q = w->q;
	bool *limited = calloc(q->modem_count + 1, sizeof(*limited));

	if (limited == NULL)
		return;
	for (uint32_t i = 0; i < q->flow_count; i++) {
		const struct meter_flow *f = &q->flows[i];

		if (f->id != 0)
			limited[f->modem] |= !group_is_free(w, f->group);
	}
	for (uint32_t m = 0; m < q->modem_count; m++)
		line_add(w, &(struct line){"modem", q->modems[m].first_id, &q->modems[m].aggregate,
					   &q->modems[m].backlog, !limited[m]});
	free(limited);
}

static void channels_add(struct writer *w) {
	for (uint32_t c = 0; c < w->q->channel_count; c++) {
		const struct meter_channel *channel = &w->q->channels[c];

		line_add(w, &(struct line){"channel", channel->id, &channel->limit,
					   &channel->backlog, w->group_free});
	}
}

static json_t *delays(const struct meters *q) {
	json_t *list = json_array();

	for (uint32_t i = 0; i < q->group_count * METERS_PRIORITIES; i++) {
		const struct meter_group *g = &q->groups[i / METERS_PRIORITIES];
		const struct meter_delay *d = &g->delays[i % METERS_PRIORITIES];

		if (d->packets == 0)
			continue;
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:I, s:f}", "bonding_group", (json_int_t)g->id,
					"priority", (json_int_t)(i % METERS_PRIORITIES), "packets",
					(json_int_t)d->packets, "mean_us",
					d->cycles / (double)d->packets / q->hz * 1e6));
	}
	return list;
}

/* Reports flows without a rate limit that had a backlog. */
static json_t *shares(const struct meters *q) {
	json_t *list = json_array();

	for (uint32_t i = 0; i < q->flow_count; i++) {
		const struct meter_flow *f = &q->flows[i];
		double waited = (double)f->backlog.cycles / q->hz;

		if (f->id == 0 || f->sustained.rate > 0 || f->reserves || waited < WAITED_S ||
		    json_array_size(list) == LINES_MAX)
			continue;
		json_array_append_new(list,
				      json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:I}", "id",
						(json_int_t)f->id, "modem",
						(json_int_t)q->modems[f->modem].first_id,
						"bonding_group", (json_int_t)q->groups[f->group].id,
						"priority", (json_int_t)f->priority, "weight",
						(json_int_t)f->weight, "waited_s", waited,
						"waited_bytes", (json_int_t)f->backlog.bytes));
	}
	return list;
}

static bool group_rate_free(const struct meters *q) {
	double bytes = 0;

	for (uint32_t c = 0; c < q->channel_count; c++)
		bytes += (double)q->channels[c].backlog.total;
	return q->rate_limit <= 0 ||
	       bytes < q->rate_limit * (double)(q->until - q->since) * LOAD_FREE;
}

json_t *summary_qos(const struct meters *q, bool shaped) {
	struct writer w = {.q = q, .lines = json_array(), .shaped = shaped};

	w.group_free = q->since != 0 && q->until > q->since && group_rate_free(q);
	flows_add(&w);
	modems_add(&w);
	channels_add(&w);
	return json_pack("{s:I, s:I, s:b, s:I, s:o, s:o, s:o}", "since", (json_int_t)q->since,
			 "until", (json_int_t)q->until, "shaped", shaped, "rates",
			 (json_int_t)w.measured, "limits", w.lines, "delays", delays(q), "shares",
			 shares(q));
}
