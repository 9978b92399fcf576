/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "group_defaults.h"
#include "share_kit.h"

void rig_write_mac(unsigned group, enum share_side side, uint8_t mac[6]) {
	const uint8_t bytes[6] = {2, 0, 0, 0, side == SHARE_RPHY ? 1 : 2, (uint8_t)group};

	memcpy(mac, bytes, sizeof(bytes));
}

static void group_prepare(struct share_rig *r, unsigned g) {
	struct service_group *sg = &r->groups[g];

	r->channels[g] = (struct upstream_channel){1,		UPSTREAM_OFDMA, 1,
						   0x10000 + g, 0x20000 + g,	0x30000 + g};
	*sg = (struct service_group){
		.id = g + 1,
		.modems = r->modems[g],
		.modem_count = RIG_MODEMS,
		.upstream_channels = &r->channels[g],
		.upstream_channel_count = 1,
	};
	rig_write_mac(g, SHARE_RPHY, sg->rphy.core_mac);
	for (uint8_t m = 0; m < RIG_MODEMS; m++) {
		struct ip_address *a = r->addresses[g][m];

		a[0] = (struct ip_address){4, {10, (uint8_t)g, m, 1}};
		a[1] = (struct ip_address){6, {0x20, 0x01, 0x0d, 0xb8, 0, (uint8_t)g, [15] = m}};
		r->modems[g][m] = (struct modem){
			.mac = {2, 1, 0, 0, (uint8_t)g, m},
			.service_flow_count = 1,
			.addresses = a,
			.address_count = 2,
		};
	}
	service_group_set_defaults(sg);
}

void rig_prepare(struct share_rig *r, unsigned count) {
	memset(r, 0, sizeof(*r));
	r->count = count;
	r->ring_size = RIG_RING_SIZE;
	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		group_prepare(r, g);
		r->list[g] = g < count ? &r->groups[g] : NULL;
	}
}
