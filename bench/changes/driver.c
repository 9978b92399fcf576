/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/live/object_json.h"
#include "model/units.h"
#include "pipeline/percentiles.h"
#include "program.h"
#include "server/changes.h"

#define NS 1000000000u /* per second */
#define ADDED 4 /* the first spares, which are removed and added; the others roll their keys */
#define CYCLE 4 /* requests of a round robin: modem, rules, key, rate */
#define NAP_NS 50000
#define STOP_NS 100000000 /* maximum time from a signal to the end of a sleep */
/* minimum requests per run: two cycles, so that a modem is removed and added */
#define MIN_REQUESTS (2 * CYCLE)

struct request {
	const char *method;
	json_t *params;
	enum change_kind kind;
};

static uint64_t clock_ns(clockid_t clock) {
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns) {
	struct timespec t = {(time_t)(ns / NS), (long)(ns % NS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Sleeps until `ns` or a signal. It sleeps in slices, as a signal before the sleep or on another thread does not end
 * it. */
static void sleep_until_signal(uint64_t ns) {
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (; now < ns && !program_stopped(); now = clock_ns(CLOCK_MONOTONIC))
		sleep_until(RTE_MIN(ns, now + STOP_NS));
}

static const struct live_group *first_group(const struct driver *d) {
	return &d->bed->server.groups[0].live;
}

static json_t *group_id(const struct driver *d) {
	return json_integer(first_group(d)->sg.id);
}

/* The spare of this number, below BED_SPARES. */
static const struct modem *spare(const struct bed *b, unsigned number) {
	const struct service_group *sg = &b->groups[0];

	return &sg->modems[sg->modem_count + number];
}

/* Whether the first group suits all kinds of requests. Returns false after a message. */
static bool is_suitable(const struct bed *b) {
	const struct service_group *sg = &b->groups[0];

	if (sg->filter_group_count == 0) {
		fprintf(stderr,
			"service group %u: no filter group, needed: at least one, as its rules "
			"change\n",
			sg->id);
		return false;
	}
	for (unsigned s = ADDED; s < BED_SPARES; s++) {
		if (spare(b, s)->security.has_next_key && !spare(b, s)->security.use_next_key)
			continue;
		fprintf(stderr,
			"service group %u: a modem has no unused next_key, needed: one for each of "
			"the last %d modems, as their keys roll\n",
			sg->id, BED_SPARES - ADDED);
		return false;
	}
	return true;
}

int driver_create(struct driver *d, struct bed *b) {
	uint32_t first = (uint32_t)b->groups[0].modem_count;
	bool all = true;

	if (!is_suitable(b))
		return -1;
	*d = (struct driver){.bed = b, .methods = {.server = &b->server}};
	d->rpc = methods_rpc(&d->methods);
	for (uint32_t s = 0; s < BED_SPARES; s++) {
		d->spares[s] = object_json(first_group(d), LIVE_MODEM, first + s, true);
		all = all && d->spares[s] != NULL;
	}
	for (unsigned k = 0; k < DRIVER_KINDS; k++) {
		d->figures[k].ns = percentiles_create();
		d->figures[k].work_ns = percentiles_create();
		all = all && d->figures[k].ns != NULL && d->figures[k].work_ns != NULL;
	}
	if (!all)
		fprintf(stderr, "no memory for the requests\n");
	return all ? 0 : -1;
}

void driver_free(struct driver *d) {
	for (unsigned s = 0; s < BED_SPARES; s++)
		json_decref(d->spares[s]);
	for (unsigned k = 0; k < DRIVER_KINDS; k++) {
		if (d->figures[k].ns != NULL)
			hdr_close(d->figures[k].ns);
		if (d->figures[k].work_ns != NULL)
			hdr_close(d->figures[k].work_ns);
	}
}

/* Removes a spare and adds it again, one spare after the other. `n` counts the requests of this kind. */
static struct request request_modem(const struct driver *d, unsigned n) {
	json_t *modem = d->spares[n / 2 % ADDED];

	if (n % 2 == 1)
		return (struct request){"modem.add", json_pack("{s:O}", "modem", modem),
					CHANGE_MODEM_ADD};
	return (struct request){
		"modem.remove",
		json_pack("{s:O}", "mac", json_object_get(modem, "mac")),
		CHANGE_MODEM_REMOVE,
	};
}

/* Appends a copy of the last rule, or removes it. The copy decides nothing, as the original comes first. */
static struct request request_rules(const struct driver *d, unsigned n) {
	const struct service_group *sg = &d->bed->groups[0];
	uint32_t slot = (uint32_t)(n / 2 % sg->filter_group_count);
	json_t *group = object_json(first_group(d), LIVE_FILTER_GROUP, slot, false);
	json_t *rules = json_object_get(group, "rules");
	size_t max = sg->filter_groups[slot].rule_count;

	if (json_array_size(rules) > max)
		json_array_remove(rules, max);
	else
		json_array_append(rules, json_array_get(rules, max - 1));
	return (struct request){"filter_group.set", json_pack("{s:o}", "filter_group", group),
				CHANGE_RULES};
}

/* Writes `value` as the hexadecimal digits of `bytes` bytes, at least 4. */
static void write_digits(uint32_t value, unsigned bytes, char *out) {
	memset(out, '0', (size_t)2 * bytes);
	snprintf(out + (size_t)2 * bytes - 8, 9, "%08x", value);
}

/* Rolls the key of a spare in three requests: uses the next key, removes the old one, installs a new next key. */
static struct request request_key(const struct driver *d, unsigned n) {
	unsigned number = ADDED + n / 3 % (BED_SPARES - ADDED);
	enum cipher cipher = spare(d->bed, number)->security.cipher;
	json_t *said = json_object_get(json_object_get(d->spares[number], "security"), "said");
	char key[2 * CIPHER_MAX_KEY + 1], iv[2 * CIPHER_MAX_IV + 1];

	/* Begins with key.use, as is_suitable() has found next keys. */
	if (n % 3 == 0)
		return (struct request){"key.use", json_pack("{s:O}", "said", said), CHANGE_KEY};
	if (n % 3 == 1)
		return (struct request){"key.remove", json_pack("{s:O}", "said", said), CHANGE_KEY};
	write_digits(n * 2654435761u, cipher_key_size(cipher), key);
	write_digits(n, cipher_iv_size(cipher), iv);
	return (struct request){
		"key.install",
		json_pack("{s:O, s:s, s:s}", "said", said, "key", key, "iv", iv),
		CHANGE_KEY,
	};
}

/* Sets the rate of a modem with traffic to 500 Mbps or more, so that it does not limit. */
static struct request request_rate(const struct driver *d, unsigned n) {
	const struct service_group *sg = &d->bed->groups[0];
	char mac[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];

	snprintf(rate, sizeof(rate), "%u Mbps", 500 + n % 400);
	units_format_mac(sg->modems[n * 7 % sg->modem_count].mac, mac);
	return (struct request){
		"modem.set",
		json_pack("{s:{s:s, s:s}}", "modem", "mac", mac, "max_aggregate_rate", rate),
		CHANGE_RATE,
	};
}

static struct request request_of(const struct driver *d, unsigned number) {
	switch (number % CYCLE) {
	case 0: return request_modem(d, number / CYCLE);
	case 1: return request_rules(d, number / CYCLE);
	case 2: return request_key(d, number / CYCLE);
	default: return request_rate(d, number / CYCLE);
	}
}

/* Returns the request as JSON text, which the caller frees. Releases the params. */
static char *text_of(const struct driver *d, const struct request *r) {
	json_t *request;
	char *text;

	json_object_set_new(r->params, "group", group_id(d));
	request = json_pack("{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method", r->method,
			    "params", r->params);
	text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	return text;
}

static void report_refused(const char *method, const json_t *answer) {
	const json_t *error = json_object_get(answer, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	fprintf(stderr, "%s: %s\n", method, message != NULL ? message : "no answer");
}

/* Records the times of a completed request, and frees its slot. */
static void request_done(struct driver *d, struct driver_request *r, struct answer_text *text) {
	struct driver_figures *f = &d->figures[r->kind];
	json_t *answer = answer_text_parse(text);

	if (json_object_get(answer, "result") == NULL && f->refused++ == 0)
		report_refused(change_names[r->kind], answer);
	hdr_record_value(f->ns, (int64_t)(clock_ns(CLOCK_MONOTONIC) - r->since));
	hdr_record_value(f->work_ns, (int64_t)r->spent);
	r->work = NULL;
	json_decref(answer);
}

/* Continues a request, and ends it if its response is complete. */
static void request_continue(struct driver *d, struct driver_request *r) {
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct answer_text text = {0};
	bool done;

	bed_kind_set(d->bed, r->kind);
	done = rpc_continue(r->work);
	if (done)
		rpc_end(r->work, &text);
	r->spent += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	if (done)
		request_done(d, r, &text);
}

/* Begins the next request in a free slot. */
static void submit(struct driver *d, struct driver_request *r) {
	struct request request = request_of(d, d->step++);
	char *text = text_of(d, &request);
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	*r = (struct driver_request){.kind = request.kind, .since = clock_ns(CLOCK_MONOTONIC)};
	r->work = rpc_begin(&d->rpc, text, strlen(text));
	r->spent = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	free(text);
	if (r->work != NULL)
		request_continue(d, r);
}

/* Continues all pending requests. Returns how many are still pending. */
static unsigned requests_continue(struct driver *d) {
	unsigned pending = 0;

	server_changes_retire(&d->bed->server);
	for (unsigned i = 0; i < DRIVER_REQUESTS; i++) {
		if (d->requests[i].work == NULL)
			continue;
		request_continue(d, &d->requests[i]);
		pending += d->requests[i].work != NULL;
	}
	return pending;
}

static struct driver_request *free_slot(struct driver *d) {
	for (unsigned i = 0; i < DRIVER_REQUESTS; i++) {
		if (d->requests[i].work == NULL)
			return &d->requests[i];
	}
	return NULL;
}

static void figures_begin(struct driver *d) {
	for (unsigned k = 0; k < DRIVER_KINDS; k++) {
		hdr_reset(d->figures[k].ns);
		hdr_reset(d->figures[k].work_ns);
		d->figures[k].refused = 0;
	}
	d->late = 0;
}

uint64_t driver_run(struct driver *d, unsigned rate, unsigned milliseconds) {
	uint64_t next = clock_ns(CLOCK_MONOTONIC), end = next + milliseconds * UINT64_C(1000000);
	uint64_t count = 0, gap = rate > 0 ? NS / rate : 0;

	if (rate == 0) {
		sleep_until_signal(end);
		return 0;
	}
	figures_begin(d);
	while ((next < end || count < MIN_REQUESTS) && !program_stopped()) {
		unsigned pending = requests_continue(d);
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct driver_request *slot = free_slot(d);

		if (now < next || slot == NULL) {
			sleep_until_signal(pending == 0 ? next : RTE_MIN(next, now + NAP_NS));
			continue;
		}
		if (now >= end && count >= MIN_REQUESTS)
			break;
		d->late += now > next + gap;
		submit(d, slot);
		count++;
		next += gap;
	}
	while (requests_continue(d) > 0)
		sleep_until(clock_ns(CLOCK_MONOTONIC) + NAP_NS);
	return count;
}
