/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the tables of keys.h as a JSON Schema. The schema validates one value at a time;
 * descriptions state the rules across values, which only the loader checks. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/load/loader.h"
#include "model/load/schema.h"
#include "model/units.h"

#define ID "urn:openvcmts:schema:configuration"

/* A default or example with its type in YAML. */
static json_t *value_of(const struct key *key, const char *text) {
	uint64_t number;
	bool numeric = key->kind == KIND_INTEGER || key->kind == KIND_SIZE ||
		       key->kind == KIND_PORTS || key->kind == KIND_PROTOCOL ||
		       key->kind == KIND_REAL;

	if (key->kind == KIND_BOOL)
		return json_boolean(strcmp(text, "true") == 0);
	if (numeric && units_parse_integer(text, &number))
		return json_integer((json_int_t)number);
	return key->kind == KIND_REAL ? json_real(strtod(text, NULL)) : json_string(text);
}

static json_t *choices_of(const struct key *key) {
	json_t *names = json_array();

	for (const struct choice *choice = key->choices; choice->name != NULL; choice++)
		json_array_append_new(names, json_string(choice->name));
	return names;
}

static void put_number_range(json_t *schema, const struct key *key) {
	json_object_set_new(schema, "minimum", json_integer((json_int_t)key->min));
	json_object_set_new(schema, "maximum", json_integer((json_int_t)key->max));
}

/* Numbers that YAML reads as integers, of kinds that also have a text form. */
static void put_mixed(json_t *schema, const struct key *key) {
	uint64_t limit = key->kind == KIND_PORTS ? UINT16_MAX : UINT8_MAX;

	json_object_set_new(schema, "type", json_pack("[ss]", "integer", "string"));
	json_object_set_new(schema, "minimum",
			    json_integer((json_int_t)(key->kind == KIND_SIZE ? key->min : 0)));
	json_object_set_new(schema, "maximum",
			    json_integer((json_int_t)(key->kind == KIND_SIZE ? key->max : limit)));
	json_object_set_new(schema, "pattern", json_string(kind_pattern(key->kind)));
}

static void put_keys(json_t *schema, const struct key *keys) {
	json_t *properties = json_object(), *required = json_array();

	for (const struct key *key = keys; key->name != NULL; key++) {
		json_object_set_new(properties, key->name, schema_of_key(key));
		if (key->required)
			json_array_append_new(required, json_string(key->name));
	}
	json_object_set_new(schema, "type", json_string("object"));
	json_object_set_new(schema, "additionalProperties", json_false());
	if (json_array_size(required) > 0)
		json_object_set(schema, "required", required);
	json_decref(required);
	json_object_set_new(schema, "properties", properties);
}

/* A value under any name. */
static void put_named(json_t *schema, const struct key *item) {
	json_object_set_new(schema, "type", json_string("object"));
	json_object_set_new(schema, "additionalProperties", schema_of_key(item));
}

static void put_map(json_t *schema, const struct key *key) {
	if (key->keys != NULL)
		put_keys(schema, key->keys);
	else
		put_named(schema, key->item);
}

static void put_list(json_t *schema, const struct key *key) {
	json_object_set_new(schema, "type", json_string("array"));
	json_object_set_new(schema, "minItems", json_integer((json_int_t)key->min));
	json_object_set_new(schema, "maxItems", json_integer((json_int_t)key->max));
	json_object_set_new(schema, "items", schema_of_key(key->item));
}

static void put_hex_lengths(json_t *schema, const struct choice *length) {
	char pattern[128] = "";

	for (; length->name != NULL; length++) {
		size_t used = strlen(pattern);

		snprintf(pattern + used, sizeof(pattern) - used, "%s[0-9A-Fa-f]{%u}",
			 used == 0 ? "^(" : "|", 2 * length->value);
	}
	json_object_set_new(schema, "pattern", json_sprintf("%s)$", pattern));
}

static void put_hex(json_t *schema, const struct key *key) {
	json_object_set_new(schema, "type", json_string("string"));
	if (key->choices == NULL) {
		json_object_set_new(schema, "minLength", json_integer((json_int_t)(2 * key->size)));
		json_object_set_new(schema, "maxLength", json_integer((json_int_t)(2 * key->size)));
		json_object_set_new(schema, "pattern", json_string(kind_pattern(key->kind)));
	} else {
		put_hex_lengths(schema, key->choices);
	}
}

/* A text or number, or a list of these. */
static void put_cores(json_t *schema, const struct key *key) {
	json_t *item = json_object();

	json_object_set_new(item, "type", json_pack("[ss]", "integer", "string"));
	put_number_range(item, key);
	json_object_set_new(item, "pattern", json_string(kind_pattern(key->kind)));
	json_object_update(schema, item);
	json_object_set_new(schema, "type", json_pack("[sss]", "integer", "string", "array"));
	json_object_set_new(schema, "minItems", json_integer(1));
	json_object_set_new(schema, "maxItems", json_integer((json_int_t)key->max + 1));
	json_object_set_new(schema, "items", item);
}

static void put_kind(json_t *schema, const struct key *key) {
	switch (key->kind) {
	case KIND_MAP: put_map(schema, key); break;
	case KIND_REAL: json_object_set_new(schema, "type", json_string("number")); break;
	case KIND_JSON: json_object_set_new(schema, "type", json_string("object")); break;
	case KIND_LIST: put_list(schema, key); break;
	case KIND_BOOL: json_object_set_new(schema, "type", json_string("boolean")); break;
	case KIND_ENUM: json_object_set_new(schema, "enum", choices_of(key)); break;
	case KIND_INTEGER:
		json_object_set_new(schema, "type", json_string("integer"));
		put_number_range(schema, key);
		break;
	case KIND_SIZE:
	case KIND_PORTS:
	case KIND_PROTOCOL:
	case KIND_TOS: put_mixed(schema, key); break;
	case KIND_HEX: put_hex(schema, key); break;
	case KIND_CORES: put_cores(schema, key); break;
	default:
		json_object_set_new(schema, "type", json_string("string"));
		json_object_set_new(schema, "pattern", json_string(kind_pattern(key->kind)));
	}
}

json_t *schema_of_key(const struct key *key) {
	json_t *schema = json_object();
	char allowed[512];

	json_object_set_new(schema, "description", json_string(key->help));
	put_kind(schema, key);
	if (key->kind != KIND_MAP) {
		/* the range in the units of the field, which JSON Schema cannot express */
		key_describe(key, allowed, sizeof(allowed));
		json_object_set_new(schema, "x-allowed", json_string(allowed));
	}
	if (key->secret)
		json_object_set_new(schema, "x-secret", json_true());
	if (key->fallback != NULL)
		json_object_set_new(schema, "default", value_of(key, key->fallback));
	if (key->example != NULL)
		json_object_set_new(schema, "examples",
				    json_pack("[o]", value_of(key, key->example)));
	return schema;
}

json_t *schema_of_keys(const struct key *keys, bool open) {
	json_t *schema = json_object();

	put_keys(schema, keys);
	if (open)
		json_object_del(schema, "additionalProperties");
	return schema;
}

/* An item of the list: a file, or the keys of a group, which are those of the top. */
static json_t *describe_group(void) {
	json_t *schema = json_object(), *properties = json_object();
	char reference[64];

	json_object_set_new(properties, group_file_key.name, schema_of_key(&group_file_key));
	for (const struct key *key = service_group_keys; key->name != NULL; key++) {
		snprintf(reference, sizeof(reference), "#/properties/%s", key->name);
		json_object_set_new(
			properties, key->name,
			json_pack("{ss ss}", "$ref", reference, "description", key->help));
	}
	json_object_set_new(schema, "description", json_string(server_groups_key.item->help));
	json_object_set_new(schema, "type", json_string("object"));
	json_object_set_new(schema, "additionalProperties", json_false());
	json_object_set_new(schema, "properties", properties);
	return schema;
}

/* Beside a list of groups no key is required, as each group may have it, and `service_group`, the ID
 * of one group, is not allowed. Without the list, the required keys of a group are required. */
static void put_forms(json_t *schema) {
	json_t *groups = json_object();
	char allowed[64];

	key_describe(&server_groups_key, allowed, sizeof(allowed));
	json_object_set_new(groups, "description", json_string(server_groups_key.help));
	json_object_set_new(groups, "type", json_string("array"));
	json_object_set_new(groups, "minItems", json_integer((json_int_t)server_groups_key.min));
	json_object_set_new(groups, "maxItems", json_integer((json_int_t)server_groups_key.max));
	json_object_set_new(groups, "items", describe_group());
	json_object_set_new(groups, "x-allowed", json_string(allowed));
	json_object_set_new(json_object_get(schema, "properties"), server_groups_key.name, groups);
	json_object_set_new(json_object_get(schema, "properties"), server_max_groups_key.name,
			    schema_of_key(&server_max_groups_key));
	json_object_set_new(json_object_get(schema, "properties"), server_power_key.name,
			    schema_of_key(&server_power_key));
	json_object_set_new(json_object_get(schema, "properties"), server_metrics_key.name,
			    schema_of_key(&server_metrics_key));
	json_object_set_new(json_object_get(schema, "properties"), server_needs_version_key.name,
			    schema_of_key(&server_needs_version_key));
	json_object_set_new(schema, "if", json_pack("{s[s]}", "required", server_groups_key.name));
	json_object_set_new(schema, "then", json_pack("{s{sb}}", "properties", "service_group", 0));
	json_object_set_new(schema, "else",
			    json_pack("{sO s{sb}}", "required", json_object_get(schema, "required"),
				      "properties", server_max_groups_key.name, 0));
	json_object_del(schema, "required");
}

void service_group_schema(FILE *out) {
	json_t *schema = json_object();

	json_object_set_new(schema, "$schema",
			    json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(schema, "$id", json_string(ID));
	json_object_set_new(schema, "title", json_string("OpenVCMTS configuration"));
	put_keys(schema, service_group_keys);
	put_forms(schema);
	json_dumpf(schema, out, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	fputc('\n', out);
	json_decref(schema);
}
