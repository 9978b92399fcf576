/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests initial_settings.h and leftovers.h: original settings are restored, untrusted files are rejected. */
#include "root_kit.h"
#include "test_main.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/cpufreq.h"
#include "power/initial_settings.h"
#include "power/leftovers.h"
#include "power_kit.h"

static struct kit_driver d;
static struct cpu_files f;
static struct initial_settings found, loaded;
static char path[PATH_MAX], fault[INITIAL_LINE];

static void record_core(unsigned core) {
	initial_begin(&found);
	assert_int_equal(initial_read_core(&found, &f, core), 0);
}

static int set_up(void **state) {
	d = (struct kit_driver){.cores = {kit_acpi(), kit_active("intel_pstate")},
				.uncore_max = 2400000,
				.uncore_min = 800000};
	f = kit_files(&d);
	record_core(0);
	assert_int_equal(initial_read_core(&found, &f, 1), 0);
	assert_int_equal(initial_read_core(&found, &f, 2), 0);
	assert_int_equal(initial_read_uncore(&found, &f), 0);
	assert_int_equal(d.writes, 0);
	return root_create(state) != 0 ? -1 : leftovers_path(root, getpid(), path);
}

static void acquire(unsigned core, struct cpufreq *c) {
	assert_int_equal(cpufreq_find(&f, core, c), 0);
	assert_int_equal(cpufreq_acquire(&f, c), 0);
}

/* Changes all settings that a governor may change. */
static void change_all(void) {
	struct cpufreq c;

	for (unsigned core = 0; core < 2; core++) {
		acquire(core, &c);
		assert_true(cpufreq_set(&f, &c, 1000000));
	}
	d.cores[0].max = 900000;
	d.uncore_max = 900000;
}

static void assert_as_found(void) {
	assert_string_equal(d.cores[0].governor, "schedutil");
	assert_int_equal(d.cores[0].max, 1800000);
	assert_int_equal(d.cores[1].min, 800000);
	assert_int_equal(d.cores[1].max, 3500000);
	assert_string_equal(d.cores[1].preference, "balance_power");
	assert_int_equal(d.uncore_max, 2400000);
}

TEST(changed_limits_are_restored) {
	assert_int_equal(initial_restore(&found, &f), 0);
	assert_int_equal(d.writes, 0); /* no setting differs */
	/* the maximum must be restored before the minimum */
	d.cores[1].min = d.cores[1].max = 800000;
	assert_int_equal(initial_restore(&found, &f), 0);
	assert_as_found();
}

TEST(crossing_limits_are_restored) {
	d.cores[1].max = 1000000;
	record_core(1);
	d.cores[1].min = d.cores[1].max = 2000000;
	d.cores[1].rejects_crossed = true;
	assert_int_equal(initial_restore(&found, &f), 0);
	assert_int_equal(d.cores[1].min, 800000);
	assert_int_equal(d.cores[1].max, 1000000);
}

TEST(userspace_speed_is_restored) {
	struct cpufreq c;

	strcpy(d.cores[0].governor, "userspace");
	d.cores[0].speed = 1200000;
	record_core(0);
	acquire(0, &c);
	assert_int_equal(d.cores[0].speed, 1800000);
	assert_int_equal(initial_restore(&found, &f), 0);
	assert_int_equal(d.cores[0].speed, 1200000);
}

static int load(const char *file_path) {
	return initial_load(&loaded, file_path, fault);
}

TEST(saved_file_is_loaded) {
	assert_int_equal(initial_save(&found, path), 0);
	assert_int_equal(load(path), 0);
	assert_int_equal(loaded.pid, getpid());
	assert_int_equal(loaded.began, found.began);
	assert_true(loaded.began != 0);
	assert_int_equal(loaded.count, found.count);
	for (unsigned i = 0; i < found.count; i++) {
		assert_int_equal(loaded.values[i].kind, found.values[i].kind);
		assert_int_equal(loaded.values[i].a, found.values[i].a);
		assert_int_equal(loaded.values[i].b, found.values[i].b);
		assert_string_equal(loaded.values[i].value, found.values[i].value);
	}
	assert_true(initial_owner_runs(&loaded));
	loaded.began++; /* another process with this PID */
	assert_false(initial_owner_runs(&loaded));
	loaded.pid = INT32_MAX;
	assert_false(initial_owner_runs(&loaded));
}

TEST(leftovers_are_restored) {
	struct leftovers sum;

	assert_int_equal(leftovers_path(root, 4242, path), 0);
	found.began++;
	assert_int_equal(initial_save(&found, path), 0);
	change_all();
	sum = leftovers_restore(root, &f);
	assert_int_equal(sum.restored, 1);
	assert_int_equal(sum.failed + sum.running, 0);
	assert_as_found();
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(leftovers_restore_file(path, &f), -ENOENT);
	/* the file of a failed restore is kept for the next one */
	assert_int_equal(initial_save(&found, path), 0);
	change_all();
	d.cores[1].offline = true;
	assert_int_equal(leftovers_restore(root, &f).failed, 1);
	d.cores[1].offline = false;
	assert_int_equal(leftovers_restore(root, &f).restored, 1);
	assert_as_found();
	/* settings of a running process are not restored */
	found.began--;
	assert_int_equal(initial_save(&found, path), 0);
	change_all();
	sum = leftovers_restore(root, &f);
	assert_int_equal(sum.running, 1);
	assert_string_equal(d.cores[0].governor, "userspace");
	assert_int_equal(leftovers_restore("/nowhere", &f).failed, 0);
}

static void write_file(const char *text, size_t size) {
	root_write_at(path + strlen(root) + 1, 0, text, size);
}

#define BEGIN "vcmts-power 1\nprocess 99999999 1\n"

TEST(invalid_files_are_rejected) {
	static const char *const texts[] = {
		"",
		"\n",
		"vcmts-power 2\nprocess 1 1\nend\n",
		"vcmts-power 1\n",
		"vcmts-power 1\nprocess x 1\nend\n",
		"vcmts-power 1\nprocess 0 1\nend\n",
		"vcmts-power 1\nprocess -5 1\nend\n",
		BEGIN,
		BEGIN "scaling_governor 0 0 performance\n",
		BEGIN "scaling_governor 0 0 performance\nend\nscaling_governor 1 0 performance\n",
		BEGIN "scaling_governor 0 0 ../../etc/passwd\nend\n",
		BEGIN "scaling_governor 0 0 performance x\nend\n",
		BEGIN "scaling_governor 0 0\nend\n",
		BEGIN "scaling_governor 0/../../../x 0 performance\nend\n",
		BEGIN "scaling_governor -1 0 performance\nend\n",
		BEGIN "scaling_governor 99999999999 0 performance\nend\n",
		BEGIN "scaling_governor 1024 0 performance\nend\n",
		BEGIN "uncore 0 1024 1000000\nend\n",
		BEGIN "../../kernel/x 0 0 1\nend\n",
		BEGIN "scaling_max_freq 0 0 -1\nend\n",
		BEGIN "scaling_max_freq 0 0 1e9\nend\n",
		BEGIN "scaling_max_freq 0 0 99999999999\nend\n",
		BEGIN "scaling_max_freq 0 0 0\nend\n",
		BEGIN "energy_performance_preference 0 0 "
		      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nend\n",
	};

	for (unsigned i = 0; i < ARRAY_COUNT(texts); i++) {
		write_file(texts[i], strlen(texts[i]));
		assert_int_equal(load(path), -1);
		assert_int_equal(leftovers_restore_file(path, &f), -EINVAL);
		assert_int_equal(access(path, F_OK), 0); /* kept for inspection */
	}
	write_file("vcmts-power 1\0x", 15);
	assert_int_equal(load(path), -1);
	assert_int_equal(d.writes, 0);
	write_file(BEGIN "end\n", strlen(BEGIN "end\n"));
	assert_int_equal(load(path), 0);
	assert_int_equal(loaded.count, 0);
}

/* The message names the version of vcmtsd that can restore the values. */
TEST(files_of_newer_formats_are_rejected) {
	static const char newer[] = "vcmts-power 2 0.3.0~rc1\nclock 0 1\nend\n";
	static const char unnamed[] = "vcmts-power 3\nprocess 1 1\nend\n";

	write_file(newer, strlen(newer));
	assert_int_equal(initial_load(&loaded, path, fault), -1);
	assert_string_equal(fault,
			    "a newer vcmtsd wrote it, in format 2, and this one reads 1: run "
			    "`vcmtsd power restore` of version 0.3.0~rc1");
	assert_int_equal(leftovers_restore_file(path, &f), -EINVAL);
	assert_int_equal(access(path, F_OK), 0);
	write_file(unnamed, strlen(unnamed));
	assert_int_equal(initial_load(&loaded, path, fault), -1);
	assert_non_null(strstr(fault, "in format 3, and this one reads 1: run `vcmtsd power "
				      "restore` of that vcmtsd"));
}

TEST(untrusted_files_are_rejected) {
	static char content[INITIAL_FILE_MAX + 100];
	char link[PATH_MAX + 8];
	size_t used;

	write_file(BEGIN "end\n", strlen(BEGIN "end\n"));
	snprintf(link, sizeof(link), "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(load(link), -1);
	unlink(link);
	assert_int_equal(mkfifo(link, 0600), 0);
	assert_int_equal(load(link), -1);
	for (mode_t mode = 0620; mode >= 0602; mode -= 0620 - 0602) {
		assert_int_equal(chmod(path, mode), 0);
		assert_int_equal(load(path), -1);
		assert_string_equal(fault, "other users may write it");
	}
	unlink(path);
	memset(content, '\n', sizeof(content));
	write_file(content, sizeof(content));
	assert_int_equal(load(path), -1);
	used = (size_t)sprintf(content, BEGIN);
	for (unsigned i = 0; i <= INITIAL_VALUES_MAX; i++)
		used += (size_t)sprintf(content + used, "scaling_max_freq %u 0 1000000\n",
					i % 1000);
	write_file(content, used);
	assert_int_equal(load(path), -1);
	assert_non_null(strstr(fault, "more than"));
}

TEST(failed_save_keeps_old_file) {
	char new_path[PATH_MAX + 8];

	assert_int_equal(initial_save(&found, path), 0);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	assert_int_equal(mkdir(new_path, 0700), 0);
	assert_true(initial_save(&found, path) < 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_true(initial_save(&found, "/nowhere/at/all") < 0);
}

EACH_TEST(set_up, root_remove)
