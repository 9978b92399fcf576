/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events for subscribers: notifications in their order, each kept until all subscribers have taken it or memory for
 * them is used up (docs/control.md, events). A subscriber is a cursor in it, so that no one is waited for.
 *
 * Events come in series: one that begins, further ones, and one that ends it; or an event stands alone. Whoever missed
 * some goes on where a series begins.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define EVENT_SUBSCRIBERS_MAX 16
#define EVENT_BYTES_MAX (32u << 20) /* of texts that wait */
#define EVENT_COUNT_MAX 65536 /* events that wait; a power of two */
/* bytes that a subscriber takes at a time, but for an event that is larger */
#define EVENT_TAKE_MAX 65536

/* Zeroed: not subscribed. */
struct event_subscriber {
	bool on;
	bool keys; /* it gets texts with key material */
	uint32_t *groups; /* ids of the service groups whose events it gets */
	size_t group_count; /* 0: of all */
	uint64_t next; /* number of the first event that it has not been given */
	struct event_subscriber *behind;
};

enum event_place {
	EVENT_BEGINS,
	EVENT_INSIDE,
	EVENT_ENDS,
	EVENT_ALONE,
};

/* An event to be added. */
struct event {
	enum event_place place;
	const uint32_t *groups; /* whose it is */
	size_t group_count; /* 0: of all */
	/* Members besides the sequence number, objects that event_journal_add() takes over. `keys` is the same with key
	 * material, NULL where there is no difference. What nobody wants need not be there. */
	json_t *plain, *keys;
};

struct event_journal;

/* NULL: no memory. */
struct event_journal *event_journal_create(void);
void event_journal_free(struct event_journal *j);

/* `flush` is to give subscribers what they have not got, as far as they take it without being waited for. */
void event_journal_on_flush(struct event_journal *j, void (*flush)(void *arg), void *arg);

/*
 * Subscribes, or replaces what the subscriber asked for before; `groups` are copied. Events from now on are its.
 * Returns false where there are too many or no memory. `s` must live on until event_journal_leave().
 */
bool event_journal_join(struct event_journal *j, struct event_subscriber *s, bool keys,
			const uint32_t *groups, size_t group_count);

/* Harmless on one that is not subscribed. */
void event_journal_leave(struct event_journal *j, struct event_subscriber *s);

/* Whether a subscriber wants texts with key material, or without. */
bool event_journal_wants(const struct event_journal *j, bool keys);

/* Number of the event that comes next. */
uint64_t event_journal_next(const struct event_journal *j);

/* Adds an event. What cannot be added for want of memory is missed by all subscribers. */
void event_journal_add(struct event_journal *j, const struct event *e);

/* Something happened that is told to nobody: uses up a number, so that whoever compares numbers sees it. */
void event_journal_skip(struct event_journal *j);

/* Has subscribers given what is there, and forgets what all have. */
void event_journal_flush(struct event_journal *j);

/* Whether there may be something for the subscriber. */
bool event_journal_has(const struct event_journal *j, const struct event_subscriber *s);

/*
 * The next lines for a subscriber, which the caller frees, and wipes where `keys` says so. NULL: there are none
 * at this time, or no memory.
 */
char *event_journal_take(const struct event_journal *j, struct event_subscriber *s, size_t *size);
