/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCAD_TESTS_TCHECK_H
#define VHCAD_TESTS_TCHECK_H

/**
 * t_capcheck() - run vhca-capcheck on a file
 *
 * The program is the one beside $VHCAD_FAST, or that of build/.  Returns its
 * exit status, -1 if it died.
 */
int t_capcheck(const char *file);

#endif /* VHCAD_TESTS_TCHECK_H */
