/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of a service group: counters, drops and configured objects. */
#include "downstream/cpe.h"
#include "model/keys/keys.h"
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { GROUP_MODEMS, GROUP_ACTIVE_MODEMS, GROUP_ACTIVE_ADDRESSES, GROUP_FLOWS, GROUP_QUEUED };
enum { UNITS_IN, UNITS_OUT };

void collect_down_counter(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++)
		walk_put(w, entry, w->groups[g].down.values[entry->which], LABELS(w->groups[g].id));
}

void collect_up_counter(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		if (w->groups[g].served->upstream != NULL)
			walk_put(w, entry, w->groups[g].up.values[entry->which],
				 LABELS(w->groups[g].id));
	}
}

static void collect_down_drops(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
			if (drop_in(r, DIRECTION_DOWN))
				walk_put(w, entry, w->groups[g].down.drops[r],
					 LABELS(w->groups[g].id, drop_name(r)));
		}
	}
}

static void collect_up_drops(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		if (w->groups[g].served->upstream == NULL)
			continue;
		for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
			if (drop_in(r, DIRECTION_UP))
				walk_put(w, entry, w->groups[g].up.drops[r],
					 LABELS(w->groups[g].id, drop_name(r),
						unit_name(drop_unit(r))));
		}
	}
}

static void collect_down_pending(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++)
		walk_put(w, entry, downstream_pending(w->groups[g].served->downstream),
			 LABELS(w->groups[g].id));
}

/* Counters are not read atomically, so their difference may be negative. */
static uint64_t not_below_zero(uint64_t value) {
	return (int64_t)value < 0 ? 0 : value;
}

static void collect_up_pending(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct upstream *u = w->groups[g].served->upstream;

		for (enum unit unit = 0; u != NULL && unit < UNITS; unit++)
			walk_put(w, entry, not_below_zero(upstream_pending(u, unit)),
				 LABELS(w->groups[g].id, unit_name(unit)));
	}
}

static void collect_up_units(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct upstream *u = w->groups[g].served->upstream;

		for (enum unit unit = 0; u != NULL && unit < UNITS; unit++)
			walk_put(w, entry,
				 entry->which == UNITS_IN ? upstream_in(u, unit)
							  : upstream_out(u, unit),
				 LABELS(w->groups[g].id, unit_name(unit)));
	}
}

static void collect_requests(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct upstream *u = w->groups[g].served->upstream;

		for (enum us_request_kind k = 0; u != NULL && k < REQUEST_KINDS; k++)
			walk_put(w, entry, u->requests.sink.by_kind[k],
				 LABELS(w->groups[g].id, us_request_name(k)));
	}
}

static void collect_group_info(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++)
		walk_put(w, entry, 1, LABELS(w->groups[g].id, w->groups[g].served->sg->name));
}

static uint64_t flows_of(const struct service_group *sg) {
	uint64_t flows = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		flows += sg->modems[m].service_flow_count;
	return flows;
}

static void collect_group(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned i = 0; i < w->group_count; i++) {
		const struct served_group *g = w->groups[i].served;
		uint64_t value = 0;

		switch (entry->which) {
		case GROUP_MODEMS: value = g->live.modems; break;
		case GROUP_ACTIVE_MODEMS: value = cpe_activity(&g->downstream->upper).modems; break;
		case GROUP_ACTIVE_ADDRESSES:
			value = cpe_activity(&g->downstream->upper).addresses;
			break;
		case GROUP_FLOWS: value = flows_of(g->sg); break;
		case GROUP_QUEUED: value = scheduler_queued(g->downstream->upper.scheduler); break;
		}
		walk_put(w, entry, value, LABELS(w->groups[i].id));
	}
}

static void collect_cipher_modems(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct service_group *sg = w->groups[g].served->sg;
		const char *provider = crypto_provider_name(&sg->crypto);
		uint64_t modems[CIPHERS] = {0};

		for (size_t m = 0; m < sg->modem_count; m++)
			modems[sg->modems[m].security.cipher] += modem_exists(&sg->modems[m]);
		for (enum cipher c = CIPHER_NONE; c < CIPHERS; c++)
			walk_put(w, entry, modems[c],
				 LABELS(w->groups[g].id, cipher_name(c), provider));
	}
}

static void collect_key_rolls(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;

		walk_put(w, entry, served->key_rolls[CRYPTO_DOWNLINK],
			 LABELS(w->groups[g].id, "downstream"));
		if (served->upstream != NULL)
			walk_put(w, entry, served->key_rolls[CRYPTO_UPLINK],
				 LABELS(w->groups[g].id, "upstream"));
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_service_group_info", GAUGE, "", OF_GROUP, LABELLED("service_group", "name"),
	       collect_group_info, 0, "service groups in service: always 1"),
	METRIC("vcmts_service_group_modems", GAUGE, "modems", OF_GROUP, LABELLED("service_group"),
	       collect_group, GROUP_MODEMS, "cable modems that are configured"),
	METRIC("vcmts_service_group_active_modems", GAUGE, "modems", OF_GROUP,
	       LABELLED("service_group"), collect_group, GROUP_ACTIVE_MODEMS,
	       "modems with packets to one of their addresses in this period of cpe_timeout "
	       "or the one before"),
	METRIC("vcmts_service_group_active_addresses", GAUGE, "addresses", OF_GROUP,
	       LABELLED("service_group"), collect_group, GROUP_ACTIVE_ADDRESSES,
	       "active addresses of all modems: those with packets in this period of cpe_timeout "
	       "or the one before"),
	METRIC("vcmts_key_rolls_total", COUNTER, "", OF_GROUP,
	       LABELLED("service_group", "direction"), collect_key_rolls, 0,
	       "traffic encryption keys replaced, of all modems"),
	METRIC("vcmts_service_group_service_flows", GAUGE, "service_flows", OF_GROUP,
	       LABELLED("service_group"), collect_group, GROUP_FLOWS,
	       "downstream service flows that are configured"),
	METRIC("vcmts_service_group_cipher_modems", GAUGE, "modems", OF_GROUP,
	       LABELLED("service_group", "cipher", "provider"), collect_cipher_modems, 0,
	       "modems by cipher of their security association and crypto provider"),
	METRIC("vcmts_downstream_dropped_packets_total", COUNTER, "packets", OF_GROUP,
	       LABELLED("service_group", "reason"), collect_down_drops, 0,
	       "packets dropped downstream, by reason"),
	METRIC("vcmts_downstream_held_packets", GAUGE, "packets", OF_GROUP,
	       LABELLED("service_group"), collect_down_pending, 0,
	       "packets pending downstream: in queues, rings, the crypto provider, open DEPI "
	       "frames"),
	METRIC("vcmts_downstream_queued_packets", GAUGE, "packets", OF_GROUP,
	       LABELLED("service_group"), collect_group, GROUP_QUEUED,
	       "packets in the queues of service flows"),
	METRIC("vcmts_upstream_dropped_total", COUNTER, "", OF_GROUP,
	       LABELLED("service_group", "reason", "unit"), collect_up_drops, 0,
	       "units dropped upstream, by reason"),
	METRIC("vcmts_upstream_held", GAUGE, "", OF_GROUP, LABELLED("service_group", "unit"),
	       collect_up_pending, 0,
	       "units pending upstream, in stages or waiting for "
	       "missing parts"),
	METRIC("vcmts_upstream_units_in_total", COUNTER, "", OF_GROUP,
	       LABELLED("service_group", "unit"), collect_up_units, UNITS_IN,
	       "units received: the sum of those forwarded, dropped and pending"),
	METRIC("vcmts_upstream_units_out_total", COUNTER, "", OF_GROUP,
	       LABELLED("service_group", "unit"), collect_up_units, UNITS_OUT,
	       "units forwarded: transmitted, or joined to the next unit"),
	METRIC("vcmts_requests_total", COUNTER, "requests", OF_GROUP,
	       LABELLED("service_group", "kind"), collect_requests, 0,
	       "bandwidth requests of modems that the upstream scheduler received, by kind"),
};
const struct metric_entries group_metrics = METRIC_ENTRIES(entries);
