/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/live/parts.h"
#include "test_main.h"

#include "power_kit.h"

TEST(without_a_policy_nothing_happens) {
	set_policy(POWER_NONE, POWER_DRIVER_AUTO);
	assert_string_equal(r.driver, "none");
	assert_int_equal(d.writes, 0);
	assert_int_equal(files_kept(), 0);
	config.has_busy_hours = true; /* which nobody keeps */
	set_policy(POWER_NONE, POWER_DRIVER_AUTO);
	assert_int_equal(d.writes, 0);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 1);
}

TEST(load_sets_frequencies) {
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO);
	assert_string_equal(r.driver, "cpufreq");
	assert_int_equal(files_kept(), 1);
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	assert_int_equal(d.cores[1].speed, 800000);
	assert_int_equal(r.cores[0].khz, 800000);
	assert_in_range(r.cores[0].load, 4, 5); /* percents are cut */
	assert_int_equal(d.uncore_max, 1600000); /* half way, as all are at their slowest */
	go(2 * MS, 5, 100);
	assert_int_equal(d.cores[0].speed, 800000);
	assert_int_equal(d.cores[1].speed, 1800000);
	assert_int_equal(d.uncore_max, 2400000);
	assert_int_equal(r.cores[1].jumps, 1);
	assert_int_equal(r.cores[0].jumps, 0);
	power_stop(p);
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(files_kept(), 0);
	power_tell(p, &r);
	assert_string_equal(r.driver, "none");
	assert_int_equal(r.cores[0].max_khz, 0);
}

/* What lies behind a look that came late is the system's doing, not the governor's. */
TEST(looks_that_come_late_are_told) {
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO);
	go(10 * MS, 5, 5);
	now = power_look(p, now + 900 * US);
	power_tell(p, &r);
	assert_int_equal(r.late_ns, 0);
	now = power_look(p, now + 3 * MS);
	now = power_look(p, now + 2 * MS);
	power_look(p, now);
	power_tell(p, &r);
	assert_int_equal(r.late_ns, 5 * MS);
}

TEST(one_clock_for_both) {
	d.cores[0].siblings = "0-1";
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 100);
	assert_int_equal(d.cores[0].speed, 1800000);
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	go(2 * MS, 100, 5);
	assert_int_equal(d.cores[1].speed, 1800000);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 0);
}

TEST(cores_of_others_are_told) {
	d.cores[0].related = "0 3";
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_int_equal(r.counts[POWER_CONTRADICTION], 1);
}

TEST(changes_while_it_runs) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	set_policy(POWER_PERFORMANCE, POWER_DRIVER_CPUFREQ);
	go(2 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 1800000);
	set_policy(POWER_BALANCED, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	set_policy(POWER_BALANCED, POWER_DRIVER_SIMULATED);
	assert_string_equal(r.driver, "simulated");
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(files_kept(), 0);
	set_policy(POWER_NONE, POWER_DRIVER_SIMULATED);
	assert_string_equal(r.driver, "none");
}

TEST(busy_hours_are_fast) {
	config.has_busy_hours = true;
	config.busy_hours = (struct hours){7, 23};
	hour = 22;
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	assert_int_equal(r.policy, POWER_PERFORMANCE);
	assert_int_equal(d.cores[0].speed, 1800000);
	hour = 23;
	go(2 * SECOND, 5, 5);
	assert_int_equal(r.policy, POWER_SAVING);
	assert_int_equal(d.cores[0].speed, 800000);
	hour = 7;
	go(2 * SECOND, 5, 5);
	assert_int_equal(r.policy, POWER_PERFORMANCE);
	config.busy_hours = (struct hours){22, 6}; /* those of a night */
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_int_equal(r.policy, POWER_SAVING);
	hour = 5;
	go(2 * SECOND, 5, 5);
	assert_int_equal(r.policy, POWER_PERFORMANCE);
	hour = 22;
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_int_equal(r.policy, POWER_PERFORMANCE);
}

TEST(others_change_the_governor) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(2 * SECOND, 5, 5);
	for (unsigned i = 0; i < 3; i++) {
		strcpy(d.cores[0].governor, "powersave");
		go(2 * SECOND, 5, 5);
		assert_string_equal(d.cores[0].governor, "userspace");
		assert_int_equal(d.cores[1].speed, 800000);
	}
	strcpy(d.cores[0].governor, "powersave");
	go(2 * SECOND, 5, 5);
	assert_string_equal(d.cores[0].governor, "powersave"); /* theirs */
	assert_int_equal(r.cores[0].counts[CPUFREQ_TAKEN], 4);
	assert_int_equal(r.cores[0].max_khz, 0);
	assert_int_equal(d.cores[1].speed, 800000);
}

/* What a refusal leaves is the maximum, as far as that can be had, until the next check. */
TEST(trouble_is_the_maximum) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(500 * MS, 5, 5);
	d.cores[0].max = 1200000; /* somebody limits it */
	go(2 * MS, 100, 5);
	assert_int_equal(r.cores[0].khz, 1200000);
	assert_true(r.cores[0].counts[CPUFREQ_CLAMPED] > 0);
	d.cores[0].max = 1800000; /* and no more */
	go(2 * SECOND, 100, 5);
	assert_int_equal(r.cores[0].khz, 1800000);
	d.cores[0].speed = 1000000; /* or writes another speed: once a second that is put right */
	go(2 * SECOND, 100, 5);
	assert_int_equal(d.cores[0].speed, 1800000);
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	d.cores[0].offline = true;
	go(2 * SECOND, 100, 5);
	assert_true(r.cores[0].counts[CPUFREQ_VANISHED] > 0);
	d.cores[0].offline = false;
	strcpy(d.cores[0].governor, "schedutil"); /* the kernel's when it comes back */
	d.cores[0].speed = 800000;
	go(2 * SECOND, 100, 5);
	assert_string_equal(d.cores[0].governor, "userspace");
	assert_int_equal(d.cores[0].speed, 1800000);
	assert_int_equal(d.cores[1].speed, 800000);
}

TEST(nothing_to_change_by) {
	d.cores[0].offline = d.cores[1].offline = true;
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_string_equal(r.driver, "none");
	assert_int_equal(r.counts[POWER_NO_DRIVER], 1);
	d.cores[0] = fake_acpi(); /* one of two is governed */
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_string_equal(r.driver, "cpufreq");
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	d.cores[0].governor_denied = d.cores[0].limits_denied = true;
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ);
	strcpy(d.cores[0].governor, "schedutil");
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_string_equal(r.driver, "none");
	assert_int_equal(r.counts[POWER_NO_DRIVER], 2);
}

/* What could not be restored is still what was found, the next time. */
TEST(found_is_what_was_there_first) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	d.cores[0].governor_denied = true;
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ);
	assert_string_equal(d.cores[0].governor, "userspace");
	assert_string_equal(d.cores[1].governor, "schedutil");
	assert_int_equal(files_kept(), 1);
	d.cores[0].governor_denied = false;
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	set_policy(POWER_NONE, POWER_DRIVER_CPUFREQ);
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(files_kept(), 0);
}

TEST(what_cannot_be_kept_is_not_changed) {
	power_free(p);
	assert_int_equal(open_with("/nowhere/at/all"), 0);
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_string_equal(r.driver, "none");
	assert_int_equal(r.counts[POWER_NOT_KEPT], 1);
	assert_int_equal(d.writes, 0);
}

TEST(clocks_and_workers_that_stand) {
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	now -= SECOND;
	power_look(p, now);
	assert_int_equal(d.cores[0].speed, 1800000);
	power_tell(p, &r);
	assert_int_equal(r.counts[POWER_CLOCK], 1);
	now += MS;
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	for (unsigned i = 0; i < 3000; i++)
		now = power_look(p, now); /* while no worker counts anything */
	power_tell(p, &r);
	assert_true(r.counts[POWER_WORKER] > 0);
	assert_int_equal(d.cores[0].speed, 1800000);
}

/* The share of time to waste is there when the change is. */
TEST(simulated_changes_take_time) {
	uint64_t since = 0;

	set_policy(POWER_SAVING, POWER_DRIVER_SIMULATED);
	assert_int_equal(d.writes, 0);
	go(100 * MS, 5, 5);
	assert_int_equal(r.cores[0].khz, 800000);
	assert_int_equal(workers[0].slowdown, 320); /* 0.8 of 1.8 GHz: 2.25 times as long */
	power_set_transition(p, 400 * US);
	config.latency = 2 * MS;
	set_policy(POWER_SAVING, POWER_DRIVER_SIMULATED);
	go(100 * MS, 5, 5);
	assert_int_equal(workers[0].slowdown, 320);
	while (r.cores[0].wished_khz < 1800000) {
		workers[0].busy_cycles += 1000 * US;
		workers[0].rounds++;
		since = now;
		now = power_look(p, now);
		power_tell(p, &r);
	}
	power_look(p, since + 399 * US);
	assert_true(workers[0].slowdown > 0);
	power_look(p, since + 400 * US);
	assert_int_equal(workers[0].slowdown, 0);
	power_set_blind(p, true);
	power_tell(p, &r);
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
	assert_int_equal(leftovers_path(folder, 4242, path), 0);
	assert_int_equal(found_save(&found, path), 0);
	strcpy(d.cores[0].governor, "userspace");
}

TEST(comes_after_who_crashed) {
	crash();
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	assert_int_equal(files_kept(), 1); /* ours */
	power_stop(p);
	assert_string_equal(d.cores[0].governor, "schedutil");
}

TEST(what_crashed_is_restored_without_a_policy) {
	const struct power_place place = {.folder = folder, .files = &f, .by_hand = true};

	crash();
	power_free(p);
	p = power_create(&server, &place);
	assert_non_null(p);
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(files_kept(), 0);
}

EACH_TEST(start, end)
ALL_TESTS(make_folder, remove_folder)
