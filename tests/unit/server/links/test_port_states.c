/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that lose their link, and devices that are taken away, while the server has traffic: what cannot be sent is
 * counted under its name, and groups on other ports lose nothing.
 */
#include "test_main.h"

#include <sched.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "platform/port.h"
#include "server/links/port_states.h"

#include "life_bench.h"

#define MS 1000000ull
#define OWN 1 /* pair of the group that has ports of its own */

static struct life_bench storage, *const bench = &storage;
static const struct service_group *third; /* on the ports of its own */
static struct links links;
static uint64_t now; /* of the one who looks at links */

static bool removed; /* what drivers say of all devices that are asked */
int __wrap_rte_eth_dev_is_removed(uint16_t id);

int __wrap_rte_eth_dev_is_removed(uint16_t id) {
	return removed && id == bench->server.ports.list[0].id;
}

/* Whether the workers were waited for since the last port was given back, whose queues they asked until then. */
static unsigned workers_waited;
void __real_server_synchronize(const struct server *s);
void __wrap_server_synchronize(const struct server *s);
void __real_server_port_give_back(struct server_port *port);
void __wrap_server_port_give_back(struct server_port *port);

void __wrap_server_synchronize(const struct server *s) {
	workers_waited++;
	__real_server_synchronize(s);
}

void __wrap_server_port_give_back(struct server_port *port) {
	assert_true(workers_waited > 0);
	workers_waited = 0;
	__real_server_port_give_back(port);
}

/* Groups 1 and 2 on the shared ports, 3 on ports of its own. */
static void open_three(void) {
	removed = false;
	life_bench_open(bench, 2, 3);
	third = life_bench_group(bench, 3, OWN, 1, 2, 0);
	life_bench_plug(OWN);
	assert_int_equal(life_bench_add(bench, third), 2);
	links_open(&links, &bench->server, now);
}

static const struct server_port *port_of(unsigned group, enum device_role role) {
	return server_port_of(&bench->server.ports, group, role);
}

static const struct service_group *group_of(unsigned group) {
	return group == 2 ? third : &bench->file[group];
}

static unsigned pair_of(unsigned group) {
	return group == 2 ? OWN : LIFE_SHARED;
}

/* Of a group, in both directions; and time in which it goes through. */
static void traffic(unsigned group, unsigned n) {
	life_bench_traffic(bench, pair_of(group), group_of(group), n);
	life_bench_pass(bench, 5 * MS);
}

/* As many, of which none is lost. */
static void goes_through(unsigned group, unsigned n) {
	uint64_t down = life_bench_down_of(bench, group).values[COUNTER_TRANSMITTED];
	uint64_t up = life_bench_up_of(bench, group)->values[COUNTER_TRANSMITTED];

	traffic(group, n);
	assert_int_equal(life_bench_down_of(bench, group).values[COUNTER_TRANSMITTED], down + n);
	assert_int_equal(life_bench_up_of(bench, group)->values[COUNTER_TRANSMITTED], up + n);
}

static void all_go_through(unsigned n) {
	for (unsigned g = 0; g < 3; g++)
		goes_through(g, n);
}

/* As the kernel does by DPDK's thread for interrupts. The function is experimental in DPDK 22.11. */
static void want_back(unsigned group, enum device_role role) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	rte_dev_event_callback_process(port_of(group, role)->name, RTE_DEV_EVENT_REMOVE);
#pragma GCC diagnostic pop
}

static void link_set(unsigned group, enum device_role role, bool up) {
	uint16_t id = port_of(group, role)->id;

	assert_int_equal(up ? rte_eth_dev_set_link_up(id) : rte_eth_dev_set_link_down(id), 0);
}

static void look(void) {
	links_follow(&links, now += LINKS_LOOK_NS);
}

static void check_states(unsigned group, const char *network, const char *rphy) {
	assert_string_equal(server_port_state_name(port_of(group, DEVICE_NETWORK)->state), network);
	assert_string_equal(server_port_state_name(port_of(group, DEVICE_RPHY)->state), rphy);
}

/* Nobody asks the port any more, and DPDK does not have its device. */
static void check_given_back(unsigned group, enum device_role role) {
	const struct server *s = &bench->server;
	const struct port_share *share = s->shares.of[s->ports.of[group][role]];

	assert_false(rte_eth_dev_is_valid_port(port_of(group, role)->id));
	assert_int_not_equal(rte_eal_hotplug_remove("vdev", port_of(group, role)->name), 0);
	if (share != NULL)
		assert_true(share_is_closed(share) && share->send.to.shut);
	else if (role == DEVICE_NETWORK)
		assert_ptr_equal(s->groups[group].downstream->upper.network.ring, s->nothing);
	else
		assert_ptr_equal(s->groups[group].upstream->r.rphy.ring, s->nothing);
}

/* Nothing more comes from it, what leaves by it is counted, and all else is as it was: of a group on shared ports, and of one
 * whose ports are its own. */
TEST(a_network_port_is_wanted_back) {
	for (unsigned group = 0; group <= 2; group += 2) {
		unsigned other = group == 0 ? 2 : 1;
		uint16_t id;

		open_three();
		id = port_of(group, DEVICE_NETWORK)->id;
		all_go_through(4);
		want_back(group, DEVICE_NETWORK);
		assert_true(rte_eth_dev_is_valid_port(id));
		links_follow(&links, now); /* at once, whenever links were looked at */
		assert_false(rte_eth_dev_is_valid_port(id));
		check_given_back(group, DEVICE_NETWORK);
		check_states(group, "gone", "up");
		for (unsigned i = 0; i < 3; i++)
			assert_true(life_bench_up(bench, pair_of(group), group_of(group),
						  bench->serial++));
		life_bench_pass(bench, 5 * MS);
		assert_int_equal(life_bench_up_of(bench, group)->drops[DROP_PORT_GONE], 3);
		assert_int_equal(life_bench_up_of(bench, group)->values[COUNTER_TRANSMITTED], 4);
		goes_through(other, 5);
		assert_int_equal(server_ports_of_group(&bench->server.ports, other),
				 SERVER_PORT_UP);
		assert_int_equal(server_ports_of_group(&bench->server.ports, group),
				 SERVER_PORT_GONE);
		life_bench_close(bench);
	}
}

static void send_down(unsigned group, unsigned n) {
	for (unsigned i = 0; i < n; i++)
		assert_true(life_bench_down(bench, pair_of(group), group_of(group), 300,
					    bench->serial++));
}

/* Packets on their way out when it happens, and those behind them; the upstream of the group ends with it. */
TEST(an_rphy_port_goes) {
	for (unsigned group = 0; group <= 2; group += 2) {
		struct counters after;

		open_three();
		all_go_through(4);
		send_down(group, 6); /* more than a round takes out */
		worker_round(&bench->server.workers[group == 2 ? 1 : 0]);
		want_back(group, DEVICE_RPHY);
		look();
		check_given_back(group, DEVICE_RPHY);
		send_down(group, 4);
		life_bench_pass(bench, 5 * MS);
		after = life_bench_down_of(bench, group);
		assert_int_equal(after.values[COUNTER_RECEIVED], 14);
		assert_int_equal(after.values[COUNTER_TRANSMITTED], 4);
		assert_int_equal(after.drops[DROP_PORT_GONE], 10);
		assert_int_equal(life_bench_up_of(bench, group)->values[COUNTER_RECEIVED], 4);
		life_bench_close(bench);
	}
}

/* Which a driver finds when it is asked, once a second. */
TEST(a_device_that_its_driver_misses) {
	open_three();
	removed = true;
	look();
	check_states(0, "up", "up");
	links_follow(&links, now += LINKS_ASK_NS);
	check_states(0, "gone", "up");
	check_states(1, "gone", "up");
	check_states(2, "up", "up");
	removed = false;
	goes_through(2, 3);
	life_bench_close(bench);
}

/* Somebody else of the process has unplugged it. */
TEST(a_device_that_is_unplugged) {
	char name[RTE_ETH_NAME_MAX_LEN];

	open_three();
	snprintf(name, sizeof(name), "%s", port_of(2, DEVICE_RPHY)->name);
	assert_int_equal(rte_eal_hotplug_remove("vdev", name), 0);
	links_follow(&links, now += LINKS_ASK_NS);
	check_states(2, "up", "gone");
	goes_through(0, 3);
	life_bench_close(bench);
}

/* What cannot be sent ends, so that nothing else waits for it; and when the link is back all goes on. */
TEST(a_link_goes_and_comes) {
	for (unsigned group = 1; group <= 2; group++) {
		open_three();
		all_go_through(2);
		link_set(group, DEVICE_NETWORK, false);
		link_set(group, DEVICE_RPHY, false);
		links_follow(&links, now + LINKS_LOOK_NS - 1);
		check_states(group, "up", "up");
		look();
		check_states(group, "down", "down");
		assert_int_equal(server_ports_of_group(&bench->server.ports, group),
				 SERVER_PORT_DOWN);
		traffic(group, 5);
		assert_int_equal(life_bench_down_of(bench, group).drops[DROP_LINK_DOWN], 5);
		assert_int_equal(life_bench_up_of(bench, group)->drops[DROP_LINK_DOWN], 5);
		assert_int_equal(server_held(&bench->server), 0);
		link_set(group, DEVICE_NETWORK, true);
		link_set(group, DEVICE_RPHY, true);
		look();
		check_states(group, "up", "up");
		memset(bench->depi_seen, 0, sizeof(bench->depi_seen)); /* frames are missing */
		goes_through(group, 3);
		life_bench_close(bench);
	}
}

/* What never had a link is sent to, so that a driver that does not know its link loses nothing; and so is what waits for its
 * other end. */
TEST(what_is_sent_to_without_a_link) {
	for (unsigned waits = 0; waits < 2; waits++) {
		struct server_port *port;

		open_three();
		port = &bench->server.ports.list[bench->server.ports.of[2][DEVICE_NETWORK]];
		port->had_link = waits;
		port->waits = waits;
		link_set(2, DEVICE_NETWORK, false);
		look();
		check_states(2, "down", "up");
		goes_through(2, 3);
		assert_int_equal(server_ports_of_group(&bench->server.ports, 2), SERVER_PORT_UP);
		life_bench_close(bench);
	}
}

/* Sends for the groups, and waits until all of it has come through. */
static void pump(unsigned n, bool shared) {
	uint64_t up = bench->taken_up[3] + n,
		 down = life_bench_down_of(bench, 0).values[COUNTER_RECEIVED] + n;

	for (unsigned i = 0; i < n; i++, bench->serial++) {
		while (!life_bench_up(bench, OWN, third, bench->serial))
			life_bench_take(bench);
		while (shared &&
		       !life_bench_down(bench, LIFE_SHARED, &bench->file[0], 300, bench->serial))
			life_bench_take(bench);
		look();
	}
	while (bench->taken_up[3] < up ||
	       (shared && life_bench_down_of(bench, 0).values[COUNTER_RECEIVED] < down)) {
		life_bench_take(bench);
		look();
		sched_yield();
	}
}

/* The workers run, and the others' traffic with them. */
TEST(workers_that_run) {
	open_three();
	life_bench_launch(bench);
	pump(500, true);
	want_back(0, DEVICE_RPHY);
	pump(500, true);
	check_states(1, "up", "gone");
	want_back(0, DEVICE_NETWORK);
	pump(500, false);
	check_states(1, "gone", "gone");
	life_bench_halt(bench);
	life_bench_pass(bench, 5 * MS);
	assert_int_equal(life_bench_up_of(bench, 2)->values[COUNTER_TRANSMITTED], 1500);
	assert_int_equal(life_bench_down_of(bench, 0).values[COUNTER_RECEIVED], 1000);
	assert_true(life_bench_down_of(bench, 0).drops[DROP_PORT_GONE] > 0);
	life_bench_close(bench);
}

/* A group without a port rests, moves and goes as any other. When the device is there again, the group can come. The last test: DPDK keeps of a
 * device that it did not find. */
TEST(groups_of_a_port_that_is_gone) {
	char why[LIVE_LINE] = "";
	unsigned group;

	open_three();
	all_go_through(2);
	want_back(2, DEVICE_NETWORK);
	look();
	server_group_drain(&bench->server, 2, 0);
	server_group_resume(&bench->server, 2);
	assert_int_equal(server_move_group(&bench->server, 2, PART_UPPER, 0), 0);
	life_bench_pass(bench, 5 * MS);
	life_bench_remove(bench, 2, 0);
	life_bench_plug(OWN);
	assert_int_equal(life_bench_add(bench, third), 2);
	life_bench_comes_again(bench, third->id);
	look();
	check_states(2, "up", "up");
	goes_through(2, 3);
	want_back(2, DEVICE_RPHY); /* once more */
	look();
	life_bench_remove(bench, 2, 0);
	assert_false(server_group_add(&bench->server, third, &group, why));
	assert_string_equal(why, "service group 3: ports: a device cannot be opened");
	goes_through(1, 3);
	life_bench_close(bench);
}
