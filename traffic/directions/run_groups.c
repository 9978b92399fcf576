/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether an unexpected frame belongs to another service group of this process. */
#include "directions/run_groups.h"

bool run_groups_have_modem(const struct run_groups *n, const uint8_t mac[6]) {
	for (unsigned i = 0; n != NULL && i < n->count; i++) {
		if (n->all[i].modems != NULL && modems_have(n->all[i].modems, mac))
			return true;
	}
	return false;
}

bool run_groups_have_made(const struct run_groups *n, const uint8_t *frame, size_t size) {
	for (unsigned i = 0; n != NULL && i < n->count; i++) {
		if (n->all[i].generator != NULL &&
		    generator_has_made(n->all[i].generator, frame, size))
			return true;
	}
	return false;
}

bool run_groups_have_sent(const struct run_groups *n, const struct packet_tag *tag) {
	for (unsigned i = 0; n != NULL && i < n->count; i++) {
		if (n->all[i].uplink != NULL && uplink_has_made(n->all[i].uplink, tag))
			return true;
	}
	return false;
}
