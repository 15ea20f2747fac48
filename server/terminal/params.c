#include "params.h"

void params_reset(struct params *params)
{
	params->count = 1;
	params->value[0] = 0;
	params->sub_begin[0] = params->sub_end[0] = 0;
	params->sub_count = 0;
	params->is_full = params->is_sub_full = params->in_sub = false;
}

static void add_value(struct params *params)
{
	params->in_sub = false;
	if (params->count >= PARAMS_MOST) {
		params->is_full = true;
		return;
	}
	params->value[params->count] = 0;
	params->sub_begin[params->count] = params->sub_end[params->count] = (uint8_t)params->sub_count;
	params->count++;
}

static void add_sub(struct params *params)
{
	params->in_sub = true;
	if (params->is_full || params->sub_count >= PARAMS_MOST) {
		params->is_sub_full = true;
		return;
	}
	params->sub[params->sub_count++] = -1;
	params->sub_end[params->count - 1]++;
}

static void add_digit(struct params *params, int32_t digit)
{
	if (params->is_full || (params->in_sub && (params->is_sub_full || params->sub_count == 0)))
		return;
	int32_t *number = params->in_sub ? &params->sub[params->sub_count - 1] : &params->value[params->count - 1];
	int64_t more = *number < 0 ? digit : (int64_t)*number * 10 + digit;
	*number = more > INT32_MAX ? INT32_MAX : (int32_t)more;
}

void params_add(struct params *params, uint8_t character)
{
	if (character == ';')
		add_value(params);
	else if (character == ':')
		add_sub(params);
	else
		add_digit(params, character - '0');
}

int32_t params_at(const struct params *params, uint32_t index)
{
	return index < params->count ? params->value[index] : 0;
}

int params_count(const struct params *params, uint32_t index, int most)
{
	int32_t value = params_at(params, index);
	return value == 0 ? 1 : value > most ? most : value;
}

uint32_t params_sub_count(const struct params *params, uint32_t index)
{
	return index < params->count ? (uint32_t)(params->sub_end[index] - params->sub_begin[index]) : 0;
}

int32_t params_sub(const struct params *params, uint32_t index, uint32_t sub)
{
	return params->sub[params->sub_begin[index] + sub];
}

void params_write(const struct params *params, struct bytes *bytes)
{
	for (uint32_t i = 0; i < params->count; i++) {
		bytes_format(bytes, "%s%d", i ? ";" : "", params->value[i]);
		for (uint32_t sub = 0; sub < params_sub_count(params, i); sub++) {
			int32_t value = params_sub(params, i, sub);
			if (value < 0)
				bytes_text(bytes, ":");
			else
				bytes_format(bytes, ":%d", value);
		}
	}
	if (params->is_full)
		bytes_text(bytes, ";");
	if (params->is_sub_full)
		bytes_text(bytes, ":");
}
