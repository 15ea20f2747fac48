#include "values.h"

#include <criterion/criterion.h>

bool map_find(struct reader map, const char *key, struct reader *value)
{
	uint32_t count;
	cr_assert(reader_map(&map, &count), "no map where `%s` is looked for", key);
	for (uint32_t i = 0; i < count; i++) {
		struct view name;
		cr_assert(reader_str(&map, &name));
		*value = map;
		if (view_equals(name, key))
			return true;
		cr_assert(reader_skip(&map));
	}
	return false;
}

static struct reader value_of(struct reader map, const char *key)
{
	struct reader value;
	cr_assert(map_find(map, key, &value), "there is no `%s`", key);
	return value;
}

uint64_t map_uint(struct reader map, const char *key)
{
	struct reader value = value_of(map, key);
	uint64_t number = 0;
	cr_assert(reader_uint(&value, &number), "`%s` is %s", key, value_type_name(reader_type(&value)));
	return number;
}

bool map_bool(struct reader map, const char *key)
{
	struct reader value = value_of(map, key);
	bool is = false;
	cr_assert(reader_bool(&value, &is), "`%s` is %s", key, value_type_name(reader_type(&value)));
	return is;
}

struct reader map_map(struct reader map, const char *key)
{
	struct reader value = value_of(map, key);
	cr_assert_eq(reader_type(&value), VALUE_MAP, "`%s` is %s", key, value_type_name(reader_type(&value)));
	return value;
}

struct reader map_array(struct reader map, const char *key, uint32_t *count)
{
	struct reader value = value_of(map, key);
	cr_assert(reader_array(&value, count), "`%s` is %s", key, value_type_name(reader_type(&value)));
	return value;
}

bool map_is_nil(struct reader map, const char *key)
{
	struct reader value = value_of(map, key);
	return reader_nil(&value);
}

bool map_is(struct reader map, const char *key, const char *text)
{
	struct reader value = value_of(map, key);
	struct view is;
	if (!text)
		return reader_nil(&value);
	return reader_str(&value, &is) && view_equals(is, text);
}

uint32_t map_count(struct reader map)
{
	uint32_t count = 0;
	cr_assert(reader_map(&map, &count));
	return count;
}
