#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --hca 2 --cpus 2 --core ours --mem 2048 --packages "openmpi-bin python3-mpi4py ucx-utils"
# check: no
# long: --core ours,distro
# Open MPI between two HCAs by UCX, over reliable connections and over datagrams: all that processes exchange
# is compared. UCX's own programs know how fast the port is, and do each of their operations.
. /lab/src/tools/testing/selftests/rdma/lib.sh

here=/lab/src/tools/testing/selftests/rdma
counters=/sys/class/infiniband/$LAB_DEV/ports/1/counters
parts="messages unexpected pieces collectives one_sided"
operations="tag_lat tag_bw tag_sync_lat ucp_put_lat ucp_put_bw ucp_get ucp_add ucp_fadd ucp_swap ucp_cswap
	stream_lat stream_bw ucp_am_lat ucp_am_bw"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# both TRANSPORT COMMAND...: a process of it at each HCA. (One in another guest cannot be had: Debian's Open MPI
# 5.0.7 crashes in the daemon that it starts there.)
# shellcheck disable=SC2016
both()
{
	timeout $((5 * patience)) mpirun -np 2 --mca pml ucx --mca osc ucx -x UCX_TLS="$1,self" \
		sh -c 'UCX_NET_DEVICES=vhca$OMPI_COMM_WORLD_RANK:1 exec "$@"' at "${@:2}"
}

# shown FILE: but for what UCX 1.18 says each time that it flushes by any adapter but mlx5's
shown() { grep -v ' UCX  ERROR .*flush' "$1" | commented; }

# sent: MiB by the port so far
sent() { echo $(($(<"$counters/port_xmit_data") * 4 >> 20)); }

# as_fast: UCX takes the port for as fast as it is, or a tenth less
as_fast()
{
	local rate
	read -r rate _ <"$counters/../rate"
	UCX_NET_DEVICES=$LAB_DEV:1 ucx_info -d | awk -v rate="$rate" -v device="$LAB_DEV:1" '
		/Transport:/ { transport = $3 }
		/Device:/ { here = $3 == device }
		/bandwidth:/ && here { print transport, $3 + $5; n++; if (($3 + $5) * 8.388608 < rate * 900) n = -9 }
		END { exit n != 2 }'
}

# timed FILE OPERATION: UCX has done it, and says how fast it was
timed() { awk -v name="+$2-" '/^\+/ { here = index($0, name) == 1 } here && /^Final:/ { print; n++ } END { exit n != 1 }' "$1"; }

plan $((1 + 2 * (3 + $(wc -w <<<"$parts $operations"))))
for operation in $operations; do
	size=4096
	[[ $operation != ucp_*add && $operation != ucp_*swap ]] || size=8
	echo "$operation -t $operation -s $size -n 500 -w 10"
done >"$LAB_OUT/operations"
ok "UCX knows how fast the port is" as_fast
for transport in rc ud; do
	before=$(sent)
	both $transport python3 $here/mpi.py >"$LAB_OUT/mpi.$transport" 2>&1
	is "$transport: both processes of MPI end well" 0 $?
	shown "$LAB_OUT/mpi.$transport"
	for part in $parts; do
		ok "$transport: $part" grep -qx "right: $part" "$LAB_OUT/mpi.$transport"
	done
	ok "$transport: all of it went by the port" [ $(($(sent) - before)) -ge 30 ]
	both $transport ucx_perftest -b "$LAB_OUT/operations" >"$LAB_OUT/ucx.$transport" 2>&1
	is "$transport: UCX's own program ends well" 0 $?
	shown "$LAB_OUT/ucx.$transport"
	for operation in $operations; do
		ok "$transport: $operation" timed "$LAB_OUT/ucx.$transport" "$operation"
	done
done
finish
