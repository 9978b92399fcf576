/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects by slot, in service and after the change, and their names for messages. */
#include <stdarg.h>
#include <stdio.h>

#include "downstream/change/internal.h"

#define CALLED 64 /* bytes for the name of an object */

const struct modem *ds_present_modem(const struct ds_change *c, uint32_t slot) {
	const struct modem *list = c->sg->modems;

	return slot < c->sg->modem_count && modem_exists(&list[slot]) ? &list[slot] : NULL;
}

const struct channel *ds_present_channel(const struct ds_change *c, uint32_t slot) {
	const struct channel *list = c->sg->channels;

	return slot < c->sg->channel_count && channel_exists(&list[slot]) ? &list[slot] : NULL;
}

const struct bonding_group *ds_present_bonding_group(const struct ds_change *c, uint32_t slot) {
	const struct bonding_group *list = c->sg->bonding_groups;

	return slot < c->sg->bonding_group_count && bonding_group_exists(&list[slot]) ? &list[slot]
										      : NULL;
}

const struct filter_group *ds_present_filter_group(const struct ds_change *c, uint32_t slot) {
	const struct filter_group *list = c->sg->filter_groups;

	return slot < c->sg->filter_group_count && filter_group_exists(&list[slot]) ? &list[slot]
										    : NULL;
}

static const struct live_change *change_at(const struct ds_change *c, enum live_object object,
					   uint32_t slot) {
	uint32_t number = c->change_of[object][slot];

	return number == 0 ? NULL : &c->changes->list[number - 1];
}

const struct modem *ds_next_modem(const struct ds_change *c, uint32_t slot) {
	const struct live_change *change;

	if (slot >= c->d->tables.capacity.modems)
		return NULL;
	change = change_at(c, LIVE_MODEM, slot);
	return change != NULL ? change->modem : ds_present_modem(c, slot);
}

const struct channel *ds_next_channel(const struct ds_change *c, uint32_t slot) {
	const struct live_change *change;

	if (slot >= c->d->tables.capacity.channels)
		return NULL;
	change = change_at(c, LIVE_CHANNEL, slot);
	return change != NULL ? change->channel : ds_present_channel(c, slot);
}

const struct bonding_group *ds_next_bonding_group(const struct ds_change *c, uint32_t slot) {
	const struct live_change *change;

	if (slot >= c->d->tables.capacity.bonding_groups)
		return NULL;
	change = change_at(c, LIVE_BONDING_GROUP, slot);
	return change != NULL ? change->bonding_group : ds_present_bonding_group(c, slot);
}

const struct filter_group *ds_next_filter_group(const struct ds_change *c, uint32_t slot) {
	const struct live_change *change;

	if (slot >= c->d->tables.capacity.filter_groups)
		return NULL;
	change = change_at(c, LIVE_FILTER_GROUP, slot);
	return change != NULL ? change->filter_group : ds_present_filter_group(c, slot);
}

static void call_modem(const struct modem *m, char text[CALLED]) {
	if (m != NULL)
		snprintf(text, CALLED, "modem %02x:%02x:%02x:%02x:%02x:%02x", m->mac[0], m->mac[1],
			 m->mac[2], m->mac[3], m->mac[4], m->mac[5]);
}

/* The object's name for operators, or its slot if it does not exist. */
static void call_object(const struct ds_change *c, const struct live_change *l, char text[CALLED]) {
	static const char *const kinds[LIVE_OBJECTS] = {
		[LIVE_GROUP] = "service group",	      [LIVE_CHANNEL] = "channel",
		[LIVE_UPSTREAM_CHANNEL] = "",	      [LIVE_BONDING_GROUP] = "bonding group",
		[LIVE_FILTER_GROUP] = "filter group", [LIVE_MODEM] = "modem",
	};
	const uint32_t *id = NULL;

	snprintf(text, CALLED, "%s in slot %u", kinds[l->object], l->slot);
	if (l->object == LIVE_MODEM)
		call_modem(l->next != NULL ? l->modem : ds_present_modem(c, l->slot), text);
	else if (l->object == LIVE_CHANNEL && l->next != NULL)
		id = &l->channel->id;
	else if (l->object == LIVE_BONDING_GROUP && l->next != NULL)
		id = &l->bonding_group->id;
	else if (l->object == LIVE_FILTER_GROUP && l->next != NULL)
		id = &l->filter_group->id;
	else if (l->object == LIVE_GROUP)
		id = &c->sg->id;
	if (id != NULL)
		snprintf(text, CALLED, "%s %u", kinds[l->object], *id);
}

bool ds_refuse(const struct ds_change *c, const struct live_change *which, const char *format,
	       ...) {
	char called[CALLED] = "downstream";
	va_list arguments;
	int used;

	if (which != NULL)
		call_object(c, which, called);
	used = snprintf(c->why, LIVE_LINE, "%s: ", called);
	va_start(arguments, format);
	vsnprintf(c->why + used, LIVE_LINE - (size_t)used, format, arguments);
	va_end(arguments);
	return false;
}
