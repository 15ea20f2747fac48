/* Who may come in: a token that this server signed, as it signed it, and before it expires. Nothing else. */
#include "server/guard/key.h"
#include "server/guard/token.h"

#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOW = 1800000000 };

static EVP_PKEY *key;

static void set_up(void)
{
	struct error err = {0};
	key = key_generate(&err);
	cr_assert_not_null(key, "%s", err.message);
}

static void tear_down(void)
{
	key_destroy(key);
}
TestSuite(token, .init = set_up, .fini = tear_down);

static char *mint(const struct principal *principal)
{
	struct error err = {0};
	char *token = token_mint(key, principal, &err);
	cr_assert_not_null(token, "%s", err.message);
	return token;
}

static bool is_taken(const char *token, size_t length, struct principal *principal)
{
	char *copy = malloc(length ? length : 1); /* without a NUL behind it, so that a read over the end is seen */
	memcpy(copy, token, length);
	bool taken = token_verify(key, copy, length, NOW, principal);
	free(copy);
	return taken;
}

static const struct principal owner = {
	.name = "owner", .tenant = "default", .rights = RIGHT_READ | RIGHT_RUN | RIGHT_MANAGE | RIGHT_ADMIN};

Test(token, says_who_it_is_what_he_may_and_until_when)
{
	for (uint32_t rights = 0; rights < 16; rights++) {
		struct principal principal = {.tenant = "t-1", .rights = rights, .expires_s = NOW + 1 + rights}, read;
		snprintf(principal.name, sizeof principal.name, "name \"%u\" \xc3\xa9", rights);
		char *token = mint(&principal);
		cr_assert_leq(strlen(token), TOKEN_BYTES);
		cr_assert_eq(strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."), strlen(token));
		cr_assert(is_taken(token, strlen(token), &read), "rights %u", rights);
		cr_expect_str_eq(read.name, principal.name);
		cr_expect_str_eq(read.tenant, "t-1");
		cr_expect(read.rights == rights && read.expires_s == principal.expires_s);
		free(token);
	}
	struct principal longest = owner, read;
	memset(longest.name, 'n', sizeof longest.name - 1);
	memset(longest.tenant, 't', sizeof longest.tenant - 1);
	char *token = mint(&longest), *again = mint(&longest);
	cr_expect(is_taken(token, strlen(token), &read) && strcmp(read.name, longest.name) == 0);
	cr_expect_eq(read.expires_s, 0, "never");
	cr_expect_str_neq(token, again, "no two tokens are the same");
	free(token);
	free(again);
}

/* Not a character may differ, nor be missing, nor be too many: also not in the bits that base64 leaves unused. */
Test(token, no_mutation_is_taken)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/= \n\t";
	struct principal read;
	char *token = mint(&owner);
	size_t length = strlen(token);
	char *mutant = malloc(length + 2);
	for (size_t i = 0; i < length; i++) {
		memcpy(mutant, token, length + 1);
		for (const char *other = alphabet; *other; other++) {
			mutant[i] = *other;
			if (*other != token[i])
				cr_assert_not(is_taken(mutant, length, &read), "`%c` for `%c` at %zu", *other, token[i], i);
		}
		mutant[i] = '\0';
		cr_assert_not(is_taken(mutant, length, &read), "NUL at %zu", i);
		memmove(mutant + i, token + i + 1, length - i);
		cr_assert_not(is_taken(mutant, length - 1, &read), "without the character at %zu", i);
		cr_assert_not(is_taken(token, i, &read), "cut off at %zu", i);
	}
	for (const char *more = alphabet; *more; more++) {
		for (size_t at = 0; at <= length; at += length / 7) {
			memcpy(mutant, token, at);
			mutant[at] = *more;
			memcpy(mutant + at + 1, token + at, length - at);
			cr_assert_not(is_taken(mutant, length + 1, &read), "`%c` put in at %zu", *more, at);
		}
		memcpy(mutant, token, length);
		mutant[length] = *more;
		cr_assert_not(is_taken(mutant, length + 1, &read), "`%c` behind it", *more);
	}
	cr_assert(is_taken(token, length, &read));
	free(mutant);
	free(token);
}

Test(token, an_expired_one_is_refused)
{
	struct principal principal = owner, read;
	principal.expires_s = NOW + 10;
	char *token = mint(&principal);
	cr_expect(token_verify(key, token, strlen(token), NOW + 9, &read));
	cr_expect_not(token_verify(key, token, strlen(token), NOW + 10, &read));
	cr_expect_not(token_verify(key, token, strlen(token), UINT64_MAX, &read));
	free(token);
}

Test(token, another_servers_key_is_refused)
{
	struct error err = {0};
	struct principal read;
	char *token = mint(&owner);
	EVP_PKEY *other = key_generate(&err);
	cr_expect_not(token_verify(other, token, strlen(token), NOW, &read));
	cr_expect(token_verify(key, token, strlen(token), NOW, &read));
	key_destroy(other);
	free(token);
}

/* --- tokens that others made --- */

static size_t encode(char *to, const void *from, size_t length)
{
	size_t written = (size_t)EVP_EncodeBlock((unsigned char *)to, from, (int)length);
	while (written > 0 && to[written - 1] == '=')
		written--;
	to[written] = '\0';
	for (; *to; to++)
		*to = *to == '+' ? '-' : *to == '/' ? '_' : *to;
	return written;
}

enum signing { WITH_KEY, WITHOUT, WITH_PUBLIC_KEY_AS_SECRET };

/* HEADER.CLAIMS, signed in one of three ways: rightly, not at all, and as the classic confusion of algorithms does. */
static size_t forge(char *token, const char *header, const char *claims, enum signing how)
{
	unsigned char signature[64], public_key[32];
	size_t length = encode(token, header, strlen(header)), signature_length = sizeof signature,
		   public_length = sizeof public_key;
	token[length++] = '.';
	length += encode(token + length, claims, strlen(claims));
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (how == WITH_KEY) {
		cr_assert_eq(EVP_DigestSignInit(context, NULL, NULL, NULL, key), 1);
		cr_assert_eq(EVP_DigestSign(context, signature, &signature_length, (unsigned char *)token, length), 1);
	} else if (how == WITH_PUBLIC_KEY_AS_SECRET) {
		unsigned written = 0;
		cr_assert_eq(EVP_PKEY_get_raw_public_key(key, public_key, &public_length), 1);
		HMAC(EVP_sha256(), public_key, (int)public_length, (unsigned char *)token, length, signature, &written);
		signature_length = written;
	}
	EVP_MD_CTX_free(context);
	token[length++] = '.';
	token[length] = '\0';
	return how == WITHOUT ? length : length + encode(token + length, signature, signature_length);
}

#define HEADER "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}"
#define CLAIMS "{\"jti\":\"j\",\"sub\":\"eve\",\"ten\":\"default\",\"rights\":[\"admin\"]}"

/* The algorithm comes from the key: what the header says is either EdDSA or refused, even where the signature is good. */
Test(token, the_header_cannot_choose_the_algorithm)
{
	static const char *const headers[] = {
		"{\"alg\":\"none\"}",
		"{\"alg\":\"none\",\"typ\":\"JWT\"}",
		"{\"alg\":\"None\",\"typ\":\"JWT\"}",
		"{\"alg\":\"HS256\",\"typ\":\"JWT\"}",
		"{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
		"{\"alg\":\"ES256\",\"typ\":\"JWT\"}",
		"{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"alg\":\"none\"}",
		"{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"jwk\":{}}",
		"{\"alg\":\"EdDSA\",\"kid\":\"../../dev/null\"}",
		"{}",
		"",
	};
	char token[TOKEN_BYTES * 2];
	struct principal read;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		for (enum signing how = WITH_KEY; how <= WITH_PUBLIC_KEY_AS_SECRET; how++) {
			size_t length = forge(token, headers[i], CLAIMS, how);
			cr_expect_not(is_taken(token, length, &read), "%s, signed in way %d", headers[i], how);
		}
	}
	for (enum signing how = WITHOUT; how <= WITH_PUBLIC_KEY_AS_SECRET; how++)
		cr_expect_not(is_taken(token, forge(token, HEADER, CLAIMS, how), &read));
	cr_expect(is_taken(token, forge(token, HEADER, CLAIMS, WITH_KEY), &read), "the forger's tools are good");
	cr_expect(strcmp(read.name, "eve") == 0 && read.rights == RIGHT_ADMIN);
}

/* Rightly signed, but not what this server writes. */
Test(token, wrong_claims_are_refused)
{
	static const char *const refused[] = {
		"",
		"null",
		"[]",
		"\"sub\"",
		"{}",
		"{\"sub\":\"a\",\"ten\":\"t\"}",
		"{\"jti\":\"\",\"sub\":\"a\",\"ten\":\"t\"}",
		"{\"jti\":\"12345678901234567\",\"sub\":\"a\",\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\"}",
		"{\"jti\":\"j\",\"ten\":\"a\"}",
		"{\"jti\":\"j\",\"sub\":\"\",\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"\"}",
		"{\"jti\":\"j\",\"sub\":1,\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":null}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"sub\":\"b\",\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"ten\":\"u\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":1900000000,\"exp\":1900000000}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"rights\":[],\"rights\":[\"admin\"]}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":\"1900000000\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":1900000000.5}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":null}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":-1}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":0}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"exp\":99999999999999999999}",
		"{\"jti\":\"j\",\"sub\":\"a\\u0000b\",\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\"} {}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\"",
		"{\"jti\":\"j\",\"sub\":\"12345678901234567890123456789012345678901234567890123456789012345\",\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"1234567890123456789012345678901234567890123456789012345678901234\"}",
	};
	char token[TOKEN_BYTES * 2];
	struct principal read;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		cr_expect_not(is_taken(token, forge(token, HEADER, refused[i], WITH_KEY), &read), "%s", refused[i]);
	static const char *const without_rights[] = {
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"rights\":\"admin\"}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"rights\":{\"admin\":true}}",
		"{\"jti\":\"j\",\"sub\":\"a\",\"ten\":\"t\",\"rights\":[\"Admin\",\"admin \",7,null,[\"admin\"]]}",
	};
	for (size_t i = 0; i < sizeof without_rights / sizeof *without_rights; i++)
		cr_expect(is_taken(token, forge(token, HEADER, without_rights[i], WITH_KEY), &read) && read.rights == 0, "%s",
		          without_rights[i]);
}

/* One in 64 would: in a command line it would be a flag. */
Test(token, no_id_begins_with_a_dash)
{
	char id[TOKEN_ID_BYTES + 1];
	for (size_t i = 0; i < 4096; i++) {
		token_new_id(id);
		cr_assert(strlen(id) == TOKEN_ID_BYTES && id[0] != '-', "`%s`", id);
	}
}

Test(token, what_is_no_token_is_refused)
{
	static const char *const texts[] = {"",    ".",     "..",   "...",         "a",
	                                    "a.b", "a.b.c", "....", "eyJ.eyJ.eyJ", "\xff.\xff.\xff"};
	struct principal read;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cr_expect_not(is_taken(texts[i], strlen(texts[i]), &read), "`%s`", texts[i]);
	static char large[TOKEN_BYTES * 3];
	for (size_t length = TOKEN_BYTES - 2; length < sizeof large; length += 500) {
		memset(large, 'A', length);
		cr_expect_not(is_taken(large, length, &read));
		large[length / 3] = large[length / 2] = '.';
		cr_expect_not(is_taken(large, length, &read), "%zu characters", length);
	}
}

Test(token, a_principal_that_does_not_fit_is_an_error)
{
	struct principal principal = owner, read;
	struct error err = {0};
	memset(principal.name, '"', sizeof principal.name - 1); /* twice as long in JSON */
	char *token = token_mint(key, &principal, &err);
	cr_assert_not_null(token, "%s", err.message);
	cr_expect(is_taken(token, strlen(token), &read) && strcmp(read.name, principal.name) == 0);
	free(token);
	strcpy(principal.name, "\xff");
	cr_expect_null(token_mint(key, &principal, &err), "a name that is not UTF-8");
	cr_expect_not_null(strstr(err.message, "token"), "%s", err.message);
}
