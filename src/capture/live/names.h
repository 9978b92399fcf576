/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What places of a service group's tables stand for: made by the control thread, which alone reads the group's
 * configuration, for workers and filters. It holds until the group changes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/served_group.h"

#define TAP_NOBODY UINT32_MAX

struct tap_names {
	uint32_t modem_count, down_flow_count, up_flow_count, channel_count;
	uint8_t (*macs)[6]; /* by the place of the modem; zeroes where nobody is */
	uint32_t *down_sfids; /* by the flow's number; 0: nobody's */
	uint32_t *up_sfids;
	uint32_t *sessions; /* of downstream channels */
};

/* Returns NULL without memory. To be freed by tap_names_free(). */
struct tap_names *tap_names_create(const struct served_group *g);
void tap_names_free(struct tap_names *n);

/* Places of those that are asked for; TAP_NOBODY where the group has none. */
uint32_t tap_names_modem(const struct tap_names *n, const uint8_t mac[6]);
uint32_t tap_names_down_flow(const struct tap_names *n, uint32_t sfid);
uint32_t tap_names_up_flow(const struct tap_names *n, uint32_t sfid);

/* Whether a session of the group has this ID, in either direction. */
bool tap_group_has_session(const struct served_group *g, uint32_t session);
