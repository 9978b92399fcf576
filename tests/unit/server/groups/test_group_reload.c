/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes, goes and differs in one reload of groups on shared ports: each packet finds the group that the file says. */
#include "server/changes.h"
#include "server/reload.h"
#include "test_main.h"

#include "group_file.h"

#define PACKET 200
#define BATCH 32 /* packets that a ring of the far end takes at a time */

TEST(what_moves_to_one_that_comes) {
	struct service_group *to = &next[2], *from = &next[0];
	struct ip_address address;
	uint32_t session;

	for (unsigned there = 1; there <= 2; there++) {
		life_kit_open(bench, there, GROUPS);
		load_next(3);
		address = from->modems[1].addresses[0];
		session = from->upstream_channels[0].session;
		from->modems[1].addresses[0].bytes[3] += 100;
		from->upstream_channels[0].session += 0x10;
		to->modems[1].addresses[0] = address;
		to->upstream_channels[0].session = session;
		reload("service group 1: 1 modem changed, 1 upstream channel changed");
		all_is_told_apart();
	}
}

/* What a group with ports of its own has is nobody's on the shared ones, also after these have new tables. */
TEST(ports_of_its_own) {
	uint64_t before;

	open_with_file(2);
	life_kit_load(&next[2], 3, 1, 1, 1, 1);
	file.group_count = 3;
	reload("1 service group added");
	next[0].upstream_channels[0].session += 0x10;
	reload("service group 1: 1 upstream channel changed");
	life_kit_load(&next[3], 4, LIFE_SHARED, 1, 1, 1); /* by a table that is made for it */
	file.group_count = 4;
	reload("1 service group added");
	before = life_kit_totals(bench).port_dropped;
	life_kit_ups(bench, LIFE_SHARED, &next[2], 1);
	life_kit_pass(bench, MS);
	assert_int_equal(life_kit_totals(bench).port_dropped, before + 1);
	life_kit_ups(bench, 1, &next[2], 1);
	life_kit_pass(bench, MS);
	assert_int_equal(bench->taken_up[3], 1);
}

/* Where there is one group, and is to be one, it need not be named. */
TEST(what_is_refused_is_named) {
	for (unsigned there = 1; there <= 2; there++) {
		open_with_file(there);
		next[0].max_frame = 1600;
		assert_false(parse_file());
		assert_ptr_equal(strstr(line, "max_frame: "),
				 line + (there == 1 ? 0 : strlen("service group 1: ")));
	}
}

/* What the command line said of power stays, whatever the file says. */
TEST(arguments_go_before_the_file) {
	open_with_file(2);
	server->power_fixed.policy = server->power_fixed.driver = true;
	server->power_fixed.given.policy = POWER_SAVING;
	server->power_fixed.given.driver = POWER_DRIVER_SIMULATED;
	file.power.policy = POWER_PERFORMANCE;
	assert_true(parse_file());
	assert_int_equal(server->power.policy, POWER_SAVING);
	assert_int_equal(server->power.driver, POWER_DRIVER_SIMULATED);
	server->power_fixed.policy = server->power_fixed.driver = false;
	assert_true(parse_file());
	assert_int_equal(server->power.policy, POWER_PERFORMANCE);
	assert_int_equal(server->power.driver, POWER_DRIVER_AUTO);
	file.power.policy = POWER_NONE;
}

static struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];

/* A packet to each address. Returns how many the group sent on; none is dropped by the group. */
static uint64_t send_to_all(void) {
	struct service_group sg = bench->file[0];
	struct modem modem = sg.modems[0];
	struct life_totals before = life_kit_totals(bench), after;

	sg.modems = &modem;
	for (unsigned a = 0; a < SG_MAX_MODEM_ADDRESSES;
	     a++, bench->serial += 2 /* even: of the first modem */) {
		modem.addresses = &addresses[a];
		assert_true(life_kit_down(bench, LIFE_SHARED, &sg, PACKET, bench->serial));
		if (a % BATCH == BATCH - 1)
			life_kit_pass(bench, 2 * MS);
	}
	after = life_kit_totals(bench);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.down_out - before.down_out + after.port_dropped -
				 before.port_dropped,
			 SG_MAX_MODEM_ADDRESSES);
	return after.down_out - before.down_out;
}

/* The first modem has the first `count` addresses from now on. Returns after how many steps packets were sent. */
static unsigned change_addresses(size_t count) {
	struct served_group *g = &server->groups[0];
	struct service_group to_be = bench->file[0];
	struct modem modems[2] = {to_be.modems[0], to_be.modems[1]};
	struct live_changes changes;
	struct server_change *c = server_change_open(server);
	char why[LIVE_LINE];
	unsigned steps = 0;

	to_be.modems = modems;
	modems[0].addresses = addresses;
	modems[0].address_count = count;
	modems[0].cpe_limit = SG_MAX_MODEM_ADDRESSES;
	assert_non_null(c);
	if (!live_difference(&g->live, &to_be, &changes, why) ||
	    !server_change_add(c, 0, &changes, why))
		fail_msg("%s", why);
	for (; !server_change_round(c); steps++)
		send_to_all();
	server_change_close(c);
	return steps;
}

TEST(addresses_come_and_go_between_packets) {
	life_kit_open(bench, 2, 2);
	addresses[0] = bench->file[0].modems[0].addresses[0];
	for (unsigned a = 1; a < SG_MAX_MODEM_ADDRESSES; a++) {
		addresses[a] = addresses[0];
		addresses[a].bytes[2] = 7;
		addresses[a].bytes[3] = (uint8_t)a;
	}
	assert_int_equal(send_to_all(), 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(change_addresses(SG_MAX_MODEM_ADDRESSES) > 0);
		assert_int_equal(send_to_all(), SG_MAX_MODEM_ADDRESSES);
		assert_true(change_addresses(1) > 0);
		assert_int_equal(send_to_all(), 1);
	}
}

#define OLD_RATE 1000000000
#define NEW_RATE 900000000

const struct server_config *server_config_reload(struct kept_groups **kept, const char *path,
						 const struct server_devices *devices,
						 FILE *errors) {
	return &file;
}

void server_config_settle(struct kept_groups **kept) {
}

void server_config_forget(struct kept_groups *kept) {
}

/* Files of so many groups, and what differs from that of the start. */
static const struct {
	unsigned groups;
	uint64_t asked; /* rate of the first group's channel */
	bool too_much; /* the second group has a setting that changes only at a restart */
	bool wrong; /* the scheduler of the second group refuses what no loader lets pass */
	bool good;
	const char *said;
	uint64_t rate; /* of the first group's channel, then */
} files[] = {
	{2, OLD_RATE, false, false, true, "nothing changed", OLD_RATE},
	{2, NEW_RATE, false, false, true, "service group 1: 1 channel changed", NEW_RATE},
	{2, OLD_RATE / 2, true, false, false, "service group 2: max_frame: ", NEW_RATE},
	{2, OLD_RATE / 3, false, true, false, "service group 2: channel 2: ", NEW_RATE},
	{3, OLD_RATE, false, false, false, "server.yaml: service group 3: max_groups: ", NEW_RATE},
	{1, OLD_RATE, false, false, true, "1 service group removed", OLD_RATE},
};

TEST(all_or_nothing) {
	const struct downstream *first;
	uint64_t not_done = 0;
	struct reload r;

	life_kit_open(bench, 2, 2);
	reload_open(&r, server, "server.yaml", &(struct server_devices){0});
	first = server->groups[0].downstream;
	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		load_next(files[i].groups);
		next[0].channels[0].rate = files[i].asked;
		if (files[i].too_much)
			next[1].max_frame = 1600;
		if (files[i].wrong)
			next[1].channels[1].rate = 1;
		assert_int_equal(reload_run(&r), files[i].good);
		if (strstr(r.line, files[i].said) == NULL)
			fail_msg("found: %s", r.line);
		assert_int_equal(strstr(r.line, "nothing was changed") != NULL, !files[i].good);
		assert_int_equal(first->upper.capacity[0].rate, files[i].rate);
		not_done += !files[i].good;
		assert_int_equal(server->refused, not_done);
	}
	assert_int_equal(server->gone.groups, 1);
	reload_free(&r);
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)
