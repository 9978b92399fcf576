/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files below a folder, and nothing outside of it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "power/cpu_files.h"
#include "test_main.h"
#include "test_root.h"

static struct cpu_files f;
static char text[CPU_FILES_TEXT];

static int get(const char *name) {
	return f.read(f.ctx, name, text, sizeof(text));
}

TEST(texts_are_read_and_written) {
	root_put_at("root/cpu0/cpufreq/speed", 0, "1200000 \n", 9);
	assert_int_equal(get("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "1200000");
	assert_int_equal(cpu_files_read_khz(&f, 0, "speed"), 1200000);
	/* no tail of a longer text */
	assert_int_equal(cpu_files_write_khz(&f, 0, "speed", 800000), 0);
	assert_int_equal(get("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "800000");
	assert_int_equal(cpu_files_read(&f, 0, "nothing", text, sizeof(text)), -ENOENT);
	assert_int_equal(cpu_files_write(&f, 0, "nothing", "1"), -ENOENT);
	assert_int_not_equal(access(root_path("root/cpu0/cpufreq/nothing"), F_OK), 0);
	assert_int_equal(cpu_files_read_khz(&f, 0, "nothing"), 0);
	assert_int_equal(f.read(f.ctx, "cpu0/cpufreq/speed", text, 4), -EFBIG);
}

TEST(numbers) {
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

	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++)
		assert_int_equal(cpu_files_parse_khz(rows[i].text), rows[i].khz);
}

TEST(what_is_no_text) {
	char much[CPU_FILES_TEXT + 1];

	root_put_at("root/cpu0/cpufreq/odd", 0, "12\00034", 5);
	assert_int_equal(get("cpu0/cpufreq/odd"), -EINVAL);
	root_put_at("root/cpu0/cpufreq/odd", 0, "12\x1b[2J", 6);
	assert_int_equal(get("cpu0/cpufreq/odd"), -EINVAL);
	memset(much, '1', sizeof(much));
	root_put_at("root/cpu0/cpufreq/odd", 0, much, sizeof(much));
	assert_int_equal(get("cpu0/cpufreq/odd"), -EFBIG);
	assert_string_equal(text, "");
	root_put_at("root/cpu0/cpufreq/odd", 0, "", 0);
	assert_int_equal(get("cpu0/cpufreq/odd"), 0);
	assert_string_equal(text, "");
	assert_int_equal(get("cpu0/cpufreq"), -EINVAL);
	assert_int_equal(mkfifo(root_path("root/cpu0/cpufreq/pipe"), 0600), 0);
	assert_int_equal(get("cpu0/cpufreq/pipe"), -EINVAL);
	assert_true(f.write(f.ctx, "cpu0/cpufreq/pipe", "1") < 0);
	unlink(root_path("root/cpu0/cpufreq/pipe"));
}

static void assert_outside_is_safe(const char *name) {
	char content[16] = "";
	int fd;

	assert_true(get(name) < 0);
	assert_true(f.write(f.ctx, name, "harm") < 0);
	fd = open(root_path("outside"), O_RDONLY);
	assert_int_equal(read(fd, content, sizeof(content)), 4);
	assert_string_equal(content, "safe");
	close(fd);
}

TEST(nothing_outside) {
	root_put_at("outside", 0, "safe", 4);
	assert_outside_is_safe("../outside");
	assert_outside_is_safe("cpu0/../../outside");
	assert_outside_is_safe(root_path("outside"));
	assert_int_equal(symlink("../../../outside", root_path("root/cpu0/cpufreq/up")), 0);
	assert_outside_is_safe("cpu0/cpufreq/up");
	assert_int_equal(symlink(root, root_path("root/cpu0/away")), 0);
	assert_outside_is_safe("cpu0/away/outside");
	/* a link within is what sysfs has */
	assert_int_equal(symlink("../cpu0/cpufreq", root_path("root/cpu1/cpufreq")), 0);
	root_put_at("root/cpu0/cpufreq/speed", 0, "7", 1);
	assert_int_equal(cpu_files_read_khz(&f, 1, "speed"), 7);
	assert_int_equal(cpu_files_write_khz(&f, 1, "speed", 8), 0);
	assert_int_equal(cpu_files_read_khz(&f, 0, "speed"), 8);
}

TEST(no_root) {
	struct cpu_files none;

	assert_int_equal(cpu_files_open(&none, root_path("nowhere")), -ENOENT);
	assert_null(none.read);
	cpu_files_close(&none);
	assert_int_equal(cpu_files_open(&none, root_path("outside")), -ENOTDIR);
}

static int make(void **state) {
	if (root_make(state) != 0)
		return -1;
	root_put("root/cpu0/cpufreq/speed", "");
	if (mkdir(root_path("root/cpu1"), 0700) != 0)
		return -1;
	return cpu_files_open(&f, root_path("root"));
}

static int clean(void **state) {
	cpu_files_close(&f);
	return root_remove(state);
}

ALL_TESTS(make, clean)
