/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be unique in a service group, object by object. */
#pragma once

#include "model/live/live_group.h"

enum identity_kind {
	IDENTITY_CHANNEL = 1, /* 0 is no key */
	IDENTITY_UPSTREAM_CHANNEL,
	IDENTITY_BONDING_GROUP,
	IDENTITY_FILTER_GROUP,
	IDENTITY_MAC,
	IDENTITY_ADDRESS,
	IDENTITY_FLOW, /* service flow IDs, downstream and upstream */
	IDENTITY_DSID,
	IDENTITY_SID, /* on a channel */
	IDENTITY_SESSION, /* downstream, of a channel */
	IDENTITY_MAP_SESSION, /* downstream, of an upstream channel: none that a channel has */
	IDENTITY_UPSTREAM_SESSION,
	IDENTITY_SAID, /* not unique: a list of modems */
};

/* As a key of a table: the first word alone, or both for an IPv6 address. */
struct identity {
	enum identity_kind kind;
	uint64_t word[2];
	bool wide; /* both words count */
	/* Where the object has it, to be said: "service_flows[%u].id" */
	const char *format;
	uint32_t index[3];
};

/* Returns whether to go on. */
typedef bool identity_visit(void *context, const struct identity *identity);

/* Shows all that an object has, but its SAID; references in it are places. False where a visit said so. */
bool identity_each(enum live_object object, const void *item, identity_visit *visit, void *context);

struct identity identity_of_id(enum live_object object, uint32_t id);
struct identity identity_of_mac(const uint8_t mac[6]);
struct identity identity_of_said(uint16_t said);

/* What a file knows the object by. */
struct identity identity_of(enum live_object object, const void *item);

/* Sessions of channels and of MAPs are of one range: the same one as the other kind has it, and whose that is. False:
 * there is no other kind. */
bool identity_twin(const struct identity *identity, struct identity *twin, enum live_object *owner);

/* The value, for people: "10.0.0.1", "7", "0x00010001". */
void identity_text(const struct identity *identity, char *text, size_t size);
