/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/methods.h"

#include "methods/config_methods.h"
#include "methods/counters_methods.h"
#include "methods/group_methods.h"
#include "methods/modem_methods.h"
#include "methods/server_methods.h"

#define NO_PARAMS NULL, 0
#define PARAMS(table, type) table, sizeof(type)

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
	 "there is no such service group"},
	{"modem.get", "a modem with its service flows; not its keys",
	 PARAMS(modem_get_params, struct modem_get_params), modem_get_result, modem_get,
	 "there is no such service group, or it has no such modem"},
	{"counters.get", "drops and counters since the start, by service group and direction",
	 PARAMS(counters_get_params, struct counters_get_params), counters_get_result,
	 counters_get, "there is no such service group"},
	{"config.reload", "reads the file again, and does what differs",
	 NO_PARAMS, config_reload_result, config_reload,
	 "the file has mistakes, or something differs that takes a new start"},
};
/* clang-format on */

struct rpc methods_rpc(struct methods *m) {
	return (struct rpc){methods, sizeof(methods) / sizeof(methods[0]), m};
}
