#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Whether KVM works is found by a trial boot; here what is booted is a script.
. "$(dirname "$0")/lib.sh"
qemu=$work/lib64/ld-linux-x86-64.so.2
mkdir "$work/lib64"

# answers NAME STATUS: what the trial with the script of standard input says
answers() {
	{
		echo '#!/bin/bash'
		cat
	} >"$qemu"
	chmod +x "$qemu"
	timeout 80 python3 tools/testing/lab/host/lab-vm.py probe "$work" kernel initramfs
	expect "$1" "$2" $?
}

answers "a kernel that boots" 0 <<'S'
echo "[    0.000000] Linux version"
sleep 1
echo "lab: probe ok"
exec sleep 1000
S
answers "one that ends before it has" 1 <<'S'
echo "[    0.000000] Linux version"
S
answers "one that keeps a processor busy and prints nothing is not waited for" 1 <<'S'
while :; do :; done
S
answers "one that prints may take longer" 0 <<'S'
echo "[    0.000000] Linux version"
until [ "$(cut -d' ' -f14 /proc/$$/stat)" -gt 250 ]; do for ((i = 0; i < 100000; i++)); do :; done; done
echo "lab: probe ok"
S
exit $bad
