/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests modem.get: it returns each configuration key of a modem except secrets, as the file and the schema define. */
#include "test_main.h"

#include "live_kit.h"
#include "methods_client.h"

/* A modem with every key. Keys that exclude others have their own flow or classifier. */
#define MODEM_WITH_ALL                                                                             \
	"  - mac: \"02:01:00:00:00:03\"\n"                                                         \
	"    addresses: [10.0.0.3, \"2001:db8::3\"]\n"                                             \
	"    filter_groups: [2, 1]\n"                                                              \
	"    bonding_group: 1\n"                                                                   \
	"    max_aggregate_rate: 100 Mbps\n"                                                       \
	"    security: {said: 3, key_sequence: 4, use_next_key: true,\n"                           \
	"      key: \"a00102030405060708090a0b0c0d0e0f\", iv: "                                    \
	"\"a10102030405060708090a0b0c0d0e0e\",\n"                                                  \
	"      next_key: \"a20102030405060708090a0b0c0d0e0f\", next_iv: "                          \
	"\"a30102030405060708090a0b0c0d0e0e\"}\n"                                                  \
	"    service_flows:\n"                                                                     \
	"      - {id: 31, dsid: 31, priority: 3, max_sustained_rate: 20 Mbps, peak_rate: 30 Mbps," \
	" min_reserved_rate: 1 Mbps, aqm: wred}\n"                                                 \
	"      - {id: 32, bonding_group: 2, aqm: docsis-pie, tos_overwrite: {or_mask: 0xb8}}\n"    \
	"    classifiers:\n"                                                                       \
	"      - {family: ipv4, source: 10.1.0.0/16, destination: 10.2.0.0/16, protocol: tcp, "    \
	"tos: 0x20/0xf0, source_ports: 80, destination_ports: \"1-99\", service_flow: 32}\n"       \
	"      - {family: llc, ethertype: 0x86dd, service_flow: 32}\n"                             \
	"    upstream_service_flows:\n"                                                            \
	"      - {id: 33, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 31}]}],\n"               \
	"         scheduling: unsolicited-grant-activity, nominal_polling_interval: 20 ms,\n"      \
	"         nominal_grant_interval: 10 ms, unsolicited_grant_size: 232}\n"                   \
	"      - {id: 34, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 32}]}],\n"               \
	"         scheduling: proactive-grant, nominal_grant_interval: 10 ms,\n"                   \
	"         guaranteed_grant_rate: 1 Mbps, max_sustained_rate: 2 Mbps,\n"                    \
	"         max_traffic_burst: 4 kB, max_concatenated_burst: 4 kB,\n"                        \
	"         tos_overwrite: {and_mask: 3}}\n"

#define PATH_SIZE 128

/* Secrets, which no response contains. */
static const char *const secrets[] = {"security.key", "security.iv", "security.next_key",
				      "security.next_iv"};

static struct served_group group;
static struct server server;

static int set_up(void **state) {
	group.live = make_live_group(LIVE_SMALL MODEM_WITH_ALL);
	group.sg = &group.live.sg;
	group.in_service = true;
	server.groups = &group;
	server.group_count = 1;
	methods.server = &server;
	rpc = methods_rpc(&methods);
	return 0;
}

static int tear_down(void **state) {
	live_group_free(&group.live);
	free_answers();
	return 0;
}

/* The modem, by the last digit of its MAC address. */
static json_t *get_modem(unsigned number) {
	char params[64];

	snprintf(params, sizeof(params), "{mac: '02:01:00:00:00:0%u'}", number);
	return call_ok("modem.get", params);
}

/* The schema of the result. */
static json_t *get_schema(void) {
	json_t *all = keep(rpc_describe(&rpc)), *method, *schema = NULL;
	size_t m;

	json_array_foreach(get(all, "methods"), m, method) {
		if (strcmp(get_str(method, "name"), "modem.get") == 0)
			schema = json_object_get(json_object_get(method, "result"), "schema");
	}
	assert_non_null(schema);
	return schema;
}

/* Whether the member at a path of names exists, in at least one item of each list on it. */
static bool path_exists(const json_t *json, const char *path) {
	size_t length = strcspn(path, ".");
	char name[PATH_SIZE];

	for (size_t i = 0; i < json_array_size(json); i++) {
		if (path_exists(json_array_get(json, i), path))
			return true;
	}
	if (*path == '\0' || !json_is_object(json))
		return *path == '\0' && json != NULL;
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	json = json_object_get(json, name);
	return json != NULL && path_exists(json, path[length] == '.' ? path + length + 1 : "");
}

static bool is_secret(const char *path) {
	for (size_t i = 0; i < ARRAY_COUNT(secrets); i++) {
		if (strcmp(secrets[i], path) == 0)
			return true;
	}
	return false;
}

/* Asserts that the modem has all keys except secrets. Returns the number of secrets. */
static unsigned check_keys(const struct key *keys, const char *up, const json_t *modem) {
	char path[PATH_SIZE];
	unsigned missing = 0;

	for (const struct key *key = keys; key->name != NULL; key++) {
		const struct key *inner = key->kind == KIND_LIST ? key->item->keys : key->keys;

		snprintf(path, sizeof(path), "%s%s", up, key->name);
		if (path_exists(modem, path) == is_secret(path))
			fail_msg("modem.get: %s is %s", path,
				 is_secret(path) ? "reported" : "missing");
		missing += is_secret(path);
		strcat(path, ".");
		if (inner != NULL)
			missing += check_keys(inner, path, modem);
	}
	return missing;
}

TEST(every_key_is_reported) {
	assert_int_equal(check_keys(modem_keys, "", get_modem(3)), ARRAY_COUNT(secrets));
}

/* Asserts that `whole` contains all of `part`; lists have the same length. */
static void assert_contains(const json_t *part, const json_t *whole, const char *name) {
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_object(part)) {
		json_object_foreach((json_t *)(uintptr_t)part, key, value)
			assert_contains(value, json_object_get(whole, key), key);
	} else if (json_is_array(part)) {
		assert_int_equal(json_array_size(part), json_array_size(whole));
		json_array_foreach(part, i, value)
			assert_contains(value, json_array_get(whole, i), name);
	} else if (!json_equal(part, whole)) {
		fail_msg("%s: the result differs from the file", name);
	}
}

TEST(values_equal_those_of_the_file) {
	for (uint32_t m = 1; m <= 3; m++)
		assert_contains(keep(object_json(&group.live, LIVE_MODEM, m - 1, false)),
				get_modem(m), "modem");
}

/* Defaults, derived values, and keys that the method adds. */
TEST(defaults_and_derived_values_are_reported) {
	json_t *modem = get_modem(3);

	expect_members(modem, "cpe_limit_ipv6=16 max_aggregate_burst=125000 said=3 cipher=aes-128 "
			      "key_sequence=4 has_next_key=true");
	expect_members(get(modem, "service_flows.0"),
		       "bonding_group=1 dsid=31 max_traffic_burst=25000 min_reserved_packet=64 "
		       "min_buffer=64000 max_buffer=512000 wred.min_threshold=128000 "
		       "wred.max_threshold=384000 wred.max_probability_inverse=10");
	expect_result("modem.get", "{mac: '02:01:00:00:00:02'}", "has_next_key=false");
}

TEST(keys_without_effect_are_not_reported) {
	static const char *const paths[] = {
		"service_flows.wred",
		"service_flows.latency_target",
		"service_flows.min_reserved_packet",
		"service_flows.max_traffic_burst",
		"upstream_service_flows.grants_per_interval",
		"upstream_service_flows.active_timeout",
		"upstream_service_flows.guaranteed_grant_rate",
	};
	json_t *modem = get_modem(2);

	for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
		if (path_exists(modem, paths[i]))
			fail_msg("modem.get: %s has no effect and is reported", paths[i]);
	}
}

/* Asserts that the schema describes all of the value, and that required members exist. */
static void assert_described(const json_t *schema, const json_t *value, const char *name) {
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *required = json_object_get(schema, "required");
	const json_t *items = json_object_get(schema, "items");
	const char *key;
	json_t *inner;
	size_t i;

	assert_null(json_object_get(schema, "x-secret"));
	json_array_foreach(required, i, inner) {
		if (json_object_get(value, json_string_value(inner)) == NULL)
			fail_msg("%s: the required member %s is missing", name,
				 json_string_value(inner));
	}
	json_array_foreach(value, i, inner) assert_described(items, inner, name);
	json_object_foreach((json_t *)(uintptr_t)value, key, inner) {
		if (json_object_get(properties, key) == NULL)
			fail_msg("%s.%s: missing in the schema", name, key);
		assert_described(json_object_get(properties, key), inner, key);
	}
}

TEST(schema_describes_results) {
	json_t *schema = get_schema();
	char path[PATH_SIZE];

	for (unsigned m = 1; m <= 3; m++)
		assert_described(schema, get_modem(m), "modem");
	for (size_t i = 0; i < ARRAY_COUNT(secrets); i++) {
		snprintf(path, sizeof(path), "properties.security.properties.%s",
			 strchr(secrets[i], '.') + 1);
		assert_false(path_exists(schema, path));
	}
}

#define PART(name) "properties." name ".items."

/* Required members of the schema: mandatory keys, keys with defaults or derived values, and lists. */
TEST(schema_lists_required_members) {
	static const char *const parts[][2] = {
		{"", "mac addresses cpe_limit cpe_limit_ipv6 filter_groups bonding_group "
		     "max_aggregate_rate security service_flows classifiers "
		     "upstream_service_flows group said cipher key_sequence has_next_key"},
		{"properties.security.", "said cipher key_sequence use_next_key"},
		{PART("service_flows"), "id state bonding_group priority weight max_sustained_rate "
					"peak_rate min_reserved_rate min_buffer buffer max_buffer "
					"aqm"},
		{PART("service_flows") "properties.wred.",
		 "min_threshold max_threshold max_probability_inverse weight"},
		{PART("classifiers"), "family service_flow"},
		{PART("upstream_service_flows"),
		 "id segment_header sid_clusters scheduling priority max_sustained_rate peak_rate "
		 "min_reserved_rate request_multiplier tolerated_grant_jitter clusters"},
	};
	json_t *schema = get_schema(), *name;
	size_t n;

	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		char path[PATH_SIZE], names[512] = "";

		snprintf(path, sizeof(path), "%srequired", parts[i][0]);
		json_array_foreach(get(schema, path), n, name) {
			strcat(names, n > 0 ? " " : "");
			strcat(names, json_string_value(name));
		}
		assert_string_equal(names, parts[i][1]);
	}
}

TEST(schema_has_numeric_types) {
	json_t *schema = get_schema();

	expect_members(get(schema, PART("service_flows") "properties"),
		       "buffer.type=integer buffer.maximum=67108864 buffer.examples.0=512000 "
		       "buffer.default=none max_traffic_burst.examples=none "
		       "min_reserved_packet.examples.0=64 min_reserved_packet.default=none");
	expect_members(get(schema, PART("classifiers") "properties"),
		       "protocol.type=integer protocol.maximum=255 source_ports.maximum=65535");
}

ALL_TESTS(set_up, tear_down)
