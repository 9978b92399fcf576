/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that lose their link, and devices that are taken away and come back, while the server has traffic. One that comes
 * back while a group still has it as it was has a second place among the ports, under the same name.
 */
#include "test_main.h"

#include <sched.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "server/links/port_states.h"

#include "group_file.h"
#include "told.h"

#define OWN 1 /* pair of a group that has ports of its own */

static const struct service_group *groups[3] = {&storage.file[0], &storage.file[1]};
static unsigned pairs[3] = {LIFE_SHARED, LIFE_SHARED}; /* of the groups */
static struct links links;
static uint64_t now; /* of the one who looks at links */

static bool removed; /* what drivers say of all devices that are asked */
__typeof__(rte_eth_dev_is_removed) __wrap_rte_eth_dev_is_removed;
int __wrap_rte_eth_dev_is_removed(uint16_t id) {
	return removed && id == server->ports.list[0].id;
}

/* Whether the workers were waited for since the last port was given back, whose queues they asked until then. */
static unsigned workers_waited;
__typeof__(server_synchronize) __real_server_synchronize, __wrap_server_synchronize;
__typeof__(server_port_give_back) __real_server_port_give_back, __wrap_server_port_give_back;

void __wrap_server_synchronize(const struct server *s) {
	workers_waited++;
	__real_server_synchronize(s);
}

void __wrap_server_port_give_back(struct server_port *port) {
	assert_true(workers_waited > 0);
	workers_waited = 0;
	__real_server_port_give_back(port);
}

/* Groups 1 and 2 on the shared ports, 3 on these or on ports of its own. */
static void open_three(unsigned pair) {
	struct power_config power = power_config_default();

	removed = false;
	life_kit_open(bench, 2, GROUPS); /* a second port takes buffers as well */
	groups[2] = life_kit_group(bench, 3, pair, 1, 2, 0);
	pairs[2] = pair;
	life_kit_plug(pair);
	assert_int_equal(life_kit_add(bench, groups[2]), 2);
	links_open(&links, server, now);
	power.idle = pair == OWN ? IDLE_POLL : IDLE_SLEEP;
	server_idle(server, &power);
}

static const struct server_port *port_of(unsigned group, enum device_role role) {
	return server_port_of(&server->ports, group, role);
}

/* So many packets of a group in both directions, in time in which they go through; none is lost. */
static void goes_through(unsigned group, unsigned n) {
	uint64_t down = life_kit_down_of(bench, group).values[COUNTER_TRANSMITTED];
	uint64_t up = life_kit_up_of(bench, group)->values[COUNTER_TRANSMITTED];

	life_kit_traffic(bench, pairs[group], groups[group], n);
	life_kit_pass(bench, 5 * MS);
	assert_int_equal(life_kit_down_of(bench, group).values[COUNTER_TRANSMITTED], down + n);
	assert_int_equal(life_kit_up_of(bench, group)->values[COUNTER_TRANSMITTED], up + n);
}

static void all_go_through(unsigned n) {
	for (unsigned g = 0; g < 3; g++)
		goes_through(g, n);
}

static void look(void) {
	links_follow(&links, now += LINKS_LOOK_NS);
}

/* As the kernel does by DPDK's thread for interrupts. The function is experimental in DPDK 22.11. */
static void want_back(unsigned group, enum device_role role) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	rte_dev_event_callback_process(port_of(group, role)->name, RTE_DEV_EVENT_REMOVE);
#pragma GCC diagnostic pop
}

static void takes_back(unsigned group, enum device_role role) {
	want_back(group, role);
	look();
}

static void link_set(unsigned group, enum device_role role, bool up) {
	uint16_t id = port_of(group, role)->id;

	assert_int_equal(up ? rte_eth_dev_set_link_up(id) : rte_eth_dev_set_link_down(id), 0);
}

static enum server_port_state state_of(unsigned group) {
	return server_ports_of_group(&server->ports, group);
}

static void check_states(unsigned group, const char *network, const char *rphy) {
	assert_string_equal(server_port_state_name(port_of(group, DEVICE_NETWORK)->state), network);
	assert_string_equal(server_port_state_name(port_of(group, DEVICE_RPHY)->state), rphy);
}

/* Nobody asks the port any more, and DPDK does not have its device. */
static void check_given_back(unsigned group, enum device_role role) {
	const struct port_share *share = server->shares.of[server->ports.of[group][role]];

	assert_false(rte_eth_dev_is_valid_port(port_of(group, role)->id));
	assert_int_not_equal(rte_eal_hotplug_remove("vdev", port_of(group, role)->name), 0);
	if (share != NULL)
		assert_true(share_is_closed(share) && share->send.to.shut);
	else if (role == DEVICE_NETWORK)
		assert_ptr_equal(server->groups[group].downstream->upper.network.ring,
				 server->nothing);
	else
		assert_ptr_equal(server->groups[group].upstream->r.rphy.ring, server->nothing);
}

/* Nothing more comes from it, what leaves by it is counted, and all else is as it was: of a group on shared ports, and of one
 * whose ports are its own. */
TEST(a_network_port_is_wanted_back) {
	for (unsigned group = 0; group <= 2; group += 2) {
		unsigned other = group == 0 ? 2 : 1;

		open_three(OWN);
		all_go_through(4);
		want_back(group, DEVICE_NETWORK);
		assert_true(rte_eth_dev_is_valid_port(port_of(group, DEVICE_NETWORK)->id));
		links_follow(&links, now); /* at once, whenever links were looked at */
		check_given_back(group, DEVICE_NETWORK);
		check_states(group, "gone", "up");
		life_kit_ups(bench, pairs[group], groups[group], 3);
		life_kit_pass(bench, 5 * MS);
		assert_int_equal(life_kit_up_of(bench, group)->drops[DROP_PORT_GONE], 3);
		assert_int_equal(life_kit_up_of(bench, group)->values[COUNTER_TRANSMITTED], 4);
		goes_through(other, 5);
		assert_int_equal(state_of(other), SERVER_PORT_UP);
		assert_int_equal(state_of(group), SERVER_PORT_GONE);
	}
}

/* Packets on their way out when it happens, and those behind them; the upstream of the group ends with it. */
TEST(an_rphy_port_goes) {
	for (unsigned group = 0; group <= 2; group += 2) {
		struct counters after;

		open_three(OWN);
		all_go_through(4);
		life_kit_downs(bench, pairs[group], groups[group],
			       6); /* more than a round takes out */
		worker_round(&server->workers[group == 2 ? 1 : 0]);
		takes_back(group, DEVICE_RPHY);
		check_given_back(group, DEVICE_RPHY);
		life_kit_downs(bench, pairs[group], groups[group], 4);
		life_kit_pass(bench, 5 * MS);
		after = life_kit_down_of(bench, group);
		assert_int_equal(after.values[COUNTER_RECEIVED], 14);
		assert_int_equal(after.values[COUNTER_TRANSMITTED], 4);
		assert_int_equal(after.drops[DROP_PORT_GONE], 10);
		assert_int_equal(life_kit_up_of(bench, group)->values[COUNTER_RECEIVED], 4);
	}
}

/* Which a driver finds when it is asked, once a second; and one that somebody else of the process has unplugged. */
TEST(a_device_that_its_driver_misses) {
	char name[RTE_ETH_NAME_MAX_LEN];

	open_three(OWN);
	removed = true;
	look();
	check_states(0, "up", "up");
	snprintf(name, sizeof(name), "%s", port_of(2, DEVICE_RPHY)->name);
	assert_int_equal(rte_eal_hotplug_remove("vdev", name), 0);
	links_follow(&links, now += LINKS_ASK_NS);
	check_states(0, "gone", "up");
	check_states(1, "gone", "up");
	check_states(2, "up", "gone");
}

/* What cannot be sent ends, so that nothing else waits for it; and when the link is back all goes on. */
TEST(a_link_goes_and_comes) {
	for (unsigned group = 1; group <= 2; group++) {
		open_three(OWN);
		all_go_through(2);
		link_set(group, DEVICE_NETWORK, false);
		link_set(group, DEVICE_RPHY, false);
		links_follow(&links, now + LINKS_LOOK_NS - 1);
		check_states(group, "up", "up");
		look();
		check_states(group, "down", "down");
		assert_int_equal(state_of(group), SERVER_PORT_DOWN);
		life_kit_traffic(bench, pairs[group], groups[group], 5);
		life_kit_pass(bench, 5 * MS);
		assert_int_equal(life_kit_down_of(bench, group).drops[DROP_LINK_DOWN], 5);
		assert_int_equal(life_kit_up_of(bench, group)->drops[DROP_LINK_DOWN], 5);
		assert_int_equal(server_pending(server), 0);
		link_set(group, DEVICE_NETWORK, true);
		link_set(group, DEVICE_RPHY, true);
		look();
		check_states(group, "up", "up");
		memset(bench->depi_seen, 0, sizeof(bench->depi_seen)); /* frames are missing */
		goes_through(group, 3);
	}
}

/* What never had a link is sent to, so that a driver that does not know its link loses nothing; and so is what waits for its
 * other end. */
TEST(what_is_sent_to_without_a_link) {
	for (unsigned waits = 0; waits < 2; waits++) {
		struct server_port *port;

		open_three(OWN);
		port = &server->ports.list[server->ports.of[2][DEVICE_NETWORK]];
		port->had_link = port->waits = waits;
		link_set(2, DEVICE_NETWORK, false);
		look();
		check_states(2, "down", "up");
		goes_through(2, 3);
		assert_int_equal(state_of(2), SERVER_PORT_UP);
	}
}

/* Sends for the groups, and waits until all of it has come through. */
static void pump(unsigned n, bool shared) {
	uint64_t up = bench->taken_up[3] + n;
	uint64_t down = life_kit_down_of(bench, 0).values[COUNTER_RECEIVED] + (shared ? n : 0);

	for (unsigned i = 0; i < n; i++, bench->serial++) {
		while (!life_kit_up(bench, OWN, groups[2], bench->serial))
			life_kit_take(bench);
		while (shared &&
		       !life_kit_down(bench, LIFE_SHARED, &bench->file[0], 300, bench->serial))
			life_kit_take(bench);
		look();
	}
	while (bench->taken_up[3] < up ||
	       life_kit_down_of(bench, 0).values[COUNTER_RECEIVED] < down) {
		life_kit_take(bench);
		look();
		sched_yield();
	}
}

TEST(workers_that_run) {
	open_three(OWN);
	life_kit_launch(bench);
	pump(500, true);
	want_back(0, DEVICE_RPHY);
	pump(500, true);
	check_states(1, "up", "gone");
	want_back(0, DEVICE_NETWORK);
	pump(500, false);
	check_states(1, "gone", "gone");
	life_kit_halt(bench);
	life_kit_pass(bench, 5 * MS);
	assert_int_equal(life_kit_up_of(bench, 2)->values[COUNTER_TRANSMITTED], 1500);
	assert_int_equal(life_kit_down_of(bench, 0).values[COUNTER_RECEIVED], 1000);
	assert_true(life_kit_down_of(bench, 0).drops[DROP_PORT_GONE] > 0);
}

/* The network port goes; then groups 1 and 2, which come with it again, while the third one stays. */
static void network_returns(void) {
	takes_back(0, DEVICE_NETWORK);
	for (unsigned g = 0; g < 2; g++)
		life_kit_remove(bench, g, 0);
	life_kit_plug(LIFE_SHARED);
	for (unsigned g = 0; g < 2; g++)
		assert_int_equal(life_kit_add(bench, &bench->file[g]), g);
	look();
	assert_ptr_equal(port_of(0, DEVICE_NETWORK), port_of(1, DEVICE_NETWORK));
	assert_ptr_not_equal(port_of(0, DEVICE_NETWORK), port_of(2, DEVICE_NETWORK));
	assert_string_equal(port_of(0, DEVICE_NETWORK)->name, port_of(2, DEVICE_NETWORK)->name);
	check_states(0, "up", "up");
	check_states(2, "gone", "up");
}

/* How many workers have the queue of the port among what wakes them. */
static unsigned asked_by(uint16_t port) {
	unsigned found = 0;

	for (unsigned w = 0; w < server->worker_count; w++) {
		for (unsigned i = 0; i < server->workers[w].source_count; i++)
			found += server->workers[w].sources[i].port == port;
	}
	return found;
}

/* The number of the new port may be that of the one that is gone. */
TEST(one_worker_waits_for_it) {
	uint16_t before;

	open_three(LIFE_SHARED);
	before = port_of(0, DEVICE_NETWORK)->id;
	assert_int_equal(asked_by(before), 1);
	takes_back(0, DEVICE_NETWORK);
	assert_int_equal(asked_by(before), 0);
	assert_int_equal(asked_by(port_of(0, DEVICE_RPHY)->id), 1);
	network_returns();
	assert_int_equal(port_of(0, DEVICE_NETWORK)->id, port_of(2, DEVICE_NETWORK)->id);
	assert_int_equal(asked_by(port_of(0, DEVICE_NETWORK)->id), 1);
}

/* How many samples there are of the port that two groups have. */
static unsigned port_told(const char *name) {
	return told_samples(name, "port", port_of(0, DEVICE_NETWORK)->name);
}

TEST(no_series_is_told_twice) {
	struct metrics_source source = {.server = server, .version = "1"};

	open_three(LIFE_SHARED);
	metrics_source_start(&source);
	for (unsigned turn = 0; turn < 3; turn++) {
		assert_true(told_walk(&source, &(struct metrics_selection){0}));
		told_once();
		assert_int_equal(port_told("vcmts_ethdev_link_up"), 1);
		assert_true(port_told("vcmts_port_dropped_packets_total") > 0);
		if (turn == 0)
			network_returns();
		else
			takes_back(0, DEVICE_NETWORK); /* both are gone */
	}
}

/* A group without a port rests, moves and goes as any other. When the device is there again, the group can come. The last
 * test: DPDK keeps of a device that it did not find. */
TEST(groups_of_a_port_that_is_gone) {
	char why[LIVE_LINE] = "";
	unsigned group;

	open_three(OWN);
	all_go_through(2);
	takes_back(2, DEVICE_NETWORK);
	server_group_drain(server, 2, 0);
	server_group_resume(server, 2);
	assert_int_equal(server_move_group(server, 2, PART_UPPER, 0), 0);
	life_kit_pass(bench, 5 * MS);
	life_kit_remove(bench, 2, 0);
	life_kit_plug(OWN);
	assert_int_equal(life_kit_add(bench, groups[2]), 2);
	life_kit_comes_again(bench, groups[2]->id);
	look();
	check_states(2, "up", "up");
	goes_through(2, 3);
	takes_back(2, DEVICE_RPHY); /* once more */
	life_kit_remove(bench, 2, 0);
	assert_false(server_group_add(server, groups[2], &group, why));
	assert_string_equal(why, "service group 3: ports: a device cannot be opened");
	goes_through(1, 3);
}

EACH_TEST(NULL, file_end)
