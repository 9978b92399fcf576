/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/scheduler_methods.h"

#include "model/units.h"
#include "scheduler/report.h"
#include "telemetry/report_scheduler.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
#define REAL_KEY(key, text)                                                                \
	{.name = (key), .required = true, .kind = KIND_REAL, .example = "0", HELP(text)}
#define ID_KEY(text)                                                                       \
	{.name = "id", .required = true, INTEGER(1, KEYS_MAX_ID), .example = "1", HELP(text)}
#define PRIORITY_KEY                                                                       \
	{.name = "priority", .required = true, INTEGER(0, SCHEDULER_PRIORITIES - 1), .example = "0",  \
	 HELP("traffic priority of service flows; 7 is the highest")}

const struct key scheduler_get_params[] = {
	GROUP_KEY(struct scheduler_get_params, group),
	{.name = "flows", BOOL, AT(struct scheduler_get_params, flows), .fallback = "true",
	 HELP("include service flows with drops; takes longer, because all flows are checked")},
	{0},
};

static const struct key delay_keys[] = {
	PRIORITY_KEY,
	COUNTED_KEY("packets", "packets dequeued"),
	REAL_KEY("mean_us", "mean delay in the queues"),
	REAL_KEY("p50_us", "median delay"),
	REAL_KEY("p99_us", "99th percentile of the delay"),
	REAL_KEY("p99_9_us", "99.9th percentile of the delay"),
	{.name = "histogram", .required = true, .kind = KIND_LIST, .max = SCHEDULER_DELAY_BUCKETS,
	 .item = &bucket_item, HELP("non-empty buckets of the histogram")},
	{0},
};
static const struct key delay_item = {
	.kind = KIND_MAP, .keys = delay_keys, HELP("a priority with dequeued packets"),
};
static const struct key channel_keys[] = {
	ID_KEY("ID of the channel"),
	COUNTED_KEY("rate", "bits per second"),
	COUNTED_KEY("packets", "packets sent"),
	COUNTED_KEY("bytes", "bytes sent, with all overhead that counts against the rate"),
	REAL_KEY("utilisation", "utilisation since the start"),
	{0},
};
static const struct key channel_item = {
	.kind = KIND_MAP, .keys = channel_keys, HELP("a downstream channel"),
};
static const struct key bonding_keys[] = {
	ID_KEY("ID of the bonding group"),
	COUNTED_KEY("channels", "number of its channels"),
	COUNTED_KEY("packets", "packets sent"),
	REAL_KEY("early_share", "share of packets that arrive before an earlier one on "
				"another channel"),
	REAL_KEY("mean_skew_us", "mean time that modems keep early packets to restore the order"),
	REAL_KEY("max_skew_us", "longest time that modems keep an early packet"),
	{0},
};
static const struct key bonding_item = {
	.kind = KIND_MAP, .keys = bonding_keys, HELP("a downstream bonding group"),
};
static const struct key drop_item = {
	INTEGER(0, INT64_MAX), .example = "0", HELP("packets dropped for this reason"),
};
#define FLOW_KEYS                                                                           \
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX), .example = "1",            \
	 HELP("service flow ID")},                                                          \
	PRIORITY_KEY, COUNTED_KEY("packets", "packets "                                           \
					     "dequeued"), COUNTED_KEY("bytes", "bytes dequeued, with CRC"),       \
	{.name = "drops", .required = true, .kind = KIND_MAP, .item = &drop_item,           \
	 HELP("drops by reason; only reasons that occurred")},                                    \
	COUNTED_KEY("waiting_packets", "packets queued now"), COUNTED_KEY("waiting_bytes", "bytes queued now, with CRC")
static const struct key flow_keys[] = {FLOW_KEYS, {0}};
static const struct key flow_item = {
	.kind = KIND_MAP, .keys = flow_keys, HELP("a downstream service flow"),
};

const struct key scheduler_get_result[] = {
	{.name = "delay", .required = true, .kind = KIND_LIST, .max = SCHEDULER_PRIORITIES,
	 .item = &delay_item, HELP("delays by traffic priority, the highest first")},
	{.name = "channels", .required = true, .kind = KIND_LIST, .max = SG_MAX_CHANNELS,
	 .item = &channel_item, HELP("downstream channels")},
	{.name = "bonding_groups", .required = true, .kind = KIND_LIST, .max = KEYS_MAX_ID,
	 .item = &bonding_item, HELP("downstream bonding groups")},
	{.name = "service_flows", .kind = KIND_LIST,
	 .max = (uint64_t)SG_MAX_MODEMS * SG_MAX_MODEM_FLOWS,
	 .item = &flow_item, HELP("service flows with drops, if requested")},
	{0},
};

#define REPORTED_FLOW_KEYS                                                                     \
	FLOW_KEYS, {.name = "bonding_group", .required = true, INTEGER(1, KEYS_MAX_ID), .example = "1", \
		    HELP("ID of its bonding group")},                                  \
	COUNTED_KEY("max_sustained_rate", "bits per second; 0: no limit"),                        \
	{.name = "aqm", .required = true, ENUM(aqm_choices), .example = "docsis-pie",             \
	 HELP("active queue management")},                                         \
	{.name = "drop_probability", .kind = KIND_REAL, .example = "0", HELP("current drop "      \
									     "probability "       \
									     "of DOCSIS-PIE")}
const struct key flow_get_params[] = {
	GROUP_KEY(struct flow_get_params, group),
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX), AT(struct flow_get_params, id),
	 .example = "1", HELP("service flow ID")},
	{0},
};
const struct key flow_get_result[] = {
	{.name = "modem", .required = true, .kind = KIND_MAC, .example = "02:01:00:00:00:01",
	 HELP("MAC address of its modem")},
	REPORTED_FLOW_KEYS,
	{0},
};

static const struct key reported_flow_keys[] = {REPORTED_FLOW_KEYS, {0}};
static const struct key reported_flow_item = {
	.kind = KIND_MAP, .keys = reported_flow_keys, HELP("a downstream service flow"),
};
const struct key modem_flows_params[] = {
	GROUP_KEY(struct modem_flows_params, group),
	{.name = "mac", .required = true, .kind = KIND_MAC, AT(struct modem_flows_params, mac),
	 .example = "02:01:00:00:00:01", HELP("MAC address of the modem")},
	{0},
};
const struct key modem_flows_result[] = {
	COUNTED_KEY("max_aggregate_rate", "aggregate rate limit in bits per second; 0: no limit"),
	{.name = "service_flows", .required = true, .kind = KIND_LIST, .max = SG_MAX_MODEM_FLOWS,
	 .item = &reported_flow_item, HELP("downstream service flows of the modem")},
	{0},
};
/* clang-format on */

json_t *scheduler_get(struct rpc_call *call) {
	const struct scheduler_get_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);

	if (g == NULL)
		return NULL;
	return report_scheduler_json(g, p->flows ? REPORT_LOSING_FLOWS : REPORT_NO_FLOWS);
}

/* Report and settings of flow `f` of modem `m`, both by index. */
static json_t *reported_flow(const struct served_group *g, size_t m, size_t f) {
	const struct service_flow *flow = &g->sg->modems[m].service_flows[f];
	struct scheduler_flow_report r;
	json_t *json;

	scheduler_report_flow(g->downstream->upper.scheduler, ds_flow_number(g->downstream, m, f),
			      &r);
	json = report_flow_json(flow, &r);
	json_object_set_new(json, "bonding_group",
			    json_integer(g->sg->bonding_groups[flow->bonding_group].id));
	json_object_set_new(json, "max_sustained_rate",
			    json_integer((json_int_t)flow->sustained_rate));
	json_object_set_new(json, "aqm", json_string(choice_name(aqm_choices, flow->aqm)));
	if (flow->aqm == AQM_DOCSIS_PIE)
		json_object_set_new(json, "drop_probability",
				    json_real((double)r.drop_probability / UINT32_MAX));
	return json;
}

json_t *flow_get(struct rpc_call *call) {
	const struct flow_get_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);

	for (size_t m = 0; g != NULL && m < g->sg->modem_count; m++) {
		const struct modem *modem = &g->sg->modems[m];
		char mac[UNITS_TEXT_SIZE];
		json_t *json;

		for (size_t f = 0; f < modem->service_flow_count; f++) {
			if (modem->service_flows[f].id != p->id)
				continue;
			units_format_mac(modem->mac, mac);
			json = reported_flow(g, m, f);
			json_object_set_new(json, "modem", json_string(mac));
			return json;
		}
	}
	return g == NULL ? NULL
			 : rpc_refuse(call, RPC_REFUSED,
				      "id: no downstream service flow of the group has this ID");
}

json_t *modem_flows(struct rpc_call *call) {
	const struct modem_flows_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	const struct modem *modem = g != NULL ? subject_modem(call, g, p->mac) : NULL;
	json_t *list;

	if (modem == NULL)
		return NULL;
	list = json_array();
	for (size_t f = 0; f < modem->service_flow_count; f++)
		json_array_append_new(list, reported_flow(g, (size_t)(modem - g->sg->modems), f));
	return json_pack("{s:I, s:o}", "max_aggregate_rate", (json_int_t)modem->aggregate_rate,
			 "service_flows", list);
}
