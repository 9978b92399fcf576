/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/power_methods.h"

#include "control/rpc.h"
#include "server/running.h"

#define NS_PER_US UINT64_C(1000)
#define HZ_PER_KHZ UINT64_C(1000)
#define LATENCY_MAX_US 1000000
#define PAUSE_MAX_US 10000
#define COALESCE_MAX_US 1000
#define TRANSITION_MAX_US 10000
#define EMPTY_ROUNDS_MAX 1000000

/* One entry per key, laid out as a table. */
/* clang-format off */
#define GIVEN(member) .flag = offsetof(struct power_params, member)

const struct key power_set_params[] = {
	{.name = "policy", ENUM(power_policies), AT(struct power_params, policy),
	 GIVEN(policy_given), .example = "saving",
	 HELP("frequency policy; absent keys stay unchanged")},
	{.name = "idle", ENUM(idle_kinds), AT(struct power_params, idle), GIVEN(idle_given),
	 .example = "auto", HELP("how idle workers wait")},
	{.name = "empty_rounds", INTEGER(1, EMPTY_ROUNDS_MAX), AT(struct power_params, empty_rounds),
	 GIVEN(empty_rounds_given), .example = "32", HELP("empty rounds before the first pause")},
	{.name = "longest_pause_us", INTEGER(1, PAUSE_MAX_US),
	 AT(struct power_params, longest_pause_us), GIVEN(longest_pause_given), .example = "20",
	 HELP("maximum length of a pause")},
	{.name = "coalesce_us", INTEGER(0, COALESCE_MAX_US), AT(struct power_params, coalesce_us),
	 GIVEN(coalesce_given), .example = "20",
	 HELP("time from the start of a round with few packets to that of the next one; 0: none")},
	{.name = "latency_us", INTEGER(1, LATENCY_MAX_US), AT(struct power_params, latency_us),
	 GIVEN(latency_given), .example = "100", HELP("latency that lower frequencies may add")},
	{.name = "transition_us", INTEGER(0, TRANSITION_MAX_US),
	 AT(struct power_params, transition_us), GIVEN(transition_given), .example = "50",
	 HELP("duration of a simulated frequency change")},
	{.name = "queues", BOOL, AT(struct power_params, queues), GIVEN(queues_given),
	 .example = "true",
	 HELP("whether a growing queue raises its core to the maximum at once; false: ignore "
	      "queues, for comparison")},
	{0},
};

static const struct key worker_item = {
	.kind = KIND_INTEGER, .min = 0, .max = PLATFORM_MAX_WORKERS, .example = "0",
	HELP("number of a worker"),
};
#define HERTZ_KEY(key, text)                                                                 \
	{.name = (key), .required = true, INTEGER(0, INT64_MAX), .example = "1800000000",    \
	 HELP(text)}
static const struct key core_keys[] = {
	{.name = "core", .required = true, INTEGER(0, KEYS_MAX_CORE), .example = "1",
	 HELP("number of the core")},
	{.name = "workers", .required = true, .kind = KIND_LIST, .max = PLATFORM_MAX_WORKERS,
	 .item = &worker_item, HELP("numbers of the workers on this core")},
	HERTZ_KEY("hertz", "frequency as read back from the driver; 0: not governed"),
	HERTZ_KEY("wished_hertz", "last requested frequency"),
	HERTZ_KEY("min_hertz", "lowest frequency that is requested"),
	HERTZ_KEY("max_hertz", "highest frequency that is requested"),
	{.name = "busy", .required = true, .kind = KIND_REAL, .example = "0.4",
	 HELP("share of time spent on packets in the last sample")},
	{0},
};
static const struct key core_item = {
	.kind = KIND_MAP, .keys = core_keys, HELP("the core of a worker"),
};

const struct key power_result[] = {
	{.name = "policy", .required = true, ENUM(power_policies), .example = "saving",
	 HELP("policy in effect; within busy hours, that of the busy hours")},
	{.name = "driver", .required = true, .kind = KIND_TEXT, .example = "cpufreq",
	 HELP("frequency driver: cpufreq, simulated or none")},
	{.name = "idle", .required = true, ENUM(idle_kinds), .example = "auto",
	 HELP("how idle workers wait, as requested")},
	{.name = "empty_rounds", .required = true, INTEGER(1, EMPTY_ROUNDS_MAX), .example = "32",
	 HELP("empty rounds before the first pause")},
	{.name = "longest_pause_us", .required = true, .kind = KIND_REAL, .example = "20",
	 HELP("maximum length of a pause")},
	{.name = "coalesce_us", .required = true, .kind = KIND_REAL, .example = "20",
	 HELP("time from the start of a round with few packets to that of the next one")},
	{.name = "latency_us", .required = true, .kind = KIND_REAL, .example = "100",
	 HELP("latency that lower frequencies may add")},
	{.name = "look_us", .required = true, .kind = KIND_REAL, .example = "144",
	 HELP("sampling interval of the governor")},
	{.name = "late_us", .required = true, .kind = KIND_REAL, .example = "0",
	 HELP("total delay, since the start, of governor samples that were more than 1 ms "
	      "late: the system did not run the governor in time")},
	{.name = "transition_us", .required = true, .kind = KIND_REAL, .example = "50",
	 HELP("duration of a simulated frequency change")},
	{.name = "queues", .required = true, BOOL, .example = "true",
	 HELP("whether a growing queue raises its core to the maximum at once")},
	{.name = "cores", .required = true, .kind = KIND_LIST, .max = PLATFORM_MAX_WORKERS,
	 .item = &core_item, HELP("cores of the workers")},
	{0},
};
/* clang-format on */

static json_t *core_json(const struct power_core_report *c, unsigned worker) {
	return json_pack("{s:i, s:[i], s:I, s:I, s:I, s:I, s:f}", "core", (int)c->core, "workers",
			 (int)worker, "hertz", (json_int_t)(c->khz * HZ_PER_KHZ), "wished_hertz",
			 (json_int_t)(c->requested_khz * HZ_PER_KHZ), "min_hertz",
			 (json_int_t)(c->min_khz * HZ_PER_KHZ), "max_hertz",
			 (json_int_t)(c->max_khz * HZ_PER_KHZ), "busy", c->load / 100.0);
}

static double us(uint64_t ns) {
	return (double)ns / (double)NS_PER_US;
}

json_t *power_get(struct rpc_call *call) {
	const struct methods *m = call->service;
	const struct server *s = subject_server(call);
	struct power_report r = {.driver = "none"};
	json_t *cores = json_array();

	if (m->power != NULL)
		power_get_report(m->power, &r);
	for (unsigned w = 0; w < r.core_count; w++)
		json_array_append_new(cores, core_json(&r.cores[w], w));
	return json_pack("{s:s, s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:o}", "policy",
			 power_policy_name(r.policy), "driver", r.driver, "idle",
			 idle_kind_name(s->power.idle), "empty_rounds",
			 (json_int_t)s->power.empty_rounds, "longest_pause_us",
			 us(s->power.longest_pause), "coalesce_us", us(s->power.coalesce),
			 "latency_us", us(s->power.latency), "look_us", us(r.sample_ns), "late_us",
			 us(r.late_ns), "transition_us", us(r.transition_ns), "queues", !r.blind,
			 "cores", cores);
}

/* Sets the given settings of pauses, in `next` and in the workers. */
static void pauses_change(struct server *s, const struct power_params *p,
			  struct power_config *next) {
	if (p->idle_given)
		next->idle = p->idle;
	if (p->empty_rounds_given)
		next->empty_rounds = p->empty_rounds;
	if (p->longest_pause_given)
		next->longest_pause = p->longest_pause_us * NS_PER_US;
	if (p->coalesce_given)
		next->coalesce = p->coalesce_us * NS_PER_US;
	if (p->idle_given || p->empty_rounds_given || p->longest_pause_given || p->coalesce_given)
		server_idle(s, next);
}

/* The governor reads its part from the server's configuration. */
json_t *power_change(struct rpc_call *call) {
	const struct methods *m = call->service;
	const struct power_params *p = call->params;
	struct server *s = subject_server(call);
	struct power_config next = s->power;

	if (m->power == NULL)
		return rpc_refuse(call, RPC_REFUSED, "a replay has no frequencies");
	pauses_change(s, p, &next);
	if (p->policy_given)
		next.policy = p->policy;
	if (p->latency_given)
		next.latency = p->latency_us * NS_PER_US;
	s->power = next;
	if (p->transition_given)
		power_set_transition(m->power, p->transition_us * NS_PER_US);
	if (p->queues_given)
		power_set_blind(m->power, !p->queues);
	if (p->policy_given || p->latency_given)
		power_set(m->power, &next);
	call->changed = true;
	return power_get(call);
}
