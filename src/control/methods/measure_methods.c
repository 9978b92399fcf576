/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/measure_methods.h"

#include "platform/log/log.h"
#include "server/measure.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
const struct key measure_set_params[] = {
	{.name = "cycles", BOOL, AT(struct measure_params, cycles),
	 .flag = offsetof(struct measure_params, cycles_given), .example = "true",
	 HELP("measure the cycles of the stages (default: unchanged)")},
	{.name = "latency", BOOL, AT(struct measure_params, latency),
	 .flag = offsetof(struct measure_params, latency_given), .example = "true",
	 HELP("measure the latency of packets in the pipeline (default: unchanged)")},
	{0},
};
const struct key measure_result[] = {
	{.name = "cycles", .required = true, BOOL, .example = "true",
	 HELP("whether the cycles of the stages are measured")},
	{.name = "cycles_ms", .required = true, INTEGER(0, INT64_MAX), .example = "1000",
	 HELP("duration of the current or last measurement of cycles")},
	{.name = "latency", .required = true, BOOL, .example = "false",
	 HELP("whether the latency of packets is measured")},
	{.name = "latency_ms", .required = true, INTEGER(0, INT64_MAX), .example = "0",
	 HELP("duration of the current or last measurement of latencies")},
	{0},
};
/* clang-format on */

json_t *measure_get(struct rpc_call *call) {
	const struct server *s = subject_server(call);
	const struct server_measures *m = &s->measures;

	return json_pack("{s:b, s:I, s:b, s:I}", "cycles", m->cycles.on, "cycles_ms",
			 (json_int_t)server_measured_ms(s, &m->cycles), "latency", m->latency.on,
			 "latency_ms", (json_int_t)server_measured_ms(s, &m->latency));
}

json_t *measure_set(struct rpc_call *call) {
	const struct measure_params *p = call->params;
	struct server *s = subject_server(call);

	if (p->latency_given && server_latency(s, p->latency) != 0)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left to measure latencies");
	if (p->cycles_given)
		server_account(s, p->cycles);
	call->changed = true;
	log_info("measure",
		 LOG_FIELDS(LOG_NUMBER("cycles", s->measures.cycles.on),
			    LOG_NUMBER("latency", s->measures.latency.on)),
		 "measured: cycles %s, latency %s", s->measures.cycles.on ? "on" : "off",
		 s->measures.latency.on ? "on" : "off");
	return measure_get(call);
}
