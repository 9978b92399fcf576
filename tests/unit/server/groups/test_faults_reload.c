/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call that may fail does so once in each kind of reload, and in every other case all allocations behind it fail, too: the
 * reload is refused and changes nothing, or done as a whole. Software tells the groups apart, or cards bring their packets to
 * queues of their own.
 */
#include "test_main.h"

#define FAULTS_ABOUT 400 /* all calls of a reload */

#include "group_file.h"

#include "fault_runs.h"
#include "steering_kit.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb3"
#else
#define DEVICE "crypto_openssl3"
#endif

#define BY_SOFTWARE STEERED_WAYS

/* A reload of a server that was started with `there` groups and has `first`, to `then` groups that `edit` changes. */
struct fault_case {
	const char *name;
	unsigned there, first, then;
	void (*edit)(void);
	enum steered_by by;
	bool full; /* workers have no space for more lists than they run */
};

static const struct fault_case *tried;
static struct server_config other; /* what the server is to become, and `file` what it is */
static struct service_group others[GROUPS];

/* Objects of each kind differ. */
static void edit_group(struct service_group *sg) {
	sg->channels[0].rate /= 2;
	sg->upstream_channels[0].session += 0x10;
	sg->filter_groups[0].rules[0].action = FILTER_PERMIT;
	sg->rate_limit = 123456789;
	sg->modems[0].security.key[0] ^= 1;
	sg->modems[0].addresses[0].bytes[3] += 100;
	sg->modems[1].mac[3] ^= 1; /* one goes, another one comes */
	sg->modems[1].service_flows[0].priority++;
}

static void edit_two(void) {
	edit_group(&others[0]);
	edit_group(&others[1]);
}

static enum outcome take_other(void *context) {
	for (unsigned w = 0; w < LIFE_WORKERS && tried->full; w++)
		server->workers[w].entry_capacity = server->workers[w].entry_count;
	if (server_reconfigure(server, &other, line))
		return OUTCOME_DONE;
	if (strstr(line, "; nothing was changed") == NULL || strstr(line, ": ;") != NULL)
		fail_msg("found: %s", line);
	life_kit_plug(1); /* what was plugged for it is unplugged again */
	return OUTCOME_REFUSED;
}

static void take_back(void *context) {
	life_kit_plug(1); /* whose devices have gone with their group */
	if (!parse_file())
		fail_msg("%s", line);
	life_kit_plug(1);
}

/* The lists of workers have space for all that comes, so that it is not taken for what a refusal leaves behind. */
static void case_open(const struct fault_case *c) {
	if (c->by == BY_SOFTWARE)
		life_kit_open(bench, c->there, GROUPS);
	else
		steering_kit_open(bench, c->by, c->there, GROUPS);
	for (unsigned w = 0; w < LIFE_WORKERS && !c->full; w++)
		assert_int_equal(worker_reserve(&server->workers[w], 200), 0);
	load_next(c->then);
	memcpy(others, next, sizeof(others));
	memset(next, 0, sizeof(next));
	other = file;
	other.groups = others;
	load_next(c->first);
	if (c->first > c->there)
		assert_true(parse_file());
	if (c->edit != NULL)
		c->edit();
}

static void edit_first(void) {
	edit_group(&others[0]);
}

static void place(unsigned g, unsigned pair, unsigned upper, unsigned lower, unsigned upstream) {
	service_group_free(&others[g]);
	life_kit_load(&others[g], g + 1, pair, upper, lower, upstream);
}

static void new_ports(void) {
	place(2, 1, 0, 1, 2);
	place(3, 1, 0, 1, 0);
}

/* Those of the ports that it shares from then on need space there, too. */
static void alone_on_a_worker(void) {
	place(1, LIFE_SHARED, 1, 1, 1);
}

/* Objects, providers, groups that come and go. */
static void all_at_once(void) {
	edit_two();
	for (unsigned g = 0; g < 2; g++) {
		others[g].crypto.provider = CRYPTO_CRYPTODEV;
		others[g].crypto.device = (char *)(uintptr_t)DEVICE;
	}
	service_group_free(&others[2]); /* group 3 goes, 4 comes */
	others[2] = others[3];
	other.group_count = 3;
}

static const struct fault_case cases[] = {
	{"edit of two groups", 2, 2, 2, edit_two, BY_SOFTWARE},
	{"two groups that come", 2, 2, 4, NULL, BY_SOFTWARE},
	{"groups that come to a group's own ports", 1, 1, 3, edit_first, BY_SOFTWARE},
	{"groups that come to new ports", 2, 2, 4, new_ports, BY_SOFTWARE},
	{"a group that comes to full workers", 1, 1, 2, alone_on_a_worker, BY_SOFTWARE, true},
	{"a group that goes", 2, 3, 2, edit_first, BY_SOFTWARE},
	{"everything at once", 2, 3, 4, all_at_once, BY_SOFTWARE},
	/* a rule that a card does not take is no reason to refuse a reload: software tells its packets apart */
	{"steered: edit of two groups", 2, 2, 2, edit_two, STEERED_BY_SESSION},
	{"steered: two groups that come", 2, 2, 4, NULL, STEERED_BY_VLAN},
	{"steered: a group that goes", 2, 3, 2, NULL, STEERED_BY_MAC},
};

TEST(in_each_kind_of_reload) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct operation o = {
			.name = cases[i].name,
			.run = take_other,
			.undo = take_back,
			.serves = all_is_told_apart,
			.keeps_memory = cases[i].full,
			.stays_short = true,
		};

		tried = &cases[i];
		case_open(tried);
		assert_true(every_fault(&o, server) > 5);
		for (unsigned g = 0; g < other.group_count; g++)
			service_group_free(&others[g]);
	}
}

/* The group that comes needs the first ring to the shared port. Until it has come, none is left of any attempt. */
TEST(refused_beside_a_new_ring) {
	const struct port_share *share;
	bool done = false;
	char *before;
	long n = 0;

	life_kit_open(bench, 1, GROUPS);
	assert_int_equal(server_move_group(server, 0, PART_UPPER | PART_LOWER, 2), 0);
	load_next(3);
	service_group_free(&next[1]);
	life_kit_load(&next[1], 2, LIFE_SHARED, 2, 2, 2);
	file.group_count = 2;
	reload("1 service group added");
	share = server->shares.of[server->ports.of[0][DEVICE_NETWORK]];
	assert_null(share->send.ring);
	file.group_count = 3;
	before = served_state(server, true);
	for (; !done; n++) {
		char *now;

		faults_begin(n, n % 2 == 1);
		done = parse_file();
		faults_end(NULL);
		now = served_state(server, true);
		if (!done)
			served_state_check(before, now, "a new ring");
		free(now);
	}
	assert_true(n > 50);
	assert_non_null(share->send.ring);
	all_is_told_apart();
	free(before);
}

static void refused_for(const char *why) {
	char *before = served_state(server, true), *now;

	refused(why);
	assert_non_null(strstr(line, "; nothing was changed"));
	now = served_state(server, true);
	served_state_check(before, now, why);
	free(before);
	free(now);
}

static void small_device(unsigned pairs) {
	static char name[64];

	snprintf(name, sizeof(name), "crypto_openssl7,max_nb_queue_pairs=%u", pairs);
	for (unsigned g = 0; g < 2; g++) {
		next[g].crypto.provider = CRYPTO_CRYPTODEV;
		next[g].crypto.device = name;
	}
}

/* One reload edits modems of two groups, removes a third group and moves both to a device that has queues for one of them
 * and a half: it is refused, and everything is as it was. The same device is opened anew when the file names it otherwise. */
TEST(refused_for_the_second_group) {
	life_kit_open(bench, 2, GROUPS);
	load_next(3);
	reload("1 service group added");
	file.group_count = 2;
	for (unsigned g = 0; g < 2; g++)
		next[g].modems[1].service_flows[0].priority++;
	small_device(3);
	for (unsigned tries = 0; tries < 3; tries++)
		refused_for("service group 2: crypto.provider: crypto_openssl7 has no queue left");
	file.group_count = 3;
	all_is_told_apart();
	file.group_count = 2;
	small_device(4);
	next[1].channels[1].rate = 1; /* the scheduler refuses what no loader lets pass */
	refused_for("service group 2: channel 2: ");
	next[1].channels[1].rate = next[0].channels[1].rate;
	reload("service group 2: crypto provider changed; 1 service group removed");
	all_is_told_apart();
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)
