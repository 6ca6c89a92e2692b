// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/tlinger.h"

void tlinger_make(struct tlinger *l)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const struct linger hour = { .l_onoff = 1, .l_linger = 3600 };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(sa);
	char some[4096];

	memset(some, 0, sizeof(some));
	assert_int_equal(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&sa, &len), 0);
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(l->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	l->peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(l->peer >= 0);
	close(listener);
	assert_int_equal(setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &hour, sizeof(hour)), 0);
	while (send(l->fd, some, sizeof(some), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	assert_int_equal(errno, EAGAIN);
}

void tlinger_give(struct tlinger *l)
{
	close(l->fd);
}

void tlinger_end(struct tlinger *l)
{
	/* with unread bytes in it: the connection is reset */
	close(l->peer);
}
