/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration of a server: the service groups of one process, from one YAML file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/service_group.h"

#define SERVER_MAX_GROUPS 64

/* What workers do in rounds without packets; see power/idle/idle.h. */
enum idle_kind {
	IDLE_POLL, /* run the next round at once */
	IDLE_SPIN,
	IDLE_TPAUSE_C01,
	IDLE_TPAUSE_C02,
	IDLE_MWAITX,
	IDLE_UMWAIT,
	IDLE_SLEEP, /* sleep in the kernel */
	IDLE_KINDS, /* number of kinds */
	IDLE_AUTO = IDLE_KINDS, /* the best kind that the CPU has */
};

enum power_policy {
	POWER_NONE, /* does not change frequencies */
	POWER_PERFORMANCE,
	POWER_BALANCED,
	POWER_SAVING,
};

/* The interface that sets frequencies. */
enum power_driver { POWER_DRIVER_AUTO, POWER_DRIVER_CPUFREQ, POWER_DRIVER_SIMULATED };

/* Hours of the day, local time; 22 to 6 spans midnight. */
struct hours {
	uint8_t from; /* 0..23 */
	uint8_t to; /* 1..24, not `from` */
};

/* Settings that save power. */
struct power_config {
	enum idle_kind idle;
	uint32_t empty_rounds; /* in a row before the first pause */
	uint64_t longest_pause; /* ns */
	uint64_t coalesce; /* ns from the start of a round with few packets to the next; 0: none */
	enum power_policy policy;
	enum power_driver driver;
	uint64_t latency; /* ns that the governor may add to the latency */
	bool has_busy_hours;
	/* within these hours the policy is `performance`, outside of them `policy` */
	struct hours busy_hours;
};

struct server_config {
	char *name;
	uint32_t main_core; /* the main core of all groups */
	struct service_group *groups; /* in the order of the file; IDs are unique */
	size_t group_count; /* at least 1 */
	uint32_t max_groups; /* maximum number of groups at a time; 0: the number in the file */
	struct power_config power;
	char *metrics; /* ADDRESS:PORT of the metrics endpoint; NULL: none */
};

/* The names of values in the file. Names of valid values are never NULL; the parsers return whether
 * the text is a name. */
const char *idle_kind_name(enum idle_kind kind);
bool idle_kind_parse(const char *text, enum idle_kind *kind);
const char *power_policy_name(enum power_policy policy);
bool power_policy_parse(const char *text, enum power_policy *policy);
const char *power_driver_name(enum power_driver driver);
bool power_driver_parse(const char *text, enum power_driver *driver);

/* The defaults. */
struct power_config power_config_default(void);

/* The maximum number of groups at a time. */
static inline size_t server_config_max_groups(const struct server_config *config) {
	return config->max_groups > config->group_count ? config->max_groups : config->group_count;
}

/*
 * Loads the file at `path`: one service group, or a server with a list of them, some in files of
 * their own. Each group has its own arena, and cores by number. Prints errors to `errors` as
 * service_group_load() does, those of a group's own file under its name. Returns 0, and the caller
 * calls server_config_free(); or the number of errors (> 0), and `config` is empty.
 */
int server_config_load(const char *path, struct server_config *config, FILE *errors);

/* Devices of all groups that override the file; NULL: as in the file. "{group}" is replaced by the
 * group's index in the file, 0, 1, .., if there are several. */
struct server_devices {
	const char *network;
	const char *rphy;
	const char *control;
};

/*
 * The same with other devices for the ports of all groups. Groups are compared as they are with
 * these devices: those that the file separates by device may conflict on one device. The caller
 * checks that no device is given for ports of two roles.
 */
int server_config_load_on(const char *path, const struct server_devices *devices,
			  struct server_config *config, FILE *errors);

/* The source of groups' own files: `read` returns the text of one, to be freed, or NULL with errno
 * set. */
struct server_files {
	char *(*read)(void *context, const char *path, size_t max, size_t *size);
	/* For the loader: returns the struct digest of a part of the server's file. NULL: `read`
	 * returns files. */
	const void *(*digest)(void *context, const char *path);
	void *context;
};

/* As server_config_load_on(), from `size` bytes at `text`; `name` is the file name in errors. `files`
 * provides the groups' own files. */
int server_config_load_text(const char *name, const char *text, size_t size,
			    const struct server_files *files, const struct server_devices *devices,
			    struct server_config *config, FILE *errors);

/* The input of a load. */
struct server_source {
	const char *name, *text;
	size_t size;
	const struct server_files *files;
	const struct server_devices *devices;
};

struct load_cache;

/*
 * Loads like server_config_load_on(), repeatedly while a server runs, and from a regular file only,
 * so that it never blocks. `*kept` (NULL at first) remembers what was loaded. A group is not read
 * again if its own file, its item of the list and the keys beside the list are the same as before;
 * nor is a group in the server's file, if the file is written plainly. Returns the last valid
 * configuration, which is read-only and lives until the next valid load or server_config_free_cache();
 * or NULL after errors, all of which are printed.
 */
const struct server_config *server_config_reload(struct load_cache **kept, const char *path,
						 const struct server_devices *devices,
						 FILE *errors);
const struct server_config *server_config_reload_text(struct load_cache **kept,
						      const struct server_source *source,
						      FILE *errors);

/* Call it when the returned configuration is no longer needed: `*kept` keeps only what the next
 * load can use, the groups with files of their own. `*kept` may be NULL. */
void server_config_release(struct load_cache **kept);

/* Frees it with its configuration. `kept` may be NULL. */
void server_config_free_cache(struct load_cache *kept);

/* Frees the contents of the groups, once there are copies of them. The number of groups and its
 * limit stay. */
void server_config_free_groups(struct server_config *config);

/* Frees a loaded configuration. Accepts a zeroed struct, and groups that service_group_free() has
 * freed before, as each has its own memory. */
void server_config_free(struct server_config *config);
