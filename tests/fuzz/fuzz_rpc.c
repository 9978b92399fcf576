/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes requests to a JSON-RPC service: the bytes of a client, split where a value ends. */
#include <stdlib.h>

#include "control/json_text.h"

#include "fuzz.h"
#include "rpc_service.h"

/* Runs a request. A call that does not end is given up, as if its client disconnected. */
static void run_request(const struct rpc *rpc, const char *bytes, size_t size) {
	struct rpc_work *w = rpc_begin(rpc, bytes, size);

	for (int attempts = 0; attempts < 3 && !rpc_continue(w); attempts++)
		;
	free(rpc_answer(w));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *bytes = (const char *)data;
	uint32_t sum = 0;
	const struct rpc rpc = {service_methods, 2, &sum}; /* without the large response */

	while (size > 0) {
		struct json_text text = {0};
		size_t used = json_text_feed(&text, bytes, size);

		CHECK(used <= size && used > 0);
		run_request(&rpc, bytes, used);
		if (text.state != JSON_TEXT_WHOLE)
			break;
		bytes += used;
		size -= used;
	}
	return 0;
}
