#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# run-page: the commands of a page are run, and what differs from the page is found.
. "$(dirname "$0")/lib.sh"

# page: runs the page of standard input, with these options
page() {
	cat >"$work/page.rst"
	tools/testing/pages/run-page "$@" "$work/page.rst" >"$work/out" 2>&1
}

# found NAME STATUS PATTERN
found() {
	expect "$1" "$2" "$status"
	expect_text "$1: that is said" "$3" "$work/out"
}

page <<'RST'
.. file: numbers

A file::

    1 one
    2 two

.. run:

::

    $ cat numbers
    1 one
    2 ...
    $ for one in 1 2; do
    > echo $one of two
    > done
    1 of two
    2 of two
    $ value=kept
    $ sleep 60 &

Text between them, and a definition
    .. run:

    ::

        $ seq 20
        1
        ...
        20
        $ echo $value
        kept

.. shown: it is only an example

::

    no command

.. run: status=3

::

    $ true
    $ (exit 3)
RST
expect "what is as the page shows it passes" 0 $?
expect "each command is a point" 8 "$(grep -c '^ok - ' "$work/out")"

# wrong NAME PATTERN: a page with a block of these lines
wrong() {
	{
		printf '.. run:\n\n::\n\n'
		sed 's/^/    /'
	} | page
	status=$?
	found "$1" 1 "$2"
}
wrong "another output" '^# its output is not what the page shows' <<<$'$ echo two\none'
wrong "a line more" 'not what the page shows' <<<$'$ seq 3\n1\n2'
wrong "a line less" 'not what the page shows' <<<$'$ seq 1\n1\n2'
wrong "dots stand for one line" 'not what the page shows' <<<$'$ seq 3\n1\n2...'
wrong "another status" '^# its status is 1; it printed' <<<$'$ false'
wrong "a shell that ends" '^# it has not ended' <<<$'$ exit 1\n$ true'
wrong "the prompt of a guest" 'does not begin with a command' <<<$'# true'
wrong "no command" 'does not begin with a command' <<<$'true'

page --check <<<$'Text::\n\n    $ true'
status=$?
found "a block without a mark" 1 ':3: the block has no mark'
page --check <<<$'.. run:\n\nText'
status=$?
found "a mark without a block" 1 ':1: there is no block behind the mark'
page --check <<<$'.. shown:\n\n::\n\n    x'
status=$?
found "a block that is only shown, without a reason" 1 'does not say why'
rm -rf build/pages/*"${work##*/}"*
exit $bad
