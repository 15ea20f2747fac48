#include "tls.h"

#include "inherit.h"
#include "server/base/log.h"
#include "server/guard/certificate.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES = 2, SUBJECT_BYTES = 256 };

struct tls {
	int news;
	struct certificate *certificate;
	struct ev_loop *loop; /* NULL: not watched */
	ev_io io;
};

/* The descriptors of the two files; false when no whole message came. */
static bool receive_files(int news, int files[FILES])
{
	struct gateway_news told;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FILES * sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {&told, sizeof told};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
	ssize_t got = recvmsg(news, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *header = got == sizeof told ? CMSG_FIRSTHDR(&message) : NULL;
	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(FILES * sizeof(int)))
		return false;
	memcpy(files, CMSG_DATA(header), FILES * sizeof(int));
	return true;
}

/* -1: nothing changed. */
static int take_files(struct tls *tls, const int files[FILES], struct error *err)
{
	struct certificate *certificate = certificate_load(files[0], files[1], err);
	close(files[0]);
	close(files[1]);
	if (!certificate)
		return -1;
	certificate_destroy(tls->certificate);
	tls->certificate = certificate;
	char subject[SUBJECT_BYTES];
	certificate_subject(certificate, subject, sizeof subject);
	bool is_current = certificate_is_current(certificate);
	log_write(is_current ? LOG_INFO : LOG_WARN, NULL,
	          is_current ? "a certificate is used" : "a certificate is used whose time is over or has not begun",
	          LOG_FIELDS(log_text("subject", subject)));
	return 0;
}

struct tls *tls_create(int news, struct error *err)
{
	struct tls *tls = calloc(1, sizeof *tls);
	struct pollfd ready = {.fd = news, .events = POLLIN};
	int files[FILES];
	if (!tls)
		abort();
	tls->news = news;
	while (poll(&ready, 1, -1) < 0 && errno == EINTR)
		continue;
	if (!receive_files(news, files))
		error_set(err, 0, "the keeper did not hand over the files of TLS");
	else if (take_files(tls, files, err) == 0)
		return tls;
	tls_destroy(tls);
	return NULL;
}

void tls_destroy(struct tls *tls)
{
	if (!tls)
		return;
	if (tls->loop)
		ev_io_stop(tls->loop, &tls->io);
	certificate_destroy(tls->certificate);
	free(tls);
}

static void on_news(struct ev_loop *loop, ev_io *io, int events)
{
	(void)events;
	struct tls *tls = io->data;
	int files[FILES];
	struct error err;
	if (!receive_files(io->fd, files))
		ev_io_stop(loop, io); /* the keeper is gone */
	else if (take_files(tls, files, &err) < 0)
		log_write(LOG_ERROR, NULL, "the new certificate cannot be used: the old one stays",
		          LOG_FIELDS(log_text("why", err.message)));
}

void tls_watch(struct tls *tls, struct ev_loop *loop)
{
	tls->loop = loop;
	ev_io_init(&tls->io, on_news, tls->news, EV_READ);
	tls->io.data = tls;
	ev_io_start(loop, &tls->io);
}

/* A context keeps one certificate for each kind of key, and would go on with an old RSA one beside a new one of another
 * kind: so each handshake starts without any. */
static int choose(SSL *ssl, void *user)
{
	const struct tls *tls = user;
	const struct certificate *certificate = tls->certificate;
	SSL_certs_clear(ssl);
	int good = SSL_use_cert_and_key(ssl, certificate->leaf, certificate->key, certificate->chain, 1);
	ERR_clear_error();
	return good;
}

void tls_configure(struct tls *tls, SSL_CTX *context)
{
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_cert_cb(context, choose, tls);
}
