/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/methods.h"

#include "control/methods/config_methods.h"
#include "control/methods/counters_methods.h"
#include "control/methods/events_methods.h"
#include "control/methods/group_methods.h"
#include "control/methods/key_methods.h"
#include "control/methods/life_methods.h"
#include "control/methods/measure_methods.h"
#include "control/methods/metrics_methods.h"
#include "control/methods/modem_methods.h"
#include "control/methods/object_methods.h"
#include "control/methods/power_methods.h"
#include "control/methods/server_methods.h"
#include "model/live/request.h"

#define NO_PARAMS NULL, 0
#define PARAMS(table, type) table, sizeof(type)
#define FAULT \
	"it is not allowed beside what is in service: which key, what was found, what is allowed"
#define READS .reads = true
#define USED "it is not there, or something refers to it"

/* One row a method, to be read as a table. */
/* clang-format off */
static const struct rpc_method methods[] = {
	{"server.info", "what is in service: version, process, groups, threads and ports",
	 NO_PARAMS, server_info_result, server_info, NULL},
	{"group.list", "the service groups, and how much is in them",
	 NO_PARAMS, group_list_result, group_list, NULL},
	{"group.get", "a service group: its channels, and what modems refer to",
	 PARAMS(group_get_params, struct group_get_params), group_get_result, group_get,
	 "there is no such service group"},
	{"modem.list", "modems of a service group, some at a time",
	 PARAMS(modem_list_params, struct modem_list_params), modem_list_result, modem_list,
	 "there is no such service group", READS},
	{"modem.get", "a modem as the configuration has it; not its traffic encryption keys",
	 PARAMS(modem_get_params, struct modem_get_params), modem_get_result, modem_get,
	 "there is no such service group, or it has no such modem", .told = modem_keys},
	{"counters.get", "drops and counters since the start, by service group and direction",
	 PARAMS(counters_get_params, struct counters_get_params), counters_get_result,
	 counters_get, "there is no such service group", READS},
	{"metrics.get", "samples of the metrics that docs/metrics.md lists",
	 PARAMS(metrics_get_params, struct metrics_get_params), metrics_get_result, metrics_get,
	 "there is no such service group or modem", READS},
	{"measure.get", "whether cycles of stages and latencies are measured, and for how long",
	 NO_PARAMS, measure_result, measure_get, NULL},
	{"measure.set",
	 "switches these on or off; figures are those since it was switched on",
	 PARAMS(measure_set_params, struct measure_params), measure_result, measure_set, NULL},
	{"power.get", "pauses of the workers, and frequencies of their cores",
	 NO_PARAMS, power_result, power_get, NULL},
	{"power.set", "changes these until the file is read again",
	 PARAMS(power_set_params, struct power_params), power_result, power_change,
	 "a replay has no frequencies"},
	{"modem.add", "adds a cable modem, which is in service when this is answered",
	 PARAMS(modem_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_MODEM, .verb = LIVE_ADD},
	{"modem.replace", "makes a cable modem another one",
	 PARAMS(modem_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_MODEM, .verb = LIVE_REPLACE},
	{"modem.set", "changes some keys of a cable modem",
	 PARAMS(modem_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_MODEM, .verb = LIVE_SET},
	{"modem.remove", "removes a cable modem; what waits for it goes out, or is dropped by name",
	 PARAMS(modem_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_MODEM, .verb = LIVE_REMOVE},
	{"filter_group.add", "adds a filter group, which is in service when this is answered",
	 PARAMS(filter_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_FILTER_GROUP, .verb = LIVE_ADD},
	{"filter_group.replace", "makes a filter group another one",
	 PARAMS(filter_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_FILTER_GROUP, .verb = LIVE_REPLACE},
	{"filter_group.set", "changes some keys of a filter group",
	 PARAMS(filter_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_FILTER_GROUP, .verb = LIVE_SET},
	{"filter_group.remove",
	 "removes a filter group; what waits for it goes out, or is dropped by name",
	 PARAMS(filter_group_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_FILTER_GROUP, .verb = LIVE_REMOVE},
	{"channel.add", "adds a downstream channel, which is in service when this is answered",
	 PARAMS(channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_CHANNEL, .verb = LIVE_ADD},
	{"channel.replace", "makes a downstream channel another one",
	 PARAMS(channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_CHANNEL, .verb = LIVE_REPLACE},
	{"channel.set", "changes some keys of a downstream channel",
	 PARAMS(channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_CHANNEL, .verb = LIVE_SET},
	{"channel.remove",
	 "removes a downstream channel; what waits for it goes out, or is dropped by name",
	 PARAMS(channel_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_CHANNEL, .verb = LIVE_REMOVE},
	{"upstream_channel.add",
	 "adds an upstream channel, which is in service when this is answered",
	 PARAMS(upstream_channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_ADD},
	{"upstream_channel.replace", "makes an upstream channel another one",
	 PARAMS(upstream_channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_REPLACE},
	{"upstream_channel.set", "changes some keys of an upstream channel",
	 PARAMS(upstream_channel_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_SET},
	{"upstream_channel.remove",
	 "removes an upstream channel; what waits for it goes out, or is dropped by name",
	 PARAMS(upstream_channel_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_UPSTREAM_CHANNEL, .verb = LIVE_REMOVE},
	{"bonding_group.add", "adds a bonding group, which is in service when this is answered",
	 PARAMS(bonding_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_BONDING_GROUP, .verb = LIVE_ADD},
	{"bonding_group.replace", "makes a bonding group another one",
	 PARAMS(bonding_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_BONDING_GROUP, .verb = LIVE_REPLACE},
	{"bonding_group.set", "changes some keys of a bonding group",
	 PARAMS(bonding_group_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_BONDING_GROUP, .verb = LIVE_SET},
	{"bonding_group.remove",
	 "removes a bonding group; what waits for it goes out, or is dropped by name",
	 PARAMS(bonding_group_remove_params, struct object_params), object_result, object_request,
	 USED, .object = LIVE_BONDING_GROUP, .verb = LIVE_REMOVE},
	{"group.set", "changes what a service group has but once",
	 PARAMS(group_set_params, struct object_params), object_result, object_request,
	 FAULT, .object = LIVE_GROUP, .verb = LIVE_SET},
	{"group.add", "takes a service group of a file into service",
	 PARAMS(group_add_params, struct group_add_params), life_result, group_add,
	 "the file has mistakes, or the server no room for it: max_groups, workers, ports"},
	{"group.remove", "takes a service group out of service",
	 PARAMS(group_life_params, struct group_life_params), life_result, group_remove,
	 "there is no such service group, or no other"},
	{"group.drain", "receives nothing more for a service group, and waits until nothing in it can go on",
	 PARAMS(group_life_params, struct group_life_params), held_result, group_drain,
	 "there is no such service group, or it was resumed meanwhile"},
	{"group.resume", "receives again for a service group",
	 PARAMS(group_resume_params, struct group_life_params), life_result, group_resume,
	 "there is no such service group, or it was resumed meanwhile"},
	{"key.install", "installs the next traffic encryption key of a security association",
	 PARAMS(key_install_params, struct key_params), object_result, key_install,
	 "no modem has the association, or it has a next key already"},
	{"key.use", "has downstream frames encrypted by the next key; upstream both are taken",
	 PARAMS(key_params, struct key_params), object_result, key_use,
	 "no modem has the association, or it has no next key"},
	{"key.remove", "removes the old key, when the next one is used",
	 PARAMS(key_params, struct key_params), object_result, key_remove,
	 "no modem has the association, or its next key is not used"},
	{"worker.drain", "has another worker run all that a worker runs",
	 PARAMS(worker_drain_params, struct worker_params), life_result, worker_drain,
	 "there is no such worker"},
	{"worker.resume", "gives a worker back what it ran at first",
	 PARAMS(worker_resume_params, struct worker_params), life_result, worker_resume,
	 "there is no such worker"},
	{"events.subscribe",
	 "has every change of the configuration told on this connection, see Events",
	 PARAMS(events_subscribe_params, struct events_params), events_subscribe_result,
	 events_subscribe, "there are 16 subscribers already"},
	{"config.get", "what is in service, as a configuration",
	 PARAMS(config_get_params, struct config_get_params), config_get_result, config_get,
	 "there is no such service group", READS},
	{"config.reload", "reads the file again, and does what differs",
	 NO_PARAMS, config_reload_result, config_reload,
	 "the file has mistakes, or something differs that takes a new start"},
	{"config.refuse", "counts a change as refused: the file could not be made from what it is of",
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
