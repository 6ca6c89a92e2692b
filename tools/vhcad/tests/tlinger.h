/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A socket whose last close() lasts until its peer has read everything.
 */
#ifndef VHCAD_TESTS_TLINGER_H
#define VHCAD_TESTS_TLINGER_H

struct tlinger {
	int fd;			/* to be sent to somebody */
	int peer;
};

/** tlinger_make() - connect it, and fill it until nothing more goes in */
void tlinger_make(struct tlinger *l);

/** tlinger_give() - close this process's own copy: another one has been sent on */
void tlinger_give(struct tlinger *l);

/** tlinger_end() - who closes it comes back */
void tlinger_end(struct tlinger *l);

#endif /* VHCAD_TESTS_TLINGER_H */
