/* SPDX-License-Identifier: BSD-3-Clause */
#include "steering_bench.h"

#include <string.h>

#include "test.h"

static enum steered_by groups_by;

/* What tells the second group from the first in mixed ways. */
static void edit_second(struct service_group *sg) {
	if (groups_by == STEERED_MIXED)
		sg->network.vlan = 100;
	if (groups_by == STEERED_OFF)
		sg->network.steering = STEERING_OFF;
	if (groups_by == STEERED_BY_BOTH)
		sg->upstream_channels[0].session -= 0x100; /* that of group 1 */
}

static void edit(struct service_group *sg) {
	uint8_t id = (uint8_t)sg->id;

	if (groups_by == STEERED_BY_VLAN || groups_by == STEERED_IN_VLAN) {
		unsigned more = groups_by == STEERED_IN_VLAN ? 0 : id;

		sg->network.vlan = (uint16_t)(100 + more);
		sg->rphy_port.vlan = (uint16_t)(200 + more);
	}
	if (groups_by != STEERED_BY_VLAN && (groups_by < STEERED_FIRST || id == 1)) {
		sg->network.has_mac = true;
		memcpy(sg->network.mac, (const uint8_t[]){2, 0, 0, 0, 2, id}, 6);
	}
	if (id == 2)
		edit_second(sg);
	if (groups_by != STEERED_BY_MAC && (groups_by != STEERED_BY_BOTH || id != 2))
		id = 1;
	memcpy(sg->rphy.core_mac, (const uint8_t[]){2, 0, 0, 0, 1, id}, 6);
}

static const struct life_card card = {flow_card_pair, flow_card_put, flow_card_end, edit};

void steering_bench_open(struct life_bench *b, enum steered_by by, unsigned count, unsigned most) {
	groups_by = by;
	life_card = &card;
	life_bench_open(b, count, most);
}

void steering_bench_close(struct life_bench *b) {
	life_bench_close(b);
	assert_int_equal(flow_card_calls().rules, 0);
	life_card = NULL;
}
