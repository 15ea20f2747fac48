#include "token.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNATURE_BYTES = 64 };

static const char header_json[] = "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}";

static const struct {
	enum right right;
	const char *name;
} rights[] = {
#define RIGHT(name, bit, text, summary) {RIGHT_##name, text},
	RIGHT_TABLE(RIGHT)
#undef RIGHT
};

enum role principal_role(const struct principal *principal)
{
	if (principal->rights & RIGHT_MANAGE)
		return ROLE_OWNER;
	if (principal->rights & RIGHT_RUN)
		return ROLE_EDITOR;
	return principal->rights & RIGHT_READ ? ROLE_VIEWER : ROLE_NONE;
}

uint32_t principal_rights_of(enum role role)
{
	static const uint32_t rights_of[] = {
		[ROLE_NONE] = 0,
		[ROLE_VIEWER] = RIGHT_READ,
		[ROLE_EDITOR] = RIGHT_READ | RIGHT_RUN,
		[ROLE_OWNER] = RIGHT_READ | RIGHT_RUN | RIGHT_MANAGE,
	};
	return rights_of[role];
}

/* base64url without padding (RFC 4648 §5). Returns the length of TO, which is ended by NUL. */
static size_t base64url(char *to, const void *from, size_t length)
{
	size_t written = (size_t)EVP_EncodeBlock((unsigned char *)to, from, (int)length);
	while (written > 0 && to[written - 1] == '=')
		written--;
	to[written] = '\0';
	for (char *at = to; *at; at++)
		*at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
	return written;
}

/* The reverse; TO has room for LENGTH bytes. Returns the number of bytes, or -1. Only the one form that base64url()
 * writes is taken: no white space, which OpenSSL skips, and zeroes in the bits that no byte uses (RFC 4648 §3.5). */
static int unbase64url(uint8_t *to, const char *from, size_t length)
{
	char padded[TOKEN_BYTES + 4], again[TOKEN_BYTES + 8];
	if (length == 0 || length > TOKEN_BYTES || length % 4 == 1)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (from[i] == '+' || from[i] == '/' || from[i] == '=')
			return -1;
		padded[i] = from[i] == '-' ? '+' : from[i] == '_' ? '/' : from[i];
	}
	size_t whole = (length + 3) / 4 * 4;
	memset(padded + length, '=', whole - length);
	int written = EVP_DecodeBlock(to, (unsigned char *)padded, (int)whole) - (int)(whole - length);
	if (written <= 0)
		return -1;
	return base64url(again, to, (size_t)written) == length && memcmp(again, from, length) == 0 ? written : -1;
}

void token_new_id(char id[TOKEN_ID_BYTES + 1])
{
	uint8_t random[TOKEN_ID_BYTES / 4 * 3];
	char text[TOKEN_ID_BYTES + 1];
	do {
		if (RAND_bytes(random, sizeof random) != 1)
			abort();
		base64url(text, random, sizeof random);
	} while (text[0] == '-'); /* in a command line that would be a flag */
	memcpy(id, text, sizeof text);
}

static json_t *claims_of(const struct principal *principal)
{
	char id[TOKEN_ID_BYTES + 1];
	token_new_id(id);
	const char *jti = principal->id[0] ? principal->id : id;
	json_t *names = json_array();
	for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
		if (principal->rights & rights[i].right)
			json_array_append_new(names, json_string(rights[i].name));
	json_t *claims = json_pack("{s:s, s:s, s:o, s:s}", "sub", principal->name, "ten", principal->tenant, "rights",
	                           names, "jti", jti);
	if (claims && principal->expires_s > 0)
		json_object_set_new(claims, "exp", json_integer((json_int_t)principal->expires_s));
	if (claims && principal->session[0])
		json_object_set_new(claims, "ses", json_string(principal->session));
	return claims;
}

char *token_mint(EVP_PKEY *key, const struct principal *principal, struct error *err)
{
	json_t *claims = claims_of(principal);
	char *json = claims ? json_dumps(claims, JSON_COMPACT) : NULL;
	json_decref(claims);
	char *token = calloc(1, TOKEN_BYTES + 1);
	if (!json || !token || strlen(json) > TOKEN_BYTES / 2) {
		free(json);
		free(token);
		error_set(err, 0, "make a token for `%s`", principal->name);
		return NULL;
	}
	size_t length = base64url(token, header_json, sizeof header_json - 1);
	token[length++] = '.';
	length += base64url(token + length, json, strlen(json));
	free(json);
	uint8_t signature[SIGNATURE_BYTES];
	size_t signature_bytes = sizeof signature;
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool signed_ = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
	               EVP_DigestSign(context, signature, &signature_bytes, (uint8_t *)token, length) == 1;
	EVP_MD_CTX_free(context);
	if (!signed_) {
		free(token);
		error_set(err, 0, "sign a token for `%s`", principal->name);
		return NULL;
	}
	token[length++] = '.';
	base64url(token + length, signature, signature_bytes);
	return token;
}

static bool is_signed(EVP_PKEY *key, const char *token, size_t signed_length, const char *signature, size_t length)
{
	uint8_t bytes[TOKEN_BYTES + 4];
	if (unbase64url(bytes, signature, length) != SIGNATURE_BYTES)
		return false;
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool good = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
	            EVP_DigestVerify(context, bytes, SIGNATURE_BYTES, (const uint8_t *)token, signed_length) == 1;
	EVP_MD_CTX_free(context);
	return good;
}

static bool has_our_header(const char *text, size_t length)
{
	char expected[sizeof header_json * 2];
	size_t expected_length = base64url(expected, header_json, sizeof header_json - 1);
	return length == expected_length && memcmp(text, expected, length) == 0;
}

static bool copy_claim(char *to, size_t size, const json_t *claims, const char *name)
{
	const char *text = json_string_value(json_object_get(claims, name));
	if (!text || strlen(text) == 0 || strlen(text) >= size)
		return false;
	memcpy(to, text, strlen(text) + 1);
	return true;
}

static uint32_t rights_of(const json_t *names)
{
	uint32_t mask = 0;
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		for (size_t k = 0; name && k < sizeof rights / sizeof *rights; k++)
			if (strcmp(rights[k].name, name) == 0)
				mask |= rights[k].right;
	}
	return mask;
}

static bool read_claims(const char *text, size_t length, uint64_t now_s, struct principal *principal)
{
	uint8_t bytes[TOKEN_BYTES + 4];
	int decoded = unbase64url(bytes, text, length);
	json_t *claims = decoded > 0 ? json_loadb((char *)bytes, (size_t)decoded, JSON_REJECT_DUPLICATES, NULL) : NULL;
	memset(principal, 0, sizeof *principal);
	const json_t *expires = json_object_get(claims, "exp");
	principal->expires_s = (uint64_t)json_integer_value(expires);
	principal->rights = rights_of(json_object_get(claims, "rights"));
	bool good = copy_claim(principal->id, sizeof principal->id, claims, "jti") &&
	            copy_claim(principal->name, sizeof principal->name, claims, "sub") &&
	            copy_claim(principal->tenant, sizeof principal->tenant, claims, "ten") &&
	            (!json_object_get(claims, "ses") ||
	             copy_claim(principal->session, sizeof principal->session, claims, "ses")) &&
	            (!expires || (json_integer_value(expires) > 0 && principal->expires_s > now_s));
	json_decref(claims);
	return good;
}

bool token_verify(EVP_PKEY *key, const char *token, size_t length, uint64_t now_s, struct principal *principal)
{
	if (length > TOKEN_BYTES)
		return false;
	const char *first = memchr(token, '.', length);
	const char *second = first ? memchr(first + 1, '.', length - (size_t)(first + 1 - token)) : NULL;
	if (!second)
		return false;
	size_t signed_length = (size_t)(second - token);
	return has_our_header(token, (size_t)(first - token)) &&
	       is_signed(key, token, signed_length, second + 1, length - signed_length - 1) &&
	       read_claims(first + 1, (size_t)(second - first - 1), now_s, principal);
}
