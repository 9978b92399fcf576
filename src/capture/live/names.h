/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC addresses, SFIDs and session IDs by table index. The control thread, which alone reads the
 * configuration of a group, builds them for workers and filters. They are valid until the group changes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/served_group.h"

#define TAP_NONE UINT32_MAX

struct tap_names {
	uint32_t modem_count, down_flow_count, up_flow_count, channel_count;
	uint8_t (*macs)[6]; /* by modem index; zeroes where the slot is free */
	uint32_t *down_sfids; /* by flow number; 0: free */
	uint32_t *up_sfids;
	uint32_t *sessions; /* of downstream channels */
};

/* Returns NULL without memory. Free it with tap_names_free(). */
struct tap_names *tap_names_create(const struct served_group *g);
void tap_names_free(struct tap_names *n);

/* Return the index, or TAP_NONE where the group has no such object. */
uint32_t tap_names_modem(const struct tap_names *n, const uint8_t mac[6]);
uint32_t tap_names_down_flow(const struct tap_names *n, uint32_t sfid);
uint32_t tap_names_up_flow(const struct tap_names *n, uint32_t sfid);

/* Whether a session of the group, in either direction, has this ID. */
bool tap_group_has_session(const struct served_group *g, uint32_t session);
