/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests cpufreq.h with simulated drivers, and cpu_files.h: no access outside of its folder. */
#include "root_kit.h"
#include "test_main.h"

#include <fcntl.h>
#include <unistd.h>

#include "power/clock_domains.h"
#include "power/cpufreq.h"
#include "power_kit.h"

static struct kit_driver d;
static struct cpu_files f;
static struct cpufreq c;

static int set_up(void **state) {
	d = (struct kit_driver){.cores = {kit_acpi()}};
	f = kit_files(&d);
	return 0;
}

/* Acquires core 0; asserts the mode and the governor. */
static void acquire(enum cpufreq_mode mode, const char *governor) {
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_int_equal(cpufreq_acquire(&f, &c), 0);
	assert_int_equal(c.mode, mode);
	assert_string_equal(d.cores[0].governor, governor);
}

static void set_speed(uint32_t request, uint32_t khz) {
	assert_true(cpufreq_set(&f, &c, request));
	assert_int_equal(c.khz, khz);
	assert_int_equal(c.mode == CPUFREQ_SETSPEED ? d.cores[0].speed : d.cores[0].max, khz);
}

static uint64_t failures(void) {
	uint64_t sum = 0;

	for (unsigned r = 0; r < CPUFREQ_REASONS; r++)
		sum += c.counts[r];
	return sum;
}

TEST(acpi_driver_uses_setspeed) {
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_int_equal(d.writes, 0);
	assert_int_equal(c.state_count, 6);
	assert_int_equal(c.states[0], 800000);
	assert_int_equal(c.transition_us, 10);
	assert_string_equal(c.initial_governor, "schedutil");
	acquire(CPUFREQ_SETSPEED, "userspace");
	assert_int_equal(d.cores[0].speed, 1800000);
	set_speed(1200000, 1200000);
	/* clamped by cpufreq_set() */
	set_speed(1, 800000);
	set_speed(9000000, 1800000);
	assert_int_equal(failures(), 0);
	for (unsigned count = 1; count <= 2; count++) { /* between two states: rounded up */
		set_speed(1250000, 1400000);
		assert_int_equal(c.counts[CPUFREQ_ROUNDED], count);
	}
	assert_int_equal(c.logged, 1u << CPUFREQ_ROUNDED);
}

/* If governor or speed cannot be written, the upper limit is used instead. */
TEST(missing_permission_uses_limits) {
	d.cores[0].speed_denied = true;
	acquire(CPUFREQ_LIMITS, "performance");
	set_speed(1000000, 1000000);
	d.cores[0] = kit_acpi();
	d.cores[0].governor_denied = true;
	acquire(CPUFREQ_LIMITS, "schedutil");
	assert_true(c.counts[CPUFREQ_DENIED] > 0);
	set_speed(1000000, 1000000);
	d.cores[0].max = 1800000;
	d.cores[0].limits_denied = true;
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_int_equal(cpufreq_acquire(&f, &c), -EACCES);
	assert_int_equal(d.cores[0].max, 1800000);
}

TEST(active_driver_uses_limits) {
	static const uint32_t requests[] = {3500000, 800000, 2000000, 1000000, 3000000, 3500000};

	for (unsigned driver = 0; driver < 2; driver++) {
		d.cores[0] = kit_active(driver == 0 ? "intel_pstate" : "amd-pstate-epp");
		acquire(CPUFREQ_LIMITS, "powersave");
		assert_true(c.active);
		assert_string_equal(d.cores[0].preference, "performance");
		for (unsigned i = 0; i < ARRAY_COUNT(requests); i++) {
			set_speed(requests[i], requests[i]);
			assert_int_equal(d.cores[0].min, requests[i]);
		}
		assert_int_equal(d.crossed, 0);
		assert_int_equal(failures(), 0);
	}
	d.cores[0].min = 800000;
	d.cores[0].min_denied = true; /* sets the upper limit alone */
	acquire(CPUFREQ_LIMITS, "powersave");
	set_speed(2000000, 2000000);
	set_speed(1000000, 1000000);
	assert_int_equal(d.cores[0].min, 800000);
	assert_int_equal(c.counts[CPUFREQ_DENIED], 1);
}

/* Passive drivers: intel_cpufreq has the governor `userspace`, this cppc_cpufreq does not. */
TEST(passive_driver_uses_setspeed_or_limits) {
	d.cores[0] = kit_active("intel_cpufreq");
	d.cores[0].governors = "userspace performance schedutil";
	acquire(CPUFREQ_SETSPEED, "userspace");
	assert_int_equal(c.state_count, 0);
	set_speed(2100000, 2100000);
	d.cores[0] = kit_active("cppc_cpufreq");
	d.cores[0].governors = "powersave performance schedutil";
	d.cores[0].preference[0] = '\0';
	acquire(CPUFREQ_LIMITS, "performance");
	assert_false(c.active);
	set_speed(2100000, 2100000);
}

TEST(invalid_files_are_rejected) {
	static const char *const drivers[] = {"", "a driver of many words", "acpi-cpufreq"};

	d.cores[0].hardware_max = 0;
	for (unsigned i = 0; i < ARRAY_COUNT(drivers); i++) {
		d.cores[0].driver = drivers[i];
		d.cores[0].max = i < 2 ? 1800000 : 0;
		assert_int_equal(cpufreq_find(&f, 0, &c), -EINVAL);
	}
	d.cores[0].max = 500000; /* below the minimum: the maximum applies */
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_true(c.min_khz == 500000 && c.max_khz == 500000);
}

/* SST-BF: cores with different base frequencies. */
TEST(base_frequency_limits_maximum) {
	struct cpufreq cores[3];

	for (unsigned i = 0; i < 3; i++) {
		d.cores[i] = kit_acpi();
		d.cores[i].base = 1600000;
		assert_int_equal(cpufreq_find(&f, i, &cores[i]), 0);
	}
	assert_false(cpufreq_honour_base(cores, 3)); /* all equal: no SST-BF */
	assert_int_equal(cores[0].max_khz, 1800000);
	cores[1].base_khz = 1200000;
	assert_true(cpufreq_honour_base(cores, 3));
	assert_int_equal(cores[0].max_khz, 1600000);
	assert_int_equal(cores[1].max_khz, 1200000);
	assert_int_equal(cores[1].state_count, 3);
	cores[2].base_khz = 0; /* unknown base frequency */
	cores[0].max_khz = 1800000;
	assert_false(cpufreq_honour_base(cores, 3));
	assert_int_equal(cores[0].max_khz, 1800000);
}

TEST(clock_domains_join_related_cores) {
	static const unsigned cores[] = {3, 1, 0, 2};
	unsigned domains[4];

	for (unsigned i = 0; i < 4; i++)
		d.cores[i] = kit_acpi();
	assert_int_equal(clock_domains(&f, cores, 4, domains), 4);
	assert_memory_equal(domains, ((const unsigned[]){0, 1, 2, 3}), sizeof(domains));
	d.cores[1].siblings = "1,3"; /* core 3 does not list core 1 */
	d.cores[0].related = "0 2"; /* separated by spaces, as in sysfs */
	assert_int_equal(clock_domains(&f, cores, 4, domains), 2);
	assert_memory_equal(domains, ((const unsigned[]){0, 0, 1, 1}), sizeof(domains));
	d.cores[3].siblings = "0-3"; /* joins both domains */
	assert_int_equal(clock_domains(&f, cores, 4, domains), 1);
	d.cores[3].siblings = "0-99999999999,x";
	d.cores[1].siblings = "3-1";
	d.cores[0].related = "";
	assert_int_equal(clock_domains(&f, cores, 4, domains), 4);
}

static struct cpu_files files; /* below a temporary folder */
static char text[CPU_FILES_TEXT];

static int read_file(const char *name) {
	return files.read(files.ctx, name, text, sizeof(text));
}

TEST(files_are_read_and_written) {
	root_write_at("root/cpu0/cpufreq/speed", 0, "1200000 \n", 9);
	assert_int_equal(read_file("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "1200000");
	assert_int_equal(cpu_files_read_khz(&files, 0, "speed"), 1200000);
	/* a shorter text replaces the whole longer one */
	assert_int_equal(cpu_files_write_khz(&files, 0, "speed", 800000), 0);
	assert_int_equal(read_file("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "800000");
	assert_int_equal(cpu_files_read(&files, 0, "nothing", text, sizeof(text)), -ENOENT);
	assert_int_equal(cpu_files_write(&files, 0, "nothing", "1"), -ENOENT);
	assert_int_not_equal(access(root_path("root/cpu0/cpufreq/nothing"), F_OK), 0);
	assert_int_equal(cpu_files_read_khz(&files, 0, "nothing"), 0);
	assert_int_equal(files.read(files.ctx, "cpu0/cpufreq/speed", text, 4), -EFBIG);
}

TEST(frequencies_are_parsed) {
	static const char *const invalid[] = {"",
					      "0",
					      "100000001",
					      "1800000 ",
					      "-1",
					      "+1",
					      "0x10",
					      "1e6",
					      "4294967297",
					      "18446744073709551617",
					      "<unsupported>"};

	for (unsigned i = 0; i < ARRAY_COUNT(invalid); i++)
		assert_int_equal(cpu_files_parse_khz(invalid[i]), 0);
	assert_int_equal(cpu_files_parse_khz("1"), 1);
	assert_int_equal(cpu_files_parse_khz("100000000"), 100000000);
	assert_int_equal(cpu_files_parse_khz("0001200000"), 1200000);
}

TEST(files_without_text_are_rejected) {
	char too_long[CPU_FILES_TEXT + 1];

	root_write_at("root/cpu0/cpufreq/odd", 0, "12\00034", 5);
	assert_int_equal(read_file("cpu0/cpufreq/odd"), -EINVAL);
	root_write_at("root/cpu0/cpufreq/odd", 0, "12\x1b[2J", 6);
	assert_int_equal(read_file("cpu0/cpufreq/odd"), -EINVAL);
	memset(too_long, '1', sizeof(too_long));
	root_write_at("root/cpu0/cpufreq/odd", 0, too_long, sizeof(too_long));
	assert_int_equal(read_file("cpu0/cpufreq/odd"), -EFBIG);
	assert_string_equal(text, "");
	root_write_at("root/cpu0/cpufreq/odd", 0, "", 0);
	assert_int_equal(read_file("cpu0/cpufreq/odd"), 0);
	assert_string_equal(text, "");
	assert_int_equal(read_file("cpu0/cpufreq"), -EINVAL);
	assert_int_equal(mkfifo(root_path("root/cpu0/cpufreq/pipe"), 0600), 0);
	assert_int_equal(read_file("cpu0/cpufreq/pipe"), -EINVAL);
	assert_true(files.write(files.ctx, "cpu0/cpufreq/pipe", "1") < 0);
	unlink(root_path("root/cpu0/cpufreq/pipe"));
}

static void assert_outside_is_safe(const char *name) {
	char content[16] = "";
	int fd;

	assert_true(read_file(name) < 0);
	assert_true(files.write(files.ctx, name, "harm") < 0);
	fd = open(root_path("outside"), O_RDONLY);
	assert_int_equal(read(fd, content, sizeof(content)), 4);
	assert_string_equal(content, "safe");
	close(fd);
}

TEST(paths_outside_folder_are_rejected) {
	root_write_at("outside", 0, "safe", 4);
	assert_outside_is_safe("../outside");
	assert_outside_is_safe("cpu0/../../outside");
	assert_outside_is_safe(root_path("outside"));
	assert_int_equal(symlink("../../../outside", root_path("root/cpu0/cpufreq/up")), 0);
	assert_outside_is_safe("cpu0/cpufreq/up");
	assert_int_equal(symlink(root, root_path("root/cpu0/away")), 0);
	assert_outside_is_safe("cpu0/away/outside");
	/* links within the folder are followed, as sysfs has such */
	assert_int_equal(symlink("../cpu0/cpufreq", root_path("root/cpu1/cpufreq")), 0);
	root_write_at("root/cpu0/cpufreq/speed", 0, "7", 1);
	assert_int_equal(cpu_files_read_khz(&files, 1, "speed"), 7);
	assert_int_equal(cpu_files_write_khz(&files, 1, "speed", 8), 0);
	assert_int_equal(cpu_files_read_khz(&files, 0, "speed"), 8);
}

TEST(missing_folder_is_rejected) {
	struct cpu_files none;

	assert_int_equal(cpu_files_open(&none, root_path("nowhere")), -ENOENT);
	assert_null(none.read);
	cpu_files_close(&none);
	assert_int_equal(cpu_files_open(&none, root_path("outside")), -ENOTDIR);
}

static int create_files(void **state) {
	if (root_create(state) != 0)
		return -1;
	root_write("root/cpu0/cpufreq/speed", "");
	if (mkdir(root_path("root/cpu1"), 0700) != 0)
		return -1;
	return cpu_files_open(&files, root_path("root"));
}

static int remove_files(void **state) {
	cpu_files_close(&files);
	return root_remove(state);
}

ALL_TESTS(create_files, remove_files)

EACH_TEST(set_up, NULL)
