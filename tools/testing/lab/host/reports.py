# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tell a report of the kernel, or of a sanitizer, from the ordinary log."""

import re

# Only what the kernel itself logs counts: its lines begin with a time stamp.
_STAMP = r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])? "

_KERNEL = re.compile(_STAMP + r"(?:.*\b)?(?:"
                     r"BUG: |BUG kmalloc|WARNING: |KASAN: |KCSAN: |KFENCE: |UBSAN: |"
                     r"Oops: |Oops\[|general protection fault|Kernel panic - not syncing|"
                     r"kernel BUG at |INFO: task .* blocked for more than|"
                     r"INFO: rcu_\w+ .*stall|possible (?:circular|recursive) locking|"
                     r"inconsistent lock state|suspicious RCU usage|"
                     r"list_(?:add|del) corruption|refcount_t: |ODEBUG: |"
                     r"unreferenced object 0x|new suspected memory leaks|"
                     r"scheduling while atomic|sleeping function called from invalid|"
                     r"unable to handle (?:kernel|page fault)|Bad page state|"
                     r"Freeing of a module that is in use|soft lockup|hard LOCKUP|"
                     r"stack-protector: |double fault|divide error|invalid opcode:"
                     r")")

_SANITIZER = re.compile(r"ERROR: (?:Address|Leak|Thread|Memory)Sanitizer|"
                        r"SUMMARY: \w+Sanitizer|runtime error: ")


def kernel_report(line):
    return bool(_KERNEL.search(line))


def sanitizer_report(line):
    return bool(_SANITIZER.search(line))
