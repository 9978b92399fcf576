/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests ends.h: the devices of both ends, one per group if the option contains {group}. */
#include "ends.h"

#include "test_main.h"

static struct ends ends;
static struct setup setup;

static bool name_devices(const char *network, const char *rphy, size_t groups) {
	ends = (struct ends){0};
	setup.options.network = network;
	setup.options.rphy = rphy;
	setup.config.group_count = groups;
	return ends_name(&ends, &setup);
}

TEST(name_without_group_gives_one_device) {
	for (size_t groups = 1; groups <= SERVER_MAX_GROUPS; groups += 21) {
		assert_true(name_devices("net_memif0,id=0", "0000:3b:00.0", groups));
		assert_int_equal(ends.at[END_NETWORK].count, 1);
		assert_string_equal(ends.at[END_NETWORK].devices[0], "net_memif0,id=0");
		assert_int_equal(ends.at[END_RPHY].count, 1);
		ends.at[END_RPHY].ports[0] = 9;
		assert_int_equal(ends_port(&ends, END_RPHY, (unsigned)groups - 1), 9);
	}
}

TEST(name_with_group_gives_one_device_per_group) {
	assert_true(name_devices("net_memif{group}0,socket={group}{group}.sock", "net_null1", 13));
	assert_int_equal(ends.at[END_NETWORK].count, 13);
	assert_string_equal(ends.at[END_NETWORK].devices[0], "net_memif00,socket=00.sock");
	assert_string_equal(ends.at[END_NETWORK].devices[12], "net_memif120,socket=1212.sock");
	assert_int_equal(ends.at[END_RPHY].count, 1);
	for (uint16_t g = 0; g < 13; g++)
		ends.at[END_NETWORK].ports[g] = 100 + g;
	assert_int_equal(ends_port(&ends, END_NETWORK, 12), 112);
	assert_true(name_devices("net_ring0{group}", "net_ring1{group}", 1));
	assert_string_equal(ends.at[END_RPHY].devices[0], "net_ring10");
}

TEST(invalid_devices_are_rejected) {
	char text[ENDS_DEVICE_SIZE + 1];

	assert_false(name_devices("net_null0", "net_null0,no-rx=1", 1));
	assert_false(name_devices("net_null{group}", "net_null2", 3)); /* net_null2 twice */
	assert_true(name_devices("net_null{group}", "net_null2", 2));
	assert_false(name_devices("net_null0,x={group}", "net_null1", 2));
	assert_true(name_devices("net_null0,x={group}", "net_null1", 1));
	assert_false(name_devices("net_null{group}0", "net_null{group}1", 17)); /* 34 ports */
	assert_true(name_devices("net_null{group}0", "net_null{group}1", 16));
	memset(text, 'a', sizeof(text));
	text[ENDS_DEVICE_SIZE] = '\0';
	assert_false(name_devices(text, "net_null1", 1));
	text[ENDS_DEVICE_SIZE - 1] = '\0';
	assert_true(name_devices(text, "net_null1", 1));
}
