#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A run fails unless the daemon and QEMU end with status 0 when they are asked to, and when a
# sanitizer has reported anything. No guest is needed: the session starts and stops the daemon alone.
. "$(dirname "$0")/lib.sh"

make -s -C tools/vhcad build/san/vhcad || exit 1

# ends NAME PROGRAM WHAT: the failures of a session that has started PROGRAM, done WHAT with it (a
# statement; daemon is the process), and stopped it
ends() {
	mkdir -p "$work/out.$1"
	(cd tools/testing/lab/host && python3 -B - "$work/out.$1" "$2" "$3" <<'P'
import argparse
import os
import signal
import sys
import time
from session import Session

folder, program, what = sys.argv[1:]
session = Session(argparse.Namespace(
    cores=["ours"], nodes=1, hcas=[1], ports=1, link="ib", links=["ib"], ethernet=False, subnet="static", irq="msix",
    capture=False, device_arg=[],
    pin=False, confined=False, vhcad=program, vhcactl="", out=folder, run_dir=folder, stage=folder, trees="", cache=""))
session.start_daemon()
daemon = session.daemon


def serve():
    """Does what the session does until an event has happened."""
    for key, _ in session.selector.select(20):
        key.data()


def is_dead():
    os.waitid(os.P_PID, daemon.pid, os.WEXITED | os.WNOWAIT)


def qemu(status, killed=False):
    """Stops the daemon after the guest has reported the end of its script."""
    session.nodes[1].process = argparse.Namespace(returncode=status, poll=lambda: status)
    session.control.send = lambda *_: None
    session.control.request(1, "7 kill 0" if killed else "7 exit 0")
    session.node_ended(session.nodes[1])


exec(what)
session.stop()
session.collect()
print("; ".join(f"{status} {text.partition(': see')[0]}" for status, text in session.failures) or "nothing")
P
	) 2>&1
}

# fake NAME COMMAND: a daemon that runs COMMAND when it is asked to end
fake() {
	printf '#!/bin/bash\ntrap %q TERM\necho ready\nwhile :; do sleep 0.05; done\n' "$2" >"$work/$1"
	chmod +x "$work/$1"
	echo "$work/$1"
}

san=$PWD/tools/vhcad/build/san/vhcad
expect "it ends well" nothing "$(ends well "$(fake well 'exit 0')" pass)"
expect "with a status" "125 vhcad ended with status 3" "$(ends status "$(fake status 'exit 3')" pass)"
# shellcheck disable=SC2016
expect "by a signal" "125 vhcad ended with status -11" "$(ends signal "$(fake signal 'kill -SEGV $$')" pass)"
# shellcheck disable=SC2016
expect "by its own abort" "125 vhcad ended with status -6" "$(ends abort "$(fake abort 'kill -ABRT $$')" pass)"
expect "in mid-run, once" "125 vhcad ended in mid-run with status -9" \
	"$(ends killed "$(fake killed 'exit 0')" 'daemon.kill(); serve()')"
expect "in mid-run though with status 0" "125 vhcad ended in mid-run with status 0" \
	"$(ends early "$(fake early 'exit 0')" 'daemon.terminate(); serve()')"
expect "after the last look" "125 vhcad ended with status -9" \
	"$(ends late "$(fake late 'exit 0')" 'daemon.kill(); is_dead()')"
expect "not at all" "125 vhcad did not end within 1 s of SIGTERM" \
	"$(ends never "$(fake never '')" 'session.daemon_patience = 1')"
expect "QEMU ends well" nothing "$(ends qemu0 "$(fake qemu0 'exit 0')" 'qemu(0)')"
expect "QEMU crashes when all is over" "125 QEMU of node1 ended with status -11 when its script was over" \
	"$(ends qemu11 "$(fake qemu11 'exit 0')" 'qemu(-11)')"
expect "QEMU is killed by lab-end" nothing "$(ends qemu9 "$(fake qemu9 'exit 0')" 'qemu(-9, killed=True)')"

# The real daemon, with the output of a real sanitizer.
expect "vhcad ends well" nothing "$(ends real "$san" pass)"
said=$(ends sanitizer "$san" 'daemon.send_signal(signal.SIGFPE); serve()')
echo "$said" >"$work/said"
expect_text "a report of vhcad's sanitizer is one" '120 sanitizer report of vhcad: .*ERROR: AddressSanitizer: FPE' "$work/said"
exit $bad
