/* SPDX-License-Identifier: BSD-3-Clause */
/* Each driver by the files that it has; what was written is read back, and what differs is counted. The files are small ones
 * below a folder, and nothing outside of it. */
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

static int start(void **state) {
	d = (struct kit_driver){.cores = {kit_acpi()}};
	f = kit_files(&d);
	return 0;
}

/* The core is ours, by this mode and with this governor. */
static void take(enum cpufreq_mode mode, const char *governor) {
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_int_equal(cpufreq_acquire(&f, &c), 0);
	assert_int_equal(c.mode, mode);
	assert_string_equal(d.cores[0].governor, governor);
}

/* What is written then for a wish, which is had. */
static void set(uint32_t wish, uint32_t khz) {
	assert_true(cpufreq_set(&f, &c, wish));
	assert_int_equal(c.khz, khz);
	assert_int_equal(c.mode == CPUFREQ_SETSPEED ? d.cores[0].speed : d.cores[0].max, khz);
}

static uint64_t counted(void) {
	uint64_t sum = 0;

	for (unsigned r = 0; r < CPUFREQ_REASONS; r++)
		sum += c.counts[r];
	return sum;
}

TEST(acpi_by_setspeed) {
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_int_equal(d.writes, 0);
	assert_int_equal(c.state_count, 6);
	assert_int_equal(c.states[0], 800000);
	assert_int_equal(c.transition_us, 10);
	assert_string_equal(c.found, "schedutil");
	take(CPUFREQ_SETSPEED, "userspace");
	assert_int_equal(d.cores[0].speed, 1800000);
	set(1200000, 1200000);
	/* our own limits, not the driver's */
	set(1, 800000);
	set(9000000, 1800000);
	assert_int_equal(counted(), 0);
	for (unsigned turn = 1; turn <= 2; turn++) { /* between two states */
		set(1250000, 1400000);
		assert_int_equal(c.counts[CPUFREQ_ROUNDED], turn);
	}
	assert_int_equal(c.logged, 1u << CPUFREQ_ROUNDED);
}

/* Without the permission for the governor the upper limit does it, and where the speed alone is denied. */
TEST(no_permission) {
	d.cores[0].speed_denied = true;
	take(CPUFREQ_LIMITS, "performance");
	set(1000000, 1000000);
	d.cores[0] = kit_acpi();
	d.cores[0].governor_denied = true;
	take(CPUFREQ_LIMITS, "schedutil");
	assert_true(c.counts[CPUFREQ_DENIED] > 0);
	set(1000000, 1000000);
	d.cores[0].max = 1800000;
	d.cores[0].limits_denied = true;
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_int_equal(cpufreq_acquire(&f, &c), -EACCES);
	assert_int_equal(d.cores[0].max, 1800000);
}

TEST(active_by_limits) {
	static const uint32_t wishes[] = {3500000, 800000, 2000000, 1000000, 3000000, 3500000};

	for (unsigned driver = 0; driver < 2; driver++) {
		d.cores[0] = kit_active(driver == 0 ? "intel_pstate" : "amd-pstate-epp");
		take(CPUFREQ_LIMITS, "powersave");
		assert_true(c.active);
		assert_string_equal(d.cores[0].preference, "performance");
		for (unsigned i = 0; i < ARRAY_COUNT(wishes); i++) {
			set(wishes[i], wishes[i]);
			assert_int_equal(d.cores[0].min, wishes[i]);
		}
		assert_int_equal(d.crossed, 0);
		assert_int_equal(counted(), 0);
	}
	d.cores[0].min = 800000;
	d.cores[0].min_denied = true; /* then the upper one alone */
	take(CPUFREQ_LIMITS, "powersave");
	set(2000000, 2000000);
	set(1000000, 1000000);
	assert_int_equal(d.cores[0].min, 800000);
	assert_int_equal(c.counts[CPUFREQ_DENIED], 1);
}

/* Passive drivers of others: intel_cpufreq has the governor, cppc_cpufreq here has not. */
TEST(passive) {
	d.cores[0] = kit_active("intel_cpufreq");
	d.cores[0].governors = "userspace performance schedutil";
	take(CPUFREQ_SETSPEED, "userspace");
	assert_int_equal(c.state_count, 0);
	set(2100000, 2100000);
	d.cores[0] = kit_active("cppc_cpufreq");
	d.cores[0].governors = "powersave performance schedutil";
	d.cores[0].preference[0] = '\0';
	take(CPUFREQ_LIMITS, "performance");
	assert_false(c.active);
	set(2100000, 2100000);
}

TEST(nonsense_is_no_core) {
	static const char *const drivers[] = {"", "a driver of many words", "acpi-cpufreq"};

	d.cores[0].hardware_max = 0;
	for (unsigned i = 0; i < ARRAY_COUNT(drivers); i++) {
		d.cores[0].driver = drivers[i];
		d.cores[0].max = i < 2 ? 1800000 : 0;
		assert_int_equal(cpufreq_find(&f, 0, &c), -EINVAL);
	}
	d.cores[0].max = 500000; /* below the minimum: the maximum is what there is */
	assert_int_equal(cpufreq_find(&f, 0, &c), 0);
	assert_true(c.min_khz == 500000 && c.max_khz == 500000);
}

/* SST-BF: two kinds of cores. */
TEST(base_frequencies) {
	struct cpufreq cores[3];

	for (unsigned i = 0; i < 3; i++) {
		d.cores[i] = kit_acpi();
		d.cores[i].base = 1600000;
		assert_int_equal(cpufreq_find(&f, i, &cores[i]), 0);
	}
	assert_false(cpufreq_honour_base(cores, 3)); /* all the same: nothing to honour */
	assert_int_equal(cores[0].max_khz, 1800000);
	cores[1].base_khz = 1200000;
	assert_true(cpufreq_honour_base(cores, 3));
	assert_int_equal(cores[0].max_khz, 1600000);
	assert_int_equal(cores[1].max_khz, 1200000);
	assert_int_equal(cores[1].state_count, 3);
	cores[2].base_khz = 0; /* not logged: not honoured */
	cores[0].max_khz = 1800000;
	assert_false(cpufreq_honour_base(cores, 3));
	assert_int_equal(cores[0].max_khz, 1800000);
}

TEST(domains) {
	static const unsigned cores[] = {3, 1, 0, 2};
	unsigned domain_of[4];

	for (unsigned i = 0; i < 4; i++)
		d.cores[i] = kit_acpi();
	assert_int_equal(clock_domains(&f, cores, 4, domain_of), 4);
	assert_memory_equal(domain_of, ((const unsigned[]){0, 1, 2, 3}), sizeof(domain_of));
	d.cores[1].siblings = "1,3"; /* of which the other says nothing */
	d.cores[0].related = "0 2"; /* with spaces, as the kernel has it */
	assert_int_equal(clock_domains(&f, cores, 4, domain_of), 2);
	assert_memory_equal(domain_of, ((const unsigned[]){0, 0, 1, 1}), sizeof(domain_of));
	d.cores[3].siblings = "0-3"; /* joins both */
	assert_int_equal(clock_domains(&f, cores, 4, domain_of), 1);
	d.cores[3].siblings = "0-99999999999,x";
	d.cores[1].siblings = "3-1";
	d.cores[0].related = "";
	assert_int_equal(clock_domains(&f, cores, 4, domain_of), 4);
}

static struct cpu_files files; /* of a folder of the test's */
static char text[CPU_FILES_TEXT];

static int get(const char *name) {
	return files.read(files.ctx, name, text, sizeof(text));
}

TEST(texts_are_read_and_written) {
	root_put_at("root/cpu0/cpufreq/speed", 0, "1200000 \n", 9);
	assert_int_equal(get("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "1200000");
	assert_int_equal(cpu_files_read_khz(&files, 0, "speed"), 1200000);
	/* no tail of a longer text */
	assert_int_equal(cpu_files_write_khz(&files, 0, "speed", 800000), 0);
	assert_int_equal(get("cpu0/cpufreq/speed"), 0);
	assert_string_equal(text, "800000");
	assert_int_equal(cpu_files_read(&files, 0, "nothing", text, sizeof(text)), -ENOENT);
	assert_int_equal(cpu_files_write(&files, 0, "nothing", "1"), -ENOENT);
	assert_int_not_equal(access(root_path("root/cpu0/cpufreq/nothing"), F_OK), 0);
	assert_int_equal(cpu_files_read_khz(&files, 0, "nothing"), 0);
	assert_int_equal(files.read(files.ctx, "cpu0/cpufreq/speed", text, 4), -EFBIG);
}

TEST(numbers) {
	static const char *const wrong[] = {"",
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

	for (unsigned i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(cpu_files_parse_khz(wrong[i]), 0);
	assert_int_equal(cpu_files_parse_khz("1"), 1);
	assert_int_equal(cpu_files_parse_khz("100000000"), 100000000);
	assert_int_equal(cpu_files_parse_khz("0001200000"), 1200000);
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
	assert_true(files.write(files.ctx, "cpu0/cpufreq/pipe", "1") < 0);
	unlink(root_path("root/cpu0/cpufreq/pipe"));
}

static void assert_outside_is_safe(const char *name) {
	char content[16] = "";
	int fd;

	assert_true(get(name) < 0);
	assert_true(files.write(files.ctx, name, "harm") < 0);
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
	assert_int_equal(cpu_files_read_khz(&files, 1, "speed"), 7);
	assert_int_equal(cpu_files_write_khz(&files, 1, "speed", 8), 0);
	assert_int_equal(cpu_files_read_khz(&files, 0, "speed"), 8);
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
	return cpu_files_open(&files, root_path("root"));
}

static int clean(void **state) {
	cpu_files_close(&files);
	return root_remove(state);
}

ALL_TESTS(make, clean)

EACH_TEST(start, NULL)
