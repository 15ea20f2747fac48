#include "template_section.h"

#include "config_parse.h"
#include "sandbox/inner_user.h"
#include "sandbox/layer.h"
#include "sandbox/limit_bounds.h"
#include "sandbox/profile.h"

#include <string.h>

#define DAY_MS UINT64_C(86400000)

static int parse_env(const struct flag *flag, const char *text, void *field, struct error *err)
{
	(void)flag;
	struct template_env *env = field;
	size_t length = strlen(text) + 1;
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return error_set(err, 0, "`%.100s` is not NAME=VALUE", text);
	if (length > sizeof env->text - env->bytes)
		return error_set(err, 0, "the environment of a template has at most %d bytes", TEMPLATE_ENV_BYTES);
	memcpy(env->text + env->bytes, text, length);
	env->bytes += (uint32_t)length;
	env->count++;
	return 0;
}

static int parse_layer(const struct flag *flag, const char *text, void *field, struct error *err)
{
	(void)flag;
	int layer = layer_find(text);
	if (layer < 0)
		return error_set(err, 0, "there is no layer `%.100s`; `sandbard --doctor` lists them", text);
	*(uint32_t *)field |= UINT32_C(1) << layer;
	return 0;
}

static int parse_profile(const struct flag *flag, const char *text, void *field, struct error *err)
{
	(void)flag;
	int profile = profile_find(text);
	if (profile < 0)
		return error_set(err, 0, "there is no profile `%.100s`; there are:" PROFILE_NAMES, text);
	*(uint32_t *)field = (uint32_t)profile + 1;
	return 0;
}

static int parse_user(const struct flag *flag, const char *text, void *field, struct error *err)
{
	(void)flag;
	int user = inner_user_find(text);
	if (user < 0)
		return error_set(err, 0, "there is no user `%.100s` inside; there are:" INNER_USER_NAMES, text);
	*(uint32_t *)field = (uint32_t)user;
	return 0;
}

#define FIELD(name) .offset = offsetof(struct template_section, name)
#define LIMIT(name, field, form, argument_text, low, text)                                                            \
	{                                                                                                                 \
		name, argument_text, NULL, "built in", form, FIELD(limits.field), .least = (low), .most = LIMIT_MOST_##field, \
																		  .help = text                                \
	}
#define MOST(name, field, form, argument_text, low)                                                        \
	{                                                                                                      \
		"max-" name, argument_text, NULL, NULL, form, FIELD(most.field),                                   \
			.least = (low), .most = LIMIT_MOST_##field, .help = "the most of it that a client may ask for" \
	}

/* The same bounds as the parameters of session.create have; a 0 would say nothing. */
/* clang-format off */
static const struct flag rows[] = {
	LIMIT("memory", memory, flag_bytes, "BYTES", LIMIT_LEAST_memory, "of all processes and their files"),
	LIMIT("processes", processes, flag_number, "N", LIMIT_LEAST_processes, "processes and threads at once"),
	LIMIT("cpu", cpu, flag_number, "N", 1, "percent of one core"),
	LIMIT("cpu-weight", cpu_weight, flag_number, "N", LIMIT_LEAST_cpu_weight, "share of processor time beside other sessions'; 100 is\nthe standard"),
	LIMIT("workspace", workspace, flag_bytes, "BYTES", LIMIT_LEAST_workspace, "of /work, /tmp and /dev/shm together"),
	LIMIT("inodes", inodes, flag_number, "N", LIMIT_LEAST_inodes, "files and directories there"),
	LIMIT("open-files", open_files, flag_number, "N", LIMIT_LEAST_open_files, "descriptors of a process"),
	LIMIT("file-size", file_size, flag_bytes, "BYTES", 1, "of one file"),
	{"ttl", "TIME", NULL, "--session-ttl", flag_duration, FIELD(ttl_ms), .least = 1, .most = 3650 * DAY_MS,
	 .help = "a session ends this long after it was made"},
	MOST("memory", memory, flag_bytes, "BYTES", LIMIT_LEAST_memory),
	MOST("processes", processes, flag_number, "N", LIMIT_LEAST_processes),
	MOST("cpu", cpu, flag_number, "N", 1),
	MOST("cpu-weight", cpu_weight, flag_number, "N", LIMIT_LEAST_cpu_weight),
	MOST("workspace", workspace, flag_bytes, "BYTES", LIMIT_LEAST_workspace),
	MOST("inodes", inodes, flag_number, "N", LIMIT_LEAST_inodes),
	MOST("open-files", open_files, flag_number, "N", LIMIT_LEAST_open_files),
	MOST("file-size", file_size, flag_bytes, "BYTES", 1),
	{"max-ttl", "TIME", NULL, NULL, flag_duration, FIELD(most_ttl_ms), .least = 1, .most = 3650 * DAY_MS,
	 .help = "the longest life that a client may ask for; a session that\nsaid nothing lives no longer either"},
	{"env", "NAME=VALUE", NULL, NULL, parse_env, FIELD(env), .repeats = true,
	 .help = "in every process's environment; may be repeated"},
	{"warm", "N", NULL, "0; of `default`: --warm", flag_number, FIELD(warm), .least = 1, .most = WARM_MOST,
	 .help = "sandboxes that stand ready for sessions that ask for\nno other limits (see --warm)"},
	{"profile", "NAME", NULL, "default", parse_profile, FIELD(profile),
	 .help = "the system calls: default, compute (one program, no\nnetwork) or build (no network); clients may then ask\nfor no other"},
	{"user", "NAME", NULL, "user", parse_user, FIELD(user),
	 .help = "who its processes are, inside: user, or root, in name\nalone: an id of 0 without any right"},
	{"require", "LAYER", NULL, NULL, parse_layer, FIELD(layers), .repeats = true,
	 .help = "a layer of confinement without which no session is made;\nmay be repeated"},
	{"require-proof", "TIME", NULL, NULL, flag_duration, FIELD(require_proof_ms), .least = 1000, .most = 3650 * DAY_MS,
	 .help = "no session is made unless `sandbar prove` has shown within\nthis time, such as 24h, that everything holds, and neither\nkernel, server nor template have changed since"},
};
/* clang-format on */

const struct flags_table template_table = {
	.program = "template",
	.flags = rows,
	.count = sizeof rows / sizeof rows[0],
};

/* A limit of the template over the most that may be asked for is an oversight. */
static int check(const struct flag *most, const struct template_section *section, struct error *err)
{
	for (size_t i = 0; i < template_table.count; i++) {
		if (strcmp(rows[i].name, most->name + strlen("max-")) != 0)
			continue;
		uint64_t limit, bound;
		memcpy(&limit, (const char *)section + rows[i].offset, sizeof limit);
		memcpy(&bound, (const char *)section + most->offset, sizeof bound);
		if (bound > 0 && limit > bound)
			return error_set(err, 0, "`%s` is over `%s`", rows[i].name, most->name);
	}
	return 0;
}

int template_section_take(const struct template_section *section, struct template *template, struct error *err)
{
	for (size_t i = 0; i < template_table.count; i++)
		if (strncmp(rows[i].name, "max-", 4) == 0 && check(&rows[i], section, err) < 0)
			return error_prefix(err, "template `%s`", template->name);
	template->limits = section->limits;
	template->most = section->most;
	template->ttl_ms = section->ttl_ms;
	template->most_ttl_ms = section->most_ttl_ms;
	template->require_proof_ms = section->require_proof_ms;
	template->required_layers = section->layers;
	template->profile = section->profile;
	template->user = section->user;
	template->warm = (uint32_t)section->warm;
	template->env_count = section->env.count;
	template->env_bytes = section->env.bytes;
	memcpy(template->env, section->env.text, sizeof template->env);
	return 0;
}
