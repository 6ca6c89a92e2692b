#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# What an administrator allows: control groups, Q_Keys with the top bit, keys of others. And the
# device has all that it announces at the same time.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 19

# in_job COMMAND...: in the group; its output and its refusals go to $LAB_OUT/why
in_job() { in_group rdma-why "$@" >"$LAB_OUT/why" 2>&1; }
allow() { echo "$LAB_DEV hca_handle=$1 hca_object=$2" >$job/rdma.max; }
used() { sed -n "s/^$LAB_DEV \(.*[^ ]\) *$/\1/p" $job/rdma.current; }

rdma_group
is "the controller knows the device" "$LAB_DEV hca_handle=max hca_object=max" "$(sed -n "s/^\($LAB_DEV .*[^ ]\) *$/\1/p" $job/rdma.max)"
ok "within its limits a program works" in_job ibv_devinfo -d "$LAB_DEV"
is "and gives back what it took" "hca_handle=0 hca_object=0" "$(used)"
allow 0 max
in_job ibv_rc_pingpong -d "$LAB_DEV" && rc=0 || rc=$?
is "a context too many is refused" 1 "$rc"
ok "with the reason" grep -F "EAGAIN (Resource temporarily unavailable): the cgroup's limit of hca_handle is reached" "$LAB_OUT/why"
allow 1 2
in_job ibv_rc_pingpong -d "$LAB_DEV" && rc=0 || rc=$?
ok "an object too many is refused, with the reason" grep -F "EAGAIN (Resource temporarily unavailable): CREATE_CQ: hca_object limit of the rdma cgroup is reached" "$LAB_OUT/why"
is "all is given back" "hca_handle=0 hca_object=0" "$(used)"
# Linux 6.12 does not free the limits of a group that is removed, and uses them after free when the device
# is removed, on either core: they have to be lifted first.
allow max max
rmdir $job

# init_qkey QKEY: a user without privilege takes a UD QP to INIT with a Q_Key
cat >"$LAB_OUT/qkey.py" <<'PROGRAM'
import sys
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
import pyverbs.enums as e

ctx = Context(name=sys.argv[1])
pd, cq = PD(ctx), CQ(ctx, 4)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_UD, scq=cq, rcq=cq, cap=QPCap(max_send_wr=1, max_recv_wr=1)))
attr = QPAttr(qp_state=e.IBV_QPS_INIT, port_num=1)
attr.qkey = int(sys.argv[2], 0)
try:
    qp.modify(attr, e.IBV_QP_STATE | e.IBV_QP_PORT | e.IBV_QP_PKEY_INDEX | e.IBV_QP_QKEY)
except Exception as fault:
    sys.exit(1 if "Operation not permitted" in str(fault) else f"another fault: {fault}")
PROGRAM
chmod 755 "$LAB_OUT"
init_qkey() { setpriv --reuid 65534 --regid 65534 --clear-groups python3 -B "$LAB_OUT/qkey.py" "$LAB_DEV" "$1"; }

ok "a Q_Key without the top bit is anybody's" init_qkey 0x11111111
init_qkey 0x80000001 && rc=0 || rc=$?
is "one with it is not" 1 "$rc"
ok "but for root" python3 -B "$LAB_OUT/qkey.py" "$LAB_DEV" 0x80000001
rdma system set privileged-qkey on
ok "unless it is allowed" init_qkey 0x80000001
rdma system set privileged-qkey off

ibv_rc_pingpong -d "$LAB_DEV" -p 18631 >/dev/null &
pid=$!
wait_listen 18631 $pid
ok "root sees the keys of others" sh -c "rdma resource show mr | grep -q rkey"
ok "others do not, but the regions" sh -c "setpriv --reuid 65534 --regid 65534 --clear-groups rdma resource show mr | grep mrlen | grep -vq rkey"
kill $pid

# largest_qp TYPE: a QP with the largest number of requests of the largest size; one request more
# is refused even with the smallest size
cat >"$LAB_OUT/largest_qp.py" <<'PROGRAM'
import sys
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.qp import QP, QPCap, QPInitAttr
import pyverbs.enums as e

ctx = Context(name=sys.argv[1])
has = ctx.query_device()
pd, cq = PD(ctx), CQ(ctx, 4)
want = dict(max_send_wr=has.max_qp_wr, max_recv_wr=has.max_qp_wr, max_send_sge=has.max_sge,
            max_recv_sge=has.max_sge, max_inline_data=512)
def make(**cap):
    init = QPInitAttr(qp_type=getattr(e, "IBV_QPT_" + sys.argv[2]), scq=cq, rcq=cq, cap=QPCap(**cap))
    QP(pd, init)
    return init.cap

def refused(**cap):
    try:
        make(**cap)
    except Exception as fault:
        print(cap, fault)
        return "Invalid argument" in str(fault)

if sys.argv[3] == "more":
    sys.exit(not refused(max_send_wr=has.max_qp_wr + 1, max_recv_wr=1) or
             not refused(max_send_wr=1, max_recv_wr=has.max_qp_wr + 1))
print(want)
cap = make(**want)
sys.exit(any(getattr(cap, name) < value for name, value in want.items()))
PROGRAM
for type in RC UC UD; do
	ok "the largest $type QP that the device says it has" \
		python3 -B "$LAB_OUT/largest_qp.py" "$LAB_DEV" $type whole
	ok "and none that is larger" python3 -B "$LAB_OUT/largest_qp.py" "$LAB_DEV" $type more
done
finish
