#include "server/guard/key.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Test(key, is_the_same_after_it_was_saved)
{
	struct error err = {0};
	EVP_PKEY *key = key_generate(&err), *other = key_generate(&err);
	int fd = memfd_create("key", MFD_CLOEXEC);
	cr_assert_eq(key_save(key, fd, &err), 0, "%s", err.message);
	lseek(fd, 7, SEEK_SET);
	EVP_PKEY *loaded = key_load(fd, &err);
	cr_assert_not_null(loaded, "%s", err.message);
	cr_expect_eq(EVP_PKEY_eq(key, loaded), 1);
	cr_expect_neq(EVP_PKEY_eq(other, loaded), 1, "no two are the same");
	key_destroy(key);
	key_destroy(other);
	key_destroy(loaded);
	key_destroy(NULL);
	close(fd);
}

static int file_of(const char *text)
{
	int fd = memfd_create("key", MFD_CLOEXEC);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

/* A key file that is not one of ours: an error that says what it should be, never its content. */
Test(key, another_file_is_not_a_key)
{
	static const char *const texts[] = {
		"",
		"secret-canary",
		"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
		"-----BEGIN PRIVATE KEY-----\nsecret-canary\n-----END PRIVATE KEY-----\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct error err = {0};
		int fd = file_of(texts[i]);
		cr_expect_null(key_load(fd, &err), "text %zu", i);
		cr_expect_not_null(strstr(err.message, "Ed25519"), "%s", err.message);
		cr_expect_null(strstr(err.message, "canary"));
		close(fd);
	}
	struct error err = {0};
	cr_expect_null(key_load(-1, &err));
}

Test(key, of_another_algorithm_is_refused)
{
	struct error err = {0};
	EVP_PKEY *curve = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	int fd = memfd_create("key", MFD_CLOEXEC);
	cr_assert_eq(key_save(curve, fd, &err), 0);
	cr_expect_null(key_load(fd, &err));
	key_destroy(curve);
	close(fd);
}

Test(key, what_cannot_be_written_is_an_error)
{
	struct error err = {0};
	EVP_PKEY *key = key_generate(&err);
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	cr_expect_eq(key_save(key, fd, &err), -1);
	cr_expect_not_null(strstr(err.message, "key"), "%s", err.message);
	key_destroy(key);
	close(fd);
}
