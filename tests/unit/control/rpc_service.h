/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON-RPC service with the methods add, await and fill, for tests of RPC and control socket. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/rpc.h"
#include "model/keys/key_macros.h"

#include "rpc_answer.h"

struct add_params {
	uint32_t by;
	uint8_t mac[6];
	bool twice;
};

/* clang-format off */
static const struct key add_keys[] = {
	{.name = "by", .required = true, INTEGER(1, 1000), AT(struct add_params, by), HELP("amount")},
	{.name = "mac", .kind = KIND_MAC, AT(struct add_params, mac), HELP("a MAC address; unused")},
	{.name = "twice", BOOL, AT(struct add_params, twice), .fallback = "false", HELP("adds `by` two times")},
	{0},
};
static const struct key sum_keys[] = {
	{.name = "sum", .required = true, INTEGER(0, UINT32_MAX), HELP("sum of all calls")},
	{0},
};
/* clang-format on */

static inline json_t *service_add(struct rpc_call *call) {
	const struct add_params *p = call->params;
	uint32_t *sum = call->service;

	if (p->by == 13)
		return rpc_refuse(call, RPC_REFUSED, "by: 13 is not possible");
	*sum += p->twice ? 2 * p->by : p->by;
	return json_pack("{s:i}", "sum", (int)*sum);
}

/* Returns 4 MiB of text. */
static inline json_t *service_fill(struct rpc_call *call) {
	char *text = malloc(1u << 22);
	json_t *answer;

	(void)call;
	if (text == NULL)
		return NULL;
	memset(text, 'x', 1u << 22);
	answer = json_pack("{s:s#}", "text", text, 1 << 22);
	free(text);
	return answer;
}

/* Waits until the sum is 100. Returns the number of its runs. */
static inline json_t *service_await(struct rpc_call *call) {
	const uint32_t *sum = call->service;
	unsigned *runs = call->state;

	if (runs == NULL)
		runs = arena_alloc(call->arena, 1, sizeof(*runs));
	if (runs == NULL)
		return NULL;
	call->state = runs;
	++*runs;
	if (*sum > 100)
		return rpc_refuse(call, RPC_REFUSED, "sum: above 100");
	return *sum < 100 ? rpc_wait(call) : json_pack("{s:i}", "runs", (int)*runs);
}

static const struct rpc_method service_methods[] = {
	{"add", "adds to the sum", add_keys, sizeof(struct add_params), sum_keys, service_add},
	{"await", "waits until the sum is 100", NULL, 0, (const struct key[]){{0}}, service_await,
	 "the sum is above 100"},
	{"fill", "returns 4 MiB of text", NULL, 0, (const struct key[]){{0}}, service_fill},
};

/* Runs a request to its end and returns the response; the caller frees it. For methods that do not wait for long. */
static inline char *rpc_service_answer(const struct rpc *rpc, const char *text, size_t size) {
	struct rpc_work *w = rpc_begin(rpc, text, size);

	while (!rpc_continue(w))
		;
	return rpc_answer(w);
}

/* `sum` must outlive the service. */
static inline struct rpc rpc_service(uint32_t *sum) {
	return (struct rpc){service_methods, 3, sum};
}
