/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of a change. If an address moves between modems, its key stays in the table and gets a
 * new value, so that lookups always find it. The change first removes addresses that no modem
 * gains, so that a table never exceeds its capacity.
 */
#include <string.h>

#include "downstream/change/internal.h"
#include "wire/ip.h"

static bool has_address(const struct modem *m, const struct ip_address *a) {
	for (size_t i = 0; i < m->address_count; i++) {
		if (m->addresses[i].family == a->family &&
		    memcmp(m->addresses[i].bytes, a->bytes, ip_address_size(a->family)) == 0)
			return true;
	}
	return false;
}

/* Looks up the key's value in service. The tables do not change meanwhile: no other change is in
 * progress. */
static bool find_entry(const struct rte_hash *table, const void *bytes, uint64_t *entry) {
	void *data;

	if (rte_hash_lookup_data(table, bytes, &data) < 0)
		return false;
	*entry = (uint64_t)(uintptr_t)data;
	return true;
}

/* The modem's index in the change list if the change takes the address from it, or DS_NO_MODEM. */
static uint32_t old_owner(const struct ds_change *c, uint32_t modem, const struct ip_address *a) {
	uint32_t number = c->change_of[LIVE_MODEM][modem];
	const struct modem *next = ds_next_modem(c, modem);

	return number != 0 && (next == NULL || !has_address(next, a)) ? number - 1 : DS_NO_MODEM;
}

static bool move_address(struct ds_change *c, const struct live_change *l,
			 const struct ip_address *a, uint64_t entry) {
	uint32_t number = old_owner(c, ds_entry_modem(entry), a);
	uint64_t bit = UINT64_C(1) << ds_entry_address(entry);

	if (number == DS_NO_MODEM || (c->owned[number].moved & bit) != 0)
		return ds_refuse(c, l, "one of its addresses is another modem's");
	c->owned[number].moved |= bit;
	return true;
}

/* Finds the addresses that stay, and adds the new ones, whose indices number_addresses() sets. */
static bool find_addresses(struct ds_change *c, const struct live_change *l,
			   struct ds_owned *owned) {
	const struct modem *m = l->modem;

	for (size_t i = 0; i < m->address_count; i++) {
		const struct ip_address *a = &m->addresses[i];
		struct rte_hash *table = ds_addresses(&c->d->tables, a->family);
		bool known;
		uint64_t entry;

		known = find_entry(table, a->bytes, &entry);
		if (known && ds_entry_modem(entry) == l->slot) {
			owned->kept |= UINT64_C(1) << ds_entry_address(entry);
			continue;
		}
		if (known && !move_address(c, l, a, entry))
			return false;
		c->added.list[c->added.count++] = (struct ds_key){
			.table = table,
			.bytes = a->bytes,
			.modem = l->slot,
			.from = known ? ds_entry_modem(entry) : DS_NO_MODEM,
		};
	}
	return true;
}

/* Numbers the added addresses from `first` on with the numbers that no kept address has. */
static void number_addresses(struct ds_change *c, size_t first, uint64_t kept) {
	uint8_t number = 0;

	for (size_t i = first; i < c->added.count; i++, number++) {
		while ((kept >> number & 1) != 0)
			number++;
		c->added.list[i].number = number;
	}
}

static bool find_mac(struct ds_change *c, const struct live_change *l) {
	struct rte_hash *table = c->d->tables.mac;
	uint32_t from = DS_NO_MODEM;
	uint64_t entry;

	if (find_entry(table, l->modem->mac, &entry)) {
		uint32_t number;

		from = ds_entry_modem(entry);
		if (from == l->slot)
			return true;
		number = c->change_of[LIVE_MODEM][from];
		if (number == 0 || c->owned[number - 1].mac_moved)
			return ds_refuse(c, l, "another modem has its MAC address");
		c->owned[number - 1].mac_moved = true;
	}
	c->added.list[c->added.count++] = (struct ds_key){table, l->modem->mac, l->slot, from, 0};
	return true;
}

static bool find_added(struct ds_change *c, struct ds_modem_change *m) {
	uint32_t number = c->change_of[LIVE_MODEM][m->slot] - 1;
	const struct live_change *l = &c->changes->list[number];

	m->first_key = (uint32_t)c->added.count;
	if (!find_addresses(c, l, &c->owned[number]))
		return false;
	number_addresses(c, m->first_key, c->owned[number].kept);
	if (!find_mac(c, l))
		return false;
	m->key_count = (uint32_t)c->added.count - m->first_key;
	m->kept = c->owned[number].kept;
	return true;
}

static void key_removed(struct ds_change *c, struct rte_hash *table, const void *bytes,
			uint32_t modem) {
	c->removed.list[c->removed.count++] = (struct ds_key){table, bytes, modem, modem, 0};
}

/* Finds the modem's present addresses that neither it nor another modem has after the change. */
static void find_removed(struct ds_change *c, const struct live_change *l,
			 const struct ds_owned *owned) {
	const struct ds_tables *t = &c->d->tables;
	const struct modem *m = ds_present_modem(c, l->slot);
	uint64_t entry;

	for (size_t i = 0; m != NULL && i < m->address_count; i++) {
		const struct ip_address *a = &m->addresses[i];
		struct rte_hash *table = ds_addresses(t, a->family);

		if (find_entry(table, a->bytes, &entry) && ds_entry_modem(entry) == l->slot &&
		    ((owned->kept | owned->moved) >> ds_entry_address(entry) & 1) == 0)
			key_removed(c, table, a->bytes, l->slot);
	}
	if (m != NULL && !owned->mac_moved &&
	    (l->next == NULL || memcmp(l->modem->mac, m->mac, sizeof(m->mac)) != 0) &&
	    find_entry(t->mac, m->mac, &entry) && ds_entry_modem(entry) == l->slot)
		key_removed(c, t->mac, m->mac, l->slot);
}

/* Whether the modem takes addresses from other modems, loses some, or both. GAINS also without either. */
static enum ds_order order_of(const struct ds_change *c, const struct ds_modem_change *m) {
	const struct ds_owned *owned = &c->owned[c->change_of[LIVE_MODEM][m->slot] - 1];
	bool gains = false;

	for (uint32_t k = 0; k < m->key_count; k++)
		gains |= c->added.list[m->first_key + k].from != DS_NO_MODEM;
	if (owned->moved == 0 && !owned->mac_moved)
		return DS_ORDER_GAINS;
	return gains ? DS_ORDER_BOTH : DS_ORDER_LOSES;
}

/* Whether the entries of all tables after the change fit their capacity. If not, refuses the
 * change. */
static bool have_capacity(const struct ds_change *c) {
	const struct ds_tables *t = &c->d->tables;
	struct rte_hash *const tables[] = {t->ipv4, t->ipv6, t->mac};
	const uint32_t capacities[] = {t->capacity.ipv4, t->capacity.ipv6, t->capacity.modems};

	for (size_t i = 0; i < RTE_DIM(tables); i++) {
		uint64_t count = (uint64_t)rte_hash_count(tables[i]);

		for (size_t k = 0; k < c->added.count; k++)
			count += c->added.list[k].table == tables[i] &&
				 c->added.list[k].from == DS_NO_MODEM;
		for (size_t k = 0; k < c->removed.count; k++)
			count -= c->removed.list[k].table == tables[i];
		if (count > capacities[i])
			return ds_refuse(c, NULL,
					 "no capacity for more than %u addresses of one family",
					 capacities[i]);
	}
	return true;
}

bool ds_prepare_addresses(struct ds_change *c) {
	for (size_t i = 0; i < c->modems.count; i++) {
		if (!find_added(c, &c->modems.list[i]))
			return false;
	}
	for (size_t i = 0; i < c->changes->count; i++) {
		if (c->changes->list[i].object == LIVE_MODEM)
			find_removed(c, &c->changes->list[i], &c->owned[i]);
	}
	for (size_t i = 0; i < c->modems.count; i++)
		c->modems.list[i].order = order_of(c, &c->modems.list[i]);
	return have_capacity(c);
}
