/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/value_json.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/units.h"

#define TEXT_SIZE 64
#define HEX_MAX 64 /* bytes */

static uint64_t load_integer(const struct key *key, const void *field) {
	uint64_t value = 0;

	switch (key->size) {
	case sizeof(uint8_t): return *(const uint8_t *)field;
	case sizeof(uint16_t): return *(const uint16_t *)field;
	case sizeof(uint32_t): return *(const uint32_t *)field;
	default: memcpy(&value, field, sizeof(value)); return value;
	}
}

static json_t *choice_json(const struct key *key, uint64_t value) {
	const char *name = choice_name(key->choices, (unsigned)value);

	return name != NULL ? json_string(name) : json_null();
}

/* A number below the minimum of its key means that the key was not given. */
static json_t *number_json(const struct key *key, uint64_t value) {
	char text[UNITS_TEXT_SIZE];

	if (key->kind == KIND_RATE_OR_NONE && value == 0)
		return json_string("none");
	if (value < key->min)
		return json_null();
	if (key->kind == KIND_INTEGER || key->kind == KIND_SIZE)
		return json_integer((json_int_t)value);
	if (key->kind == KIND_DURATION)
		units_format_duration(value, text);
	else
		units_format_rate(value, text);
	return json_string(text);
}

static void address_text(const struct ip_address *address, char text[TEXT_SIZE]) {
	inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text, TEXT_SIZE);
}

/* A prefix of length 0 matches everything, so it counts as not given. */
static json_t *prefix_json(const struct ip_prefix *prefix) {
	char text[TEXT_SIZE];
	size_t used;

	if (prefix->length == 0)
		return json_null();
	address_text(&prefix->address, text);
	used = strlen(text);
	snprintf(text + used, sizeof(text) - used, "/%u", prefix->length);
	return json_string(text);
}

static json_t *ports_json(const struct port_range *ports) {
	char text[TEXT_SIZE];

	if (ports->low == 0 && ports->high == UINT16_MAX)
		return json_null();
	if (ports->low == ports->high)
		return json_integer(ports->low);
	snprintf(text, sizeof(text), "%u-%u", ports->low, ports->high);
	return json_string(text);
}

static json_t *tos_json(const uint8_t *tos) {
	char text[TEXT_SIZE];

	if (tos[1] == 0)
		return json_null();
	snprintf(text, sizeof(text), "0x%02x/0x%02x", tos[0], tos[1]);
	return json_string(text);
}

static json_t *hex_json(const struct key *key, const uint8_t *bytes) {
	char text[2 * HEX_MAX + 1] = "";

	for (size_t i = 0; i < key->size && i < HEX_MAX; i++)
		snprintf(&text[2 * i], 3, "%02x", bytes[i]);
	return json_string(text);
}

static json_t *mac_json(const uint8_t mac[6]) {
	char text[UNITS_TEXT_SIZE];

	units_format_mac(mac, text);
	return json_string(text);
}

static json_t *address_json(const struct ip_address *address) {
	char text[TEXT_SIZE];

	address_text(address, text);
	return json_string(text);
}

static json_t *list_json(const struct key *key, const char *object) {
	const char *items = object + key->offset;
	json_t *list = json_array();
	size_t count;

	memcpy(&count, object + key->count, sizeof(count));
	if (!key->fixed)
		memcpy(&items, object + key->offset, sizeof(items));
	for (size_t i = 0; i < count; i++) {
		json_t *item = value_json(key->item, items + i * key->size);

		if (item == NULL || json_array_append_new(list, item) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *text_json(const char *field) {
	const char *text;

	memcpy(&text, field, sizeof(text));
	return text == NULL ? json_null() : json_string(text);
}

json_t *value_json(const struct key *key, const void *object) {
	const char *field = (const char *)object + key->offset;
	struct ip_prefix prefix;
	struct ip_address address;
	struct port_range ports;

	if (key->flag != 0 && !*((const bool *)object + key->flag))
		return json_null();
	switch (key->kind) {
	case KIND_BOOL: return json_boolean(load_integer(key, field));
	case KIND_ENUM: return choice_json(key, load_integer(key, field));
	case KIND_MAC: return mac_json((const uint8_t *)field);
	case KIND_ADDRESS: memcpy(&address, field, sizeof(address)); return address_json(&address);
	case KIND_PREFIX: memcpy(&prefix, field, sizeof(prefix)); return prefix_json(&prefix);
	case KIND_PORTS: memcpy(&ports, field, sizeof(ports)); return ports_json(&ports);
	case KIND_PROTOCOL: return json_integer(*(const uint8_t *)field);
	case KIND_TOS: return tos_json((const uint8_t *)field);
	case KIND_HEX: return hex_json(key, (const uint8_t *)field);
	case KIND_LIST: return list_json(key, object);
	case KIND_MAP: return map_json(key->keys, field);
	case KIND_NAME:
	case KIND_DEVICE: return text_json(field);
	case KIND_CORES: return json_null(); /* each thread has its core by number */
	default: return number_json(key, load_integer(key, field));
	}
}

/* An optional map without keys counts as not given. */
static bool is_left_out(const struct key *key, const json_t *value) {
	return json_is_null(value) || (key->kind == KIND_MAP && !key->required && value != NULL &&
				       json_object_size(value) == 0);
}

json_t *map_json(const struct key *keys, const void *object) {
	json_t *map = json_object();

	for (const struct key *key = keys; key->name != NULL; key++) {
		json_t *value = value_json(key, object);

		if (is_left_out(key, value)) {
			json_decref(value);
			continue;
		}
		if (value == NULL || json_object_set_new(map, key->name, value) != 0) {
			json_decref(map);
			return NULL;
		}
	}
	return map;
}
