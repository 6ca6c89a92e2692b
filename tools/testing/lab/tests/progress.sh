#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What is said on a terminal, and in a log, while parts are made.
. "$(dirname "$0")/lib.sh"

cat >"$work/make" <<EOT
CACHE=$work
. tools/testing/lab/lib/progress.sh
progress_of one two
progress_start one
progress_stop
progress_made one 20
progress_start two
progress_stop
progress_line two 5 >>$work/lines
echo >>$work/lines
progress_line two 1000 >>$work/lines
EOT
printf 'one 20\ntwo 40\n' >"$work/took"

python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' bash "$work/make" </dev/null >"$work/terminal"
tr '\r' '\n' <"$work/terminal" >"$work/out"
expect_text "a terminal has a bar, and the time left" '^\[ {24}\] 0 %, one, about 60 s left' "$work/out"
expect_text "which goes on with each part" '^\[#{8} {16}\] 33 %, two, about 40 s left' "$work/out"
expect_text "and within one" '^\[#{10} {14}\] 41 %, two, about 35 s left' "$work/lines"
expect_text "a part that takes longer stands still before its end" '^\[#{23} \] 98 %, two, about 1 s left' "$work/lines"
expect "the bar is wiped out" 2 "$(tr '\r' '\n' <"$work/terminal" | grep -c '^.\[K$')"
printf 'one 20\ntwo 400\n' >"$work/took"
bash "$work/make" >"$work/out" 2>&1
expect "a log has none" "" "$(<"$work/out")"
expect_text "a long time is told in minutes" 'two, about 7 min left' "$work/lines"
expect "what a part took is kept" "one 20" "$(grep one "$work/took")"
exit $bad
