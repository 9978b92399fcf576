/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server is: the service groups of one process, from one YAML file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/service_group.h"

#define SERVER_MAX_GROUPS 64

/* What workers do in rounds in which nothing comes; see idle/idle.h. */
enum idle_kind {
	IDLE_POLL, /* the next round at once */
	IDLE_SPIN,
	IDLE_TPAUSE_C01,
	IDLE_TPAUSE_C02,
	IDLE_MWAITX,
	IDLE_UMWAIT,
	IDLE_SLEEP, /* of the system */
	IDLE_KINDS, /* so many there are */
	IDLE_AUTO = IDLE_KINDS, /* the best that the CPU has */
};

enum power_policy {
	POWER_NONE, /* frequencies are left alone */
	POWER_PERFORMANCE,
	POWER_BALANCED,
	POWER_SAVING,
};

/* By what frequencies are changed. */
enum power_driver { POWER_DRIVER_AUTO, POWER_DRIVER_CPUFREQ, POWER_DRIVER_SIMULATED };

/* Hours of the day, local time; 22 to 6 are those of a night. */
struct hours {
	uint8_t from; /* 0..23 */
	uint8_t to; /* 1..24, not `from` */
};

/* What the server saves power by. */
struct power_config {
	enum idle_kind idle;
	uint32_t empty_rounds; /* in a row before the first pause */
	uint64_t longest_pause; /* ns */
	enum power_policy policy;
	enum power_driver driver;
	uint64_t latency; /* ns that the governor may add */
	bool has_busy_hours;
	struct hours busy_hours; /* performance within, the policy outside */
};

struct server_config {
	char *name;
	uint32_t main_core; /* the same in all groups */
	struct service_group *groups; /* in the order of the file; ids are unique */
	size_t group_count; /* at least 1 */
	uint32_t max_groups; /* that there may be at a time; 0: no more than the file has */
	struct power_config power;
	char *metrics; /* ADDRESS:PORT of the endpoint for scrapers; NULL: there is none */
};

/* The words of the file. Names are never NULL for values that there are; the others return whether the text is one. */
const char *idle_kind_name(enum idle_kind kind);
bool idle_kind_parse(const char *text, enum idle_kind *kind);
const char *power_policy_name(enum power_policy policy);
bool power_policy_parse(const char *text, enum power_policy *policy);
const char *power_driver_name(enum power_driver driver);
bool power_driver_parse(const char *text, enum power_driver *driver);

/* What holds where a file says nothing. */
struct power_config power_config_default(void);

/* Groups that there may be at a time. */
static inline size_t server_config_most(const struct server_config *config) {
	return config->max_groups > config->group_count ? config->max_groups : config->group_count;
}

/*
 * Loads the file at `path`: one service group, or a server with a list of them, some of which may stand
 * in files of their own. Each group has an arena of its own and its cores by number. Mistakes go to `errors`
 * as service_group_load() tells them, those of a group's own file under its name. Returns 0, and `config`
 * is to be given to server_config_free(); or the number of mistakes (> 0), and `config` holds nothing.
 */
int server_config_load(const char *path, struct server_config *config, FILE *errors);

/* Devices that all groups have, whatever the file says; NULL: as it says. "{group}" stands for the place of
 * the group in the file, 0, 1, .., where there are several. */
struct server_devices {
	const char *network;
	const char *rphy;
	const char *control;
};

/*
 * The same with other devices than the file's, for the ports of all groups. Groups are held against each
 * other as they then are: what the file tells apart by devices may be a mistake on one device. Whether
 * a device that is given for one port is another port's as well is for the caller to see.
 */
int server_config_load_on(const char *path, const struct server_devices *devices,
			  struct server_config *config, FILE *errors);

/* From where groups' own files come: `read` gives the text of one, to be freed, or NULL with errno set. */
struct server_files {
	char *(*read)(void *context, const char *path, size_t most, size_t *size);
	/* The loader's own: the struct digest of what stands in the server's file. NULL: they are files. */
	const void *(*digest)(void *context, const char *path);
	void *context;
};

/* The same from `size` bytes at `text`, reported as of the file `name`. Own files are read by `files`. */
int server_config_load_text(const char *name, const char *text, size_t size,
			    const struct server_files *files, const struct server_devices *devices,
			    struct server_config *config, FILE *errors);

/* All that a load is made from. */
struct server_source {
	const char *name, *text;
	size_t size;
	const struct server_files *files;
	const struct server_devices *devices;
};

struct kept_groups;

/*
 * As server_config_load_on(), again and again while a server runs, and of a regular file alone, as nobody may have
 * it wait: `*kept` (NULL the first time) remembers what was loaded. A group
 * whose own file, item of the list and share of what stands beside the list are the same as the last time is not
 * read again; nor is one in the server's file, where that is written plainly. What is returned is the last good configuration, to be read only, and ends with the next good load or
 * server_config_forget(); NULL after mistakes, which are told in full.
 */
const struct server_config *server_config_load_again(struct kept_groups **kept, const char *path,
						     const struct server_devices *devices,
						     FILE *errors);
const struct server_config *server_config_load_text_again(struct kept_groups **kept,
							  const struct server_source *source,
							  FILE *errors);

/*
 * When what was returned is needed no longer: remembers of it no more than the next load can make use of, which
 * are the groups with a file of their own. Harmless where nothing is remembered.
 */
void server_config_settle(struct kept_groups **kept);

/* Frees it with its configuration. NULL is harmless. */
void server_config_forget(struct kept_groups *kept);

/* Frees what the groups have, where others have copies of it. How many they are, and may be, stays. */
void server_config_shed(struct server_config *config);

/*
 * Frees what a load made. Harmless on a zeroed struct, and on groups that service_group_free() has freed
 * before, as each has its own memory.
 */
void server_config_free(struct server_config *config);
