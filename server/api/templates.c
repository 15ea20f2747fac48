#include "templates.h"

#include "proof_methods.h"
#include "sandbox/limit_bounds.h"
#include "server/guard/gate.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct templates {
	size_t count;
	struct template rows[];
};

enum { NAMES_TOLD = 16, NAMES_BYTES = 384 }; /* in an error, whose text is bounded */

static const struct template built_in = {.name = TEMPLATE_DEFAULT};

/* Each limit: its name on the wire, and where it stands in a set. */
static const struct {
	const char *name;
	size_t offset;
} limits[] = {
#define ROW(field)                                \
	{                                             \
#field, offsetof(struct limit_set, field) \
	}
	ROW(memory),    ROW(processes), ROW(cpu),        ROW(cpu_weight),
	ROW(workspace), ROW(inodes),    ROW(open_files), ROW(file_size),
#undef ROW
};
enum { LIMITS = sizeof limits / sizeof limits[0] };

static uint64_t limit_at(const struct limit_set *set, size_t row)
{
	uint64_t value;
	memcpy(&value, (const char *)set + limits[row].offset, sizeof value);
	return value;
}

#define LIMIT_ROW(field, low, text)                                             \
	{                                                                           \
#field, PARAM_UINT, offsetof(struct session_create_args, limits.field), \
			.least = (low), .most = LIMIT_MOST_##field, .summary = text         \
	}
/* clang-format off */
const struct param limit_fields[] = {
	LIMIT_ROW(memory, LIMIT_LEAST_memory, "bytes, of all processes and their files"),
	LIMIT_ROW(processes, LIMIT_LEAST_processes, "tasks at once"),
	LIMIT_ROW(cpu, 0, "percent of one core; 0 = as the template says"),
	LIMIT_ROW(cpu_weight, 0, "share of processor time beside other sessions'; 100 is the standard, 0 = as the template says"),
	LIMIT_ROW(workspace, LIMIT_LEAST_workspace, "bytes of /work, /tmp and /dev/shm together"),
	LIMIT_ROW(inodes, LIMIT_LEAST_inodes, "files and directories there"),
	LIMIT_ROW(open_files, LIMIT_LEAST_open_files, "descriptors of a process"),
	LIMIT_ROW(file_size, 0, "bytes of one file; 0 = as the template says"),
	{"record", PARAM_OPTIONAL, offsetof(struct session_create_args, record), .most = UINT64_C(1) << 46,
	 .summary = "bytes of its record, within the server's; 0 = none"},
	{0},
};
/* clang-format on */

/* --- loading -------------------------------------------------------------------------------------------------- */

static bool is_whole(const struct template *template)
{
	return memchr(template->name, '\0', sizeof template->name) && template->env_bytes <= TEMPLATE_ENV_BYTES &&
	       template->env_count <= template->env_bytes && template->user < INNER_USERS &&
	       (template->env_bytes == 0 || template->env[template->env_bytes - 1] == '\0');
}

struct templates *templates_load(int fd, struct error *err)
{
	struct stat status;
	if (fstat(fd, &status) < 0) {
		error_set(err, errno, "look at the templates");
		return NULL;
	}
	size_t bytes = (size_t)status.st_size, count = bytes / sizeof(struct template);
	struct templates *templates = calloc(1, sizeof *templates + bytes);
	if (!templates)
		abort();
	templates->count = count;
	bool good = bytes == count * sizeof(struct template) && count <= TEMPLATES_MOST &&
	            pread(fd, templates->rows, bytes, 0) == (ssize_t)bytes;
	for (size_t i = 0; good && i < count; i++)
		good = is_whole(&templates->rows[i]);
	if (good)
		return templates;
	error_set(err, 0, "the templates that the keeper handed over are not of this version");
	templates_destroy(templates);
	return NULL;
}

void templates_destroy(struct templates *templates)
{
	free(templates);
}

/* What is asked for by this name; `default` is there even where nobody configured it. */
const struct template *templates_find(const struct templates *templates, const char *name)
{
	for (size_t i = 0; templates && i < templates->count; i++)
		if (strcmp(templates->rows[i].name, name) == 0)
			return &templates->rows[i];
	return strcmp(name, TEMPLATE_DEFAULT) == 0 ? &built_in : NULL;
}

/* --- what a session gets -------------------------------------------------------------------------------------- */

static struct sandbox_limits limits_of(const struct limit_set *asked, const struct limit_set *given)
{
	struct sandbox_limits result = sandbox_limits_default();
#define CHOOSE(field, from)                   \
	if (asked->from != 0 || given->from != 0) \
	result.field = (__typeof__(result.field))(asked->from != 0 ? asked->from : given->from)
	CHOOSE(memory, memory);
	CHOOSE(processes, processes);
	CHOOSE(cpu_percent, cpu);
	CHOOSE(cpu_weight, cpu_weight);
	CHOOSE(workspace, workspace);
	CHOOSE(inodes, inodes);
	CHOOSE(open_files, open_files);
	CHOOSE(file_size, file_size);
#undef CHOOSE
	return result;
}

/* A share is taken from others: nobody gives himself more of it than the operator does. */
static uint64_t most_of(const struct template *template, size_t row)
{
	uint64_t most = limit_at(&template->most, row);
	if (most > 0 || limits[row].offset != offsetof(struct limit_set, cpu_weight))
		return most;
	return template->limits.cpu_weight ? template->limits.cpu_weight : sandbox_limits_default().cpu_weight;
}

static bool within_most(struct call *call, const struct template *template, const struct session_create_args *args)
{
	for (size_t i = 0; i < LIMITS; i++) {
		uint64_t asked = limit_at(&args->limits, i), most = most_of(template, i);
		if (most == 0 || asked <= most)
			continue;
		call_fail(call, CODE_LIMIT, "limit", limits[i].name, "the template `%s` allows a `%s` of at most %llu",
		          template->name, limits[i].name, (unsigned long long)most);
		return false;
	}
	if (template->most_ttl_ms == 0 || args->ttl_ms <= template->most_ttl_ms)
		return true;
	call_fail(call, CODE_LIMIT, "limit", "ttl_ms", "the template `%s` allows a `ttl_ms` of at most %llu",
	          template->name, (unsigned long long)template->most_ttl_ms);
	return false;
}

static uint64_t ttl_of(const struct call *call, const struct template *template, uint64_t asked_ms)
{
	uint64_t usual = call->caller->server->sessions.default_ttl_ms, most = template->most_ttl_ms;
	uint64_t ttl = asked_ms ? asked_ms : template->ttl_ms ? template->ttl_ms : usual;
	return most > 0 && (ttl == 0 || ttl > most) ? most : ttl;
}

static bool layers_of(struct call *call, const char *const *names, uint32_t *mask)
{
	for (; names && *names; names++) {
		int layer = layer_find(*names);
		if (layer < 0) {
			call_fail(call, CODE_INVALID_PARAMS, "field", "require",
			          "there is no layer `%.64s`; `sandbar doctor` lists them", *names);
			return false;
		}
		*mask |= UINT32_C(1) << layer;
	}
	return true;
}

/* It costs what measures time across sandboxes its common clock, so it is put on where it is demanded. */
static uint32_t has_time(uint32_t layers)
{
	return layers >> LAYER_TIME & 1;
}

/* What the operator has said is not the client's to choose. */
static uint32_t template_profile(const struct template *template)
{
	return template->profile > 0 ? template->profile - 1 : PROFILE_DEFAULT;
}

static bool profile_of(struct call *call, const struct template *template, const char *asked, uint32_t *profile)
{
	*profile = template_profile(template);
	if (!asked)
		return true;
	int found = profile_find(asked);
	if (found < 0)
		call_fail(call, CODE_INVALID_PARAMS, "field", "profile",
		          "there is no profile `%.64s`; there are:" PROFILE_NAMES, asked);
	else if (template->profile > 0 && (uint32_t)found != *profile)
		call_fail(call, CODE_LIMIT, "limit", "profile", "the template `%s` allows the profile `%s` alone",
		          template->name, profile_name((enum profile) * profile));
	else
		*profile = (uint32_t)found;
	return found >= 0 && (uint32_t)found == *profile;
}

/* The template's entries, then the client's: a later one of a name counts. */
static char **env_of(const struct template *template, const char *const *asked)
{
	size_t count = 0;
	while (asked && asked[count])
		count++;
	char **env = calloc(template->env_count + count + 1, sizeof *env), **to = env;
	if (!env)
		abort();
	const char *at = template->env;
	for (uint32_t i = 0; i < template->env_count; i++, at += strlen(at) + 1)
		*to++ = strdup(at);
	for (size_t i = 0; i < count; i++)
		*to++ = strdup(asked[i]);
	return env;
}

/* The first of them, the built-in one before the others: "`default`, `small`, …". */
static void list_names(const struct templates *templates, char text[NAMES_BYTES])
{
	bool has_built_in = templates_find(templates, TEMPLATE_DEFAULT) == &built_in;
	size_t count = (templates ? templates->count : 0) + has_built_in, length = 0;
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *name = has_built_in && i == 0 ? TEMPLATE_DEFAULT : templates->rows[i - has_built_in].name;
		bool is_told = i < NAMES_TOLD && length + strlen(name) + sizeof ", ``, …" <= NAMES_BYTES;
		length += (size_t)snprintf(text + length, NAMES_BYTES - length, is_told ? "%s`%s`" : "%s…", i ? ", " : "",
		                           name);
		if (!is_told)
			return;
	}
}

bool templates_apply(struct call *call, const struct session_create_args *args, struct session_options *options)
{
	const struct template *template = templates_find(call->caller->server->templates, args->template);
	if (!template) {
		char names[NAMES_BYTES];
		list_names(call->caller->server->templates, names);
		call_fail(call, CODE_NOT_FOUND, "field", "template", "there is no template `%s`; there are: %s", args->template,
		          names);
		return false;
	}
	bool is_for_proof = args->for_proof && gate_is_operator(&call->caller->principal);
	if (!is_for_proof && !proof_is_fresh(call, template))
		return false;
	options->limits = limits_of(&args->limits, &template->limits);
	options->required_layers = template->required_layers;
	options->ttl_ms = ttl_of(call, template, args->ttl_ms);
	options->most_ttl_ms = template->most_ttl_ms;
	const char *wrong = sandbox_limits_check(&options->limits);
	if (!within_most(call, template, args) || !profile_of(call, template, args->profile, &options->limits.profile) ||
	    !layers_of(call, (const char *const *)args->require, &options->required_layers))
		return false;
	options->limits.own_time = has_time(options->required_layers);
	options->limits.user = template->user;
	if (wrong) {
		call_fail(call, CODE_INVALID_PARAMS, "field", "limits", "%s", wrong);
		return false;
	}
	options->env = env_of(template, (const char *const *)args->env);
	return true;
}

/* --- what stands ready ---------------------------------------------------------------------------------------- */

/* What a session of TEMPLATE gets that asks for nothing else. */
static struct sandbox_spec template_spec(const struct template *template)
{
	static const struct limit_set nothing;
	struct sandbox_spec spec = {.limits = limits_of(&nothing, &template->limits),
	                            .required_layers = template->required_layers};
	spec.limits.profile = template_profile(template);
	spec.limits.own_time = has_time(template->required_layers);
	spec.limits.user = template->user;
	return spec;
}

void templates_each_warm(const struct templates *templates, unsigned default_warm,
                         void (*each)(void *owner, const struct sandbox_spec *spec, unsigned count), void *owner)
{
	const struct template *usual = templates_find(templates, TEMPLATE_DEFAULT);
	struct sandbox_spec spec = template_spec(usual);
	each(owner, &spec, usual->warm > 0 ? usual->warm : default_warm);
	for (size_t i = 0; templates && i < templates->count; i++) {
		if (&templates->rows[i] == usual || templates->rows[i].warm == 0)
			continue;
		spec = template_spec(&templates->rows[i]);
		each(owner, &spec, templates->rows[i].warm);
	}
}

/* --- template.list -------------------------------------------------------------------------------------------- */

static void write_set(struct writer *writer, const char *key, const struct limit_set *set)
{
	uint32_t count = 0;
	for (size_t i = 0; i < LIMITS; i++)
		count += limit_at(set, i) > 0;
	writer_str(writer, key);
	writer_map(writer, count);
	for (size_t i = 0; i < LIMITS; i++)
		if (limit_at(set, i) > 0)
			writer_key_uint(writer, limits[i].name, limit_at(set, i));
}

static void write_layers(struct writer *writer, uint32_t mask)
{
	uint32_t count = 0;
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		count += mask >> layer & 1;
	writer_str(writer, "require");
	writer_array(writer, count);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		if (mask >> layer & 1)
			writer_str(writer, layer_name((enum layer)layer));
}

static void write_template(struct writer *writer, const struct server *server, const struct template *template)
{
	writer_map(writer, 8 + PROOF_LIST_KEYS);
	writer_key_str(writer, "name", template->name);
	write_set(writer, "limits", &template->limits);
	write_set(writer, "most", &template->most);
	writer_key_uint(writer, "ttl_ms", template->ttl_ms);
	writer_key_uint(writer, "most_ttl_ms", template->most_ttl_ms);
	write_layers(writer, template->required_layers);
	writer_str(writer, "profile");
	if (template->profile > 0)
		writer_str(writer, profile_name((enum profile)(template->profile - 1)));
	else
		writer_nil(writer);
	writer_key_str(writer, "user", inner_user_name((enum inner_user) template->user));
	proof_write(writer, server, template);
}

void handle_template_list(struct call *call, const void *arguments)
{
	(void)arguments;
	const struct templates *templates = call->caller->server->templates;
	uint32_t count = templates ? (uint32_t)templates->count : 0;
	bool has_built_in = templates_find(templates, TEMPLATE_DEFAULT) == &built_in;
	writer_map(&call->result, 1);
	writer_str(&call->result, "templates");
	writer_array(&call->result, count + has_built_in);
	if (has_built_in)
		write_template(&call->result, call->caller->server, &built_in);
	for (uint32_t i = 0; i < count; i++)
		write_template(&call->result, call->caller->server, &templates->rows[i]);
	call_answer(call);
}
