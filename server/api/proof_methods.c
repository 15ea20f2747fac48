#include "proof_methods.h"

#include "server/guard/gate.h"
#include "server/guard/proofs.h"
#include "templates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define DIGEST_ROW(field)                                                                                       \
	{                                                                                                           \
#field, PARAM_TEXT, offsetof(struct proof_keep_args, field), .required = true, .least = 64, .most = 64, \
																	 .summary = "SHA-256, as hexadecimal text"  \
	}

/* clang-format off */
static const struct param fingerprint_fields[] = {DIGEST_ROW(kernel), DIGEST_ROW(policy), DIGEST_ROW(root), {0}};

const struct param proof_keep_params[] = {
	{"template", PARAM_TEXT, offsetof(struct proof_keep_args, template), .least = 1, .most = TEMPLATE_NAME_BYTES,
	 .summary = "what was attacked was made from it"},
	{"held", PARAM_BOOL, offsetof(struct proof_keep_args, has_held), .required = true, .summary = "whether everything held"},
	{"fingerprints", PARAM_MAP, .fields = fingerprint_fields, .required = true,
	 .has_offset = offsetof(struct proof_keep_args, has_fingerprints), .summary = "what it depends on"},
	{0},
};
/* clang-format on */
const struct proof_keep_args proof_keep_defaults = {.template = TEMPLATE_DEFAULT};

static uint64_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec;
}

/* What the server sees of kernel and policy. The root stands in the keeper's mount namespace alone: that it has changed is
 * found by `sandbar prove --check`. */
static void facts_of(const struct server *server, const struct template *template, char digest[PROOF_DIGEST_BYTES])
{
	struct utsname kernel;
	char *bytes;
	size_t length;
	FILE *all = open_memstream(&bytes, &length);
	if (!all || uname(&kernel) < 0)
		abort();
	fprintf(all, "%s\n%s\n%s\n%s\n", SANDBAR_VERSION, kernel.release, kernel.version, kernel.machine);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		fprintf(all, "%u %s\n", server->layers[0].layers[layer].on, server->layers[0].layers[layer].detail);
	fwrite(template, sizeof *template, 1, all);
	fclose(all);
	proof_digest(bytes, length, digest);
	free(bytes);
}

void handle_proof_keep(struct call *call, const void *arguments)
{
	const struct proof_keep_args *args = arguments;
	const struct server *server = call->caller->server;
	if (!gate_is_operator(&call->caller->principal)) {
		call_fail(call, CODE_FORBIDDEN, NULL, NULL, "proofs are kept for the tenant `%s` only", OPERATOR_TENANT);
		return;
	}
	const struct template *template = templates_find(server->templates, args->template);
	if (!template) {
		call_fail(call, CODE_NOT_FOUND, "field", "template", "there is no template `%s`", args->template);
		return;
	}
	if (!is_proof_digest(args->kernel) || !is_proof_digest(args->policy) || !is_proof_digest(args->root)) {
		call_fail(call, CODE_INVALID_PARAMS, "field", "fingerprints", "a fingerprint is 64 of 0-9 and a-f");
		return;
	}
	struct error err;
	struct proof_record record = {.has_held = args->has_held, .proved_s = now_s()};
	strcpy(record.template, template->name);
	strcpy(record.kernel, args->kernel);
	strcpy(record.policy, args->policy);
	strcpy(record.root, args->root);
	facts_of(server, template, record.facts);
	if (proofs_keep(server->proofs, &record, &err) == 0)
		call_answer_empty(call);
	else
		call_fail_to_write(call, &err);
}

/* NULL, or what is wrong with the newest proof. */
static const char *fault_of(const struct server *server, const struct template *template)
{
	const struct proof_record *record = server->proofs ? proofs_find(server->proofs, template->name) : NULL;
	char facts[PROOF_DIGEST_BYTES];
	uint64_t now = now_s();
	if (!record)
		return "there is none";
	if (!record->has_held)
		return "in the newest one not everything held";
	if (record->proved_s > now || (now - record->proved_s) * 1000 > template->require_proof_ms)
		return "the newest one is older";
	facts_of(server, template, facts);
	return strcmp(facts, record->facts) == 0 ? NULL : "kernel, server or template have changed since the newest one";
}

bool proof_is_fresh(struct call *call, const struct template *template)
{
	const char *fault = template->require_proof_ms > 0 ? fault_of(call->caller->server, template) : NULL;
	if (fault)
		call_fail(call, CODE_PROOF, "template", template->name,
		          "the template `%s` demands a proof of the last %llu s, and %s: an operator runs `sandbar prove "
		          "--template %s`",
		          template->name, (unsigned long long)(template->require_proof_ms / 1000), fault, template->name);
	return !fault;
}

void proof_write(struct writer *writer, const struct server *server, const struct template *template)
{
	const struct proof_record *record = server->proofs ? proofs_find(server->proofs, template->name) : NULL;
	writer_key_uint(writer, "require_proof_ms", template->require_proof_ms);
	writer_str(writer, "proved_us");
	if (record && record->has_held)
		writer_uint(writer, record->proved_s * 1000000);
	else
		writer_nil(writer);
}
