/* SPDX-License-Identifier: BSD-3-Clause */
/* The generic reader: one function per kind of value, and the walk over maps and lists. */
#include "model/load/reader.h"

#include <string.h>

#include "model/cores.h"
#include "model/load/reports.h"
#include "model/units.h"

static void reader_read_value(struct reader *reader, const struct key *key, struct node *node,
			      void *object, const struct path *path);

static void store_integer(const struct key *key, void *field, uint64_t value) {
	/* fields are unsigned integers of these sizes, enums or bools */
	switch (key->size) {
	case sizeof(uint8_t): *(uint8_t *)field = (uint8_t)value; break;
	case sizeof(uint16_t): *(uint16_t *)field = (uint16_t)value; break;
	case sizeof(uint32_t): *(uint32_t *)field = (uint32_t)value; break;
	default: *(uint64_t *)field = value;
	}
}

static bool reader_parse_number(const struct key *key, const char *text, void *field) {
	uint64_t value = 0;
	bool parsed;

	if (key->kind == KIND_SIZE)
		parsed = units_parse_size(text, &value);
	else if (key->kind == KIND_DURATION)
		parsed = units_parse_duration(text, &value);
	else if (key->kind == KIND_INTEGER)
		parsed = units_parse_integer(text, &value);
	else if (key->kind == KIND_RATE_OR_NONE && strcmp(text, "none") == 0)
		return true;
	else
		parsed = units_parse_rate(text, &value);
	if (!parsed || value < key->min || value > key->max)
		return false;
	store_integer(key, field, value);
	return true;
}

static bool parse_bool(const char *text, bool *field) {
	*field = strcmp(text, "true") == 0;
	return *field || strcmp(text, "false") == 0;
}

static bool parse_choice(const struct key *key, const char *text, void *field) {
	for (const struct choice *choice = key->choices; choice->name != NULL; choice++) {
		if (strcmp(choice->name, text) == 0) {
			store_integer(key, field, choice->value);
			return true;
		}
	}
	return false;
}

static bool is_name_letter(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name(const char *text) {
	size_t length = strlen(text);

	if (length > 64 || !is_name_letter(text[0]))
		return false;
	for (const char *c = text; *c != '\0'; c++) {
		if (!is_name_letter(*c) && strchr("._-", *c) == NULL)
			return false;
	}
	return true;
}

static bool is_device(const char *text) {
	size_t length = strlen(text);

	for (const char *c = text; *c != '\0'; c++) {
		if (*c < '!' || *c > '~')
			return false;
	}
	return length >= 1 && length <= 255;
}

/* Any file name without control characters, which would break an error message into lines. */
static bool is_path(const char *text) {
	size_t length = strlen(text);

	for (const char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	return length >= 1 && length <= 1023;
}

static bool parse_text(struct reader *reader, const struct key *key, const char *text,
		       void *field) {
	char **copy = field;

	bool good = key->kind == KIND_NAME	 ? is_name(text)
		    : key->kind == KIND_PATH	 ? is_path(text)
		    : key->kind == KIND_ENDPOINT ? units_parse_endpoint(text)
						 : is_device(text);

	if (!good)
		return false;
	*copy = arena_text(reader->arena, text, strlen(text));
	return *copy != NULL;
}

/* The text must have the length of the field, or one of the lengths that the key lists. */
static bool reader_parse_hex(const struct key *key, const char *text, char *object) {
	uint8_t *bytes = (uint8_t *)object + key->offset;

	if (key->choices == NULL)
		return units_parse_hex(text, bytes, key->size);
	for (const struct choice *length = key->choices; length->name != NULL; length++) {
		if (!units_parse_hex(text, bytes, length->value))
			continue;
		if (key->count != 0)
			*(size_t *)(void *)(object + key->count) = length->value;
		return true;
	}
	return false;
}

static bool parse_scalar(struct reader *reader, const struct key *key, const char *text,
			 void *object) {
	void *field = (char *)object + key->offset;
	uint8_t *bytes = field;

	switch (key->kind) {
	case KIND_BOOL: return parse_bool(text, field);
	case KIND_ENUM: return parse_choice(key, text, field);
	case KIND_NAME:
	case KIND_PATH:
	case KIND_ENDPOINT:
	case KIND_DEVICE: return parse_text(reader, key, text, field);
	case KIND_MAC: return units_parse_mac(text, bytes);
	case KIND_ADDRESS: return units_parse_address(text, field);
	case KIND_PREFIX: return units_parse_prefix(text, field);
	case KIND_PORTS: return units_parse_ports(text, field);
	case KIND_HOURS: return units_parse_hours(text, field);
	case KIND_PROTOCOL: return units_parse_protocol(text, bytes);
	case KIND_TOS: return units_parse_tos(text, &bytes[0], &bytes[1]);
	case KIND_HEX: return reader_parse_hex(key, text, object);
	default: return reader_parse_number(key, text, field);
	}
}

static void stop_without_memory(struct reader *reader) {
	if (!reader->stopped)
		errors_add_no_memory(reader->errors);
	reader->stopped = true;
}

static void read_default(struct reader *reader, const struct key *key, void *object) {
	static struct node nothing = {.type = NODE_MAP};

	if (key->optional)
		return;
	if (key->kind == KIND_MAP)
		reader_read(reader, key->keys, &nothing, (char *)object + key->offset);
	else if (key->fallback != NULL && !parse_scalar(reader, key, key->fallback, object))
		stop_without_memory(reader);
}

static const struct key *find_key(const struct key *keys, struct node *name) {
	const struct node *word = node_resolve(name);

	if (word->type != NODE_SCALAR || strlen(word->text) != word->length)
		return NULL;
	while (keys->name != NULL && strcmp(keys->name, word->text) != 0)
		keys++;
	return keys->name != NULL ? keys : NULL;
}

/* The line of the first name in the map that is this key. */
static uint32_t first_line(const struct key *keys, const struct node *map, const struct key *key) {
	struct node *name = map->first;

	while (find_key(keys, name) != key)
		name = name->next->next;
	return name->line;
}

/* The key of this name; NULL, after a report, if it is unknown or repeated. */
static const struct key *read_name(struct reader *reader, const struct key *keys, struct node *map,
				   struct node *name, uint64_t *given, const struct path *up) {
	const struct key *key = find_key(keys, name);
	uint64_t bit;

	if (key == NULL) {
		reader_report_unknown(reader, name, up, keys);
		return NULL;
	}
	bit = UINT64_C(1) << (key - keys);
	if ((*given & bit) != 0) {
		reader_report_repeated(reader->errors, name->line, up, key->name,
				       first_line(keys, map, key));
		return NULL;
	}
	*given |= bit;
	return key;
}

static void check_names(struct reader *reader, const struct key *keys, struct node *map,
			const struct path *up) {
	uint64_t given = 0;

	for (struct node *name = map->first; name != NULL; name = name->next->next) {
		const struct key *key = read_name(reader, keys, map, name, &given, up);
		struct node *value = node_resolve(name->next);
		struct path path = {.up = up};

		if (key == NULL || !key->merged)
			continue;
		path.key = key->name;
		if (value->type == NODE_MAP)
			check_names(reader, key->keys, value, &path);
		else
			reader_refuse(reader, name->next, &path, key);
	}
}

void reader_check_names(struct reader *reader, const struct key *keys, struct node *map) {
	check_names(reader, keys, map, NULL);
}

static void read_map(struct reader *reader, const struct key *keys, struct node *map, void *object,
		     const struct path *up) {
	uint64_t given = 0;

	for (struct node *name = map->first; name != NULL; name = name->next->next) {
		const struct key *key = read_name(reader, keys, map, name, &given, up);
		struct path path = {.up = up};

		if (key == NULL)
			continue;
		path.key = key->name;
		reader_read_value(reader, key, name->next, object, &path);
		if (reader->stopped)
			return;
	}
	for (const struct key *key = keys; key->name != NULL; key++) {
		if ((given & UINT64_C(1) << (key - keys)) != 0)
			continue;
		if (key->required)
			reader_report_missing(reader, map, up, key);
		else
			read_default(reader, key, object);
	}
}

/* One text, or a list of texts. */
static bool parse_cores(struct cores *cores, struct node *value) {
	struct node *item = value->type == NODE_LIST ? value->first : value;

	if (value->type == NODE_MAP)
		return false;
	for (; item != NULL; item = value->type == NODE_LIST ? item->next : NULL) {
		const struct node *text = node_resolve(item);

		if (text->type != NODE_SCALAR || strlen(text->text) != text->length ||
		    !cores_add(cores, text->text))
			return false;
	}
	return cores->count > 0;
}

static void read_cores(struct reader *reader, const struct key *key, struct node *node,
		       void *object, const struct path *path) {
	struct cores cores = {0};
	uint16_t *numbers;

	if (!parse_cores(&cores, node_resolve(node))) {
		reader_refuse(reader, node, path, key);
		return;
	}
	numbers = arena_alloc(reader->arena, cores.count, sizeof(numbers[0]));
	if (numbers == NULL) {
		stop_without_memory(reader);
		return;
	}
	memcpy(numbers, cores.number, cores.count * sizeof(numbers[0]));
	memcpy((char *)object + key->offset, &numbers, sizeof(numbers));
	*(size_t *)(void *)((char *)object + key->count) = cores.count;
}

static void read_list(struct reader *reader, const struct key *key, struct node *node, void *object,
		      const struct path *path) {
	struct node *list = node_resolve(node);
	char *items = (char *)object + key->offset;
	struct path element = {.up = path};

	if (list->type != NODE_LIST || list->length < key->min || list->length > key->max) {
		reader_refuse(reader, node, path, key);
		return;
	}
	if (!key->fixed) {
		items = arena_alloc(reader->arena, list->length, key->size);
		if (items == NULL) {
			stop_without_memory(reader);
			return;
		}
		memcpy((char *)object + key->offset, &items, sizeof(items));
	}
	*(size_t *)(void *)((char *)object + key->count) = list->length;
	for (struct node *item = list->first; item != NULL && !reader->stopped; item = item->next) {
		reader_read_value(reader, key->item, item, items, &element);
		items += key->size;
		element.index++;
	}
}

static void reader_read_value(struct reader *reader, const struct key *key, struct node *node,
			      void *object, const struct path *path) {
	struct node *value = node_resolve(node);
	void *field = (char *)object + key->offset;

	if (reader->visits == 0) {
		if (!reader->stopped)
			errors_say(reader->errors, node->line, path,
				   "aliases repeat more than 20 million values");
		reader->stopped = true;
		return;
	}
	reader->visits--;
	if (key->flag != 0)
		*((bool *)object + key->flag) = true;
	if (key->kind == KIND_LIST)
		read_list(reader, key, node, object, path);
	else if (key->kind == KIND_CORES)
		read_cores(reader, key, node, object, path);
	else if (key->kind == KIND_MAP && value->type == NODE_MAP)
		read_map(reader, key->keys, value, field, path);
	else if (key->kind == KIND_JSON && value->type == NODE_MAP)
		return;
	else if (key->kind == KIND_MAP || key->kind == KIND_JSON || value->type != NODE_SCALAR ||
		 strlen(value->text) != value->length ||
		 !parse_scalar(reader, key, value->text, object))
		reader_refuse(reader, node, path, key);
}

void reader_read(struct reader *reader, const struct key *keys, struct node *map, void *object) {
	read_map(reader, keys, map, object, NULL);
}

void reader_read_one(struct reader *reader, const struct key *key, struct node *value, void *object,
		     const struct path *up) {
	struct path path = {.up = up, .key = key->name};

	reader_read_value(reader, key, value, object, &path);
}
