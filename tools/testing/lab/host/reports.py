# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tell a report of the kernel, or of a sanitizer, from the ordinary log."""

import re

# Only lines of the kernel's log count, which begin with a time stamp. The stamp need not begin a
# line of the console, since a program may have written there and not ended its line.
_STAMP = r"\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])? "

_KERNEL = re.compile(_STAMP + r"(?:.*\b)?(?:"
                     # checkers and the kernel's own assertions
                     r"BUG: |WARNING: |KASAN: |KCSAN: |KFENCE: |UBSAN: |"
                     r"Oops: |Oops\[|general protection fault|Kernel panic - not syncing|"
                     r"kernel BUG at |INFO: task .* blocked for more than|"
                     r"INFO: rcu_\w+ .*stall|possible (?:circular|recursive) locking|"
                     r"inconsistent lock state|suspicious RCU usage|"
                     r"list_(?:add|del) corruption|refcount_t: |ODEBUG: |"
                     r"unreferenced object 0x|new suspected memory leaks|"
                     r"scheduling while atomic|scheduling from the idle thread|"
                     r"sleeping function called from invalid|"
                     r"unable to handle (?:kernel|page fault)|Bad page state|"
                     r"Freeing of a module that is in use|soft lockup|hard LOCKUP|"
                     r"stack-protector: |double fault|divide error|invalid opcode:|"
                     # lockdep has met a lock that was not initialised, and has switched itself off
                     r"trying to register non-static key|"
                     # SLUB: "BUG cache (Not tainted): Redzone overwritten"
                     r"BUG .+ \((?:Not t|T)ainted|double free detected|"
                     r"Kernel memory (?:exposure|overwrite) attempt|"
                     # a name, or an object, that is added twice
                     r"cannot create duplicate filename|kobject_add_internal failed for .* with -EEXIST|"
                     r"tried to init an initialized object|"
                     r"debugfs: .*already (?:present|exists)|sysctl duplicate entry|"
                     # an interrupt that is not handled, or a reference that is not dropped
                     r"irq \d+: nobody cared|waiting for \S+ to become free|"
                     r"Busy inodes after unmount|percpu ref \S+ .*<= 0|"
                     # an interrupt or lock context that is left unbalanced
                     r"huh, entered |preempt leak|returned with (?:preemption imbalance|disabled interrupts)|"
                     # the DMA API's checks: a driver's fault, or they have given up
                     r"DMA-API: .*(?:device driver|disabling|exceeded)"
                     r")")

_SANITIZER = re.compile(r"ERROR: (?:Address|Leak|Thread|Memory)Sanitizer|"
                        r"SUMMARY: \w+Sanitizer|runtime error: ")


def without_time(line):
    """A line of the kernel's log as it is when it is logged again."""
    return re.sub(_STAMP, "", line, count=1)


def kernel_report(line):
    return bool(_KERNEL.search(line))


def sanitizer_report(line):
    return bool(_SANITIZER.search(line))
