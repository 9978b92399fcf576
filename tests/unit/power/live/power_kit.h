/* SPDX-License-Identifier: BSD-3-Clause */
/* A governor over two workers that the test counts for, on drivers of its own and in its own time. */
#pragma once

#include "test.h"

#include <dirent.h>
#include <unistd.h>

#include "fake_driver.h"
#include "power/found.h"
#include "power/leftovers.h"
#include "power/live/power.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

static struct worker workers[2];
static struct server server;
static struct fake_driver d;
static struct cpu_files f;
static struct power *p;
static struct power_report r;
static struct power_config config;
static char folder[] = "/tmp/vcmts-power-XXXXXX";
static uint64_t now;
static unsigned hour;

static unsigned hour_of_test(void) {
	return hour;
}

static int open_with(const char *where) {
	const struct power_place place = {
		.folder = where, .files = &f, .by_hand = true, .hour = hour_of_test};

	memset(workers, 0, sizeof(workers));
	memset(&server, 0, sizeof(server));
	server.workers = workers;
	server.worker_count = 2;
	server.layout.cores[1] = 1;
	pthread_rwlock_init(&server.lock, NULL);
	memset(&d, 0, sizeof(d));
	d.cores[0] = fake_acpi();
	d.cores[1] = fake_acpi();
	d.uncore_max = 2400000;
	d.uncore_min = 800000;
	f = fake_files(&d);
	now = 7 * SECOND;
	hour = 12;
	config = power_config_default();
	config.latency = 200 * US;
	p = power_create(&server, &place);
	return p != NULL ? 0 : -1;
}

static int start(void **state) {
	return open_with(folder);
}

static int end(void **state) {
	power_free(p);
	pthread_rwlock_destroy(&server.lock);
	return 0;
}

static unsigned files_kept(void) {
	DIR *names = opendir(folder);
	unsigned count = 0;

	while (readdir(names) != NULL)
		count++;
	closedir(names);
	return count - 2;
}

/* Looks for `ns`, in which the workers were busy for so many percent of the time. */
static void go(uint64_t ns, unsigned first, unsigned second) {
	const unsigned percents[] = {first, second};
	uint64_t until = now + ns, next = now, last = now;

	while (now < until) {
		for (unsigned w = 0; w < 2; w++) {
			workers[w].busy_cycles += (now - last) * percents[w] / 100;
			workers[w].idle_cycles += (now - last) * (100 - percents[w]) / 100;
			workers[w].rounds += 100;
		}
		last = now;
		next = power_look(p, now);
		assert_true(next > now);
		now = next;
	}
	power_tell(p, &r);
}

static void set_policy(enum power_policy policy, enum power_driver driver) {
	config.policy = policy;
	config.driver = driver;
	power_set(p, &config);
	power_tell(p, &r);
}

/* Around all tests: nothing is left in the folder. */
static int make_folder(void **state) {
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
	return rmdir(folder);
}
