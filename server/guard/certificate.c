#include "certificate.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes, with *LENGTH; the caller cleanses and frees them. */
static char *read_file(int fd, const char *what, size_t *length, struct error *err)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > CERTIFICATE_FILE_BYTES) {
		error_set(err, 0, "the file of the %s is no regular file of at most %d bytes", what, CERTIFICATE_FILE_BYTES);
		return NULL;
	}
	char *bytes = malloc((size_t)status.st_size + 1);
	if (!bytes)
		abort();
	ssize_t got = pread(fd, bytes, (size_t)status.st_size, 0);
	if (got >= 0) {
		*length = (size_t)got;
		return bytes;
	}
	error_set(err, errno, "read the file of the %s", what);
	free(bytes);
	return NULL;
}

/* Without it, OpenSSL would ask the terminal. */
static int no_passphrase(char *buffer, int size, int is_writing, void *user)
{
	(void)buffer, (void)size, (void)is_writing, (void)user;
	return -1;
}

static int read_chain(struct certificate *certificate, BIO *bio, struct error *err)
{
	certificate->leaf = PEM_read_bio_X509_AUX(bio, NULL, no_passphrase, NULL);
	if (!certificate->leaf)
		return error_set(err, 0, "the file of the certificate does not begin with a certificate in PEM");
	X509 *next;
	while ((next = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)))
		if (!sk_X509_push(certificate->chain, next))
			abort();
	bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
	ERR_clear_error();
	return is_end ? 0 : error_set(err, 0, "the file of the certificate holds a damaged one behind its first");
}

static int read_key(struct certificate *certificate, BIO *bio, struct error *err)
{
	certificate->key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	if (!certificate->key)
		return error_set(err, 0, "the file of the key holds no private key in PEM without a passphrase");
	if (X509_check_private_key(certificate->leaf, certificate->key) != 1)
		return error_set(err, 0, "the key is not that of the certificate");
	return 0;
}

static int read_part(struct certificate *certificate, int fd, const char *what,
                     int (*read_pem)(struct certificate *, BIO *, struct error *), struct error *err)
{
	size_t length;
	char *bytes = read_file(fd, what, &length, err);
	if (!bytes)
		return -1;
	BIO *bio = BIO_new_mem_buf(bytes, (int)length);
	if (!bio)
		abort();
	int result = read_pem(certificate, bio, err);
	BIO_free(bio);
	OPENSSL_cleanse(bytes, length);
	free(bytes);
	return result;
}

struct certificate *certificate_load(int cert_fd, int key_fd, struct error *err)
{
	struct certificate *certificate = calloc(1, sizeof *certificate);
	if (!certificate || !(certificate->chain = sk_X509_new_null()))
		abort();
	bool good = read_part(certificate, cert_fd, "certificate", read_chain, err) == 0 &&
	            read_part(certificate, key_fd, "key", read_key, err) == 0;
	ERR_clear_error();
	if (good)
		return certificate;
	certificate_destroy(certificate);
	return NULL;
}

void certificate_destroy(struct certificate *certificate)
{
	if (!certificate)
		return;
	X509_free(certificate->leaf);
	sk_X509_pop_free(certificate->chain, X509_free);
	EVP_PKEY_free(certificate->key);
	free(certificate);
}

bool certificate_is_current(const struct certificate *certificate)
{
	return X509_cmp_current_time(X509_get0_notBefore(certificate->leaf)) < 0 &&
	       X509_cmp_current_time(X509_get0_notAfter(certificate->leaf)) > 0;
}

void certificate_subject(const struct certificate *certificate, char *text, int size)
{
	text[0] = '\0';
	X509_NAME_oneline(X509_get_subject_name(certificate->leaf), text, size);
}
