/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of each object that must be unique in a service group. */
#pragma once

#include "model/live/live_group.h"

enum identity_kind {
	IDENTITY_CHANNEL = 1, /* 0 marks an empty entry of a table */
	IDENTITY_UPSTREAM_CHANNEL,
	IDENTITY_BONDING_GROUP,
	IDENTITY_FILTER_GROUP,
	IDENTITY_MAC,
	IDENTITY_ADDRESS,
	IDENTITY_FLOW, /* service flow IDs, downstream and upstream */
	IDENTITY_DSID,
	IDENTITY_SID, /* per channel */
	IDENTITY_SESSION, /* downstream, of a channel */
	/* downstream, of an upstream channel; must differ from sessions of channels, too */
	IDENTITY_MAP_SESSION,
	IDENTITY_UPSTREAM_SESSION,
	IDENTITY_SAID, /* not unique: a list of modems */
};

/* Keys of a table use the first word; those of an IPv6 address use both. */
struct identity {
	enum identity_kind kind;
	uint64_t word[2];
	bool wide; /* both words count */
	/* The path of the value in the object, for messages: "service_flows[%u].id" */
	const char *format;
	uint32_t index[3];
};

/* Returns false to end the iteration. */
typedef bool identity_visit(void *context, const struct identity *identity);

/* Visits all unique values of an object; references in it are slots. A SAID is not unique, so it is
 * not visited. Returns false if a visit returned false. */
bool identity_each(enum live_object object, const void *item, identity_visit *visit, void *context);

struct identity identity_of_id(enum live_object object, uint32_t id);
struct identity identity_of_mac(const uint8_t mac[6]);
struct identity identity_of_said(uint16_t said);

/* The value by which a file names the object. */
struct identity identity_of(enum live_object object, const void *item);

/* Sessions of channels and MAP sessions share one number range. Returns the value with the other of
 * these kinds, and the kind of object that owns it. Returns false for values of all other kinds. */
bool identity_counterpart(const struct identity *identity, struct identity *counterpart,
			  enum live_object *owner);

/* Writes the value, for people: "10.0.0.1", "7", "0x00010001". */
void identity_text(const struct identity *identity, char *text, size_t size);
