/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/key_methods.h"

#include <stdio.h>

#include "platform/log/log.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
#define SAID_KEY                                                                            \
	{.name = "said", .required = true, INTEGER(1, SG_MAX_SAID),                         \
	 AT(struct key_params, said), .example = "1", HELP("security association ID")}

const struct key key_install_params[] = {
	GROUP_KEY(struct key_params, group),
	SAID_KEY,
	{.name = "key", .required = true, .kind = KIND_HEX, .secret = true,
	 AT(struct key_params, next.key),
	 COUNT(struct key_params, next.key_size), .choices = cipher_key_lengths,
	 .example = "000102030405060708090a0b0c0d0e0f",
	 HELP("the next traffic encryption key, of the length of the association's cipher")},
	{.name = "iv", .required = true, .kind = KIND_HEX, .secret = true,
	 AT(struct key_params, next.iv),
	 COUNT(struct key_params, next.iv_size), .choices = cipher_iv_lengths,
	 .example = "101112131415161718191a1b1c1d1e1f", HELP("initialisation vector of the next key")},
	{0},
};

const struct key key_params[] = {
	GROUP_KEY(struct key_params, group),
	SAID_KEY,
	{0},
};
/* clang-format on */

/* Builds the changes of one step of a key roll, see key_roll.h. */
typedef bool key_step(const struct live_group *l, const struct key_params *p,
		      struct live_changes *changes, char why[LIVE_LINE]);

static bool install(const struct live_group *l, const struct key_params *p,
		    struct live_changes *changes, char why[LIVE_LINE]) {
	return live_key_install(l, p->said, &p->next, changes, why);
}

static bool use(const struct live_group *l, const struct key_params *p,
		struct live_changes *changes, char why[LIVE_LINE]) {
	return live_key_use(l, p->said, changes, why);
}

static bool forget_old(const struct live_group *l, const struct key_params *p,
		       struct live_changes *changes, char why[LIVE_LINE]) {
	return live_key_remove(l, p->said, changes, why);
}

/* `which` key, and what was done with it. */
static json_t *roll(struct rpc_call *call, key_step *step, const char *which, const char *done) {
	const struct key_params *p = call->params;
	struct served_group *g = subject_group(call, &p->group);
	struct live_changes changes;
	char why[LIVE_LINE], summary[64];
	json_t *result;

	if (g == NULL)
		return NULL;
	if (!step(&g->live, p, &changes, why))
		return subject_refuse_change(call, why);
	snprintf(summary, sizeof(summary), "%s of association %u %s", which, p->said, done);
	result = object_change(call, g, &changes, summary);
	if (result != NULL)
		log_debug("key",
			  LOG_FIELDS(LOG_NUMBER("service_group", g->sg->id),
				     LOG_NUMBER("said", p->said)),
			  "service group %u: %s", g->sg->id, summary);
	return result;
}

json_t *key_install(struct rpc_call *call) {
	return roll(call, install, "key", "installed");
}

json_t *key_use(struct rpc_call *call) {
	return roll(call, use, "next key", "is in use");
}

json_t *key_remove(struct rpc_call *call) {
	return roll(call, forget_old, "old key", "removed");
}
