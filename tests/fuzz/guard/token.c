/*
 * A token of any bytes from a stranger: nothing but what this key has signed is taken. Input that begins with `{` is a
 * principal's name and is signed first, then changed in one place: only the unchanged one may be taken.
 */
#include "server/guard/key.h"
#include "server/guard/token.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct evp_pkey_st *key;

static void change_one(const uint8_t *input, size_t size)
{
	struct error err;
	struct principal principal = {.rights = RIGHT_READ}, read;
	size_t length = size - 3 < sizeof principal.name - 1 ? size - 3 : sizeof principal.name - 1;
	for (size_t i = 0; i < length; i++)
		principal.name[i] = (char)('a' + input[3 + i] % 26);
	strcpy(principal.tenant, "default");
	char *token = token_mint(key, &principal, &err);
	assert(token);
	size_t all = strlen(token), place = (size_t)(input[1] * 256 + input[2]) % all;
	assert(token_verify(key, token, all, 0, &read) && strcmp(read.name, principal.name) == 0);
	token[place] = token[place] == 'A' ? 'B' : 'A';
	assert(!token_verify(key, token, all, 0, &read));
	free(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct error err;
	struct principal principal;
	if (!key)
		key = key_generate(&err);
	assert(key);
	if (size > 3 && input[0] == '{') {
		change_one(input, size);
		return 0;
	}
	char *token = malloc(size + 1);
	assert(token);
	memcpy(token, input, size);
	assert(!token_verify(key, token, size, 0, &principal));
	free(token);
	return 0;
}
