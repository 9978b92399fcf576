/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of devices: which are one, and which are a group's. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "model/devices.h"
#include "model/keys/key_rows.h"

TEST(one_device_has_many_names) {
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{"net_null0", "net_null0", true},
		{"net_null0", "net_null0,size=128", true},
		{"net_null0", "net_null00", false},
		{"net_null0", "net_null", false},
		{"net_memif0,id=1", "net_memif1,id=1", false},
		{"0000:3b:00.0", "3b:00.0", true},
		{"3B:00.0,arg=1", "0000:3b:00.0", true},
		{"0000:3b:00.0", "0000:3b:00.1", false},
		{"0001:3b:00.0", "3b:00.0", false},
		{"3b:00.0", "net_null0", false},
	};

	for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
		assert_int_equal(device_same(pairs[i].a, pairs[i].b), pairs[i].same);
		assert_int_equal(device_same(pairs[i].b, pairs[i].a), pairs[i].same);
	}
}

TEST(a_name_that_is_missing) {
	assert_false(device_same(NULL, NULL));
	assert_false(device_same("net_null0", NULL));
	assert_false(device_same(NULL, "3b:00.0"));
}

static void of_group(const char *text, size_t group, const char *expected) {
	char *made = device_of_group(text, group);

	assert_string_equal(made, expected);
	free(made);
}

TEST(a_group_has_its_own) {
	of_group("net_memif{group}0,socket={group}{group}.sock", 12,
		 "net_memif120,socket=1212.sock");
	of_group("net_null0,x={grou}", 3, "net_null0,x={grou}");
	of_group("{group}", 0, "0");
	of_group("", 7, "");
	assert_true(device_names_group("a{group}"));
	assert_false(device_names_group("a{group"));
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
