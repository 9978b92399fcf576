/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a core's present and base frequency are found: in a copy of what the system shows. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/core_speed.h"

#define PATH 256
#define MSR_PLATFORM_INFO 0xce

static char root[] = "/tmp/core-speed-XXXXXX";

static void folders(const char *path) {
	char part[PATH];

	for (const char *at = path + strlen(root) + 1; at != NULL; at = strchr(at, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		mkdir(part, 0700);
		at++;
	}
}

static void put(const char *name, size_t at, const void *bytes, size_t size) {
	char path[PATH];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	folders(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fseek(f, (long)at, SEEK_SET);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

static void show(const char *name, const char *text) {
	char path[PATH];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu3/cpufreq/%s", name);
	put(path, 0, text, strlen(text));
}

static void check(unsigned now_khz, unsigned base_khz) {
	struct core_speed speed;

	assert_true(core_speed_read(root, 3, &speed));
	assert_int_equal(speed.now_khz, now_khz);
	assert_int_equal(speed.base_khz, base_khz);
}

/* The later ones count only where the earlier ones are not there. */
static void in_their_order(void **state) {
	const uint8_t info[8] = {0, 21};
	struct core_speed speed;

	(void)state;
	assert_false(core_speed_read(root, 3, &speed));
	show("scaling_cur_freq", "1500000\n");
	assert_false(core_speed_read(root, 3, &speed)); /* no base */
	put("dev/cpu/3/msr", MSR_PLATFORM_INFO, info, sizeof(info));
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

static void what_is_no_number(void **state) {
	struct core_speed speed;

	(void)state;
	show("base_frequency", "1900000\n");
	show("scaling_cur_freq", "<unknown>\n");
	assert_false(core_speed_read(root, 3, &speed));
	show("scaling_cur_freq", "");
	assert_false(core_speed_read(root, 3, &speed));
}

static int make_root(void **state) {
	(void)state;
	return mkdtemp(root) == NULL;
}

static int remove_root(void **state) {
	char command[PATH];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_order),
		cmocka_unit_test(what_is_no_number),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
