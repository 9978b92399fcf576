/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports packets that vcmtsd must drop, by the drop reason that must count them. */
#include "summary/summary_refused.h"

static void reason_add(json_t *reason, const char *key, uint64_t count) {
	json_int_t before = json_integer_value(json_object_get(reason, key));

	json_object_set_new(reason, key, json_integer(before + (json_int_t)count));
}

json_t *summary_refused(const struct refused_counts *c) {
	json_t *reasons = json_object();

	for (int i = 0; i < 2 * REFUSED_KINDS; i++) {
		enum refused_kind kind = (enum refused_kind)(i % REFUSED_KINDS);
		int shared = i / REFUSED_KINDS;
		const char *name = refused_reason(kind, shared);
		json_t *reason;

		if (c->packets[shared][kind] == 0)
			continue;
		if (json_object_get(reasons, name) == NULL)
			json_object_set_new(reasons, name, json_object());
		reason = json_object_get(reasons, name);
		reason_add(reason, "packets", c->packets[shared][kind]);
		reason_add(reason, "bytes", c->bytes[shared][kind]);
		reason_add(reason, "ipv4", c->ipv4[shared][kind]);
		reason_add(reason, "ipv6", c->ipv6[shared][kind]);
	}
	return reasons;
}
