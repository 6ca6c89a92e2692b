# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of IPoIB's own tests: sourced behind connections.sh. Nodes 1 and 2 are each other's peers;
# $net is the interface, once net_device has found it.
# shellcheck shell=bash disable=SC2034

# whose module it is; the stock one is compiled for our core, and is otherwise as on the distribution's
module=${module:-$LAB_CORE}

[ "$LAB_NODE" = 1 ] && peer=2 || peer=1
peer4=10.78.0.$peer peer6=fd00:78::$peer

carrier() { grep -qs 1 "/sys/class/net/$1/carrier"; }
no_carrier() { grep -q 0 "/sys/class/net/$1/carrier"; }

# put TEXT FILE: one write, whose error is shown
put() { bash -c 'echo "$1" >"$2"' bash "$1" "$2"; }

# mode NAME
mode() { put "$1" "/sys/class/net/$net/mode"; }

mtu() { cat "/sys/class/net/$1/mtu"; }

# stream NAME: 8 MiB by TCP from node 2 to node 1, compared by their checksum
stream()
{
	local pid rc=0 sum=$LAB_OUT/sum.$1
	if [ "$LAB_NODE" = 1 ]; then
		busybox nc -l -p 5001 >/tmp/stream &
		pid=$!
		wait_listen 5001 $pid
		lab-barrier "$1-listens"
		wait $pid
		lab-barrier "$1-sent"
		[ "$(stat -c %s /tmp/stream)" = $((8 << 20)) ] && sha256sum </tmp/stream | diff - "$sum" || rc=1
		return $rc
	fi
	head -c 8M /dev/urandom >/tmp/stream
	sha256sum </tmp/stream >"$sum"
	lab-barrier "$1-listens"
	cat /tmp/stream >"/dev/tcp/$server4/5001" || rc=1
	lab-barrier "$1-sent"
	return $rc
}

# on NODE COMMAND...: there, and the other node waits for it
on()
{
	local rc=0 node=$1
	shift
	[ "$LAB_NODE" != "$node" ] || "$@" || rc=1
	lab-barrier "on-$node"
	return $rc
}

# refused WORDS COMMAND...: it fails, and its output has the words
refused()
{
	local words=$1
	shift
	! "$@" >/tmp/refused 2>&1 && grep -- "$words" /tmp/refused || { cat /tmp/refused; return 1; }
}

# replies: how many replies to pings this guest has received so far
replies()
{
	awk '/^Icmp: In/ { for (i = 2; i <= NF; i++) if ($i == "InEchoReps") at = i; next }
		/^Icmp: / { n += $at } /^Icmp6InEchoReplies / { n += $2 } END { print n }' \
		/proc/net/snmp /proc/net/snmp6
}
answered() { [ "$(replies)" -ge "$1" ] || { echo "$(replies) of $1 replies"; return 1; }; }

# lossless OPTION... ADDRESS: each of ping's requests is answered, once the path is known: until then only a
# few packets may wait. Ping itself waits for the last answers only twice as long as for those before them.
lossless()
{
	local before sent
	reaches "${@: -1}" || return 1
	before=$(replies)
	ping -q -W 20 "$@" >/tmp/ping 2>&1 || true
	cat /tmp/ping
	sent=$(sed -n 's/^\([0-9]*\) packets transmitted.*/\1/p' /tmp/ping)
	[ "${sent:-0}" -gt 0 ] && within answered $((before + sent))
}

# flooded N: N hundred requests. However long the peer is paused, there are never more on their way than it
# has receives.
flooded()
{
	local i
	for ((i = 0; i < $1; i++)); do lossless -f -c 100 "$peer4" || return 1; done
}

# ---- programs ----

# iperf_listens PID: this server listens
iperf_listens() { wait_listen 5201 "$1"; }

# iperf_arrived FILE: by what the program reports there some of what was sent has arrived
iperf_arrived()
{
	python3 - "$1" <<-'PY'
		import json, sys
		with open(sys.argv[1]) as file:
		    end = json.load(file)["end"]
		got = end.get("sum_received") or end["sum"]
		print(got)
		if got["bytes"] == 0 or got.get("lost_packets", 0) >= got.get("packets", 1):
		    sys.exit("nothing has arrived")
	PY
}

# ssh_key: this node has a key, whose public half the others find
ssh_key()
{
	rm -f /tmp/key	# of an earlier run
	ssh-keygen -q -t ed25519 -N '' -f /tmp/key
	cp /tmp/key.pub "$LAB_OUT/key.$LAB_NODE"
}

# sshd_runs: for users who have the key
sshd_runs()
{
	mkdir -p /run/sshd
	rm -f /tmp/host	# of an earlier run
	ssh-keygen -q -t ed25519 -N '' -f /tmp/host
	cat "$LAB_OUT"/key.* >/tmp/authorized
	/usr/sbin/sshd -D -e -f /dev/null -p 2222 -h /tmp/host -o ListenAddress="$own4" -o StrictModes=no \
		-o AuthorizedKeysFile=/tmp/authorized -o Subsystem="sftp internal-sftp" >/tmp/sshd 2>&1 &
	sshd=$!
	wait_listen 2222 $sshd
}

# copied ADDRESS: a file is copied there by ssh and has the same checksum
copied()
{
	local options=(-i /tmp/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes)
	head -c 8M /dev/urandom >/tmp/file
	scp -q -P 2222 "${options[@]}" /tmp/file "root@$1:/tmp/file.$LAB_NODE" &&
		ssh -p 2222 "${options[@]}" "root@$1" sha256sum "</tmp/file.$LAB_NODE" >/tmp/sum &&
		sha256sum </tmp/file | diff - /tmp/sum
}

# leases: dnsmasq serves in node 1, on the child lease
leases()
{
	rm -f /tmp/leases
	ip addr add 10.81.0.1/24 dev lease && ip link set lease up && within carrier lease || return 1
	dnsmasq --port=0 --interface=lease --bind-interfaces --dhcp-authoritative --dhcp-range=10.81.0.10,10.81.0.19 \
		--dhcp-leasefile=/tmp/leases --pid-file=/tmp/dnsmasq.pid --conf-file=/dev/null --user=root
}

# leased: this node has its address on the child from node 1. systemd-networkd names itself as RFC 4390
# wants: by a client identifier, with no hardware address. Where sysfs is read-only it does not wait for
# udev, which no guest has.
leased()
{
	local rc=0 networkd
	mkdir -p /etc/systemd/network /run/systemd
	# what the identifier is made of
	[ -s /etc/machine-id ] || tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
	cat >/etc/systemd/network/lease.network <<-EOT
		[Match]
		Name=lease
		[Network]
		DHCP=ipv4
		LinkLocalAddressing=no
		IPv6AcceptRA=no
	EOT
	unshare --mount sh -c "mount -o remount,bind,ro /sys && exec /usr/lib/systemd/systemd-networkd" \
		>/tmp/networkd 2>&1 &
	networkd=$!
	within says "inet 10\.81\.0\.1[0-9]/" ip addr show dev lease && reaches 10.81.0.1 || {
		rc=1
		tail -n 20 /tmp/networkd
	}
	# It gives the address back.
	kill $networkd
	wait $networkd
	return $rc
}

# named N: N clients have an address, each by an identifier of its own
named()
{
	local clients
	clients=$(sed -nE 's/^[0-9]+ [^ ]* 10\.81\.0\.1. .* (ff:[0-9a-f:]*)$/\1/p' /tmp/leases | sort -u | wc -l)
	[ "$clients" = "$1" ] || { cat /tmp/leases; return 1; }
}

# dhcp CLIENTS: two checks of each node: node 1 gives the others, CLIENTS of them, addresses
dhcp()
{
	ip link add link "$net" name lease type ipoib
	if [ "$LAB_NODE" = 1 ]; then
		ok "dnsmasq" leases
		lab-barrier dnsmasq
		lab-barrier leased
		ok "each client has named itself by RFC 4390's identifier" named "$1"
		kill "$(</tmp/dnsmasq.pid)"
	else
		lab-barrier dnsmasq
		ip link set lease up
		ok "an address by DHCP, which reaches the server" leased
		ok "it is given back" sh -c "! ip addr show dev lease | grep 'inet 10'"
		lab-barrier leased
	fi
	ip link del lease
}

# told WORDS: ip monitor has printed these
told() { within grep -E "$1" /tmp/monitor; }

# monitor_tells: three checks: ip monitor reports what changes in each node; $mtu is the interface's MTU
monitor_tells()
{
	local monitor
	ip monitor link address neigh >/tmp/monitor 2>&1 &
	monitor=$!
	within sleeps $monitor
	ip addr add "10.83.0.$LAB_NODE/24" dev "$net"
	ip link set "$net" mtu 1500
	ip neigh del "$peer4" dev "$net"
	reaches "$peer4" >/dev/null
	ok "ip monitor tells of an address" told "$net .*10\.83\.0\.$LAB_NODE/24"
	ok "of another MTU" told "$net: .* mtu 1500 "
	ok "and of the peer's address" told "$peer4 dev $net lladdr [0-9a-f]{2}(:[0-9a-f]{2}){19}"
	kill $monitor
	ip link set "$net" mtu "$mtu"
	lab-barrier monitored
}

# by_datagrams ADDRESS: the peer is known by an address that says it takes no connections
by_datagrams()
{
	local addr
	reaches "$1" >/dev/null || return 1
	addr=$(ip neigh show "$1" dev "$net" | sed -n 's/.*lladdr \([^ ]*\).*/\1/p')
	ip neigh replace "$1" lladdr "00${addr:2}" dev "$net" nud permanent
}
