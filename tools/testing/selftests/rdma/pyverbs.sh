#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --mem 2048
# rdma-core's own tests on one adapter, on our core.
exec /lab/src/tools/testing/selftests/rdma/pyverbs_tap.py "$LAB_DEV" \
	test_device test_pd test_addr test_cq test_cq_events test_cqex test_qp test_srq \
	test_mr test_atomic test_qpex test_relaxed_ordering test_fork
