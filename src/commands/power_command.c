/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmtsd power: shows the frequency drivers of the machine, tries a frequency, restores settings. Without EAL. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/run_folder.h"
#include "crypto/versions.h"
#include "model/units.h"
#include "platform/cpus.h"
#include "platform/log/log.h"
#include "power/clock_domains.h"
#include "power/cpufreq.h"
#include "power/initial_settings.h"
#include "power/leftovers.h"
#include "server/process.h"

enum { OPTION_ROOT = 256, OPTION_STATE, OPTION_CORES, OPTION_HERTZ };

enum word { WORD_NONE, WORD_SHOW, WORD_TRY, WORD_RESTORE };

struct power_options {
	enum word word;
	const char *root;
	const char *state; /* NULL: in run_folder() */
	cpu_set_t cores;
	uint32_t khz;
	uint64_t duration_ns; /* 0: until a signal */
};

static const struct argp_option options[] = {
	{"root", OPTION_ROOT, "DIR", 0,
	 "the folder of the machine's cores (default: " CPU_FILES_ROOT ")", 0},
	{"state", OPTION_STATE, "FILE", 0,
	 "file for the initial settings (default: PID-power.state in the folder of the control "
	 "socket; restore: all such files of that folder)",
	 0},
	{"cores", OPTION_CORES, "LIST", 0, "cores such as 0-3,8", 0},
	{"hertz", OPTION_HERTZ, "FREQUENCY", 0, "such as 1.2GHz, 800MHz or 1200000000", 0},
	{"duration", 'd', "TIME", 0, "restore after this time, such as 10s (default: at a signal)",
	 0},
	{0},
};

/* Returns kHz; 0 for an invalid frequency. */
static uint32_t parse_hertz(const char *text) {
	static const struct {
		const char *name;
		double khz;
	} units[] = {{"", 1e-3}, {"Hz", 1e-3}, {"kHz", 1}, {"MHz", 1e3}, {"GHz", 1e6}};
	char *end;
	double value = strtod(text, &end);

	end += *end == ' ';
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		if (strcmp(end, units[u].name) != 0)
			continue;
		value *= units[u].khz;
		return value >= 1 && value <= CPU_FILES_MAX_KHZ ? (uint32_t)(value + 0.5) : 0;
	}
	return 0;
}

static void parse_word(struct power_options *o, const char *text, struct argp_state *state) {
	static const char *const words[] = {
		[WORD_SHOW] = "show", [WORD_TRY] = "try", [WORD_RESTORE] = "restore"};

	for (enum word word = WORD_SHOW; word <= WORD_RESTORE; word++) {
		if (o->word == WORD_NONE && strcmp(text, words[word]) == 0) {
			o->word = word;
			return;
		}
	}
	argp_error(state, "found \"%s\", allowed: show, try or restore", text);
}

static error_t option(int key, char *value, struct argp_state *state) {
	struct power_options *o = state->input;

	switch (key) {
	case OPTION_ROOT: o->root = value; return 0;
	case OPTION_STATE: o->state = value; return 0;
	case OPTION_CORES:
		if (!cpus_parse(value, &o->cores) || CPU_COUNT(&o->cores) == 0)
			argp_error(state, "--cores: found \"%s\", allowed: cores such as 0-3,8",
				   value);
		return 0;
	case OPTION_HERTZ:
		o->khz = parse_hertz(value);
		if (o->khz == 0)
			argp_error(state,
				   "--hertz: found \"%s\", allowed: a frequency such as 1.2GHz",
				   value);
		return 0;
	case 'd':
		if (!units_parse_duration(value, &o->duration_ns) || o->duration_ns == 0)
			argp_error(state, "--duration: found \"%s\", allowed: a time such as 10s",
				   value);
		return 0;
	case ARGP_KEY_ARG: parse_word(o, value, state); return 0;
	case ARGP_KEY_END:
		if (o->word == WORD_NONE)
			argp_error(state, "one of show, try or restore is needed");
		if (o->word == WORD_TRY && (CPU_COUNT(&o->cores) == 0 || o->khz == 0))
			argp_error(state, "try needs --cores and --hertz");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* The path of the state file. Returns 0, or the exit status after a message; no message if --state
 * is too long. */
static int state_path(const struct power_options *o, char path[LEFTOVERS_PATH]) {
	char folder[PATH_MAX], why[OWNED_FOLDER_LINE];
	const char *fault;

	if (o->state != NULL)
		return snprintf(path, LEFTOVERS_PATH, "%s", o->state) < LEFTOVERS_PATH ? 0
										       : EXIT_USAGE;
	fault = run_folder(folder, sizeof(folder), why);
	if (fault == NULL && leftovers_path(folder, getpid(), path) == 0)
		return 0;
	log_error("power", LOG_NO_FIELDS, "%s: %s; choose another file with --state", folder,
		  fault != NULL ? fault : "this name is too long");
	return EXIT_FAILED;
}

static void show_core(const struct cpu_files *f, unsigned core) {
	struct cpufreq c;
	cpu_set_t cpus;
	char text[256];
	int fault = cpufreq_find(f, core, &c);

	if (fault != 0) {
		printf("core %u: no usable frequency driver: %s\n", core, strerror(-fault));
		return;
	}
	clock_domain_cpus(f, core, &cpus);
	cpus_format(&cpus, text, sizeof(text));
	printf("core %u: driver %s, governor %s, by %s, %" PRIu32 "-%" PRIu32 " kHz", core,
	       c.driver, c.initial_governor, cpufreq_mode_name(c.mode), c.min_khz, c.max_khz);
	if (c.state_count > 0)
		printf(" in %u states", c.state_count);
	if (c.base_khz != 0)
		printf(", base %" PRIu32 " kHz", c.base_khz);
	printf(", now %" PRIu32 " kHz, clock of %s\n", cpufreq_now(f, &c), text);
}

static int show(const struct cpu_files *f) {
	static struct initial_settings uncore;
	char text[CPU_FILES_TEXT];
	cpu_set_t present;

	if (f->read(f->ctx, "present", text, sizeof(text)) != 0 || !cpus_parse(text, &present)) {
		log_error("power", LOG_NO_FIELDS, "present: not a list of cores");
		return EXIT_FAILED;
	}
	for (unsigned core = 0; core < CPU_SETSIZE; core++) {
		if (CPU_ISSET(core, &present))
			show_core(f, core);
	}
	initial_read_uncore(&uncore, f);
	for (unsigned i = 0; i < uncore.count; i++) {
		char name[CPU_FILES_NAME];

		initial_file_name(&uncore.values[i], name);
		printf("%s: %s kHz\n", name, uncore.values[i].value);
	}
	return 0;
}

/* Saves the initial settings to a file before any change. */
static int keep(const struct power_options *o, const struct cpu_files *f, const char *path) {
	static struct initial_settings initial;
	int fault;

	initial_begin(&initial);
	for (unsigned core = 0; core < CPU_SETSIZE; core++) {
		if (CPU_ISSET(core, &o->cores) && initial_read_core(&initial, f, core) != 0)
			return EXIT_FAILED;
	}
	fault = initial_save(&initial, path);
	if (fault != 0)
		log_error("power", LOG_FIELDS(LOG_STRING("path", path)), "%s: %s", path,
			  strerror(-fault));
	return fault != 0 ? EXIT_FAILED : 0;
}

/* Returns whether all cores have the frequency or a higher one. */
static bool try_cores(const struct power_options *o, const struct cpu_files *f) {
	bool good = true;

	for (unsigned core = 0; core < CPU_SETSIZE; core++) {
		struct cpufreq c;
		int fault;

		if (!CPU_ISSET(core, &o->cores))
			continue;
		fault = cpufreq_find(f, core, &c);
		if (fault == 0)
			fault = cpufreq_acquire(f, &c);
		if (fault != 0) {
			printf("core %u: %s\n", core, strerror(-fault));
			good = false;
			continue;
		}
		good = cpufreq_set(f, &c, o->khz) && good;
		printf("core %u: by %s, requested %" PRIu32 " kHz, read back %" PRIu32 " kHz\n",
		       core, cpufreq_mode_name(c.mode), o->khz, c.khz);
	}
	fflush(stdout);
	return good;
}

static void wait_for_end(uint64_t ns) {
	struct timespec piece = {0, 20000000};
	uint64_t waited = 0;

	while (!process_stopped && (ns == 0 || waited < ns)) {
		nanosleep(&piece, NULL);
		waited += (uint64_t)piece.tv_nsec;
	}
}

static int restore_own(const struct cpu_files *f, const char *path) {
	static struct initial_settings initial;
	char fault[INITIAL_LINE];
	unsigned wrong;

	if (initial_load(&initial, path, fault) != 0) {
		log_error("power", LOG_FIELDS(LOG_STRING("path", path)), "%s: %s", path, fault);
		return EXIT_FAILED;
	}
	wrong = initial_restore(&initial, f);
	if (wrong == 0)
		unlink(path);
	printf("restored %u of %u values\n", initial.count - wrong, initial.count);
	return wrong == 0 ? 0 : EXIT_FAILED;
}

static int try(const struct power_options *o, const struct cpu_files *f) {
	char path[LEFTOVERS_PATH];
	int status = state_path(o, path);
	bool good;

	if (status == 0)
		status = keep(o, f, path);
	if (status != 0)
		return status;
	process_catch_signals();
	good = try_cores(o, f);
	if (good)
		wait_for_end(o->duration_ns);
	status = restore_own(f, path);
	return good ? status : EXIT_FAILED;
}

static int restore(const struct power_options *o, const struct cpu_files *f) {
	struct leftovers sum = {0};
	char folder[PATH_MAX], why[OWNED_FOLDER_LINE];
	const char *fault;
	int ret;

	if (o->state != NULL) {
		ret = leftovers_restore_file(o->state, f);
		sum.restored = ret == 0;
		sum.running = ret == -EBUSY;
		sum.failed = ret != 0 && ret != -EBUSY && ret != -ENOENT;
	} else {
		fault = run_folder(folder, sizeof(folder), why);
		if (fault != NULL) {
			log_error("power", LOG_NO_FIELDS, "%s: %s", folder, fault);
			return EXIT_FAILED;
		}
		sum = leftovers_restore(folder, f);
	}
	printf("state files: %u restored, %u of running processes, %u failed\n", sum.restored,
	       sum.running, sum.failed);
	return sum.failed == 0 ? 0 : EXIT_FAILED;
}

int command_power(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.args_doc = "show|try|restore",
		.doc = "Shows the frequency drivers of the machine's cores, tries a frequency, or "
		       "restores the settings that a crashed process has changed.",
	};
	struct power_options o = {.root = CPU_FILES_ROOT};
	struct cpu_files f;
	int status;

	versions_parse(&argp, argc, argv, &o);
	status = cpu_files_open(&f, o.root);
	if (status != 0) {
		log_error("power", LOG_FIELDS(LOG_STRING("path", o.root)), "%s: %s", o.root,
			  strerror(-status));
		return EXIT_FAILED;
	}
	switch (o.word) {
	case WORD_TRY: status = try(&o, &f); break;
	case WORD_RESTORE: status = restore(&o, &f); break;
	case WORD_SHOW:
	case WORD_NONE: status = show(&f); break;
	}
	cpu_files_close(&f);
	return status;
}
