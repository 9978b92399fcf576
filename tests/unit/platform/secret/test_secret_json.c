/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests secret_json.h: if memory runs out, loading fails, while jansson would omit members. */
#include "test_main.h"

#include "platform/secret/json_fault.h"
#include "platform/secret/secret_json.h"
#include "platform/secret/secret_memory.h"

#include "failing_allocations.h"

#define LONGEST 130 /* bytes of a string; jansson's buffer grows within this size */

static bool load_succeeds(void *context) {
	const char *text = context;
	json_error_t error;
	json_t *json = secret_json_load(text, strlen(text), 0, &error), *value;

	if (json == NULL) {
		assert_int_equal(json_error_code(&error), json_error_out_of_memory);
		assert_string_equal(error.text, "no memory left");
		value = json_pack("[i]", 1); /* later allocations succeed */
		assert_non_null(value);
		json_decref(value);
	}
	json_decref(json);
	return json != NULL;
}

TEST(strings_fail_when_memory_runs_out) {
	char text[LONGEST + 8];

	secret_json_wipe();
	for (int length = 0; length < LONGEST; length++) {
		snprintf(text, sizeof(text), "[\"%.*s\"]", length,
			 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
			 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef00");
		fail_each_allocation(load_succeeds, text);
	}
}

TEST(values_fail_when_memory_runs_out) {
	static char text[] = "{\"a string of some length\": [1, -123456789012345678, 0.125, 1e300, "
			     "1.2345678901234567e5, true, false, null, {\"inner\\n\": [[]]}]}";

	fail_each_allocation(load_succeeds, text);
}

/* jansson quotes the text at a syntax error, which may be a key; json_fault() omits it. */
TEST(syntax_error_does_not_quote_text) {
	static const char text[] = "[aabbccddeeff00112233445566778899]";
	char fault[JSON_FAULT_LINE];
	json_error_t error;
	json_t *json;

	assert_null(secret_json_load("[1,", 3, 0, &error));
	assert_int_equal(json_error_code(&error), json_error_premature_end_of_input);
	assert_null(secret_json_load(text, strlen(text), 0, &error));
	assert_non_null(strstr(error.text, "aabbccddeeff"));
	json_fault(&error, fault);
	assert_null(strstr(fault, "aabb"));
	assert_non_null(strstr(fault, "at line 1, column"));
	json = secret_json_load("[1]", 3, 0, NULL);
	assert_non_null(json);
	json_decref(json);
}
