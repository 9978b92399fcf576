/* SPDX-License-Identifier: BSD-3-Clause */
/* A governor over two workers that the test counts for, on drivers of its own and in its own time. */
#include "power/live/parts.h"
#include "root_kit.h"
#include "test_main.h"

#include <dirent.h>
#include <unistd.h>

#include "power/found.h"
#include "power/leftovers.h"
#include "power/live/power.h"
#include "power_kit.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)
#define LOW 800000
#define HIGH 1800000

static unsigned hour;

static unsigned hour_of_test(void) {
	return hour;
}

static struct worker workers[2];
static struct server server;
static struct kit_driver d;
static struct cpu_files f;
static struct power_setup place = {.files = &f, .by_hand = true, .hour = hour_of_test};
static struct power *p;
static struct power_report r;
static struct power_config config;
static uint64_t now;

static int start(void **state) {
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
	place.folder = root;
	if (root_make(state) != 0)
		return -1;
	p = power_create(&server, &place);
	return p != NULL ? 0 : -1;
}

static int end(void **state) {
	power_free(p);
	pthread_rwlock_destroy(&server.lock);
	return rmdir(root); /* nothing is left in it */
}

static unsigned files_kept(void) {
	DIR *names = opendir(root);
	unsigned count = 0;

	while (readdir(names) != NULL)
		count++;
	closedir(names);
	return count - 2;
}

/* A round of the thread, in which the workers were busy for so many percent of `ns`. */
static void look(uint64_t ns, unsigned first, unsigned second) {
	const unsigned percents[] = {first, second};

	for (unsigned w = 0; w < 2; w++) {
		workers[w].busy_cycles += ns * percents[w] / 100;
		workers[w].idle_cycles += ns * (100 - percents[w]) / 100;
		workers[w].rounds += 100;
	}
	now = power_look(p, now);
}

/* Looks for `ns`, and expects these speeds of the cores then; 0: any. */
static void go(uint64_t ns, unsigned first, unsigned second, uint32_t speed, uint32_t other) {
	for (uint64_t until = now + ns, last = now, before; now < until; last = before) {
		before = now;
		look(now - last, first, second);
	}
	power_get_report(p, &r);
	assert_int_equal(d.cores[0].speed, speed > 0 ? speed : d.cores[0].speed);
	assert_int_equal(d.cores[1].speed, other > 0 ? other : d.cores[1].speed);
}

static void set_policy(enum power_policy policy, enum power_driver driver, const char *expected) {
	config.policy = policy;
	config.driver = driver;
	power_set(p, &config);
	power_get_report(p, &r);
	assert_string_equal(r.driver, expected);
}

static void save(void) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "cpufreq");
}

static void is_as_found(void) {
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(files_kept(), 0);
}

TEST(without_a_policy_nothing_happens) {
	set_policy(POWER_NONE, POWER_DRIVER_AUTO, "none");
	config.has_busy_hours = true; /* which nobody keeps */
	set_policy(POWER_NONE, POWER_DRIVER_AUTO, "none");
	assert_int_equal(d.writes + files_kept(), 0);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 1);
}

TEST(load_sets_frequencies) {
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO, "cpufreq");
	assert_int_equal(files_kept(), 1);
	go(100 * MS, 5, 5, LOW, LOW);
	assert_int_equal(r.cores[0].khz, LOW);
	assert_in_range(r.cores[0].load, 4, 5); /* percents are cut */
	assert_int_equal(d.uncore_max, 1600000); /* half mode, as all are at their slowest */
	go(2 * MS, 5, 100, LOW, HIGH);
	assert_int_equal(d.uncore_max, 2400000);
	assert_true(r.cores[0].jumps == 0 && r.cores[1].jumps == 1);
	power_stop(p);
	is_as_found();
	power_get_report(p, &r);
	assert_int_equal(r.cores[0].max_khz, 0);
}

/* What lies behind a look that came late is the system's doing, not the governor's. */
TEST(looks_that_come_late_are_told) {
	save();
	go(10 * MS, 5, 5, 0, 0);
	now = power_look(p, now + 900 * US);
	power_get_report(p, &r);
	assert_int_equal(r.late_ns, 0);
	now = power_look(p, now + 3 * MS);
	now = power_look(p, now + 2 * MS);
	power_look(p, now);
	power_get_report(p, &r);
	assert_int_equal(r.late_ns, 5 * MS);
}

TEST(one_clock_for_both) {
	d.cores[0].siblings = "0-1";
	save();
	go(100 * MS, 5, 100, HIGH, HIGH);
	go(100 * MS, 5, 5, LOW, LOW);
	go(2 * MS, 100, 5, HIGH, HIGH);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 0);
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	d.cores[0].related = "0 3"; /* and with a core of others */
	save();
	assert_int_equal(r.counts[POWER_CONTRADICTION], 1);
}

TEST(changes_while_it_runs) {
	save();
	go(100 * MS, 5, 5, LOW, LOW);
	set_policy(POWER_PERFORMANCE, POWER_DRIVER_CPUFREQ, "cpufreq");
	go(2 * MS, 5, 5, HIGH, HIGH);
	set_policy(POWER_BALANCED, POWER_DRIVER_CPUFREQ, "cpufreq");
	go(100 * MS, 5, 5, LOW, LOW);
	set_policy(POWER_BALANCED, POWER_DRIVER_SIMULATED, "simulated");
	is_as_found();
	set_policy(POWER_NONE, POWER_DRIVER_SIMULATED, "none");
}

TEST(busy_hours_are_fast) {
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
		if (config.busy_hours.from != cases[i].busy.from) { /* in force at once */
			config.busy_hours = cases[i].busy;
			save();
			assert_int_equal(r.policy, cases[i].policy);
		}
		go(2 * SECOND, 5, 5, cases[i].policy == POWER_SAVING ? LOW : HIGH, 0);
		assert_int_equal(r.policy, cases[i].policy);
	}
}

TEST(others_change_the_governor) {
	save();
	go(2 * SECOND, 5, 5, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		strcpy(d.cores[0].governor, "powersave");
		go(2 * SECOND, 5, 5, 0, LOW);
		assert_string_equal(d.cores[0].governor, i < 3 ? "userspace" : "powersave");
	}
	assert_int_equal(r.cores[0].counts[CPUFREQ_TAKEN], 4);
	assert_int_equal(r.cores[0].max_khz, 0); /* theirs */
}

/* What a refusal leaves is the maximum, as far as that can be had, until the next check. */
TEST(trouble_is_the_maximum) {
	save();
	go(500 * MS, 5, 5, LOW, LOW);
	d.cores[0].max = 1200000; /* somebody limits it */
	go(2 * MS, 100, 5, 1200000, LOW);
	assert_int_equal(r.cores[0].khz, 1200000);
	assert_true(r.cores[0].counts[CPUFREQ_CLAMPED] > 0);
	d.cores[0].max = HIGH; /* and no more */
	go(2 * SECOND, 100, 5, HIGH, LOW);
	d.cores[0].speed = 1000000; /* or writes another speed: once a second that is put right */
	go(2 * SECOND, 100, 5, HIGH, LOW);
	go(100 * MS, 5, 5, LOW, LOW);
	d.cores[0].offline = true;
	go(2 * SECOND, 100, 5, LOW, LOW);
	assert_true(r.cores[0].counts[CPUFREQ_VANISHED] > 0);
	d.cores[0].offline = false;
	strcpy(d.cores[0].governor, "schedutil"); /* the kernel's when it comes back */
	go(2 * SECOND, 100, 5, HIGH, LOW);
	assert_string_equal(d.cores[0].governor, "userspace");
}

TEST(nothing_to_change_by) {
	d.cores[0].offline = d.cores[1].offline = true;
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "none");
	assert_int_equal(r.counts[POWER_NO_DRIVER], 1);
	d.cores[0] = kit_acpi(); /* one of two is governed */
	save();
	go(100 * MS, 5, 5, LOW, LOW);
	d.cores[0].governor_denied = d.cores[0].limits_denied = true;
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	strcpy(d.cores[0].governor, "schedutil");
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "none");
	assert_int_equal(r.counts[POWER_NO_DRIVER], 2);
}

TEST(found_is_what_was_there_first) {
	save();
	d.cores[0].governor_denied = true;
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	assert_string_equal(d.cores[1].governor, "schedutil");
	assert_int_equal(files_kept(), 1);
	d.cores[0].governor_denied = false;
	save();
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ, "none");
	is_as_found();
}

TEST(what_cannot_be_kept_is_not_changed) {
	power_free(p);
	place.folder = "/nowhere/at/all";
	p = power_create(&server, &place);
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ, "none");
	assert_int_equal(r.counts[POWER_NOT_KEPT], 1);
	assert_int_equal(d.writes, 0);
}

TEST(clocks_and_workers_that_stand) {
	save();
	go(100 * MS, 5, 5, LOW, LOW);
	now -= SECOND;
	power_look(p, now);
	assert_int_equal(d.cores[0].speed, HIGH);
	power_get_report(p, &r);
	assert_int_equal(r.counts[POWER_CLOCK], 1);
	now += MS;
	go(100 * MS, 5, 5, LOW, LOW);
	for (unsigned i = 0; i < 3000; i++)
		now = power_look(p, now); /* while no worker counts anything */
	power_get_report(p, &r);
	assert_true(r.counts[POWER_WORKER] > 0);
	assert_int_equal(d.cores[0].speed, HIGH);
}

/* The share of time to waste is there when the change is. */
TEST(simulated_changes_take_time) {
	uint64_t since = 0;

	set_policy(POWER_SAVING, POWER_DRIVER_SIMULATED, "simulated");
	go(100 * MS, 5, 5, LOW, LOW);
	assert_int_equal(d.writes, 0);
	assert_int_equal(r.cores[0].khz, LOW);
	assert_int_equal(workers[0].slowdown, 320); /* 0.8 of 1.8 GHz: 2.25 times as long */
	power_set_transition(p, 400 * US);
	config.latency = 2 * MS;
	set_policy(POWER_SAVING, POWER_DRIVER_SIMULATED, "simulated");
	go(100 * MS, 5, 5, LOW, LOW);
	while (r.cores[0].requested_khz < HIGH) {
		since = now;
		look(MS, 100, 0);
		power_get_report(p, &r);
	}
	power_look(p, since + 399 * US);
	assert_true(workers[0].slowdown > 0);
	power_look(p, since + 400 * US);
	assert_int_equal(workers[0].slowdown, 0);
	power_set_blind(p, true);
	power_get_report(p, &r);
	assert_true(r.blind);
	assert_int_equal(r.transition_ns, 400 * US);
}

/* What a process that was killed left behind: its file, and a governor that is not the one that was found. */
static void crash(void) {
	char path[LEFTOVERS_PATH];
	static struct found found;

	found_begin(&found);
	assert_int_equal(found_core(&found, &f, 0), 0);
	found.began++;
	assert_int_equal(leftovers_path(root, 4242, path), 0);
	assert_int_equal(found_save(&found, path), 0);
	strcpy(d.cores[0].governor, "userspace");
}

/* It is restored by what comes after it, without a policy, too. */
TEST(comes_after_who_crashed) {
	crash();
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO, "cpufreq");
	assert_int_equal(files_kept(), 1); /* ours */
	power_stop(p);
	is_as_found();
	crash();
	power_free(p);
	p = power_create(&server, &place);
	assert_non_null(p);
	is_as_found();
}

/* Linux cuts what is written to 100 MHz, which is no refusal. A package without a worker of ours is others'. */
TEST(the_uncore_has_steps) {
	static const uint32_t full[] = {2500000, 2500000, 2450000};

	for (unsigned i = 0; i < ARRAY_COUNT(full); i++) {
		d.uncore_max = full[i];
		d.uncore_cut = i > 0;
		save();
		for (unsigned turn = 0; turn < 2; turn++) {
			go(100 * MS, 5, 5, LOW, LOW);
			assert_int_equal(d.uncore_max, 1600000);
			go(2 * MS, 5, 100, LOW, HIGH);
			assert_int_equal(d.uncore_max, full[i] / 100000 * 100000);
		}
		d.uncore_cut = false;
		set_policy(POWER_NONE, POWER_DRIVER_AUTO, "none");
	}
	d.other_package = true;
	save();
	go(100 * MS, 5, 5, LOW, LOW);
	assert_int_equal(d.uncore_max, 2450000);
}

/* What was written is read back: a limit that does not follow is tried once. */
TEST(an_uncore_that_does_not_follow) {
	unsigned before;

	d.uncore_stays = true;
	save();
	go(100 * MS, 5, 5, LOW, LOW);
	before = d.writes;
	for (int turn = 0; turn < 3; turn++)
		power_by_cpufreq.low(p, true);
	assert_int_equal(d.writes, before);
	power_by_cpufreq.low(p, false);
	assert_int_equal(d.writes, before + 1);
}

/* A limit that the kernel takes over later is read back once a look, and no core waits for another. */
TEST(limits_that_come_late_hold_up_no_look) {
	d.cores[0] = d.cores[1] = kit_active("intel_pstate");
	save();
	go(100 * MS, 5, 5, 0, 0);
	d.cores[0].late = d.cores[1].late = 5;
	for (unsigned turn = 0; turn < 10; turn++) {
		d.cores[0].max_reads = d.cores[1].max_reads = 0;
		look(r.look_ns, 100, 100);
		assert_true(d.cores[0].max_reads <= 1 && d.cores[1].max_reads <= 1);
	}
	power_get_report(p, &r);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(r.cores[i].khz, 3500000);
	for (unsigned i = 0; i < CPUFREQ_REASONS; i++)
		assert_int_equal(r.cores[0].counts[i], 0);
	d.cores[0].late = 1000; /* a driver that does nothing: seen after a millisecond */
	go(100 * MS, 5, 5, 0, 0);
	assert_true(r.cores[0].counts[CPUFREQ_CLAMPED] > 0);
}

EACH_TEST(start, end)
