/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests config/schema.json: it is what the loader's key tables print (`make docs`), and describes each key. */
#include "model_kit.h"
#include "test_main.h"

#include <jansson.h>

#include "model/devices.h"
#include "model/keys/key_macros.h"

#define SCHEMA VECTORS_DIR "/../../config/schema.json"

static char *print_schema(void) {
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	service_group_schema(out);
	fclose(out);
	return text;
}

TEST(schema_file_is_up_to_date) {
	char *text = print_schema();
	json_t *printed = json_loads(text, 0, NULL), *committed = json_load_file(SCHEMA, 0, NULL);

	assert_non_null(printed);
	if (!json_equal(committed, printed))
		fail_msg("config/schema.json is out of date: make docs");
	json_decref(committed);
	json_decref(printed);
	free(text);
}

/* Asserts that maps are closed and each key has a description. Returns the number of keys. */
static size_t check_schema(const json_t *schema) {
	const json_t *properties = json_object_get(schema, "properties");
	size_t count = 1;
	const char *name;
	json_t *value;

	if (json_object_get(schema, "items") != NULL)
		return 1 + check_schema(json_object_get(schema, "items"));
	if (properties == NULL)
		return 1;
	assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
	json_object_foreach((json_t *)(uintptr_t)properties, name, value) {
		if (!json_is_string(json_object_get(value, "description")))
			fail_msg("%s has no description", name);
		count += check_schema(value);
	}
	return count;
}

TEST(schema_describes_every_key) {
	char *text = print_schema();
	json_t *schema = json_loads(text, 0, NULL);
	const json_t *channels;

	assert_non_null(schema);
	assert_true(check_schema(schema) > 80);
	channels = json_object_get(json_object_get(schema, "properties"), "channels");
	assert_int_equal(json_integer_value(json_object_get(channels, "maxItems")),
			 SG_MAX_CHANNELS);
	json_decref(schema);
	free(text);
}

TEST(device_roles_equal_keys_of_ports) {
	unsigned keys = 0;

	for (const struct key *k = ports_keys; k->name != NULL; k++, keys++) {
		enum device_role role = 0;

		while (role < DEVICE_ROLES && strcmp(device_role_name(role), k->name) != 0)
			role++;
		assert_true(role < DEVICE_ROLES);
		assert_int_equal(device_role_optional(role), k->optional);
	}
	assert_int_equal(keys, DEVICE_ROLES);
}

TEST(device_template_names_a_group) {
	assert_true(device_names_group("a{group}"));
	assert_false(device_names_group("a{group"));
}
