#include "key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <unistd.h>

static int fail(struct error *err, const char *what)
{
	ERR_clear_error();
	return error_set(err, 0, "%s: OpenSSL refused", what);
}

EVP_PKEY *key_generate(struct error *err)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	if (!key)
		fail(err, "make an Ed25519 key");
	return key;
}

EVP_PKEY *key_load(int fd, struct error *err)
{
	char pem[1024];
	ssize_t length = pread(fd, pem, sizeof pem, 0);
	BIO *bio = BIO_new_mem_buf(pem, length > 0 ? (int)length : 0);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
	BIO_free(bio);
	OPENSSL_cleanse(pem, sizeof pem);
	if (key && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519)
		return key;
	EVP_PKEY_free(key);
	fail(err, "read the signing key (an Ed25519 private key in PEM)");
	return NULL;
}

int key_save(const EVP_PKEY *key, int fd, struct error *err)
{
	BIO *bio = BIO_new_fd(fd, BIO_NOCLOSE);
	int ok = bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1;
	BIO_free(bio);
	return ok ? 0 : fail(err, "write the signing key");
}

void key_destroy(EVP_PKEY *key)
{
	EVP_PKEY_free(key);
}
