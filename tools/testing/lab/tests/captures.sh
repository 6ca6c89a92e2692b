#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets on the fabric follow the standard: tshark decodes them, and their CRCs are right.
. "$(dirname "$0")/lib.sh"

"$lab" run --capture --timeout 200 --out "$work/out" tools/testing/lab/demo/capture.sh >"$work/log" 2>&1
expect "messages of each kind pass while they are captured" 0 $?
tools/testing/lab/check-capture "$work/out/capture.pcapng" >"$work/log" 2>&1
expect "each is decoded: $(tr '\n' ';' <"$work/log")" 0 $?
# a capture that lacks a kind
head -c 4096 "$work/out/capture.pcapng" >"$work/out/cut.pcapng"
tools/testing/lab/check-capture "$work/out/cut.pcapng" >"$work/log" 2>&1
expect "a capture cut short is not good enough" 1 $?
exit $bad
