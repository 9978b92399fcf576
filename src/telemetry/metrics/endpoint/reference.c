/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/reference.h"

#include <stdlib.h>
#include <string.h>

#include "telemetry/metrics/endpoint/reference_terms.h"

#define CHANNELS 64 /* of a group, that are told: the dashboards know 33 */
#define ID 16 /* bytes of a group's ID */
#define PROVIDERS \
	"vcmts_service_group_cipher_modems" /* tells who encrypts, and nothing else that is needed */
#define LIBRARY "ipsec-mb"

enum { FROM, LAST, NOW, TIMES }; /* rates are those from FROM to NOW */

struct sums {
	double of[TIMES], per[TIMES];
};

/* A service group, and its sums: a row has one, or one a channel. */
struct reference_group {
	char id[ID];
	bool seen; /* in this page */
	bool library; /* that called directly encrypts */
	double since[TIMES]; /* seconds */
	unsigned channels; /* that were seen of the metric in hand, and at most of any */
	unsigned channels_most;
	struct sums sums[];
};

struct reference {
	struct reference_term *terms;
	unsigned term_count;
	unsigned *places; /* of rows among the sums of a group */
	unsigned place_count;
	struct reference_group **groups;
	unsigned group_count;
	/* of the metric whose samples come */
	const struct reference_term **wanted;
	unsigned wanted_count;
	bool tells_provider;
	double now;
	bool failed;
};

void reference_close(struct reference *r) {
	if (r == NULL)
		return;
	for (unsigned g = 0; g < r->group_count; g++)
		free(r->groups[g]);
	free(r->groups);
	free(r->wanted);
	free(r->places);
	free(r->terms);
	free(r);
}

struct reference *reference_open(void) {
	struct reference *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->terms = reference_terms(&r->term_count);
	r->wanted = calloc(r->term_count + 1, sizeof(r->wanted[0]));
	r->places = calloc(reference_count, sizeof(r->places[0]));
	r->groups = calloc(SERVER_MAX_GROUPS, sizeof(r->groups[0]));
	if (r->terms == NULL || r->wanted == NULL || r->places == NULL || r->groups == NULL) {
		reference_close(r);
		return NULL;
	}
	for (unsigned row = 0; row < reference_count; row++) {
		r->places[row] = r->place_count;
		r->place_count += reference_table[row].kind == REFERENCE_CHANNEL ? CHANNELS : 1;
	}
	return r;
}

unsigned reference_rows(void) {
	return reference_count;
}

const char *reference_name(unsigned row) {
	return reference_table[row].name;
}

const char *reference_made_of(unsigned row, bool per) {
	return per ? reference_table[row].per : reference_table[row].of;
}

/* NULL: memory is short, or there are more than a server has. */
static struct reference_group *group_find(struct reference *r, const char *id) {
	struct reference_group *g;

	for (unsigned i = 0; i < r->group_count; i++) {
		if (strcmp(r->groups[i]->id, id) == 0)
			return r->groups[i];
	}
	if (r->group_count == SERVER_MAX_GROUPS)
		return NULL;
	g = calloc(1, sizeof(*g) + r->place_count * sizeof(g->sums[0]));
	if (g == NULL)
		return NULL;
	snprintf(g->id, sizeof(g->id), "%s", id);
	g->since[FROM] = g->since[LAST] = -1; /* nothing was read */
	r->groups[r->group_count++] = g;
	return g;
}

void reference_begin(struct reference *r, double now) {
	r->now = now;
	r->failed = false;
	for (unsigned g = 0; g < r->group_count; g++) {
		struct reference_group *group = r->groups[g];

		group->seen = false;
		group->channels_most = 0;
		for (unsigned p = 0; p < r->place_count; p++)
			group->sums[p].of[NOW] = group->sums[p].per[NOW] = 0;
	}
}

static void reference_metric(void *arg, const struct metric *m) {
	struct reference *r = arg;

	r->wanted_count = 0;
	for (unsigned t = 0; t < r->term_count; t++) {
		if (strcmp(r->terms[t].metric, m->name) == 0)
			r->wanted[r->wanted_count++] = &r->terms[t];
	}
	r->tells_provider = strcmp(m->name, PROVIDERS) == 0;
	for (unsigned g = 0; g < r->group_count; g++)
		r->groups[g]->channels = 0;
}

static double term_value(const struct reference_term *t, const struct metric_sample *s) {
	if (s->histogram != NULL)
		return (double)(t->part == TERM_SUM ? s->histogram->sum_ns : s->histogram->count);
	return s->real ? s->number : (double)s->integer;
}

static void term_add(struct reference *r, struct reference_group *g, const struct reference_term *t,
		     double value) {
	unsigned place = r->places[t->row];
	struct sums *sums;

	if (reference_table[t->row].kind == REFERENCE_CHANNEL) {
		if (g->channels >= CHANNELS)
			return;
		place += g->channels;
	}
	sums = &g->sums[place];
	(t->per ? sums->per : sums->of)[NOW] += t->factor * value;
}

static void reference_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct reference *r = arg;
	struct reference_group *g;

	if ((r->wanted_count == 0 && !r->tells_provider) || m->labels[0] == NULL ||
	    strcmp(m->labels[0], "service_group") != 0)
		return;
	g = group_find(r, s->labels[0]);
	if (g == NULL) {
		r->failed = true;
		return;
	}
	g->seen = true;
	if (r->tells_provider)
		g->library = strcmp(s->labels[2], LIBRARY) == 0;
	for (unsigned t = 0; t < r->wanted_count; t++) {
		if (reference_term_takes(r->wanted[t], m, s))
			term_add(r, g, r->wanted[t], term_value(r->wanted[t], s));
	}
	g->channels++;
	if (m->labels[1] != NULL && strcmp(m->labels[1], "channel") == 0)
		g->channels_most = RTE_MAX(g->channels_most, g->channels);
}

struct metrics_sink reference_sink(struct reference *r) {
	return (struct metrics_sink){reference_metric, reference_sample, r};
}

static void groups_forget(struct reference *r) {
	unsigned kept = 0;

	for (unsigned g = 0; g < r->group_count; g++) {
		if (r->groups[g]->seen)
			r->groups[kept++] = r->groups[g];
		else
			free(r->groups[g]);
	}
	r->group_count = kept;
}

/* What was read last becomes what rates begin from, once it is old enough. */
static void group_step(struct reference_group *g, double now, unsigned places) {
	bool begins = g->since[LAST] < 0, old = now - g->since[LAST] >= REFERENCE_WINDOW_S;

	g->since[NOW] = now;
	if (!begins && !old)
		return;
	g->since[FROM] = begins ? now : g->since[LAST];
	g->since[LAST] = now;
	for (unsigned p = 0; p < places; p++) {
		struct sums *s = &g->sums[p];

		s->of[FROM] = begins ? s->of[NOW] : s->of[LAST];
		s->per[FROM] = begins ? s->per[NOW] : s->per[LAST];
		s->of[LAST] = s->of[NOW];
		s->per[LAST] = s->per[NOW];
	}
}

/* Of a difference of several counters that were not read at one moment, no rate is below 0. */
static double share(double of, double per) {
	return per > 0 && of > 0 ? of / per : 0;
}

/* Returns whether there is a value: rates take two readings. */
static bool sums_value(const struct reference_group *g, enum reference_kind kind,
		       const struct sums *s, double *value) {
	double passed = g->since[NOW] - g->since[FROM];
	bool is_rate = kind != REFERENCE_VALUE && kind != REFERENCE_QUOTIENT;

	if (is_rate && passed <= 0)
		return false;
	*value = share(s->of[NOW] - s->of[FROM], passed);
	switch (kind) {
	case REFERENCE_RATIO:
		*value = share(s->of[NOW] - s->of[FROM], s->per[NOW] - s->per[FROM]);
		break;
	case REFERENCE_VALUE: *value = s->of[NOW]; break;
	case REFERENCE_QUOTIENT: *value = share(s->of[NOW], s->per[NOW]); break;
	case REFERENCE_LIBRARY: *value = g->library ? *value : 0; break;
	case REFERENCE_DEVICE: *value = g->library ? 0 : *value; break;
	case REFERENCE_RATE:
	case REFERENCE_CHANNEL: break;
	}
	return true;
}

static void row_write(const struct reference *r, unsigned row, const struct reference_group *g,
		      FILE *out) {
	const struct reference_row *of = &reference_table[row];
	const struct sums *sums = &g->sums[r->places[row]];
	unsigned most = RTE_MIN(g->channels_most, (unsigned)CHANNELS);
	double value;

	if (of->kind != REFERENCE_CHANNEL) {
		if (sums_value(g, of->kind, sums, &value))
			fprintf(out, "collectd_%s{exported_instance=\"%s\"} %.17g\n", of->name,
				g->id, value);
		return;
	}
	for (unsigned c = 0; c < most; c++) {
		if (sums_value(g, of->kind, &sums[c], &value))
			fprintf(out,
				"collectd_%s{ds_per_channel=\"%u\",exported_instance=\"%s\"} "
				"%.17g\n",
				of->name, c, g->id, value);
	}
}

bool reference_end(struct reference *r, FILE *out) {
	groups_forget(r);
	for (unsigned g = 0; g < r->group_count; g++)
		group_step(r->groups[g], r->now, r->place_count);
	if (r->failed)
		return false;
	for (unsigned row = 0; row < reference_count; row++) {
		fprintf(out, "# TYPE collectd_%s gauge\n", reference_table[row].name);
		for (unsigned g = 0; g < r->group_count; g++)
			row_write(r, row, r->groups[g], out);
	}
	return true;
}

bool reference_write(struct reference *r, const struct metrics_source *source, FILE *out) {
	const struct metrics_sink sink = reference_sink(r);

	reference_begin(r, metrics_uptime(source));
	if (!metrics_walk(source, &(struct metrics_selection){0}, &sink))
		return false;
	return reference_end(r, out);
}
