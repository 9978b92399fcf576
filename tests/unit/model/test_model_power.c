/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the whole server's at the top of its file, or of its only group's: what saves power, and the metrics. */
#include "test_main.h"
#include "test_model_server.h"

#include "model/units.h"

#define ONE CHANNELS("1") "\n" BONDING "\nmodems: [" MODEM("1") "]\n"
#define LIST BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n"
#define ALL                                                                             \
	"power:\n  idle: tpause-c0.2\n  empty_rounds: 100\n  longest_pause: 5 us\n"     \
	"  policy: saving\n  latency: 250us\n  driver: simulated\n  busy_hours: 7-23\n" \
	"metrics: 127.0.0.1:9464\n"

static void expect_all(const struct power_config *p) {
	assert_int_equal(p->idle, IDLE_TPAUSE_C02);
	assert_int_equal(p->empty_rounds, 100);
	assert_int_equal(p->longest_pause, 5000);
	assert_int_equal(p->policy, POWER_SAVING);
	assert_int_equal(p->latency, 250000);
	assert_int_equal(p->driver, POWER_DRIVER_SIMULATED);
	assert_true(p->has_busy_hours);
	assert_int_equal(p->busy_hours.from, 7);
	assert_int_equal(p->busy_hours.to, 23);
}

/* In both kinds of files, before and behind the rest. */
TEST(all_of_it) {
	static const char *const texts[] = {ALL ONE, ONE ALL, ALL LIST, LIST ALL};

	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct loaded_server loaded = load_good(texts[i], NULL);

		assert_int_equal(loaded.config.group_count, i < 2 ? 1 : 2);
		expect_all(&loaded.config.power);
		assert_string_equal(loaded.config.metrics, "127.0.0.1:9464");
		unload_server(&loaded);
	}
}

static void expect_defaults(const struct power_config *p) {
	assert_int_equal(p->idle, IDLE_POLL);
	assert_int_equal(p->empty_rounds, 32);
	assert_int_equal(p->longest_pause, 20000);
	assert_int_equal(p->policy, POWER_NONE);
	assert_int_equal(p->latency, 200000);
	assert_int_equal(p->driver, POWER_DRIVER_AUTO);
	assert_false(p->has_busy_hours);
}

TEST(nothing_of_it) {
	static const char *const texts[] = {ONE, LIST, "power: {}\n" ONE};
	struct power_config defaults = power_config_default();

	expect_defaults(&defaults);
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct loaded_server loaded = load_good(texts[i], NULL);

		expect_defaults(&loaded.config.power);
		assert_null(loaded.config.metrics);
		unload_server(&loaded);
	}
}

/* It is no group's: neither in the list nor in a file of its own. */
TEST(of_no_group) {
	static struct memory_file own[] = {{"dir/1.yaml", "power: {}\n" ONE}, {NULL, NULL}};
	struct loaded_server loaded = load_server("service_groups: [{file: 1.yaml}]\n", own);

	assert_int_equal(loaded.mistakes, 1);
	assert_non_null(strstr(loaded.said, "dir/1.yaml:1: power: found unknown key \"power\""));
	unload_server(&loaded);
	loaded = load_server("service_groups: [{power: {}, " CHANNELS(
				     "1") ", " BONDING ", modems: [" MODEM("1") "]}]\n",
			     NULL);
	assert_int_equal(loaded.mistakes, 1);
	assert_non_null(strstr(loaded.said, "power: found unknown key \"power\""));
	unload_server(&loaded);
}

/* A group is the same, whatever the file that it stands alone in says of the server. */
TEST(a_group_alone) {
	struct service_group sg;

	assert_int_equal(service_group_load_text("one.yaml", ALL ONE, strlen(ALL ONE), &sg, stderr),
			 0);
	assert_int_equal(sg.modem_count, 1);
	service_group_free(&sg);
}

/* The words of the arguments are those of the file. */
TEST(words) {
	enum idle_kind kind;
	enum power_policy policy = POWER_NONE;
	enum power_driver driver;

	for (enum idle_kind k = IDLE_POLL; k <= IDLE_AUTO; k++)
		assert_true(idle_kind_parse(idle_kind_name(k), &kind) && kind == k);
	for (enum power_policy p = POWER_NONE; p <= POWER_SAVING; p++)
		assert_true(power_policy_parse(power_policy_name(p), &policy) && policy == p);
	for (enum power_driver d = POWER_DRIVER_AUTO; d <= POWER_DRIVER_SIMULATED; d++)
		assert_true(power_driver_parse(power_driver_name(d), &driver) && driver == d);
	assert_false(idle_kind_parse("", &kind) || idle_kind_parse("poll ", &kind));
	assert_false(power_policy_parse("saver", &policy));
	assert_int_equal(policy, POWER_SAVING);
}
