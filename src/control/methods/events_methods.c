/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/events_methods.h"

#include "control/methods/subject.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
static const struct key event_group_item = {
	INTEGER(1, SUBJECT_MAX_GROUP), .size = sizeof(uint32_t), .example = "1",
	HELP("ID of a service group, which may be added later"),
};
const struct key events_subscribe_params[] = {
	{.name = "keys", BOOL, AT(struct events_params, keys), .fallback = "false",
	 HELP("include the traffic encryption keys of modems")},
	{.name = "groups",
	 LIST_OF(struct events_params, groups, group_count, &event_group_item), .min = 1,
	 .max = SERVER_MAX_GROUPS,
	 HELP("service groups whose events are sent (default: all)")},
	{0},
};
const struct key events_subscribe_result[] = {
	{.name = "sequence", .required = true, INTEGER(1, INT64_MAX), .example = "41",
	 HELP("number of the next event, the first that this subscription can receive")},
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "11",
	 HELP("number of changes since the server's start")},
	{0},
};
/* clang-format on */

json_t *events_subscribe(struct rpc_call *call) {
	const struct events_params *p = call->params;
	const struct methods *m = call->service;
	json_t *result;

	if (m->events.journal == NULL || call->subscriber == NULL)
		return rpc_refuse(call, RPC_REFUSED,
				  "events: found a call without a connection, allowed: a "
				  "connection to the control socket");
	result = json_pack("{s:I, s:I}", "sequence",
			   (json_int_t)event_journal_next(m->events.journal), "generation",
			   (json_int_t)m->server->generation);
	if (result == NULL)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	call->changed = event_journal_subscribe(m->events.journal, call->subscriber, p->keys,
						p->groups, p->group_count);
	if (call->changed)
		return result;
	json_decref(result);
	return rpc_refuse(call, RPC_REFUSED,
			  "events: found %d subscribers, or no memory left, allowed: up to %d "
			  "subscribers",
			  EVENT_SUBSCRIBERS_MAX, EVENT_SUBSCRIBERS_MAX);
}
