/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A socket whose last close() lasts until its peer has read everything.
 */
#ifndef VHCAD_TESTS_TLINGER_H
#define VHCAD_TESTS_TLINGER_H

struct tlinger {
	int fd;			/* to be sent to another process */
	int peer;
};

/** tlinger_make() - connect the socket, and fill it until it is full */
void tlinger_make(struct tlinger *l);

/** tlinger_give() - close this process's own copy, after one was sent */
void tlinger_give(struct tlinger *l);

/** tlinger_end() - let the close() return */
void tlinger_end(struct tlinger *l);

#endif /* VHCAD_TESTS_TLINGER_H */
