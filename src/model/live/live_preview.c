/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/live_preview.h"

#include <stdlib.h>
#include <string.h>

#include "model/live/live_kind.h"

static void *list_copy(const void *list, size_t count, size_t size) {
	void *copy = calloc(count + 1, size);

	if (copy != NULL && count > 0)
		memcpy(copy, list, count * size);
	return copy;
}

static void change_apply(const struct service_group *sg, const struct live_change *c) {
	if (c->object != LIVE_MODEM && c->object != LIVE_UPSTREAM_CHANNEL)
		return;
	if (c->next == NULL)
		live_clear(sg, c->object, c->slot);
	else
		memcpy(live_item(sg, c->object, c->slot), c->next, live_kinds[c->object].size);
}

bool live_preview_create(struct live_preview *t, const struct live_group *l,
			 const struct live_changes *changes) {
	struct service_group *sg = &t->sg;

	*sg = l->sg;
	sg->modems = list_copy(sg->modems, sg->modem_count, sizeof(*sg->modems));
	sg->upstream_channels = list_copy(sg->upstream_channels, sg->upstream_channel_count,
					  sizeof(*sg->upstream_channels));
	if (sg->modems == NULL || sg->upstream_channels == NULL)
		return false;
	for (size_t i = 0; i < changes->count; i++)
		change_apply(sg, &changes->list[i]);
	return true;
}

void live_preview_free(struct live_preview *t) {
	if (t->sg.modems != NULL)
		explicit_bzero(t->sg.modems, t->sg.modem_count * sizeof(*t->sg.modems));
	free(t->sg.modems);
	free(t->sg.upstream_channels);
	*t = (struct live_preview){0};
}
