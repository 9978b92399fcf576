/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the whole server's at the top of its file, or of its only group's: what saves power, and the metrics. */
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
static void all_of_it(void **state) {
	static const char *const texts[] = {ALL ONE, ONE ALL, ALL LIST, LIST ALL};

	(void)state;
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

static void nothing_of_it(void **state) {
	static const char *const texts[] = {ONE, LIST, "power: {}\n" ONE};
	struct power_config defaults = power_config_default();

	(void)state;
	expect_defaults(&defaults);
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct loaded_server loaded = load_good(texts[i], NULL);

		expect_defaults(&loaded.config.power);
		assert_null(loaded.config.metrics);
		unload_server(&loaded);
	}
}

static void mistakes(void **state) {
	(void)state;
	expect_of_server("power: {idle: nap, empty_rounds: 0}\n" ONE, NULL, 2,
			 "dir/server.yaml:1: power.idle: found \"nap\", allowed: auto, poll, spin, "
			 "tpause-c0.1, tpause-c0.2, mwaitx, umwait or sleep\n"
			 "dir/server.yaml:1: power.empty_rounds: found \"0\", allowed: a number, 1 "
			 "to 65535\n");
	expect_of_server(
		"power: {longest_pause: 11 ms, busy_hours: 7-7, policyy: saving}\n" LIST, NULL, 3,
		"dir/server.yaml:1: power.longest_pause: found \"11 ms\", allowed: a time "
		"such as \"50 us\", 1 us to 10 ms\n"
		"dir/server.yaml:1: power.busy_hours: found \"7-7\", allowed: hours of the "
		"day such as \"7-23\" or \"22-6\", 0 to 24\n"
		"dir/server.yaml:1: power.policyy: found unknown key \"policyy\", allowed: did "
		"you mean \"policy\"?\n");
	expect_of_server("power: saving\nmetrics: here\n" ONE, NULL, 2,
			 "dir/server.yaml:1: power: found \"saving\", allowed: a map of keys\n"
			 "dir/server.yaml:2: metrics: found \"here\", allowed: an address with a "
			 "port such as 127.0.0.1:9464 or \"[::1]:9464\"\n");
	expect_of_server("metrics: :1\npower: {}\n" ONE "power: {}\nmetrics: :2\n", NULL, 2,
			 "dir/server.yaml:6: power: found the key again, allowed: it once\n"
			 "dir/server.yaml:7: metrics: found the key again, allowed: it once\n");
}

/* It is no group's: neither in the list nor in a file of its own. */
static void of_no_group(void **state) {
	static struct memory_file own[] = {{"dir/1.yaml", "power: {}\n" ONE}, {NULL, NULL}};
	struct loaded_server loaded = load_server("service_groups: [{file: 1.yaml}]\n", own);

	(void)state;
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
static void a_group_alone(void **state) {
	struct service_group sg;

	(void)state;
	assert_int_equal(service_group_load_text("one.yaml", ALL ONE, strlen(ALL ONE), &sg, stderr),
			 0);
	assert_int_equal(sg.modem_count, 1);
	service_group_free(&sg);
}

static void hours(void **state) {
	static const char *const bad[] = {"",	  "-",	   "7",	  "7-",	   "-7",    "24-3",
					  "7-25", "7-07",  "3-3", "0x7-9", "7-23 ", "7 - 23",
					  "a-b",  "1-2-3", "5-0", "-1-3",  "7-23h"};
	struct hours h = {0};

	(void)state;
	assert_true(units_parse_hours("22-6", &h) && h.from == 22 && h.to == 6);
	assert_true(units_parse_hours("0-24", &h) && h.from == 0 && h.to == 24);
	assert_true(units_parse_hours("23-24", &h) && h.from == 23 && h.to == 24);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_hours(bad[i], &h) && strcmp(bad[i], "0x7-9") != 0)
			fail_msg("\"%s\" was taken", bad[i]);
	}
}

static void endpoints(void **state) {
	static const char *const bad[] = {
		"",	  "127.0.0.1",	":",	     "127.0.0.1:", "host:9464",
		":65536", "1.2.3.4:9 ", "1.2.3.4:x", "1.2.3.4:-1", "1.2.3.4:0123"};

	(void)state;
	assert_true(units_parse_endpoint("127.0.0.1:9464"));
	assert_true(units_parse_endpoint("[::1]:0"));
	assert_true(units_parse_endpoint(":65535"));
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_endpoint(bad[i]))
			fail_msg("\"%s\" was taken", bad[i]);
	}
}

/* The words of the arguments are those of the file. */
static void words(void **state) {
	enum idle_kind kind;
	enum power_policy policy = POWER_NONE;
	enum power_driver driver;

	(void)state;
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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),	 cmocka_unit_test(nothing_of_it),
		cmocka_unit_test(mistakes),	 cmocka_unit_test(of_no_group),
		cmocka_unit_test(a_group_alone), cmocka_unit_test(hours),
		cmocka_unit_test(endpoints),	 cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
