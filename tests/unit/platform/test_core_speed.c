/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a core's present and base frequency are found: in a copy of what the system shows. */
#include "test_main.h"
#include "test_root.h"

#include "platform/core_speed.h"

#define MSR_PLATFORM_INFO 0xce

/* Each file is there from its row on; the later ones count only where the earlier ones are not there. */
TEST(in_their_order) {
	static const struct {
		const char *file, *text;
		unsigned now_khz, base_khz; /* 0: not known */
	} cases[] = {
		{"scaling_cur_freq", "1500000\n", 0, 0},
		{NULL, NULL, 1500000, 2100000}, /* by the MSR */
		{"scaling_max_freq", "1801000\n", 1500000, 2100000},
		{"scaling_driver", "intel_pstate\n", 1500000, 2100000},
		{"scaling_driver", "acpi-cpufreq\n", 1500000, 1800000}, /* with turbo */
		{"base_frequency", "1900000\n", 1500000, 1900000},
		{"scaling_cur_freq", "<unknown>\n", 0, 0},
		{"scaling_cur_freq", "", 0, 0},
	};
	const uint8_t info[8] = {0, 21};
	struct core_speed speed;
	char path[128];

	assert_false(core_speed_read(root, 3, &speed));
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu3/cpufreq/%s",
			 cases[i].file != NULL ? cases[i].file : "");
		if (cases[i].file != NULL)
			root_put(path, cases[i].text);
		else
			root_put_at("dev/cpu/3/msr", MSR_PLATFORM_INFO, info, sizeof(info));
		assert_int_equal(core_speed_read(root, 3, &speed), cases[i].now_khz > 0);
		if (cases[i].now_khz > 0) {
			assert_int_equal(speed.now_khz, cases[i].now_khz);
			assert_int_equal(speed.base_khz, cases[i].base_khz);
		}
	}
	assert_false(core_speed_read(root, 4, &speed));
}

ALL_TESTS(root_make, root_remove)
