/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/pages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* bytes of all pages in memory; above it, no further page is generated */
#define ALL_MAX (128u << 20)

static uint64_t clock_ns(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A page's text, freed with the last connection that sends it. */
struct page_text {
	struct pages *owner;
	size_t size;
	char *text;
};

static void page_text_free(void *arg) {
	struct page_text *t = arg;

	t->owner->bytes -= t->size;
	free(t->text);
	free(t);
}

static struct MHD_Response *page_respond(struct pages *p, struct metrics_text *text) {
	struct page_text *t = malloc(sizeof(*t));
	struct MHD_Response *r;

	if (t == NULL)
		return NULL;
	*t = (struct page_text){p, text->size, text->text};
	r = MHD_create_response_from_buffer_with_free_callback_cls(text->size, text->text,
								   page_text_free, t);
	if (r == NULL) {
		free(t);
		return NULL;
	}
	p->bytes += text->size;
	text->text = NULL;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				metrics_content_type(text->format));
	MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	return r;
}

static void page_forget(struct page *page) {
	if (page->response != NULL)
		MHD_destroy_response(page->response);
	page->response = NULL;
	page->valid = false;
}

/* Returns 0, or the HTTP status code of the failure. */
static unsigned page_make(struct pages *p, struct page *page, const struct metrics_source *source,
			  const struct metrics_query *query) {
	struct metrics_text text = {.max = p->max, .format = page->format};
	uint64_t begin = clock_ns();
	bool whole = metrics_text_write(&text, source, &query->selection);
	struct MHD_Response *r = whole ? page_respond(p, &text) : NULL;

	p->counts->pages++;
	p->counts->page_ns += clock_ns() - begin;
	p->counts->page_bytes = text.size;
	free(text.text);
	page->response = r;
	if (r != NULL)
		return 0;
	return text.failed ? MHD_HTTP_CONTENT_TOO_LARGE : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static bool page_is(const struct page *page, const char *key, enum metrics_format format) {
	return page->format == format && strcmp(page->key, key) == 0;
}

/* The page for the query if it exists, or the slot to generate it in. */
static struct page *page_find(struct pages *p, const struct metrics_query *query,
			      enum metrics_format format) {
	struct page *slot = &p->list[PAGES_WHOLE];

	if (query->key[0] == '\0')
		return &p->list[format];
	for (struct page *page = slot; page < &p->list[PAGES]; page++) {
		if (page->valid && page_is(page, query->key, format))
			return page;
		if (!page->valid || (slot->valid && page->made < slot->made))
			slot = page;
	}
	return slot;
}

struct MHD_Response *pages_get(struct pages *p, const struct metrics_source *source,
			       const struct metrics_query *query, enum metrics_format format,
			       unsigned *code) {
	struct page *page = page_find(p, query, format);
	bool young = page->valid && clock_ns() / 1000000 - page->made < PAGES_AGE_MS;

	*code = MHD_HTTP_SERVICE_UNAVAILABLE;
	if (young && !page_is(page, query->key, format))
		return NULL; /* all slots have recent pages, of other queries */
	if (!young) {
		page_forget(page);
		if (p->bytes > ALL_MAX)
			return NULL;
		page->format = format;
		strcpy(page->key, query->key);
		page->code = page_make(p, page, source, query);
		page->made = clock_ns() / 1000000;
		page->valid = true;
	}
	*code = page->code;
	return page->response;
}

void pages_clear(struct pages *p) {
	for (unsigned i = 0; i < PAGES; i++)
		page_forget(&p->list[i]);
}
