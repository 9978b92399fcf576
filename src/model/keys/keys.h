/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of all keys of a service group and of a server. The reader fills structs by these
 * tables, and the JSON Schema is made from them; a new key is a new entry in one of keys*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"

/*
 * How a value is written, and the type of its field. The field of a number or choice is an
 * unsigned integer of `size` bytes, in bits per second, nanoseconds or bytes for a rate, duration or size. A
 * text is a char * in the reader's arena.
 */
enum kind {
	KIND_BOOL,
	KIND_INTEGER,
	KIND_SIZE,
	KIND_RATE,
	KIND_RATE_OR_NONE, /* "none" stores nothing, so the field must be 0 */
	KIND_DURATION,
	KIND_ENUM, /* a value of `choices` */
	KIND_NAME, /* text */
	KIND_DEVICE, /* text */
	KIND_MAC, /* uint8_t[6] */
	KIND_ADDRESS, /* struct ip_address */
	KIND_PREFIX, /* struct ip_prefix */
	KIND_PORTS, /* struct port_range */
	KIND_HOURS, /* struct hours */
	KIND_ENDPOINT, /* text: an address and a port to listen at */
	KIND_PROTOCOL, /* uint8_t */
	KIND_TOS, /* fills two bytes: value, mask */
	KIND_HEX, /* bytes */
	KIND_PATH, /* text: path of another file */
	KIND_TEXT, /* one line; in responses only, without a field */
	KIND_REAL, /* a number; in responses only, without a field */
	KIND_JSON, /* a map; the reader stores nothing, as the method reads it from the request */
	/* numbers and ranges in one text, or a list of such texts; stored like a list of
	 * uint16_t */
	KIND_CORES,
	KIND_LIST,
	KIND_MAP,
};

struct choice {
	const char *name; /* NULL ends the list */
	unsigned int value;
};

/* NULL if none has the value. */
const char *choice_name(const struct choice *choice, unsigned value);

struct key {
	const char *name; /* NULL ends the table */
	enum kind kind;
	bool required;
	/* of a map: it stays zero if absent; any other absent map gets the defaults of its keys */
	bool optional;
	/* a map that is merged key by key from item, own file and server file; any other counts as a
	 * whole; see model/server/merge.h */
	bool merged;
	/* KIND_HEX: messages state only its length and the position of an error, and never quote
	 * it */
	bool secret;
	/* a list inside the struct with at most `max` items; the field of other lists is a
	 * pointer */
	bool fixed;
	size_t offset; /* in the struct that the table describes */
	size_t size; /* of the field; of one item of a list */
	/* Offset of a size_t: the number of items of a list, or of bytes of a KIND_HEX with `choices`. 0 for a
	 * KIND_HEX: its length is not stored. */
	size_t count;
	/* offset of a bool that is set when the key is given; 0: none, so the bool is never the first
	 * member */
	size_t flag;
	/* the default as text; NULL: the field stays zero, or a map gets the defaults of its
	 * keys */
	const char *fallback;
	uint64_t min, max; /* of a number, in its unit; of the length of a list */
	/* of KIND_HEX: the name is the number of digits, the value the number of bytes */
	const struct choice *choices;
	const struct key *keys; /* of a map; NULL if any name is allowed: in responses only */
	/* describes the items of a list, with offset 0; or each value of a map without keys */
	const struct key *item;
	const char *help;
	const char *example; /* shown in the schema */
	/* In responses about an object in service: */
	bool derived; /* a default follows from other keys, so responses always have it */
	/* responses have it only if the values of other keys give it a meaning */
	bool conditional;
};

/* Keys of the top of the file, read into struct service_group. */
extern const struct key service_group_keys[];

/* Keys of an item of `modems`, read into struct modem. */
extern const struct key modem_keys[];

/* The key that an item of `service_groups` has in addition to those of a group: the name of its
 * file, read into a char *. */
extern const struct key group_file_key;

/* Keys of a server only: its name, read into a char *, and its capacity of service groups, a uint32_t. */
extern const struct key server_name_key;
extern const struct key server_max_groups_key;

/* Other keys of a server, also allowed at the top of a file of one group: read into a struct
 * power_config, and into a char *. */
extern const struct key server_power_key;
extern const struct key server_metrics_key;
extern const struct key server_needs_version_key;
extern const struct key power_keys[];
extern const struct choice idle_kinds[], power_policies[], aqm_choices[];

/* The list of groups at the top of a server file, in the schema; its items have a group's keys. */
extern const struct key server_groups_key;

/* Capacity of a table with its terminator. At most 64, as the reader marks given keys in a 64-bit word. */
#define KEYS_MAX 40

/* These three functions write a table and its terminator to an array of KEYS_MAX keys. This one: the keys of an
 * item of `service_groups`. */
void keys_of_item(struct key *table);

/* The keys of a group that a server file may give for all groups, beside the list. */
void keys_of_all_groups(struct key *table);

/* The keys at the top of a server file: its own, and those for all groups. */
void keys_of_server(struct key *table);

#define KEYS_MAX_CORE 1023

/* IDs of channels, bonding groups and filter groups are small, so that an array maps them to
 * indices. */
#define KEYS_MAX_ID 65535

#define KEYS_MAX_GROUPS 1024 /* bonding or filter groups per service group */

/* Bytes: more than 10 ms at the highest rate. */
#define KEYS_MAX_BURST 2000000000

/* The ciphers by name, and the lengths of their keys and initialisation vectors. */
extern const struct choice cipher_choices[];
extern const struct choice cipher_key_lengths[];
extern const struct choice cipher_iv_lengths[];
const char *cipher_name(enum cipher cipher);

/* Describes the allowed values, for people: `a rate such as "1.89 Gbps", 1 kbps to 1 Tbps`. */
void key_describe(const struct key *key, char *text, size_t size);

/* Describes a text of `length` bytes that the key does not allow; for a secret, only its length and the position of
 * the error. */
void key_describe_found(const struct key *key, const char *text, size_t length, char *found,
			size_t size);

/* Whether a key of the table itself, not of a map in it, is secret. Then an unknown key or value may be a
 * misplaced secret. */
bool keys_have_secrets(const struct key *keys);

/* Writes the names of a table, separated by commas. */
void keys_list(const struct key *keys, char *text, size_t size);

/* The name of the key that a mistyped name may mean, or NULL. */
const char *keys_nearest(const struct key *keys, const char *name);

/* A regular expression (ECMA 262) that every valid text of this kind matches, and some invalid ones; NULL: the
 * kind has none. */
const char *kind_pattern(enum kind kind);
