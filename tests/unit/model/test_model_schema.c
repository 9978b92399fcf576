/* SPDX-License-Identifier: BSD-3-Clause */
/* config/schema.json is what the loader's tables print; `make docs` writes it again. */
#include "model_kit.h"
#include "test_main.h"

#include <jansson.h>

#include "model/devices.h"
#include "model/keys/key_macros.h"

#define SCHEMA VECTORS_DIR "/../../config/schema.json"

static char *printed(void) {
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	service_group_schema(out);
	fclose(out);
	return text;
}

TEST(the_file_is_what_the_tables_say) {
	char *text = printed();
	json_t *said = json_loads(text, 0, NULL), *committed = json_load_file(SCHEMA, 0, NULL);

	assert_non_null(said);
	if (!json_equal(committed, said))
		fail_msg("config/schema.json is out of date: make docs");
	json_decref(committed);
	json_decref(said);
	free(text);
}

/* Every key has a description, closed maps and, where it can, a default. */
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

TEST(every_key_is_described) {
	char *text = printed();
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

/* The roles are the ports that the file may have, by the key table. */
TEST(roles_are_the_keys_of_ports) {
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

TEST(devices_name_a_group) {
	assert_true(device_names_group("a{group}"));
	assert_false(device_names_group("a{group"));
}
