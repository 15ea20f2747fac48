/*
 * request.h: the gateway's requests, one at a time: received, checked against a table, carried out.
 *
 * What is wrong with a request is told by REFUSED with one of these errno:
 *   EMSGSIZE  it is not one struct init_message        EPROTO   its epoch is higher than the last SYNC's
 *   ENOSYS    no such type                             EINVAL   a field, a flag, or the payload's strings
 *   EBADF     a wrong number of descriptors            EMFILE   they did not fit into init's table
 *   ESRCH     the process is not known                 EEXIST   its number is in use
 *   EAGAIN    INIT_PROCESSES are known, or SPARES wait EPERM    the payload is not a sealed memfd
 *   EFBIG     the payload is too large                 ENOTDIR  the directory is not absolute
 *   EBUSY     FORGET of one that has not exited        ECHILD   its tree cannot be found (it is lost, or /proc hides it)
 * One of a lower epoch is ignored.
 */
#ifndef SANDBAR_INIT_REQUEST_H
#define SANDBAR_INIT_REQUEST_H

#include "init.h"

struct request {
	struct init_message message;
	int fds[INIT_MAX_FDS];
	size_t fd_count;
	int wrong; /* an errno: it could not be received whole */
};

enum request_result { REQUEST_RECEIVED, REQUEST_NONE, REQUEST_END };

/* Receive one that waits at CONTROL. What came with it is REQUEST's; finish() closes it. */
enum request_result request_receive(int control, struct request *request);
void request_finish(struct request *request);

/* Carry it out. What it answers, if anything, is owed by INIT afterwards. */
void request_handle(struct init *init, const struct request *request);

#endif
