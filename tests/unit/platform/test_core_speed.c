/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a core's present and base frequency are found: in a copy of what the system shows. */
#include "test_main.h"
#include "test_root.h"

#include "platform/core_speed.h"

#define MSR_PLATFORM_INFO 0xce

static void show(const char *name, const char *text) {
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu3/cpufreq/%s", name);
	root_put(path, text);
}

static void check(unsigned now_khz, unsigned base_khz) {
	struct core_speed speed;

	assert_true(core_speed_read(root, 3, &speed));
	assert_int_equal(speed.now_khz, now_khz);
	assert_int_equal(speed.base_khz, base_khz);
}

/* The later ones count only where the earlier ones are not there. */
TEST(in_their_order) {
	const uint8_t info[8] = {0, 21};
	struct core_speed speed;

	assert_false(core_speed_read(root, 3, &speed));
	show("scaling_cur_freq", "1500000\n");
	assert_false(core_speed_read(root, 3, &speed)); /* no base */
	root_put_at("dev/cpu/3/msr", MSR_PLATFORM_INFO, info, sizeof(info));
	check(1500000, 2100000);
	show("scaling_max_freq", "1801000\n");
	show("scaling_driver", "intel_pstate\n");
	check(1500000, 2100000);
	show("scaling_driver", "acpi-cpufreq\n");
	check(1500000, 1800000); /* with turbo */
	show("base_frequency", "1900000\n");
	check(1500000, 1900000);
	assert_false(core_speed_read(root, 4, &speed));
}

TEST(what_is_no_number) {
	struct core_speed speed;

	show("base_frequency", "1900000\n");
	show("scaling_cur_freq", "<unknown>\n");
	assert_false(core_speed_read(root, 3, &speed));
	show("scaling_cur_freq", "");
	assert_false(core_speed_read(root, 3, &speed));
}

ALL_TESTS(root_make, root_remove)
