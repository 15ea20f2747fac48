#include "fingerprint.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static EVP_MD_CTX *begin(void)
{
	EVP_MD_CTX *digest = EVP_MD_CTX_new();

	if (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)
		abort();
	return digest;
}

static void add(EVP_MD_CTX *digest, const void *data, size_t length)
{
	if (EVP_DigestUpdate(digest, data, length) != 1)
		abort();
}

static void end(EVP_MD_CTX *digest, char text[FINGERPRINT_BYTES])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned length;

	if (EVP_DigestFinal_ex(digest, bytes, &length) != 1)
		abort();
	EVP_MD_CTX_free(digest);
	for (unsigned i = 0; i < length; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", bytes[i]);
}

void fingerprint_of(const void *data, size_t length, char text[FINGERPRINT_BYTES])
{
	EVP_MD_CTX *digest = begin();

	add(digest, data, length);
	end(digest, text);
}

static int compare_lines(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

void fingerprint_of_lines(char *text, size_t length, char fingerprint[FINGERPRINT_BYTES])
{
	size_t count = 0, used = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	char **lines = calloc(count + 1, sizeof(*lines));
	if (!lines)
		abort();
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && used < count;)
		lines[used++] = line;
	qsort(lines, used, sizeof(*lines), compare_lines);
	EVP_MD_CTX *digest = begin();
	for (size_t i = 0; i < used; i++) {
		add(digest, lines[i], strlen(lines[i]));
		add(digest, "\n", 1);
	}
	end(digest, fingerprint);
	free(lines);
}
