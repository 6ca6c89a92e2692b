#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro
# The same requests on the distribution's core: our errnos are those of Linux 6.12.
exec bash /lab/src/tools/testing/selftests/rdma/uverbs_bad_input.sh -n
