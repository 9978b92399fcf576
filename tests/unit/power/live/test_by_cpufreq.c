/* SPDX-License-Identifier: BSD-3-Clause */
/* The uncore's limit, and limits of cores that the kernel takes over late. */
#include "power/live/parts.h"
#include "test_main.h"

#include "power_kit.h"

/* A package without a worker of ours is others'. */
TEST(the_uncore_of_others_stays) {
	d.package = 1;
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO);
	go(100 * MS, 5, 5);
	assert_int_equal(d.cores[0].speed, 800000);
	assert_int_equal(d.uncore_max, 2400000);
}

/* Linux cuts what is written to 100 MHz, which is no refusal. */
TEST(the_uncore_has_steps) {
	static const uint32_t full[] = {2500000, 2500000, 2450000};

	for (unsigned i = 0; i < ARRAY_COUNT(full); i++) {
		d.uncore_max = full[i];
		d.uncore_cut = i > 0;
		set_policy(POWER_SAVING, POWER_DRIVER_AUTO);
		for (unsigned turn = 0; turn < 2; turn++) {
			go(100 * MS, 5, 5);
			assert_int_equal(d.uncore_max, 1600000);
			go(2 * MS, 5, 100);
			assert_int_equal(d.uncore_max, full[i] / 100000 * 100000);
		}
		d.uncore_cut = false;
		set_policy(POWER_NONE, POWER_DRIVER_AUTO);
		assert_int_equal(files_kept(), 0);
	}
}

/* What was written is read back: a limit that does not follow is tried once. */
TEST(an_uncore_that_does_not_follow) {
	unsigned before;

	d.uncore_stays = true;
	set_policy(POWER_SAVING, POWER_DRIVER_AUTO);
	go(100 * MS, 5, 5);
	before = d.writes;
	for (int turn = 0; turn < 3; turn++)
		power_by_cpufreq.low(p, true);
	assert_int_equal(d.writes, before);
	power_by_cpufreq.low(p, false);
	assert_int_equal(d.writes, before + 1);
}

/* A limit that the kernel takes over later is read back once a look, and no core waits for another. */
TEST(limits_that_come_late_hold_up_no_look) {
	d.cores[0] = d.cores[1] = fake_active("intel_pstate");
	set_policy(POWER_SAVING, POWER_DRIVER_CPUFREQ);
	go(100 * MS, 5, 5);
	for (unsigned i = 0; i < 2; i++)
		d.cores[i].late = 5;
	for (unsigned look = 0; look < 10; look++) {
		d.cores[0].max_reads = d.cores[1].max_reads = 0;
		for (unsigned w = 0; w < 2; w++) {
			workers[w].busy_cycles += r.look_ns;
			workers[w].rounds += 100;
		}
		now = power_look(p, now);
		assert_in_range(d.cores[0].max_reads, 0, 1);
		assert_in_range(d.cores[1].max_reads, 0, 1);
	}
	power_tell(p, &r);
	assert_int_equal(r.cores[0].khz, 3500000);
	assert_int_equal(r.cores[1].khz, 3500000);
	for (unsigned i = 0; i < CPUFREQ_REASONS; i++)
		assert_int_equal(r.cores[0].counts[i], 0);
	d.cores[0].late = 1000; /* a driver that does nothing: seen after a millisecond */
	go(100 * MS, 5, 5);
	assert_true(r.cores[0].counts[CPUFREQ_CLAMPED] > 0);
}

EACH_TEST(start, end)
ALL_TESTS(make_folder, remove_folder)
