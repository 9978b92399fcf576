/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests power.h: governs two workers with simulated cpufreq drivers, counters and time. */
#include "power/live/parts.h"
#include "root_kit.h"
#include "test_main.h"

#include <dirent.h>
#include <unistd.h>

#include "power/initial_settings.h"
#include "power/leftovers.h"
#include "power/live/power.h"
#include "power_kit.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)
#define LOW 800000
#define HIGH 1800000

static unsigned hour;

static unsigned test_hour(void) {
	return hour;
}

static struct worker workers[2];
static struct server server;
static struct kit_driver d;
static struct cpu_files f;
static struct power_setup setup = {.files = &f, .by_hand = true, .hour = test_hour};
static struct power *p;
static struct power_report r;
static struct power_config config;
static uint64_t now;

static int set_up(void **state) {
	memset(workers, 0, sizeof(workers));
	server = (struct server){.workers = workers, .worker_count = 2, .layout.cores = {0, 1}};
	pthread_rwlock_init(&server.lock, NULL);
	d = (struct kit_driver){
		.cores = {kit_acpi(), kit_acpi()}, .uncore_max = 2400000, .uncore_min = 800000};
	f = kit_files(&d);
	now = 7 * SECOND;
	hour = 12;
	config = power_config_default();
	config.latency = 200 * US;
	setup.folder = root;
	if (root_create(state) != 0)
		return -1;
	p = power_create(&server, &setup);
	return p != NULL ? 0 : -1;
}

static int tear_down(void **state) {
	power_free(p);
	pthread_rwlock_destroy(&server.lock);
	return rmdir(root); /* fails unless the folder is empty */
}

static unsigned files_kept(void) {
	DIR *names = opendir(root);
	unsigned count = 0;

	while (readdir(names) != NULL)
		count++;
	closedir(names);
	return count - 2;
}

/* Runs the power thread once, after the workers were busy for that percentage of `ns`. */
static void sample_once(uint64_t ns, unsigned first, unsigned second) {
	const unsigned percents[] = {first, second};

	for (unsigned w = 0; w < 2; w++) {
		workers[w].busy_cycles += ns * percents[w] / 100;
		workers[w].idle_cycles += ns * (100 - percents[w]) / 100;
		workers[w].rounds += 100;
	}
	now = power_step(p, now);
}

/* Runs the power thread for `ns` of simulated time with these loads in percent. Then asserts the
 * cores' speeds in kHz; 0: any. */
static void run_for(uint64_t ns, unsigned first, unsigned second, uint32_t speed0,
		    uint32_t speed1) {
	for (uint64_t until = now + ns, last = now, before; now < until; last = before) {
		before = now;
		sample_once(now - last, first, second);
	}
	power_get_report(p, &r);
	assert_int_equal(d.cores[0].speed, speed0 > 0 ? speed0 : d.cores[0].speed);
	assert_int_equal(d.cores[1].speed, speed1 > 0 ? speed1 : d.cores[1].speed);
}

static void set_policy(enum power_policy policy, enum power_driver driver, const char *expected) {
	config.policy = policy;
	config.driver = driver;
	power_set(p, &config);
	power_get_report(p, &r);
	assert_string_equal(r.driver, expected);
}

static void set_saving(void) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "cpufreq");
}

static void assert_restored(void) {
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(files_kept(), 0);
}

TEST(no_policy_changes_nothing) {
	set_policy(POWER_NONE, POWER_DRIVER_AUTO, "none");
	config.has_busy_hours = true; /* contradicts POWER_NONE */
	set_policy(POWER_NONE, POWER_DRIVER_AUTO, "none");
	assert_int_equal(d.writes + files_kept(), 0);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 1);
}

TEST(frequencies_follow_load) {
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO, "cpufreq");
	assert_int_equal(files_kept(), 1);
	run_for(100 * MS, 5, 5, LOW, LOW);
	assert_int_equal(r.cores[0].khz, LOW);
	assert_in_range(r.cores[0].load, 4, 5); /* rounded down */
	assert_int_equal(d.uncore_max, 1600000); /* mid-range */
	run_for(2 * MS, 5, 100, LOW, HIGH);
	assert_int_equal(d.uncore_max, 2400000);
	assert_true(r.cores[0].jumps == 0 && r.cores[1].jumps == 1);
	power_stop(p);
	assert_restored();
	power_get_report(p, &r);
	assert_int_equal(r.cores[0].max_khz, 0);
}

/* A sample that is late by more than a tolerance is reported. */
TEST(late_samples_are_reported) {
	set_saving();
	run_for(10 * MS, 5, 5, 0, 0);
	now = power_step(p, now + 900 * US);
	power_get_report(p, &r);
	assert_int_equal(r.late_ns, 0);
	now = power_step(p, now + 3 * MS);
	now = power_step(p, now + 2 * MS);
	power_step(p, now);
	power_get_report(p, &r);
	assert_int_equal(r.late_ns, 5 * MS);
}

TEST(siblings_share_a_clock_domain) {
	d.cores[0].siblings = "0-1";
	set_saving();
	run_for(100 * MS, 5, 100, HIGH, HIGH);
	run_for(100 * MS, 5, 5, LOW, LOW);
	run_for(2 * MS, 100, 5, HIGH, HIGH);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 0);
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	d.cores[0].related = "0 3"; /* a core of another process */
	set_saving();
	assert_int_equal(r.counts[POWER_CONTRADICTION], 1);
}

TEST(policy_and_driver_change_in_service) {
	set_saving();
	run_for(100 * MS, 5, 5, LOW, LOW);
	set_policy(POWER_PERFORMANCE, POWER_DRIVER_CPUFREQ, "cpufreq");
	run_for(2 * MS, 5, 5, HIGH, HIGH);
	set_policy(POWER_BALANCED, POWER_DRIVER_CPUFREQ, "cpufreq");
	run_for(100 * MS, 5, 5, LOW, LOW);
	set_policy(POWER_BALANCED, POWER_DRIVER_SIMULATED, "simulated");
	assert_restored();
	set_policy(POWER_NONE, POWER_DRIVER_SIMULATED, "none");
}

TEST(busy_hours_use_performance) {
	static const struct {
		struct hours busy;
		unsigned hour;
		enum power_policy policy;
	} cases[] = {
		{{7, 23}, 22, POWER_PERFORMANCE}, {{7, 23}, 23, POWER_SAVING},
		{{7, 23}, 7, POWER_PERFORMANCE},  {{22, 6}, 6, POWER_SAVING},
		{{22, 6}, 5, POWER_PERFORMANCE},  {{21, 6}, 21, POWER_PERFORMANCE},
	};

	config.has_busy_hours = true;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		hour = cases[i].hour;
		if (config.busy_hours.from != cases[i].busy.from) { /* applies at once */
			config.busy_hours = cases[i].busy;
			set_saving();
			assert_int_equal(r.policy, cases[i].policy);
		}
		run_for(2 * SECOND, 5, 5, cases[i].policy == POWER_SAVING ? LOW : HIGH, 0);
		assert_int_equal(r.policy, cases[i].policy);
	}
}

TEST(foreign_governor_is_replaced_three_times) {
	set_saving();
	run_for(2 * SECOND, 5, 5, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		strcpy(d.cores[0].governor, "powersave");
		run_for(2 * SECOND, 5, 5, 0, LOW);
		assert_string_equal(d.cores[0].governor, i < 3 ? "userspace" : "powersave");
	}
	assert_int_equal(r.cores[0].counts[CPUFREQ_GOVERNOR_CHANGED], 4);
	assert_int_equal(r.cores[0].max_khz, 0); /* not governed any more */
}

/* After a failed write, the core gets the highest possible speed until the next check. */
TEST(failed_core_runs_at_maximum) {
	set_saving();
	run_for(500 * MS, 5, 5, LOW, LOW);
	d.cores[0].max = 1200000; /* another process limits it */
	run_for(2 * MS, 100, 5, 1200000, LOW);
	assert_int_equal(r.cores[0].khz, 1200000);
	assert_true(r.cores[0].counts[CPUFREQ_CLAMPED] > 0);
	d.cores[0].max = HIGH; /* and lifts the limit */
	run_for(2 * SECOND, 100, 5, HIGH, LOW);
	d.cores[0].speed = 1000000; /* another speed is corrected once per second */
	run_for(2 * SECOND, 100, 5, HIGH, LOW);
	run_for(100 * MS, 5, 5, LOW, LOW);
	d.cores[0].offline = true;
	run_for(2 * SECOND, 100, 5, LOW, LOW);
	assert_true(r.cores[0].counts[CPUFREQ_VANISHED] > 0);
	d.cores[0].offline = false;
	strcpy(d.cores[0].governor, "schedutil"); /* set by the kernel when the core comes online */
	run_for(2 * SECOND, 100, 5, HIGH, LOW);
	assert_string_equal(d.cores[0].governor, "userspace");
}

TEST(no_writable_core_means_no_driver) {
	d.cores[0].offline = d.cores[1].offline = true;
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "none");
	assert_int_equal(r.counts[POWER_NO_DRIVER], 1);
	d.cores[0] = kit_acpi(); /* one of two cores can be governed */
	set_saving();
	run_for(100 * MS, 5, 5, LOW, LOW);
	d.cores[0].governor_denied = d.cores[0].limits_denied = true;
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	strcpy(d.cores[0].governor, "schedutil");
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "none");
	assert_int_equal(r.counts[POWER_NO_DRIVER], 2);
}

TEST(failed_restore_keeps_original_settings) {
	set_saving();
	d.cores[0].governor_denied = true;
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	assert_string_equal(d.cores[1].governor, "schedutil");
	assert_int_equal(files_kept(), 1);
	d.cores[0].governor_denied = false;
	set_saving();
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	assert_restored();
}

TEST(unsaved_settings_are_not_changed) {
	power_free(p);
	setup.folder = "/nowhere/at/all";
	p = power_create(&server, &setup);
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "none");
	assert_int_equal(r.counts[POWER_NOT_SAVED], 1);
	assert_int_equal(d.writes, 0);
}

TEST(stopped_clock_or_worker_means_maximum) {
	set_saving();
	run_for(100 * MS, 5, 5, LOW, LOW);
	now -= SECOND;
	power_step(p, now);
	assert_int_equal(d.cores[0].speed, HIGH);
	power_get_report(p, &r);
	assert_int_equal(r.counts[POWER_CLOCK], 1);
	now += MS;
	run_for(100 * MS, 5, 5, LOW, LOW);
	for (unsigned i = 0; i < 3000; i++)
		now = power_step(p, now); /* the workers' counters do not change */
	power_get_report(p, &r);
	assert_true(r.counts[POWER_WORKER] > 0);
	assert_int_equal(d.cores[0].speed, HIGH);
}

/* The simulated driver slows the workers down. A change takes effect after the transition time. */
TEST(simulated_change_takes_transition_time) {
	uint64_t since = 0;

	set_policy(POWER_SAVING, POWER_DRIVER_SIMULATED, "simulated");
	run_for(100 * MS, 5, 5, LOW, LOW);
	assert_int_equal(d.writes, 0);
	assert_int_equal(r.cores[0].khz, LOW);
	assert_int_equal(workers[0].slowdown, 320); /* 1.25 * 256: 1.8 to 0.8 GHz */
	power_set_transition(p, 400 * US);
	config.latency = 2 * MS;
	set_policy(POWER_SAVING, POWER_DRIVER_SIMULATED, "simulated");
	run_for(100 * MS, 5, 5, LOW, LOW);
	while (r.cores[0].requested_khz < HIGH) {
		since = now;
		sample_once(MS, 100, 0);
		power_get_report(p, &r);
	}
	power_step(p, since + 399 * US);
	assert_true(workers[0].slowdown > 0);
	power_step(p, since + 400 * US);
	assert_int_equal(workers[0].slowdown, 0);
	power_set_blind(p, true);
	power_get_report(p, &r);
	assert_true(r.blind);
	assert_int_equal(r.transition_ns, 400 * US);
}

/* Leaves what a killed process leaves: its file, and a governor other than the original one. */
static void crash(void) {
	char path[LEFTOVERS_PATH];
	static struct initial_settings found;

	initial_begin(&found);
	assert_int_equal(initial_read_core(&found, &f, 0), 0);
	found.began++;
	assert_int_equal(leftovers_path(root, 4242, path), 0);
	assert_int_equal(initial_save(&found, path), 0);
	strcpy(d.cores[0].governor, "userspace");
}

/* The next process restores the original settings, even without a policy. */
TEST(settings_of_crashed_process_are_restored) {
	crash();
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO, "cpufreq");
	assert_int_equal(files_kept(), 1); /* of this process */
	power_stop(p);
	assert_restored();
	crash();
	power_free(p);
	p = power_create(&server, &setup);
	assert_non_null(p);
	assert_restored();
}

/* Linux rounds uncore limits down to 100 MHz. Packages without workers are not changed. */
TEST(uncore_limit_is_rounded_to_100_mhz) {
	static const uint32_t full[] = {2500000, 2500000, 2450000};

	for (unsigned i = 0; i < ARRAY_COUNT(full); i++) {
		d.uncore_max = full[i];
		d.uncore_rounds = i > 0;
		set_saving();
		for (unsigned round = 0; round < 2; round++) {
			run_for(100 * MS, 5, 5, LOW, LOW);
			assert_int_equal(d.uncore_max, 1600000);
			run_for(2 * MS, 5, 100, LOW, HIGH);
			assert_int_equal(d.uncore_max, full[i] / 100000 * 100000);
		}
		d.uncore_rounds = false;
		set_policy(POWER_NONE, POWER_DRIVER_AUTO, "none");
	}
	d.other_package = true;
	set_saving();
	run_for(100 * MS, 5, 5, LOW, LOW);
	assert_int_equal(d.uncore_max, 2450000);
}

/* Limits are read back after a write. One that does not change is written once. */
TEST(unchanged_uncore_limit_is_written_once) {
	unsigned before;

	d.uncore_ignores_writes = true;
	set_saving();
	run_for(100 * MS, 5, 5, LOW, LOW);
	before = d.writes;
	for (int round = 0; round < 3; round++)
		power_by_cpufreq.low(p, true);
	assert_int_equal(d.writes, before);
	power_by_cpufreq.low(p, false);
	assert_int_equal(d.writes, before + 1);
}

TEST(late_limits_are_read_once_per_sample) {
	d.cores[0] = d.cores[1] = kit_active("intel_pstate");
	set_saving();
	run_for(100 * MS, 5, 5, 0, 0);
	d.cores[0].late = d.cores[1].late = 5;
	for (unsigned round = 0; round < 10; round++) {
		d.cores[0].max_reads = d.cores[1].max_reads = 0;
		sample_once(r.sample_ns, 100, 100);
		assert_true(d.cores[0].max_reads <= 1 && d.cores[1].max_reads <= 1);
	}
	power_get_report(p, &r);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(r.cores[i].khz, 3500000);
	for (unsigned i = 0; i < CPUFREQ_REASONS; i++)
		assert_int_equal(r.cores[0].counts[i], 0);
	d.cores[0].late = 1000; /* a driver that never applies it is detected */
	run_for(100 * MS, 5, 5, 0, 0);
	assert_true(r.cores[0].counts[CPUFREQ_CLAMPED] > 0);
}

EACH_TEST(set_up, tear_down)
