/*
 * sandbar-keys STATE: make the signing key and the owner's token in the state directory, at the first start; later see that
 * they are good.
 * sandbar-keys --check-tls CERT KEY: say whether these files can be served.
 * The keeper runs it, so that the keeper itself needs no cryptography.
 */
#include "certificate.h"
#include "key.h"
#include "server/base/plain_file.h"
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

/* A file of mode 0600 that did not exist before. */
static int create_file(int directory, const char *name, struct error *err)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		error_set(err, errno, "create `%s`", name);
	return fd;
}

/* Whatever is found under NAME after a crash is whole: it is written beside and moved into place. */
static int install(int directory, const char *part, const char *name, int fd, struct error *err)
{
	int synced = fsync(fd);
	close(fd);
	if (synced < 0 || renameat(directory, part, directory, name) < 0)
		return error_set(err, errno, "install `%s`", name);
	return 0;
}

static int write_token(struct evp_pkey_st *key, int directory, struct error *err)
{
	static const struct principal owner = {
		.name = "owner", .tenant = "default", .rights = RIGHT_READ | RIGHT_RUN | RIGHT_MANAGE | RIGHT_ADMIN};
	char *token = token_mint(key, &owner, err);
	if (!token)
		return -1;
	unlinkat(directory, "owner.token.part", 0);
	int fd = create_file(directory, "owner.token.part", err);
	bool written = fd >= 0 && dprintf(fd, "%s\n", token) == (int)strlen(token) + 1;
	free(token);
	if (fd >= 0 && !written) {
		close(fd);
		return error_set(err, errno, "write `owner.token`");
	}
	return fd < 0 ? -1 : install(directory, "owner.token.part", "owner.token", fd, err);
}

static int make_keys(int directory, struct error *err)
{
	struct evp_pkey_st *key = key_generate(err);
	unlinkat(directory, "signing.key.part", 0);
	int fd = key ? create_file(directory, "signing.key.part", err) : -1;
	int result = -1;
	/* The key is installed last: as long as it is missing, the first start is done again. */
	if (fd >= 0 && key_save(key, fd, err) == 0 && write_token(key, directory, err) == 0)
		result = install(directory, "signing.key.part", "signing.key", fd, err);
	else if (fd >= 0)
		close(fd);
	key_destroy(key);
	return result;
}

/* One that is missing is made anew; one that is not good was damaged, and is not thrown away unasked. */
static int check_token(struct evp_pkey_st *key, int directory, struct error *err)
{
	char text[TOKEN_BYTES + 2];
	struct principal owner;
	int fd = plain_file_open(directory, "owner.token", O_RDONLY, 0);
	if (fd < 0)
		return errno == ENOENT ? write_token(key, directory, err) : error_set(err, errno, "open `owner.token`");
	ssize_t length = read(fd, text, sizeof text);
	close(fd);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	if (length > 0 && token_verify(key, text, (size_t)length, (uint64_t)time(NULL), &owner))
		return 0;
	return error_set(err, 0,
	                 "`owner.token` is damaged, or belongs to another `signing.key`: remove it, and a new one is made");
}

static int check_keys(int directory, int fd, struct error *err)
{
	struct evp_pkey_st *key = key_load(fd, err);
	if (!key)
		return error_prefix(
			err,
			"`signing.key` is damaged: put it back from a copy; or remove it and `owner.token`, and new ones are made");
	int result = check_token(key, directory, err);
	key_destroy(key);
	return result;
}

static int look_after_keys(const char *state, struct error *err)
{
	int directory = open(state, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory < 0)
		return error_set(err, errno, "open the state directory `%s`", state);
	int key = plain_file_open(directory, "signing.key", O_RDONLY, 0), failed = errno, result;
	if (key >= 0)
		result = check_keys(directory, key, err);
	else
		result = failed == ENOENT ? make_keys(directory, err) : error_set(err, failed, "open `signing.key`");
	if (key >= 0)
		close(key);
	close(directory);
	return result;
}

static int check_tls(const char *cert_path, const char *key_path, struct error *err)
{
	int cert = open(cert_path, O_RDONLY | O_CLOEXEC), key = open(key_path, O_RDONLY | O_CLOEXEC);
	if (cert < 0 || key < 0)
		return error_set(err, errno, "open `%.100s` and `%.100s`", cert_path, key_path);
	struct certificate *certificate = certificate_load(cert, key, err);
	close(cert);
	close(key);
	certificate_destroy(certificate);
	return certificate ? 0 : error_prefix(err, "--tls-cert and --tls-key");
}

int main(int argc, char **argv)
{
	bool is_check = argc == 4 && strcmp(argv[1], "--check-tls") == 0;
	if (argc != 2 && !is_check) {
		fprintf(stderr, "usage: sandbar-keys STATE | --check-tls CERT KEY\n");
		return EXIT_USAGE;
	}
	struct error err = {0};
	if ((is_check ? check_tls(argv[2], argv[3], &err) : look_after_keys(argv[1], &err)) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "sandbar-keys: %s\n", err.message);
	return EXIT_FAILURE;
}
