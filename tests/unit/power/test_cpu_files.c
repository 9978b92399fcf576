/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files below a folder, and nothing outside of it. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/cpu_files.h"

static char folder[] = "/tmp/vcmts-cpus-XXXXXX";
static struct cpu_files f;
static char text[CPU_FILES_TEXT];

/* Below the folder that holds the root. */
static const char *at(const char *name) {
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *content, size_t size) {
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	close(fd);
}

static int get(const char *name) {
	return f.read(f.ctx, name, text, sizeof(text));
}

static void texts_are_read_and_written(void **state) {
	(void)state;
	put("root/cpu0/cpufreq/speed", "1200000 \n", 9);
	assert_int_equal(get("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "1200000");
	assert_int_equal(cpu_files_read_khz(&f, 0, "speed"), 1200000);
	/* no tail of a longer text */
	assert_int_equal(cpu_files_write_khz(&f, 0, "speed", 800000), 0);
	assert_int_equal(get("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "800000");
	assert_int_equal(cpu_files_read(&f, 0, "nothing", text, sizeof(text)), -ENOENT);
	assert_int_equal(cpu_files_write(&f, 0, "nothing", "1"), -ENOENT);
	assert_int_not_equal(access(at("root/cpu0/cpufreq/nothing"), F_OK), 0);
	assert_int_equal(cpu_files_read_khz(&f, 0, "nothing"), 0);
	assert_int_equal(f.read(f.ctx, "cpu0/cpufreq/speed", text, 4), -EFBIG);
}

static void numbers(void **state) {
	static const struct {
		const char *text;
		uint32_t khz;
	} rows[] = {{"", 0},
		    {"0", 0},
		    {"1", 1},
		    {"100000000", 100000000},
		    {"100000001", 0},
		    {"1800000 ", 0},
		    {"-1", 0},
		    {"+1", 0},
		    {"0x10", 0},
		    {"1e6", 0},
		    {"4294967297", 0},
		    {"18446744073709551617", 0},
		    {"<unsupported>", 0},
		    {"0001200000", 1200000}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++)
		assert_int_equal(cpu_files_parse_khz(rows[i].text), rows[i].khz);
}

static void what_is_no_text(void **state) {
	char much[CPU_FILES_TEXT + 1];

	(void)state;
	put("root/cpu0/cpufreq/odd", "12\00034", 5);
	assert_int_equal(get("cpu0/cpufreq/odd"), -EINVAL);
	put("root/cpu0/cpufreq/odd", "12\x1b[2J", 6);
	assert_int_equal(get("cpu0/cpufreq/odd"), -EINVAL);
	memset(much, '1', sizeof(much));
	put("root/cpu0/cpufreq/odd", much, sizeof(much));
	assert_int_equal(get("cpu0/cpufreq/odd"), -EFBIG);
	assert_string_equal(text, "");
	put("root/cpu0/cpufreq/odd", "", 0);
	assert_int_equal(get("cpu0/cpufreq/odd"), 0);
	assert_string_equal(text, "");
	assert_int_equal(get("cpu0/cpufreq"), -EINVAL);
	assert_int_equal(mkfifo(at("root/cpu0/cpufreq/pipe"), 0600), 0);
	assert_int_equal(get("cpu0/cpufreq/pipe"), -EINVAL);
	assert_true(f.write(f.ctx, "cpu0/cpufreq/pipe", "1") < 0);
	unlink(at("root/cpu0/cpufreq/pipe"));
}

static void assert_outside_is_safe(const char *name) {
	char content[16] = "";
	int fd;

	assert_true(get(name) < 0);
	assert_true(f.write(f.ctx, name, "harm") < 0);
	fd = open(at("outside"), O_RDONLY);
	assert_int_equal(read(fd, content, sizeof(content)), 4);
	assert_string_equal(content, "safe");
	close(fd);
}

static void nothing_outside(void **state) {
	(void)state;
	put("outside", "safe", 4);
	assert_outside_is_safe("../outside");
	assert_outside_is_safe("cpu0/../../outside");
	assert_outside_is_safe(at("outside"));
	assert_int_equal(symlink("../../../outside", at("root/cpu0/cpufreq/up")), 0);
	assert_outside_is_safe("cpu0/cpufreq/up");
	assert_int_equal(symlink(folder, at("root/cpu0/away")), 0);
	assert_outside_is_safe("cpu0/away/outside");
	/* a link within is what sysfs has */
	assert_int_equal(symlink("../cpu0/cpufreq", at("root/cpu1/cpufreq")), 0);
	put("root/cpu0/cpufreq/speed", "7", 1);
	assert_int_equal(cpu_files_read_khz(&f, 1, "speed"), 7);
	assert_int_equal(cpu_files_write_khz(&f, 1, "speed", 8), 0);
	assert_int_equal(cpu_files_read_khz(&f, 0, "speed"), 8);
}

static void no_root(void **state) {
	struct cpu_files none;

	(void)state;
	assert_int_equal(cpu_files_open(&none, at("nowhere")), -ENOENT);
	assert_null(none.read);
	cpu_files_close(&none);
	assert_int_equal(cpu_files_open(&none, at("outside")), -ENOTDIR);
}

static int make(void **state) {
	static const char *const folders[] = {"root", "root/cpu0", "root/cpu0/cpufreq",
					      "root/cpu1"};

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	for (unsigned i = 0; i < ARRAY_COUNT(folders); i++) {
		if (mkdir(at(folders[i]), 0700) != 0)
			return -1;
	}
	return cpu_files_open(&f, at("root"));
}

static int clean(void **state) {
	static const char *const names[] = {"root/cpu0/cpufreq/up",  "root/cpu0/cpufreq/speed",
					    "root/cpu0/cpufreq/odd", "root/cpu0/away",
					    "root/cpu1/cpufreq",     "outside"};
	static const char *const folders[] = {"root/cpu1", "root/cpu0/cpufreq", "root/cpu0",
					      "root"};
	int ret = 0;

	(void)state;
	cpu_files_close(&f);
	for (unsigned i = 0; i < ARRAY_COUNT(names); i++)
		unlink(at(names[i]));
	for (unsigned i = 0; i < ARRAY_COUNT(folders); i++)
		ret |= rmdir(at(folders[i]));
	return ret | rmdir(folder);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_and_written),
		cmocka_unit_test(numbers),
		cmocka_unit_test(what_is_no_text),
		cmocka_unit_test(nothing_outside),
		cmocka_unit_test(no_root),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
