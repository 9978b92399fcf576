/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "model/errors.h"
#include "model/keys/keys.h"
#include "model/units.h"
#include "platform/secret/json_fault.h"
#include "platform/secret/secret_json.h"

/* Defaults: subscriber packets as on the network side, with modem and flow. */
#define DEFAULT_DOWN "classify"
#define DEFAULT_UP "verify_source"

static const struct key keys[] = {
	{.name = "group"},    {.name = "stages"},  {.name = "direction"}, {.name = "modem"},
	{.name = "flow"},     {.name = "session"}, {.name = "dropped"},	  {.name = "count"},
	{.name = "seconds"},  {.name = "rate"},	   {.name = "sample"},	  {.name = "snaplen"},
	{.name = "max_size"}, {.name = NULL},
};

/* The names that a word of a request may mean. The zeroed last key ends the table. */
struct names {
	struct key table[DROP_REASONS + 2 * TAP_BOUNDARIES + 1];
	size_t count;
};

static bool __attribute__((format(printf, 2, 3))) refuse(char *why, const char *format, ...) {
	va_list words;

	va_start(words, format);
	vsnprintf(why, TAP_LINE, format, words);
	va_end(words);
	return false;
}

static void names_add(struct names *names, const char *name) {
	names->table[names->count++].name = name;
}

/* `kind`: of the names, for the message. */
static bool refuse_name(const struct names *names, const char *kind, unsigned directions,
			const char *word, char *why) {
	const char *nearest = keys_nearest(names->table, word);
	const char *way = directions == DIRECTION_DOWN ? "downstream "
			  : directions == DIRECTION_UP ? "upstream "
						       : "";

	if (nearest == NULL)
		return refuse(why, "unknown %s%s \"%.40s\"; `vcmts capture --list` shows all", way,
			      kind, word);
	return refuse(why,
		      "unknown %s%s \"%.40s\"; did you mean %s? `vcmts capture --list` shows all",
		      way, kind, word, nearest);
}

static bool keys_known(json_t *root, char *why) {
	const char *key;
	json_t *value;

	json_object_foreach(root, key, value) {
		size_t k = 0;

		while (keys[k].name != NULL && strcmp(keys[k].name, key) != 0)
			k++;
		if (keys[k].name == NULL) {
			char list[256], quoted[64];

			keys_list(keys, list, sizeof(list));
			errors_quote(key, strlen(key), quoted, sizeof(quoted));
			return refuse(why, "unknown key %s; known: %s", quoted, list);
		}
	}
	return true;
}

/* Reads an integer; `*out` is unchanged where the key is missing. */
static bool number(json_t *root, const char *key, uint64_t min, uint64_t max, uint64_t *out,
		   char *why) {
	json_t *value = json_object_get(root, key);
	json_int_t n = json_integer_value(value);

	if (value == NULL)
		return true;
	if (!json_is_integer(value) || n < 0 || (uint64_t)n < min || (uint64_t)n > max)
		return refuse(why, "%s: allowed: a whole number from %llu to %llu", key,
			      (unsigned long long)min, (unsigned long long)max);
	*out = (uint64_t)n;
	return true;
}

static bool number_32(json_t *root, const char *key, uint32_t min, uint32_t max, uint32_t *out,
		      char *why) {
	uint64_t n = *out;

	if (!number(root, key, min, max, &n, why))
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool read_limits(json_t *root, struct tap_request *request, char *why) {
	json_t *seconds = json_object_get(root, "seconds");
	double value = json_number_value(seconds);

	request->rate = TAP_RATE_DEFAULT;
	request->sample = 1;
	request->snap = TAP_SNAP_MAX;
	request->size = TAP_SIZE_DEFAULT;
	if (seconds != NULL &&
	    !(json_is_number(seconds) && value >= TAP_SECONDS_MIN && value <= TAP_SECONDS_MAX))
		return refuse(why, "seconds: allowed: a number from 0.001 to %d", TAP_SECONDS_MAX);
	request->duration = (uint64_t)(value * 1e9);
	return number_32(root, "rate", 1, TAP_RATE_MAX, &request->rate, why) &&
	       number_32(root, "sample", 1, INT32_MAX, &request->sample, why) &&
	       number_32(root, "snaplen", 1, TAP_SNAP_MAX, &request->snap, why) &&
	       number(root, "count", 1, INT64_MAX, &request->count, why) &&
	       number(root, "max_size", 4096, TAP_SIZE_MAX, &request->size, why);
}

static bool read_direction(json_t *root, struct tap_request *request, char *why) {
	json_t *value = json_object_get(root, "direction");
	const char *text = json_string_value(value);

	request->directions = DIRECTION_BOTH | DIRECTION_PORT;
	if (value == NULL)
		return true;
	if (text != NULL && strcmp(text, "downstream") == 0)
		request->directions = DIRECTION_DOWN;
	else if (text != NULL && strcmp(text, "upstream") == 0)
		request->directions = DIRECTION_UP;
	else
		return refuse(why, "direction: allowed: downstream, upstream");
	return true;
}

static bool read_filters(json_t *root, struct tap_request *request, char *why) {
	json_t *modem = json_object_get(root, "modem");
	const char *mac = json_string_value(modem);

	if (modem != NULL && (mac == NULL || !units_parse_mac(mac, request->mac)))
		return refuse(why, "modem: allowed: a MAC address such as 02:01:00:00:00:01");
	request->wants =
		(uint8_t)((modem != NULL ? TAP_KNOWS_MODEM : 0) |
			  (json_object_get(root, "flow") != NULL ? TAP_KNOWS_FLOW : 0) |
			  (json_object_get(root, "session") != NULL ? TAP_KNOWS_SESSION : 0));
	request->has_group = json_object_get(root, "group") != NULL;
	return number_32(root, "group", 0, UINT32_MAX, &request->group, why) &&
	       number_32(root, "flow", 1, UINT32_MAX, &request->sfid, why) &&
	       number_32(root, "session", 1, UINT32_MAX, &request->session, why);
}

static bool has_packets(enum direction direction, unsigned boundary) {
	return tap_kind_at(direction, boundary) != TAP_NOTHING;
}

static void names_add_stages(struct names *names, unsigned directions) {
	for (enum direction d = DIRECTION_DOWN; d <= DIRECTION_UP; d++) {
		for (unsigned s = 0; (directions & d) != 0 && s < tap_stage_count(d); s++) {
			if (has_packets(d, tap_stage_boundary(d, s)))
				names_add(names, tap_stage_name(d, s));
		}
	}
}

/* The bit of the boundary that NAME, NAME:in or NAME:out names in one direction; 0: none. */
static uint64_t boundary_of(enum direction direction, const char *word) {
	const char *colon = strchr(word, ':');
	size_t size = colon != NULL ? (size_t)(colon - word) : strlen(word);

	for (unsigned s = 0; s < tap_stage_count(direction); s++) {
		const char *name = tap_stage_name(direction, s);
		unsigned boundary = tap_stage_boundary(direction, s);

		if (strlen(name) != size || memcmp(name, word, size) != 0)
			continue;
		if (colon != NULL && strcmp(colon, ":in") == 0)
			boundary = tap_boundary(s, TAP_IN);
		else if (colon != NULL && strcmp(colon, ":out") == 0)
			boundary = tap_boundary(s, TAP_OUT);
		else if (colon != NULL)
			return 0;
		return has_packets(direction, boundary) ? UINT64_C(1) << boundary : 0;
	}
	return 0;
}

static bool add_stage(struct tap_request *request, const char *word, char *why) {
	uint64_t down =
		(request->directions & DIRECTION_DOWN) != 0 ? boundary_of(DIRECTION_DOWN, word) : 0;
	uint64_t up =
		(request->directions & DIRECTION_UP) != 0 ? boundary_of(DIRECTION_UP, word) : 0;
	struct names names = {.count = 0};

	request->down |= down;
	request->up |= up;
	if ((down | up) != 0)
		return true;
	if (strchr(word, ':') != NULL)
		return refuse(why,
			      "no packets at \"%.40s\"; NAME:in and NAME:out are the input and "
			      "output of a stage, `vcmts capture --list` shows all stages",
			      word);
	names_add_stages(&names, request->directions);
	return refuse_name(&names, "stage", request->directions, word, why);
}

/* `allowed`: the message where the value is no list of strings. */
static bool add_words(struct tap_request *request, json_t *list,
		      bool (*add)(struct tap_request *request, const char *word, char *why),
		      const char *allowed, char *why) {
	json_t *entry;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) == 0)
		return refuse(why, "%s", allowed);
	json_array_foreach(list, i, entry) {
		const char *word = json_string_value(entry);

		if (word == NULL)
			return refuse(why, "%s", allowed);
		if (!add(request, word, why))
			return false;
	}
	return true;
}

static bool read_stages(json_t *root, struct tap_request *request, char *why) {
	json_t *stages = json_object_get(root, "stages");

	if (stages == NULL) {
		if (request->drops)
			return true;
		if ((request->directions & DIRECTION_DOWN) != 0)
			request->down = boundary_of(DIRECTION_DOWN, DEFAULT_DOWN);
		if ((request->directions & DIRECTION_UP) != 0)
			request->up = boundary_of(DIRECTION_UP, DEFAULT_UP);
		return true;
	}
	return add_words(request, stages, add_stage, "stages: allowed: a list of names", why);
}

static bool add_reason(struct tap_request *request, const char *word, char *why) {
	struct names names = {.count = 0};

	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (!drop_in((enum drop_reason)r, (enum direction)request->directions))
			continue;
		if (word == NULL || strcmp(word, drop_name((enum drop_reason)r)) == 0) {
			request->reasons[r / 64] |= UINT64_C(1) << r % 64;
			if (word != NULL)
				return true;
		}
		names_add(&names, drop_name((enum drop_reason)r));
	}
	return word == NULL || refuse_name(&names, "drop reason", request->directions, word, why);
}

static bool read_drops(json_t *root, struct tap_request *request, char *why) {
	json_t *dropped = json_object_get(root, "dropped");

	request->drops = dropped != NULL && !json_is_false(dropped);
	if (!request->drops)
		return true;
	if (json_is_true(dropped))
		return add_reason(request, NULL, why);
	return add_words(request, dropped, add_reason,
			 "dropped: allowed: true, or a list of reasons", why);
}

static unsigned knows_any(enum direction direction, uint64_t boundaries) {
	unsigned known = 0;

	for (unsigned b = 0; b < TAP_BOUNDARIES; b++) {
		if ((boundaries >> b & 1) != 0)
			known |= tap_kind_knows(tap_kind_at(direction, b));
	}
	return known;
}

/* Refuses a filter on a field that is unknown at all chosen boundaries, as no packet could pass it. */
static bool filters_make_sense(const struct tap_request *request, char *why) {
	static const struct {
		unsigned bit;
		const char *what, *where;
	} known[] = {
		{TAP_KNOWS_MODEM, "modem",
		 "downstream from modem_lookup to encrypt_collect, "
		 "upstream from reassemble on"},
		{TAP_KNOWS_FLOW, "flow",
		 "downstream from classify to encrypt_collect, upstream "
		 "from reassemble on"},
		{TAP_KNOWS_SESSION, "session",
		 "downstream from schedule on, upstream from validate on"},
	};
	unsigned any =
		knows_any(DIRECTION_DOWN, request->down) | knows_any(DIRECTION_UP, request->up);

	for (unsigned i = 0; !request->drops && i < RTE_DIM(known); i++) {
		if ((request->wants & known[i].bit) != 0 && (any & known[i].bit) == 0)
			return refuse(why, "%s: unknown at these stages; allowed: stages %s",
				      known[i].what, known[i].where);
	}
	return true;
}

/* Writes faults to `why`, with the name of the key. */
static bool request_parse(json_t *root, struct tap_request *request, char *why) {
	if (!json_is_object(root))
		return refuse(why, "found no JSON object, allowed: one object of keys");
	return keys_known(root, why) && read_direction(root, request, why) &&
	       read_drops(root, request, why) && read_stages(root, request, why) &&
	       read_filters(root, request, why) && read_limits(root, request, why) &&
	       filters_make_sense(request, why);
}

bool tap_request_read(const char *line, size_t size, struct tap_request *request,
		      char why[TAP_LINE]) {
	char fault[JSON_FAULT_LINE];
	json_error_t error;
	json_t *root = secret_json_load(line, size, JSON_REJECT_DUPLICATES, &error);
	bool good;

	memset(request, 0, sizeof(*request));
	if (root == NULL)
		return refuse(why, "found no JSON: %s", json_fault(&error, fault));
	good = request_parse(root, request, why);
	json_decref(root);
	return good;
}
