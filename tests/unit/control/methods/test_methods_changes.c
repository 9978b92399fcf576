/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests control methods that change keys, objects, groups and workers of a server of two groups, or drain it. */
#include <sys/stat.h>
#include <unistd.h>

#include "model/grants_times.h"
#include "test_main.h"

#include "methods_kit.h"

#define MS 1000000ull
#define SA "{group: 2, said: 1}"
#define NEXT_KEY                                                        \
	"{group: 2, said: 1, key: 'ff0102030405060708090a0b0c0d0e0f', " \
	"iv: 'ff1112131415161718191a1b1c1d1e1f'}"

static const struct security_association *get_association(void) {
	return &bench->server.groups[1].sg->modems[0].security;
}

TEST(key_roll_installs_uses_and_removes_keys) {
	const struct security_association *sa = get_association();
	const uint64_t *rolls = bench->server.groups[1].key_rolls;
	unsigned sequence = sa->key_sequence;
	uint64_t refusals = bench->server.refused;
	bool up = bench->server.groups[1].upstream != NULL;

	assert_int_equal(rolls[CRYPTO_DOWNLINK], 0);
	assert_non_null(strstr(call_error("key.use", SA, RPC_REFUSED), "said"));
	call_ok("key.install", NEXT_KEY);
	assert_true(sa->has_next_key && !sa->use_next_key);
	assert_int_equal(rolls[CRYPTO_DOWNLINK], 0);
	assert_non_null(strstr(call_error("key.install", NEXT_KEY, RPC_REFUSED), "said"));
	assert_non_null(strstr(call_error("key.remove", SA, RPC_REFUSED), "said"));
	call_ok("key.use", SA);
	assert_true(sa->has_next_key && sa->use_next_key);
	assert_int_equal(rolls[CRYPTO_DOWNLINK], 1);
	assert_int_equal(rolls[CRYPTO_UPLINK], 0);
	call_ok("key.remove", SA);
	assert_false(sa->has_next_key);
	assert_int_equal(sa->key[0], 0xff);
	assert_int_equal(sa->iv[0], 0xff);
	assert_int_equal(sa->key_sequence, (sequence + 1) % 16);
	assert_int_equal(rolls[CRYPTO_DOWNLINK], 1);
	assert_int_equal(rolls[CRYPTO_UPLINK], up);
	assert_int_equal(bench->server.groups[0].key_rolls[CRYPTO_DOWNLINK], 0);
	assert_int_equal(bench->server.refused, refusals + 3);
	expect_error("key.use", "{group: 3, said: 2}", RPC_REFUSED,
		     "no service group 3; in service: 1, 2");
}

TEST(set_changes_objects_once) {
	static const char request[] = "{group: 2, channel: {id: 1, rate: '700 Mbps'}}";
	uint64_t generation = bench->server.generation;
	char done[64];

	snprintf(done, sizeof(done), "done=1_channel_changed generation=%" PRIu64, generation + 1);
	expect_result("channel.set", request, done);
	assert_int_equal(bench->server.groups[1].sg->channels[0].rate, 700000000);
	assert_int_equal(bench->server.groups[0].sg->channels[0].rate, 1000000000);
	snprintf(done, sizeof(done), "done=nothing generation=%" PRIu64, generation + 1);
	expect_result("channel.set", request, done);
	expect_result("group.set", "{group: 1, values: {rate_limit: '1 Gbps'}}",
		      "done=1_limit_changed");
	assert_int_equal(bench->server.groups[0].sg->rate_limit, 1000000000);
	expect_error("channel.remove", "{group: 2, id: 9}", RPC_REFUSED,
		     "no channel 9 in service group 2");
	expect_error("channel.set", "{channel: {id: 1}}", RPC_WRONG_PARAMS,
		     "there are several service groups: add group=1 (or 2)");
}

TEST(config_get_hides_keys_by_default) {
	json_t *plain = call_ok("config.get", "{}"), *keys = call_ok("config.get", "{keys: true}");
	char *text = json_dumps(plain, 0), *secret = json_dumps(keys, 0);

	assert_int_equal(get_int(plain, "generation"), bench->server.generation);
	expect_members(plain, "config.service_groups=[2] "
			      "config.service_groups.1.modems.1.mac=02:01:00:00:00:02");
	assert_null(strstr(text, "0001020304"));
	assert_non_null(strstr(secret, "0001020304"));
	free(text);
	free(secret);
}

static struct rpc_work *begin_config_get(void) {
	struct rpc_work *w = begin_call("config.get", "{}");

	assert_non_null(w);
	assert_false(rpc_continue(w)); /* the first run takes a snapshot without a copy */
	return w;
}

TEST(config_get_returns_a_snapshot) {
	struct rpc_work *w[3];
	json_t *json, *before;

	events_open(&methods.events);
	events_watch(&methods.events, &bench->server);
	before = call_ok("config.get", "{}");
	for (unsigned i = 0; i < ARRAY_COUNT(w); i++)
		w[i] = begin_config_get();
	while (!rpc_abandon(w[1]))
		;
	call_ok("channel.set", "{group: 2, channel: {id: 1, rate: '333 Mbps'}}");
	json = end_call(w[0]);
	assert_true(json_equal(before, json_object_get(json, "result")));
	while (!rpc_abandon(w[2]))
		;
	expect_result("config.get", "{}",
		      "config.service_groups.1.channels.0.rate=333_Mbps "
		      "config.service_groups=[2]");
	call_ok("channel.set", "{group: 2, channel: {id: 1, rate: '700 Mbps'}}");
	assert_null(methods.events.snapshots.first);
	events_close(&methods.events);
}

#define ONE                                                                                       \
	"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 9}]\n"                             \
	"bonding_groups: [{id: 1, channels: [1]}]\n"                                              \
	"modems: [{mac: '02:09:00:00:00:01', addresses: [10.9.0.1], bonding_group: 1, security: " \
	"{said: 1, cipher: none}, service_flows: [{id: 1}]}]\n"
#define PORTS(a, b) "ports: {network: {device: net_none" #a "}, rphy: {device: net_none" #b "}}"

/* Asserts that group.add refuses a file with this text. */
static void assert_file_refused(const char *text, const char *why) {
	char path[] = "/tmp/methods-XXXXXX", params[64];
	FILE *file = fdopen(mkstemp(path), "w");
	uint64_t refusals = bench->server.refused;

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(params, sizeof(params), "{file: '%s'}", path);
	expect_error("group.add", params, RPC_REFUSED, why);
	assert_int_equal(bench->server.refused, refusals + 1);
	unlink(path);
}

TEST(invalid_group_requests_are_refused) {
	static const char *const methods_of_groups[] = {"group.remove", "group.drain",
							"group.resume"};

	assert_file_refused("service_group: 1\n" ONE PORTS(0, 1),
			    "service group 1: a group with this ID is in service already");
	assert_file_refused("service_groups: [{service_group: 8, " PORTS(
				    0, 1) "},\n {service_group: 9, " PORTS(2, 3) "}]\n" ONE,
			    "file: has 2 service groups; group.add adds one");
	for (size_t i = 0; i < ARRAY_COUNT(methods_of_groups); i++)
		expect_error(methods_of_groups[i], "{group: 7}", RPC_REFUSED,
			     "no service group 7; in service: 1, 2");
}

TEST(worker_drain_moves_groups) {
	const struct layout *l = &bench->server.layout;

	expect_error("worker.drain", "{core: 9, to: 1}", RPC_REFUSED, "core: no worker has core 9");
	expect_error("worker.drain", "{core: 1, to: 9}", RPC_REFUSED, "to: no worker has core 9");
	expect_error("worker.drain", "{core: 1, to: 1}", RPC_REFUSED,
		     "to: core 1 is the one to drain");
	expect_error("worker.resume", "{core: 9}", RPC_REFUSED, "core: no worker has core 9");
	call_ok("worker.drain", "{core: 2, to: 3}");
	assert_int_equal(l->cores[l->groups[1].lower], 3);
	call_ok("worker.resume", "{core: 2}");
	assert_int_equal(l->cores[l->groups[1].lower], 2);
}

/* Opening the pipe must not wait for a writer. */
TEST(pipe_instead_of_file_is_refused) {
	char path[] = "/tmp/methods-XXXXXX", params[64], why[256], reload_why[320];

	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(params, sizeof(params), "{file: '%s'}", path);
	snprintf(why, sizeof(why), "%s: cannot read the file: not a regular file", path);
	snprintf(reload_why, sizeof(reload_why), "%s: 1 mistake, nothing was changed: %s", path,
		 why);
	expect_error("group.add", params, RPC_REFUSED, why);
	reload.path = path;
	expect_error("config.reload", "{}", RPC_REFUSED, reload_why);
	reload.path = "/no/such/file";
	assert_int_equal(unlink(path), 0);
}

/* Leaves packets pending in the queues of group 2. */
static void queue_packets(unsigned count) {
	for (uint32_t serial = 0; serial < count; serial++)
		assert_true(life_kit_send_packet(bench, 1, &bench->file[1], 1000, 2 * serial));
	for (unsigned worker = 0; worker < bench->server.worker_count; worker++)
		worker_round(&bench->server.workers[worker]);
	assert_true(served_group_pending(&bench->server.groups[1]) > 0);
}

/* Begins to drain group 2, which waits for pending packets. */
static struct rpc_work *begin_drain(void) {
	struct rpc_work *w = begin_call("group.drain", "{group: 2, limit: '10s'}");

	assert_false(rpc_continue(w));
	assert_true(rpc_waits(w));
	return w;
}

static void assert_response(struct rpc_work *w, const char *expected) {
	json_t *answer = end_call(w);

	expect_members(answer, expected);
}

TEST(resume_ends_pending_drain) {
	const struct served_group *g = &bench->server.groups[1];
	struct rpc_work *w;
	json_t *answer;

	queue_packets(4);
	w = begin_drain();
	assert_true(g->drained);
	assert_false(rpc_continue(w));
	call_ok("group.resume", "{group: 2}");
	assert_response(
		w, "error.message=group:_service_group_2_was_resumed_or_replaced_during_the_drain");
	assert_false(g->drained);
	answer = call_ok("group.drain", "{group: 2, limit: '0s'}"); /* does not wait */
	assert_true(get_int(answer, "held") > 0);
	w = begin_drain();
	life_kit_settle(bench, 10000000);
	assert_response(w, "result.held=0");
	call_ok("group.resume", "{group: 2}");
}

/* A drain reports frames that wait for missing parts, but does not wait for them. */
TEST(drain_does_not_wait_for_missing_parts) {
	life_kit_send_open_burst(bench, 1);
	life_kit_settle(bench, MS);
	expect_result("group.drain", "{group: 2, limit: '10s'}", "held=1 waiting=1");
	call_ok("group.resume", "{group: 2}");
	life_kit_settle(bench, 20 * MS);
	assert_int_equal(served_group_pending(&bench->server.groups[1]), 0);
}

/* Advances the workers' clocks without any round. */
static void advance_clocks(void *arg) {
	(void)arg;
	for (unsigned w = 0; w < bench->server.worker_count; w++)
		bench->server.workers[w].clock.now += MS;
}

TEST(drain_waits_for_granted_bursts) {
	const struct server_rounds rounds = {advance_clocks, NULL};
	const struct clock *clock = &bench->server.workers[0].clock;
	struct service_group *sg = &bench->server.groups[1].live.sg;
	uint64_t before = clock->now, ahead;

	sg->upstream.scheduled = true;
	sg->upstream.scheduler.map_interval = 7 * MS;
	ahead = grants_ahead(sg);
	assert_true(ahead > 7 * MS);
	bench->server.rounds = &rounds;
	call_ok("group.drain", "{group: 2, limit: '3ms'}");
	assert_int_equal(clock->now - before, 3 * MS);
	call_ok("group.resume", "{group: 2}");
	before = clock->now;
	call_ok("group.drain", "{group: 2, limit: '1s'}");
	assert_in_range(clock->now - before, ahead, ahead + 2 * MS);
	call_ok("group.resume", "{group: 2}");
	bench->server.rounds = NULL;
	sg->upstream.scheduled = false;
}

/* Runs last, as group 2 is removed. The removal waits for pending packets up to its limit. */
TEST(group_is_removed_after_limit) {
	const struct server_rounds rounds = {advance_clocks, NULL};
	const struct clock *clock = &bench->server.workers[0].clock;
	uint64_t generation = bench->server.generation, before = clock->now;
	json_t *result;

	queue_packets(1);
	bench->server.rounds = &rounds;
	result = call_ok("group.remove", "{group: 2, limit: '5ms'}");
	bench->server.rounds = NULL;
	assert_in_range(clock->now - before, 5 * MS, 7 * MS);
	assert_int_equal(get_int(result, "generation"), generation + 1);
	expect_error("group.remove", "{group: 1}", RPC_REFUSED,
		     "a server has at least one service group");
	expect_error("group.get", "{group: 2}", RPC_REFUSED, "no service group 2; in service: 1");
	expect_result("group.get", "{}", "id=1"); /* the only group is the default */
}

ALL_TESTS(start_server, stop_server)
