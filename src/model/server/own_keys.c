/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the whole server, at the top of its file. */
#include <stdio.h>
#include <string.h>

#include "model/keys/key_macros.h"
#include "model/load/group_reader.h"
#include "model/server/server_reader.h"
#include "model/server_config.h"
#include "platform/program/version_values.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

const struct choice idle_kinds[] = {
	{"auto", IDLE_AUTO},
	{"poll", IDLE_POLL},
	{"spin", IDLE_SPIN},
	{"tpause-c0.1", IDLE_TPAUSE_C01},
	{"tpause-c0.2", IDLE_TPAUSE_C02},
	{"mwaitx", IDLE_MWAITX},
	{"umwait", IDLE_UMWAIT},
	{"sleep", IDLE_SLEEP},
	{NULL, 0},
};

const struct choice power_policies[] = {
	{"none", POWER_NONE},
	{"performance", POWER_PERFORMANCE},
	{"balanced", POWER_BALANCED},
	{"saving", POWER_SAVING},
	{NULL, 0},
};

static const struct choice power_drivers[] = {
	{"auto", POWER_DRIVER_AUTO},
	{"cpufreq", POWER_DRIVER_CPUFREQ},
	{"simulated", POWER_DRIVER_SIMULATED},
	{NULL, 0},
};

const struct key power_keys[] = {
	{.name = "idle", ENUM(idle_kinds), AT(struct power_config, idle), .fallback = "poll",
	 HELP("how idle workers wait: poll: run the next round at once; spin, tpause, mwaitx "
	      "and umwait: pause by the instruction of that name; sleep: sleep in the kernel, "
	      "for shared cores; auto: the best instruction of the CPU, and sleep on shared "
	      "cores")},
	{.name = "empty_rounds", INTEGER(1, 65535), AT(struct power_config, empty_rounds),
	 .fallback = "32", HELP("rounds without a packet before the first pause, and before "
				"each doubling of the pause")},
	{.name = "longest_pause", .kind = KIND_DURATION, AT(struct power_config, longest_pause),
	 .min = MICROSECOND, .max = 10 * MILLISECOND, .fallback = "20 us",
	 HELP("maximum length of a pause; a pause also ends when a timer is due. With sleep, "
	      "longer waits sleep in the kernel")},
	{.name = "coalesce", .kind = KIND_DURATION, AT(struct power_config, coalesce),
	 .min = 0, .max = MILLISECOND, .fallback = "0 us",
	 HELP("time from the start of a round with few packets to that of the next one, so that "
	      "more packets share the cost of a round; they wait for at most this time. 0: none")},
	{.name = "policy", ENUM(power_policies), AT(struct power_config, policy), .fallback = "none",
	 HELP("frequency policy: none leaves frequencies unchanged, performance sets the "
	      "maximum, balanced and saving follow the load")},
	{.name = "latency", .kind = KIND_DURATION, AT(struct power_config, latency),
	 .min = MICROSECOND, .max = SECOND, .fallback = "200 us",
	 HELP("latency that lower frequencies may add to a packet")},
	{.name = "driver", ENUM(power_drivers), AT(struct power_config, driver), .fallback = "auto",
	 HELP("frequency driver: cpufreq of Linux; simulated: workers waste cycles; auto: "
	      "cpufreq")},
	{.name = "busy_hours", .kind = KIND_HOURS, AT(struct power_config, busy_hours),
	 .flag = offsetof(struct power_config, has_busy_hours), .example = "7-23",
	 HELP("hours of the day, local time, in which the policy is performance (default: none)")},
	{0},
};

const struct key server_power_key = {
	.name = "power", .kind = KIND_MAP, .keys = power_keys, .size = sizeof(struct power_config),
	HELP("power settings: pauses of the workers, and frequencies of their cores. For the "
	     "whole server, at the top of its file or of the file of its only group"),
};

const struct key server_metrics_key = {
	.name = "metrics", .kind = KIND_ENDPOINT, .size = sizeof(char *), .example = "127.0.0.1:9464",
	HELP("address and port of the metrics endpoint of the server (default: none)"),
};

const struct key server_needs_version_key = {
	.name = "needs_version", .kind = KIND_NAME, .size = sizeof(char *), .example = "0.1.0",
	HELP("least version of OpenVCMTS that knows all keys of the file, such as 0.1.0. An older one "
	     "refuses the file with this version (default: any version)"),
};
/* clang-format on */

static bool choice_parse(const struct choice *choice, const char *text, unsigned *value) {
	while (choice->name != NULL && strcmp(choice->name, text) != 0)
		choice++;
	if (choice->name != NULL)
		*value = choice->value;
	return choice->name != NULL;
}

const char *idle_kind_name(enum idle_kind kind) {
	return choice_name(idle_kinds, kind);
}

bool idle_kind_parse(const char *text, enum idle_kind *kind) {
	return choice_parse(idle_kinds, text, kind);
}

const char *power_policy_name(enum power_policy policy) {
	return choice_name(power_policies, policy);
}

bool power_policy_parse(const char *text, enum power_policy *policy) {
	return choice_parse(power_policies, text, policy);
}

const char *power_driver_name(enum power_driver driver) {
	return choice_name(power_drivers, driver);
}

bool power_driver_parse(const char *text, enum power_driver *driver) {
	return choice_parse(power_drivers, text, driver);
}

/* Reads an empty map, in which every key has its default. */
struct power_config power_config_default(void) {
	static struct node nothing = {.type = NODE_MAP};
	struct errors errors = {0};
	struct reader reader = {.errors = &errors, .visits = KEYS_MAX};
	struct power_config power = {0};

	reader_read(&reader, power_keys, &nothing, &power);
	return power;
}

static bool version_parse(const char *text, unsigned numbers[3]) {
	int end = 0;

	return strspn(text, "0123456789.") == strlen(text) &&
	       sscanf(text, "%4u.%4u.%4u%n", &numbers[0], &numbers[1], &numbers[2], &end) == 3 &&
	       text[end] == '\0';
}

/* A file of a newer version may have unknown keys. This error, whose key is best the first of the file, says why. */
static void version_check(struct errors *errors, const struct node *node, const char *text) {
	const struct path path = {.key = server_needs_version_key.name};
	unsigned needed[3], own[3];

	if (!version_parse(text, needed)) {
		errors_say(errors, node->line, &path,
			   "found \"%.64s\", allowed: a version such as 0.1.0", text);
		return;
	}
	if (!version_parse(VERSION_NUMBER, own))
		return;
	for (unsigned i = 0; i < 3; i++) {
		if (needed[i] < own[i])
			return;
		if (needed[i] == own[i])
			continue;
		errors_say(errors, node->line, &path,
			   "the file needs version %s, and this program is older: install that "
			   "version, or use a file of this one",
			   text);
		return;
	}
}

void own_keys_read(struct server_reader *server) {
	struct server_config *config = server->config;
	struct node *root = server->tree.root;
	struct node *power = group_remove_key(root, &server_power_key, server->errors);
	struct node *metrics = group_remove_key(root, &server_metrics_key, server->errors);
	struct node *version = group_remove_key(root, &server_needs_version_key, server->errors);
	struct reader reader = {
		.arena = server->tree.arena,
		.errors = server->errors,
		.visits = GROUP_ALIAS_VISITS,
	};
	char *text = NULL, *needed = NULL;

	if (version != NULL)
		reader_read_one(&reader, &server_needs_version_key, version, &needed, NULL);
	if (needed != NULL)
		version_check(server->errors, version, needed);
	config->power = power_config_default();
	if (power != NULL)
		reader_read_one(&reader, &server_power_key, power, &config->power, NULL);
	if (metrics != NULL)
		reader_read_one(&reader, &server_metrics_key, metrics, &text, NULL);
	if (text != NULL)
		config->metrics = strdup(text);
	if (text != NULL && config->metrics == NULL)
		errors_add_no_memory(server->errors);
}
