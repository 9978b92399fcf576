/* SPDX-License-Identifier: BSD-3-Clause */
/* What a request's head asks for: RFC 9110, 12.4.2 and 12.5.1, and RFC 9112, 3.2.2. */
#include "test_main.h"

#include <string.h>

#include "telemetry/metrics/endpoint/request.h"

TEST(paths) {
	static const char *const cases[][2] = {
		{"/metrics", "/metrics"},
		{"http://host/metrics", "/metrics"},
		{"http://[::1]:9464/metrics", "/metrics"},
		{"HTTPS://user@host:1/metrics", "/metrics"},
		{"http://host", "/"},
		{"http://", "/"},
		{"http:///metrics", "/metrics"},
		{"http:/metrics", "http:/metrics"},
		{"ftp://host/metrics", "ftp://host/metrics"},
		{"/http://host/metrics", "/http://host/metrics"},
		{"*", "*"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(request_path(cases[i][0]), cases[i][1]);
}

static enum metrics_format format_of(const char *first, const char *second) {
	struct request_accept accept = {0};

	if (first != NULL)
		request_accept_add(&accept, first);
	if (second != NULL)
		request_accept_add(&accept, second);
	return request_format(&accept);
}

#define OPEN "application/openmetrics-text"

static const struct {
	const char *accept;
	enum metrics_format format;
} cases[] = {
	{"", METRICS_PROMETHEUS},
	{"*/*", METRICS_PROMETHEUS},
	{"text/plain", METRICS_PROMETHEUS},
	{OPEN, METRICS_OPEN},
	{"Application/OpenMetrics-Text", METRICS_OPEN},
	{OPEN ";q=0", METRICS_PROMETHEUS},
	{OPEN "; q=0.000 , text/plain", METRICS_PROMETHEUS},
	{OPEN " ;\tQ=0", METRICS_PROMETHEUS},
	{OPEN ";version=1.0.0;q=0.001", METRICS_OPEN},
	{OPEN ";version=1.0.0,text/plain;version=0.0.4", METRICS_OPEN},
	{OPEN ";q=0.3,text/plain;q=0.4", METRICS_PROMETHEUS},
	{OPEN ";q=0.40,text/plain;q=0.4", METRICS_OPEN},
	{OPEN ";q=0.399,text/plain;q=0.4", METRICS_PROMETHEUS},
	{OPEN ";q=0.3,*/*;q=0.9", METRICS_PROMETHEUS},
	{OPEN ";q=0.9,*/*;q=0.3", METRICS_OPEN},
	{"*/*;q=0.3," OPEN ";q=0", METRICS_PROMETHEUS},
	{"*/*, text/plain;q=0", METRICS_OPEN}, /* the more specific range holds */
	{"text/plain;q=0,*/*", METRICS_OPEN},
	{"text/*;q=0.1, */*;q=0.2", METRICS_OPEN},
	{"application/*", METRICS_OPEN},
	{"application/*;q=0.5, */*;q=0.5", METRICS_PROMETHEUS},
	{"application/*;q=0.5, " OPEN ";q=0", METRICS_PROMETHEUS},
	/* Prometheus 2 and 3 */
	{OPEN ";version=1.0.0;q=0.5," OPEN
	      ";version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
	 METRICS_OPEN},
	{"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6," OPEN ";version=1.0.0;q=0.5",
	 METRICS_PROMETHEUS},
	/* what only looks like it */
	{OPEN "x", METRICS_PROMETHEUS},
	{"x" OPEN, METRICS_PROMETHEUS},
	{"text/html;a=\"," OPEN ",\"", METRICS_PROMETHEUS},
	{"text/html;a=\"\\\"," OPEN "\"", METRICS_PROMETHEUS},
	{"text/html;a=\"\\\"\"," OPEN, METRICS_OPEN},
	{OPEN ";x=\"a;q=0\"", METRICS_OPEN},
	/* malformed: skipped */
	{OPEN ";q=", METRICS_PROMETHEUS},
	{OPEN ";q=2", METRICS_PROMETHEUS},
	{OPEN ";q=1.001", METRICS_PROMETHEUS},
	{OPEN ";q=0.5x", METRICS_PROMETHEUS},
	{OPEN ";q=0.0001", METRICS_PROMETHEUS},
	{OPEN ";q=1.000", METRICS_OPEN},
	{OPEN ";q=1.", METRICS_OPEN},
	{",,;,/, " OPEN, METRICS_OPEN},
	{"text/plain;q=0.9;x=1," OPEN ";q=1", METRICS_OPEN},
	{"\"", METRICS_PROMETHEUS},
	{"a;\"\\", METRICS_PROMETHEUS},
};

TEST(formats) {
	assert_int_equal(format_of(NULL, NULL), METRICS_PROMETHEUS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (format_of(cases[i].accept, NULL) != cases[i].format)
			fail_msg("\"%s\"", cases[i].accept);
	}
	assert_int_equal(format_of("text/plain;q=0.5", OPEN), METRICS_OPEN);
	assert_int_equal(format_of(OPEN ";q=0.1", "text/plain;q=0.5"), METRICS_PROMETHEUS);
}
