/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/methods.h"

#include "control/methods/config_methods.h"
#include "control/methods/counters_methods.h"
#include "control/methods/events_methods.h"
#include "control/methods/group_methods.h"
#include "control/methods/key_methods.h"
#include "control/methods/latency_methods.h"
#include "control/methods/lifecycle_methods.h"
#include "control/methods/measure_methods.h"
#include "control/methods/metrics_methods.h"
#include "control/methods/modem_methods.h"
#include "control/methods/object_methods.h"
#include "control/methods/power_methods.h"
#include "control/methods/scheduler_methods.h"
#include "control/methods/server_methods.h"
#include "control/methods/worker_methods.h"
#include "model/live/request.h"

#define NO_PARAMS NULL, 0
#define PARAMS(table, type) table, sizeof(type)
#define FAULT                                                                                 \
	"the object is invalid, does not exist (replace, set), or conflicts with objects in " \
	"service; the message has the key, the value found and what is allowed"
#define READS .reads = true
#define USED "the object does not exist, or another object refers to it"

/* One method per entry. */
/* clang-format off */
static const struct rpc_method methods[] = {
	{"server.info", "returns the server's version, process, groups, workers and ports",
	 NO_PARAMS, server_info_result, server_info, NULL},
	{"group.list", "returns the service groups, each with the numbers of its modems and channels",
	 NO_PARAMS, group_list_result, group_list, NULL},
	{"group.get", "returns a service group: its channels, bonding groups and filter groups",
	 PARAMS(group_get_params, struct group_get_params), group_get_result, group_get,
	 "there is no such service group"},
	{"modem.list", "returns modems of a service group, in pages",
	 PARAMS(modem_list_params, struct modem_list_params), modem_list_result, modem_list,
	 "there is no such service group", READS},
	{"modem.get", "returns a modem with the keys of the configuration, without its traffic "
		      "encryption keys",
	 PARAMS(modem_get_params, struct modem_get_params), modem_get_result, modem_get,
	 "there is no such service group, or it has no such modem", .reported = modem_keys},
	{"counters.get", "returns drops and counters since the start, by service group and direction",
	 PARAMS(counters_get_params, struct counters_get_params), counters_get_result,
	 counters_get, "there is no such service group", READS},
	{"metrics.get", "returns samples of the metrics that docs/metrics.md lists",
	 PARAMS(metrics_get_params, struct metrics_get_params), metrics_get_result, metrics_get,
	 "there is no such service group or modem", READS},
	{"scheduler.get", "returns delays, channels and bonding groups of the downstream scheduler, "
			  "since the start",
	 PARAMS(scheduler_get_params, struct scheduler_get_params), scheduler_get_result,
	 scheduler_get, "there is no such service group", READS},
	{"flow.get", "returns a downstream service flow: settings, packets sent, queued and dropped",
	 PARAMS(flow_get_params, struct flow_get_params), flow_get_result, flow_get,
	 "there is no such service group, or it has no such service flow", READS},
	{"modem.flows", "returns the downstream service flows of a modem: settings, packets sent, "
			"queued and dropped",
	 PARAMS(modem_flows_params, struct modem_flows_params), modem_flows_result, modem_flows,
	 "there is no such service group, or it has no such modem", READS},
	{"latency.get", "returns the latency of packets in the pipeline, if it is measured",
	 PARAMS(latency_get_params, struct latency_get_params), latency_get_result, latency_get,
	 "there is no such service group", READS},
	{"worker.list", "returns the workers: rounds, cycles, pauses, long rounds",
	 PARAMS(worker_list_params, struct worker_list_params), worker_list_result, worker_list,
	 NULL, READS},
	{"measure.get", "returns whether cycles of stages and latencies are measured",
	 NO_PARAMS, measure_result, measure_get, NULL},
	{"measure.set",
	 "switches measurements on or off; switching one on resets its results",
	 PARAMS(measure_set_params, struct measure_params), measure_result, measure_set, NULL},
	{"power.get", "returns how workers idle, and the frequencies of their cores",
	 NO_PARAMS, power_result, power_get, NULL},
	{"power.set", "changes power settings until the next reload",
	 PARAMS(power_set_params, struct power_params), power_result, power_change,
	 "power settings cannot be changed in a replay"},
	{"modem.add", "adds a cable modem, which is in service when the response is sent",
	 PARAMS(modem_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_MODEM, .verb = LIVE_ADD},
	{"modem.replace", "replaces all keys of a cable modem",
	 PARAMS(modem_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_MODEM, .verb = LIVE_REPLACE},
	{"modem.set", "changes some keys of a cable modem",
	 PARAMS(modem_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_MODEM, .verb = LIVE_SET},
	{"modem.remove", "removes a cable modem; its queued packets are sent, or dropped with "
			 "a counted reason",
	 PARAMS(modem_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_MODEM, .verb = LIVE_REMOVE},
	{"filter_group.add", "adds a filter group, which is in service when the response is sent",
	 PARAMS(filter_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_FILTER_GROUP, .verb = LIVE_ADD},
	{"filter_group.replace", "replaces all keys of a filter group",
	 PARAMS(filter_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_FILTER_GROUP, .verb = LIVE_REPLACE},
	{"filter_group.set", "changes some keys of a filter group",
	 PARAMS(filter_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_FILTER_GROUP, .verb = LIVE_SET},
	{"filter_group.remove",
	 "removes a filter group, to which no modem may refer",
	 PARAMS(filter_group_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_FILTER_GROUP, .verb = LIVE_REMOVE},
	{"channel.add", "adds a downstream channel, which is in service when the response is sent",
	 PARAMS(channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_CHANNEL, .verb = LIVE_ADD},
	{"channel.replace", "replaces all keys of a downstream channel",
	 PARAMS(channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_CHANNEL, .verb = LIVE_REPLACE},
	{"channel.set", "changes some keys of a downstream channel",
	 PARAMS(channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_CHANNEL, .verb = LIVE_SET},
	{"channel.remove",
	 "removes a downstream channel, to which no bonding group may refer",
	 PARAMS(channel_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_CHANNEL, .verb = LIVE_REMOVE},
	{"upstream_channel.add",
	 "adds an upstream channel, which is in service when the response is sent",
	 PARAMS(upstream_channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_ADD},
	{"upstream_channel.replace", "replaces all keys of an upstream channel",
	 PARAMS(upstream_channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_REPLACE},
	{"upstream_channel.set", "changes some keys of an upstream channel",
	 PARAMS(upstream_channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_SET},
	{"upstream_channel.remove",
	 "removes an upstream channel, to which no SID may refer",
	 PARAMS(upstream_channel_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_REMOVE},
	{"bonding_group.add", "adds a bonding group, which is in service when the response is sent",
	 PARAMS(bonding_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_BONDING_GROUP, .verb = LIVE_ADD},
	{"bonding_group.replace", "replaces all keys of a bonding group",
	 PARAMS(bonding_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_BONDING_GROUP, .verb = LIVE_REPLACE},
	{"bonding_group.set", "changes some keys of a bonding group",
	 PARAMS(bonding_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_BONDING_GROUP, .verb = LIVE_SET},
	{"bonding_group.remove",
	 "removes a bonding group, to which no service flow may refer",
	 PARAMS(bonding_group_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_BONDING_GROUP, .verb = LIVE_REMOVE},
	{"group.set", "changes settings of a service group as a whole",
	 PARAMS(group_set_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_GROUP, .verb = LIVE_SET},
	{"group.add", "adds the service group of a file and puts it into service",
	 PARAMS(group_add_params, struct group_add_params), lifecycle_result, group_add,
	 "the file has errors, or the server has no capacity for the group: max_groups, "
	 "workers, ports"},
	{"group.remove", "removes a service group from service",
	 PARAMS(group_lifecycle_params, struct group_lifecycle_params), lifecycle_result, group_remove,
	 "there is no such service group, or it is the last one"},
	{"group.drain", "stops reception for a service group, and waits until its pending "
			"packets are sent",
	 PARAMS(group_lifecycle_params, struct group_lifecycle_params), drain_result, group_drain,
	 "there is no such service group, or it was resumed or replaced during the drain"},
	{"group.resume", "resumes reception for a service group",
	 PARAMS(group_resume_params, struct group_lifecycle_params), lifecycle_result, group_resume,
	 "there is no such service group"},
	{"key.install", "installs the next traffic encryption key of a security association",
	 PARAMS(key_install_params, struct key_params), object_result, key_install,
	 "no modem has the association, it has a next key already, or the lengths of `key` and "
	 "`iv` do not fit its cipher"},
	{"key.use", "encrypts downstream frames with the next key; upstream frames may use "
		    "both keys",
	 PARAMS(key_params, struct key_params), object_result, key_use,
	 "no modem has the association, it has no next key, or its next key is in use already"},
	{"key.remove", "removes the old key after key.use: the next key becomes the present key",
	 PARAMS(key_params, struct key_params), object_result, key_remove,
	 "no modem has the association, or its next key is not in use"},
	{"worker.drain", "moves all pipelines of a worker to another worker",
	 PARAMS(worker_drain_params, struct worker_params), lifecycle_result, worker_drain,
	 "`core` or `to` has no worker, or both are the same core"},
	{"worker.resume", "moves the original pipelines of a worker back to it",
	 PARAMS(worker_resume_params, struct worker_params), lifecycle_result, worker_resume,
	 "`core` has no worker"},
	{"events.subscribe",
	 "sends every change of the configuration on this connection as an event (see Events); "
	 "a further call replaces the subscription",
	 PARAMS(events_subscribe_params, struct events_params), events_subscribe_result,
	 events_subscribe, "there are 16 subscribers already"},
	{"config.get", "returns the configuration in service",
	 PARAMS(config_get_params, struct config_get_params), config_get_result, config_get,
	 "there is no such service group", READS},
	{"config.reload", "reloads the file and applies the differences",
	 PARAMS(config_reload_params, struct config_reload_params), config_reload_result,
	 config_reload, "the file has errors, a setting differs that needs a restart, or the "
			"reload would undo changes that config.save has not saved"},
	{"config.save", "writes changes that requests have made to the configuration file, or to "
			"another file",
	 PARAMS(config_save_params, struct config_save_params), config_save_result, config_save,
	 "the file has errors, cannot be written, or has edits that need a restart; `file` exists"},
	{"config.changes", "lists objects that requests have changed since the file was loaded or "
			   "saved: a reload would undo these changes",
	 NO_PARAMS, config_changes_result, config_changes, NULL},
	{"config.refuse", "counts a change as refused, because its configuration file could "
			  "not be generated",
	 NO_PARAMS, config_refuse_result, config_refuse, NULL},
};
/* clang-format on */

struct rpc methods_rpc(struct methods *m) {
	return (struct rpc){
		.methods = methods,
		.method_count = sizeof(methods) / sizeof(methods[0]),
		.service = m,
		.events = m != NULL ? m->events.journal : NULL,
	};
}
