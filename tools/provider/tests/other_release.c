// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Built with the installed provider: fails if the provider takes
 * this program for its libibverbs.
 */
#include "fake.h"

int main(void)
{
	return fake_registered() ? 1 : 0;
}
