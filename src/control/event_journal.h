/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event notifications for subscribers, in order. Each is kept until all subscribers have read it, or the
 * memory limit is reached (docs/control.md, events). A subscriber is a cursor, so that none delays the
 * server.
 *
 * Events form series: one that begins, further ones, and one that ends it; or an event stands alone. A
 * subscriber that missed events continues at the start of a series.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define EVENT_SUBSCRIBERS_MAX 16
#define EVENT_BYTES_MAX (32u << 20) /* bytes of kept texts */
#define EVENT_COUNT_MAX 65536 /* kept events; a power of two */
/* bytes that a subscriber reads at a time, unless one event is larger */
#define EVENT_READ_MAX 65536

/* Zeroed: not subscribed. */
struct event_subscriber {
	bool on;
	bool keys; /* receives texts with key material */
	uint32_t *groups; /* IDs of the service groups whose events it receives */
	size_t group_count; /* 0: all groups */
	uint64_t next; /* number of the first event that it has not read */
	struct event_subscriber *link;
};

enum event_position {
	EVENT_BEGINS,
	EVENT_INSIDE,
	EVENT_ENDS,
	EVENT_ALONE,
};

/* An event to add. */
struct event {
	enum event_position position;
	const uint32_t *groups; /* service groups that it concerns */
	size_t group_count; /* 0: all */
	/*
	 * Members of the notification without the sequence number; event_journal_add() takes
	 * ownership. `keys` has key material in addition; NULL: equal to `plain`. Either may be
	 * NULL if no subscriber wants it.
	 */
	json_t *plain, *keys;
};

struct event_journal;

/* Returns NULL without memory. */
struct event_journal *event_journal_create(void);
void event_journal_free(struct event_journal *j);

/* `flush` sends pending events to the subscribers without blocking. */
void event_journal_on_flush(struct event_journal *j, void (*flush)(void *arg), void *arg);

/*
 * Subscribes, or replaces an earlier subscription; copies `groups`. The subscriber receives later events.
 * Returns false with too many subscribers or without memory. `s` must stay valid until event_journal_unsubscribe().
 */
bool event_journal_subscribe(struct event_journal *j, struct event_subscriber *s, bool keys,
			     const uint32_t *groups, size_t group_count);

/* Does nothing if not subscribed. */
void event_journal_unsubscribe(struct event_journal *j, struct event_subscriber *s);

/* Whether a subscriber wants texts with key material; if `keys` is false, texts without it. */
bool event_journal_wants(const struct event_journal *j, bool keys);

/* The number of the next event. */
uint64_t event_journal_next(const struct event_journal *j);

/* Adds an event. If memory is short, all subscribers miss it. */
void event_journal_add(struct event_journal *j, const struct event *e);

/* Uses up the number of an event that no subscriber receives. Clients that compare numbers detect
 * the change. */
void event_journal_skip(struct event_journal *j);

/* Sends pending events to subscribers, and drops those that all have read. */
void event_journal_flush(struct event_journal *j);

/* Whether events may be pending for the subscriber. */
bool event_journal_has(const struct event_journal *j, const struct event_subscriber *s);

/* The next lines for a subscriber. The caller frees them; if `keys` of the subscriber is set, it
 * wipes them first. Returns NULL if no lines are pending or memory is short. */
char *event_journal_read(const struct event_journal *j, struct event_subscriber *s, size_t *size);
