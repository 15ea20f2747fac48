/*
 * sha256.h: SHA-256 as FIPS 180-4 has it. The program is static and stands alone, so it has its own.
 */
#ifndef SANDBAR_PROBE_SHA256_H
#define SANDBAR_PROBE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_TEXT = 64 + 1 };

struct sha256 {
	uint32_t state[8];
	uint64_t length; /* bytes so far */
	unsigned char block[SHA256_BLOCK];
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t length);
/* As hexadecimal text. HASH is not to be used any more. */
void sha256_finish(struct sha256 *hash, char text[SHA256_TEXT]);

#endif
