/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reloads that add, remove and change groups on shared ports. Each packet must reach the
 * group to which the file assigns it. */
#include "server/changes.h"
#include "server/reload.h"
#include "test_main.h"

#include "group_file.h"

#define PACKET_SIZE 200
#define BATCH 32 /* packets sent before the workers run */

TEST(address_and_session_move_to_added_group) {
	struct service_group *to = &file_groups[2], *from = &file_groups[0];
	struct ip_address address;
	uint32_t session;

	for (unsigned started = 1; started <= 2; started++) {
		life_kit_open(kit, started, GROUPS);
		load_file_groups(3);
		address = from->modems[1].addresses[0];
		session = from->upstream_channels[0].session;
		from->modems[1].addresses[0].bytes[3] += 100;
		from->upstream_channels[0].session += 0x10;
		to->modems[1].addresses[0] = address;
		to->upstream_channels[0].session = session;
		reload_accepted("service group 1: 1 modem changed, 1 upstream channel changed");
		check_all_traffic();
	}
}

/* Packets of a group with own ports are unmatched on the shared ports. */
TEST(own_ports_do_not_match_shared_ports) {
	uint64_t before;

	open_with_file(2);
	life_kit_load(&file_groups[2], 3, 1, 1, 1, 1);
	file.group_count = 3;
	reload_accepted("1 service group added");
	file_groups[0].upstream_channels[0].session += 0x10;
	reload_accepted("service group 1: 1 upstream channel changed");
	life_kit_load(&file_groups[3], 4, LIFE_SHARED, 1, 1, 1); /* replaces the table */
	file.group_count = 4;
	reload_accepted("1 service group added");
	before = life_kit_totals(kit).port_dropped;
	life_kit_send_bursts(kit, LIFE_SHARED, &file_groups[2], 1);
	life_kit_run(kit, MS);
	assert_int_equal(life_kit_totals(kit).port_dropped, before + 1);
	life_kit_send_bursts(kit, 1, &file_groups[2], 1);
	life_kit_run(kit, MS);
	assert_int_equal(kit->received_up[3], 1);
}

TEST(refusal_names_group_unless_alone) {
	for (unsigned started = 1; started <= 2; started++) {
		open_with_file(started);
		file_groups[0].max_frame = 1600;
		assert_false(reconfigure());
		assert_ptr_equal(strstr(line, "max_frame: "),
				 line + (started == 1 ? 0 : strlen("service group 1: ")));
	}
}

TEST(command_line_overrides_file) {
	open_with_file(2);
	server->power_fixed.policy = server->power_fixed.driver = true;
	server->power_fixed.given.policy = POWER_SAVING;
	server->power_fixed.given.driver = POWER_DRIVER_SIMULATED;
	file.power.policy = POWER_PERFORMANCE;
	assert_true(reconfigure());
	assert_int_equal(server->power.policy, POWER_SAVING);
	assert_int_equal(server->power.driver, POWER_DRIVER_SIMULATED);
	server->power_fixed.policy = server->power_fixed.driver = false;
	assert_true(reconfigure());
	assert_int_equal(server->power.policy, POWER_PERFORMANCE);
	assert_int_equal(server->power.driver, POWER_DRIVER_AUTO);
	file.power.policy = POWER_NONE;
}

static struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];

/* Sends a packet to each address. Returns how many the group forwarded. */
static uint64_t send_to_all(void) {
	struct service_group sg = kit->file[0];
	struct modem modem = sg.modems[0];
	struct life_totals before = life_kit_totals(kit), after;

	sg.modems = &modem;
	for (unsigned a = 0; a < SG_MAX_MODEM_ADDRESSES;
	     a++, kit->serial += 2 /* even serials: first modem */) {
		modem.addresses = &addresses[a];
		assert_true(life_kit_send_packet(kit, LIFE_SHARED, &sg, PACKET_SIZE, kit->serial));
		if (a % BATCH == BATCH - 1)
			life_kit_run(kit, 2 * MS);
	}
	after = life_kit_totals(kit);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.down_out - before.down_out + after.port_dropped -
				 before.port_dropped,
			 SG_MAX_MODEM_ADDRESSES);
	return after.down_out - before.down_out;
}

/* Changes the first modem's addresses to the first `count`. Sends packets between the steps of the
 * change; returns the number of steps. */
static unsigned change_addresses(size_t count) {
	struct served_group *g = &server->groups[0];
	struct service_group changed = kit->file[0];
	struct modem modems[2] = {changed.modems[0], changed.modems[1]};
	struct live_changes changes;
	struct server_change *c = server_change_open(server, NULL);
	char why[LIVE_LINE];
	unsigned steps = 0;

	changed.modems = modems;
	modems[0].addresses = addresses;
	modems[0].address_count = count;
	modems[0].cpe_limit = SG_MAX_MODEM_ADDRESSES;
	assert_non_null(c);
	if (!live_difference(&g->live, &changed, &changes, why) ||
	    !server_change_add(c, 0, &changes, why))
		fail_msg("%s", why);
	for (; !server_change_round(c); steps++)
		send_to_all();
	server_change_close(c);
	return steps;
}

TEST(addresses_change_between_packets) {
	life_kit_open(kit, 2, 2);
	addresses[0] = kit->file[0].modems[0].addresses[0];
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

const struct server_config *server_config_reload(struct load_cache **kept, const char *path,
						 const struct server_devices *devices,
						 FILE *errors) {
	return &file;
}

void server_config_release(struct load_cache **kept) {
}

void server_config_free_cache(struct load_cache *kept) {
}

/* Reloaded files and their results. */
static const struct {
	unsigned groups;
	uint64_t file_rate; /* of the first group's channel */
	bool needs_restart; /* the file changes a setting that requires a restart */
	bool bad_rate; /* the scheduler refuses the rate of a channel of the second group */
	bool accepted;
	const char *message;
	uint64_t rate; /* of the first group's channel after the reload */
} files[] = {
	{2, OLD_RATE, false, false, true, "nothing changed", OLD_RATE},
	{2, NEW_RATE, false, false, true, "service group 1: 1 channel changed", NEW_RATE},
	{2, OLD_RATE / 2, true, false, false, "service group 2: max_frame: ", NEW_RATE},
	{2, OLD_RATE / 3, false, true, false, "service group 2: channel 2: ", NEW_RATE},
	{3, OLD_RATE, false, false, false, "server.yaml: service group 3: max_groups: ", NEW_RATE},
	{1, OLD_RATE, false, false, true, "1 service group removed", OLD_RATE},
};

TEST(reload_is_atomic) {
	const struct downstream *first;
	uint64_t refusals = 0;
	struct reload r;

	life_kit_open(kit, 2, 2);
	reload_open(&r, server, "server.yaml", &(struct server_devices){0});
	first = server->groups[0].downstream;
	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		load_file_groups(files[i].groups);
		file_groups[0].channels[0].rate = files[i].file_rate;
		if (files[i].needs_restart)
			file_groups[1].max_frame = 1600;
		if (files[i].bad_rate)
			file_groups[1].channels[1].rate = 1;
		assert_int_equal(reload_run(&r, false), files[i].accepted);
		if (strstr(r.line, files[i].message) == NULL)
			fail_msg("message: \"%s\", expected: \"%s\"", r.line, files[i].message);
		assert_int_equal(strstr(r.line, "nothing was changed") != NULL, !files[i].accepted);
		assert_int_equal(first->upper.capacity[0].rate, files[i].rate);
		refusals += !files[i].accepted;
		assert_int_equal(server->refused, refusals);
	}
	assert_int_equal(server->removed.groups, 1);
	reload_free(&r);
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)
