/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests ports without link, and devices that are removed and return, under traffic. A device that
 * returns while a group still uses the removed one gets a second slot. */
#include "test_main.h"

#include <sched.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "server/links/port_states.h"

#include "group_file.h"
#include "metric_samples.h"

#define OWN 1 /* pair of a group with own ports */

static const struct service_group *groups[3] = {&storage.file[0], &storage.file[1]};
static unsigned pairs[3] = {LIFE_SHARED, LIFE_SHARED}; /* of the groups */
static struct links links;
static uint64_t now; /* ns; time of the link checks */

static bool removed; /* what the driver of port 0 reports */
__typeof__(rte_eth_dev_is_removed) __wrap_rte_eth_dev_is_removed;
int __wrap_rte_eth_dev_is_removed(uint16_t id) {
	return removed && id == server->ports.list[0].id;
}

/* Calls of server_synchronize() since a port was released. Workers may poll a port until then. */
static unsigned synchronized;
__typeof__(server_synchronize) __real_server_synchronize, __wrap_server_synchronize;
__typeof__(server_port_detach) __real_server_port_detach, __wrap_server_port_detach;

void __wrap_server_synchronize(const struct server *s) {
	synchronized++;
	__real_server_synchronize(s);
}

void __wrap_server_port_detach(struct server_port *port) {
	assert_true(synchronized > 0);
	synchronized = 0;
	__real_server_port_detach(port);
}

/* Opens a server with groups 1 and 2 on the shared ports, and group 3 on `pair`. */
static void open_three(unsigned pair) {
	struct power_config power = power_config_default();

	removed = false;
	life_kit_open(kit, 2, GROUPS); /* reserves buffers for ports of a third group */
	groups[2] = life_kit_load_extra(kit, 3, pair, 1, 2, 0);
	pairs[2] = pair;
	life_kit_restore_devices(pair);
	assert_int_equal(life_kit_add(kit, groups[2]), 2);
	links_open(&links, server, now);
	power.idle = pair == OWN ? IDLE_POLL : IDLE_SLEEP;
	server_idle(server, &power);
}

static const struct server_port *port_of(unsigned group, enum device_role role) {
	return server_port_of(&server->ports, group, role);
}

/* Sends `n` packets of a group in both directions and checks that all are forwarded. */
static void check_forwarding(unsigned group, unsigned n) {
	uint64_t down = life_kit_down_counters(kit, group).values[COUNTER_TRANSMITTED];
	uint64_t up = life_kit_up_counters(kit, group)->values[COUNTER_TRANSMITTED];

	life_kit_send_both(kit, pairs[group], groups[group], n);
	life_kit_run(kit, 5 * MS);
	assert_int_equal(life_kit_down_counters(kit, group).values[COUNTER_TRANSMITTED], down + n);
	assert_int_equal(life_kit_up_counters(kit, group)->values[COUNTER_TRANSMITTED], up + n);
}

static void check_all_forward(unsigned n) {
	for (unsigned g = 0; g < 3; g++)
		check_forwarding(g, n);
}

static void check_links(void) {
	links_update(&links, now += LINKS_CHECK_NS);
}

/* Reports a removal request, as DPDK's interrupt thread does. Experimental in DPDK 22.11. */
static void request_removal(unsigned group, enum device_role role) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	rte_dev_event_callback_process(port_of(group, role)->name, RTE_DEV_EVENT_REMOVE);
#pragma GCC diagnostic pop
}

static void remove_device(unsigned group, enum device_role role) {
	request_removal(group, role);
	check_links();
}

static void set_link(unsigned group, enum device_role role, bool up) {
	uint16_t id = port_of(group, role)->id;

	assert_int_equal(up ? rte_eth_dev_set_link_up(id) : rte_eth_dev_set_link_down(id), 0);
}

static enum server_port_state group_state(unsigned group) {
	return server_ports_of_group(&server->ports, group);
}

static void check_states(unsigned group, const char *network, const char *rphy) {
	assert_string_equal(server_port_state_name(port_of(group, DEVICE_NETWORK)->state), network);
	assert_string_equal(server_port_state_name(port_of(group, DEVICE_RPHY)->state), rphy);
}

/* Checks that no worker polls the port and its device is removed from DPDK. */
static void check_released(unsigned group, enum device_role role) {
	const struct port_share *share = server->shares.of[server->ports.of[group][role]];

	assert_false(rte_eth_dev_is_valid_port(port_of(group, role)->id));
	assert_int_not_equal(rte_eal_hotplug_remove("vdev", port_of(group, role)->name), 0);
	if (share != NULL)
		assert_true(share_is_closed(share) && share->send.to.shut);
	else if (role == DEVICE_NETWORK)
		assert_ptr_equal(server->groups[group].downstream->upper.network.ring,
				 server->empty_ring);
	else
		assert_ptr_equal(server->groups[group].upstream->r.rphy.ring, server->empty_ring);
}

/* Packets for a removed port, shared or not, are counted as drops; other groups go on. */
TEST(removed_network_port_drops_only_its_packets) {
	for (unsigned group = 0; group <= 2; group += 2) {
		unsigned unaffected = group == 0 ? 2 : 1;

		open_three(OWN);
		check_all_forward(4);
		request_removal(group, DEVICE_NETWORK);
		assert_true(rte_eth_dev_is_valid_port(port_of(group, DEVICE_NETWORK)->id));
		/* removal requests are handled before the next link check is due */
		links_update(&links, now);
		check_released(group, DEVICE_NETWORK);
		check_states(group, "gone", "up");
		life_kit_send_bursts(kit, pairs[group], groups[group], 3);
		life_kit_run(kit, 5 * MS);
		assert_int_equal(life_kit_up_counters(kit, group)->drops[DROP_PORT_GONE], 3);
		assert_int_equal(life_kit_up_counters(kit, group)->values[COUNTER_TRANSMITTED], 4);
		check_forwarding(unaffected, 5);
		assert_int_equal(group_state(unaffected), SERVER_PORT_UP);
		assert_int_equal(group_state(group), SERVER_PORT_GONE);
	}
}

/* Packets for the removed port are dropped. The upstream receives nothing any more. */
TEST(removed_rphy_port_drops_pending_frames) {
	for (unsigned group = 0; group <= 2; group += 2) {
		struct counters after;

		open_three(OWN);
		check_all_forward(4);
		/* more than a round transmits */
		life_kit_send_packets(kit, pairs[group], groups[group], 6);
		worker_round(&server->workers[group == 2 ? 1 : 0]);
		remove_device(group, DEVICE_RPHY);
		check_released(group, DEVICE_RPHY);
		life_kit_send_packets(kit, pairs[group], groups[group], 4);
		life_kit_run(kit, 5 * MS);
		after = life_kit_down_counters(kit, group);
		assert_int_equal(after.values[COUNTER_RECEIVED], 14);
		assert_int_equal(after.values[COUNTER_TRANSMITTED], 4);
		assert_int_equal(after.drops[DROP_PORT_GONE], 10);
		assert_int_equal(life_kit_up_counters(kit, group)->values[COUNTER_RECEIVED], 4);
	}
}

/* The driver reports a removed device when polled. Other code may remove a device, too. */
TEST(device_reported_as_removed_is_released) {
	char name[RTE_ETH_NAME_MAX_LEN];

	open_three(OWN);
	removed = true;
	check_links();
	check_states(0, "up", "up");
	snprintf(name, sizeof(name), "%s", port_of(2, DEVICE_RPHY)->name);
	assert_int_equal(rte_eal_hotplug_remove("vdev", name), 0);
	links_update(&links, now += LINKS_DEVICE_CHECK_NS);
	check_states(0, "gone", "up");
	check_states(1, "gone", "up");
	check_states(2, "up", "gone");
}

/* While the link is down, packets are dropped; after it is up, they are forwarded again. */
TEST(link_down_drops_and_link_up_resumes) {
	for (unsigned group = 1; group <= 2; group++) {
		open_three(OWN);
		check_all_forward(2);
		set_link(group, DEVICE_NETWORK, false);
		set_link(group, DEVICE_RPHY, false);
		links_update(&links, now + LINKS_CHECK_NS - 1);
		check_states(group, "up", "up");
		check_links();
		check_states(group, "down", "down");
		assert_int_equal(group_state(group), SERVER_PORT_DOWN);
		life_kit_send_both(kit, pairs[group], groups[group], 5);
		life_kit_run(kit, 5 * MS);
		assert_int_equal(life_kit_down_counters(kit, group).drops[DROP_LINK_DOWN], 5);
		assert_int_equal(life_kit_up_counters(kit, group)->drops[DROP_LINK_DOWN], 5);
		assert_int_equal(server_pending(server), 0);
		set_link(group, DEVICE_NETWORK, true);
		set_link(group, DEVICE_RPHY, true);
		check_links();
		check_states(group, "up", "up");
		memset(kit->depi_seen, 0, sizeof(kit->depi_seen)); /* frames were dropped */
		check_forwarding(group, 3);
	}
}

/* A port without a link is used if it never had one, or waits for its peer. */
TEST(port_that_never_had_link_is_used) {
	for (unsigned waits = 0; waits < 2; waits++) {
		struct server_port *port;

		open_three(OWN);
		port = &server->ports.list[server->ports.of[2][DEVICE_NETWORK]];
		port->had_link = port->waits = waits;
		set_link(2, DEVICE_NETWORK, false);
		check_links();
		check_states(2, "down", "up");
		check_forwarding(2, 3);
		assert_int_equal(group_state(2), SERVER_PORT_UP);
	}
}

/* Sends `n` bursts of group 3, and with `shared` packets of group 1. Waits for all. */
static void send_and_wait(unsigned n, bool shared) {
	uint64_t up = kit->received_up[3] + n;
	uint64_t down = life_kit_down_counters(kit, 0).values[COUNTER_RECEIVED] + (shared ? n : 0);

	for (unsigned i = 0; i < n; i++, kit->serial++) {
		while (!life_kit_send_burst(kit, OWN, groups[2], kit->serial))
			life_kit_receive(kit);
		while (shared &&
		       !life_kit_send_packet(kit, LIFE_SHARED, &kit->file[0], 300, kit->serial))
			life_kit_receive(kit);
		check_links();
	}
	while (kit->received_up[3] < up ||
	       life_kit_down_counters(kit, 0).values[COUNTER_RECEIVED] < down) {
		life_kit_receive(kit);
		check_links();
		sched_yield();
	}
}

TEST(removal_under_running_workers) {
	open_three(OWN);
	life_kit_launch(kit);
	send_and_wait(500, true);
	request_removal(0, DEVICE_RPHY);
	send_and_wait(500, true);
	check_states(1, "up", "gone");
	request_removal(0, DEVICE_NETWORK);
	send_and_wait(500, false);
	check_states(1, "gone", "gone");
	life_kit_halt(kit);
	life_kit_run(kit, 5 * MS);
	assert_int_equal(life_kit_up_counters(kit, 2)->values[COUNTER_TRANSMITTED], 1500);
	assert_int_equal(life_kit_down_counters(kit, 0).values[COUNTER_RECEIVED], 1000);
	assert_true(life_kit_down_counters(kit, 0).drops[DROP_PORT_GONE] > 0);
}

/* Removes the network port; it returns with groups 1 and 2. Group 3 keeps the removed port. */
static void replace_network_port(void) {
	remove_device(0, DEVICE_NETWORK);
	for (unsigned g = 0; g < 2; g++)
		life_kit_remove(kit, g, 0);
	life_kit_restore_devices(LIFE_SHARED);
	for (unsigned g = 0; g < 2; g++)
		assert_int_equal(life_kit_add(kit, &kit->file[g]), g);
	check_links();
	assert_ptr_equal(port_of(0, DEVICE_NETWORK), port_of(1, DEVICE_NETWORK));
	assert_ptr_not_equal(port_of(0, DEVICE_NETWORK), port_of(2, DEVICE_NETWORK));
	assert_string_equal(port_of(0, DEVICE_NETWORK)->name, port_of(2, DEVICE_NETWORK)->name);
	check_states(0, "up", "up");
	check_states(2, "gone", "up");
}

/* How many workers can be woken by the port's queue. */
static unsigned count_wakeable_workers(uint16_t port) {
	unsigned count = 0;

	for (unsigned w = 0; w < server->worker_count; w++) {
		for (unsigned i = 0; i < server->workers[w].source_count; i++)
			count += server->workers[w].sources[i].port == port;
	}
	return count;
}

/* DPDK may reuse the ID of the removed port. */
TEST(returned_port_wakes_one_worker) {
	uint16_t before;

	open_three(LIFE_SHARED);
	before = port_of(0, DEVICE_NETWORK)->id;
	assert_int_equal(count_wakeable_workers(before), 1);
	remove_device(0, DEVICE_NETWORK);
	assert_int_equal(count_wakeable_workers(before), 0);
	assert_int_equal(count_wakeable_workers(port_of(0, DEVICE_RPHY)->id), 1);
	replace_network_port();
	assert_int_equal(port_of(0, DEVICE_NETWORK)->id, port_of(2, DEVICE_NETWORK)->id);
	assert_int_equal(count_wakeable_workers(port_of(0, DEVICE_NETWORK)->id), 1);
}

/* Number of samples of a metric with the name of the network port. */
static unsigned count_port_samples(const char *name) {
	return count_samples(name, "port", port_of(0, DEVICE_NETWORK)->name);
}

TEST(returned_port_has_no_duplicate_series) {
	struct metrics_source source = {.server = server, .version = "1"};

	open_three(LIFE_SHARED);
	metrics_source_start(&source);
	for (unsigned pass = 0; pass < 3; pass++) {
		assert_true(walk_samples(&source, &(struct metrics_selection){0}));
		assert_series_unique();
		assert_int_equal(count_port_samples("vcmts_ethdev_link_up"), 1);
		assert_true(count_port_samples("vcmts_port_dropped_packets_total") > 0);
		if (pass == 0)
			replace_network_port();
		else /* both slots have state gone */
			remove_device(0, DEVICE_NETWORK);
	}
}

/* A group without a port can be drained, moved and removed. Once the device exists, the group can
 * be added. Must be the last test: DPDK keeps state of a device that it did not find. */
TEST(group_without_port_can_be_changed) {
	char why[LIVE_LINE] = "";
	unsigned group;

	open_three(OWN);
	check_all_forward(2);
	remove_device(2, DEVICE_NETWORK);
	server_group_drain(server, 2, 0);
	server_group_resume(server, 2);
	assert_int_equal(server_move_group(server, 2, PART_UPPER, 0), 0);
	life_kit_run(kit, 5 * MS);
	life_kit_remove(kit, 2, 0);
	life_kit_restore_devices(OWN);
	assert_int_equal(life_kit_add(kit, groups[2]), 2);
	life_kit_reset_sequences(kit, groups[2]->id);
	check_links();
	check_states(2, "up", "up");
	check_forwarding(2, 3);
	remove_device(2, DEVICE_RPHY); /* again */
	life_kit_remove(kit, 2, 0);
	assert_false(server_group_add(server, groups[2], &group, why));
	assert_string_equal(why, "service group 3: ports: a device cannot be opened");
	check_forwarding(1, 3);
}

EACH_TEST(NULL, group_file_teardown)
