#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Which lines of a console and of the daemon's output count as reports.
. "$(dirname "$0")/lib.sh"

judge() { (cd tools/testing/lab/host && python3 -c '
import sys, reports
judge = {"kernel": reports.kernel_report, "sanitizer": reports.sanitizer_report}[sys.argv[1]]
print("report" if judge(sys.argv[2]) else "ordinary")' "$@"); }

while IFS='|' read -r verdict kind line; do
	expect "$kind: $line" "$verdict" "$(judge "$kind" "$line")"
done <<'L'
report|kernel|[   12.345678] BUG: KASAN: slab-use-after-free in vhca_poll+0x10/0x20 [vhca]
report|kernel|[    1.000000] WARNING: CPU: 0 PID: 12 at kernel/foo.c:10 bar+0x1/0x2
report|kernel|[    1.000000][  T123] UBSAN: shift-out-of-bounds in x.c:1:2
report|kernel|[    1.000000] Oops: general protection fault, probably for non-canonical address
report|kernel|[    1.000000] WARNING: possible circular locking dependency detected
report|kernel|[    1.000000] INFO: task modprobe:77 blocked for more than 120 seconds.
report|kernel|[    1.000000] Kernel panic - not syncing: Fatal exception
report|kernel|[    1.000000] refcount_t: underflow; use-after-free.
report|kernel|[    1.000000] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
report|kernel|[    1.000000] INFO: trying to register non-static key.
report|kernel|[    1.000000] BUG vhca_req (Not tainted): Redzone overwritten
report|kernel|[    1.000000] BUG kmalloc-rnd-01-64 (Tainted: G    B      O      ): Object padding overwritten
report|kernel|[    1.000000] BUG fsync cache (Tainted: G           O      ): Objects remaining in fsync cache on __kmem_cache_shutdown()
report|kernel|[    1.000000] sysfs: cannot create duplicate filename '/class/infiniband/vhca0'
report|kernel|[    1.000000] kobject: kobject_add_internal failed for vhca0 with -EEXIST, don't try to register things with the same name in the same directory.
report|kernel|[    1.000000] kobject (00000000a1b2c3d4): tried to init an initialized object, something is seriously wrong.
report|kernel|[    1.000000] debugfs: Directory 'vhca0' with parent 'infiniband' already present!
report|kernel|[    1.000000] irq 24: nobody cared (try booting with the "irqpoll" option)
report|kernel|[    1.000000] unregister_netdevice: waiting for eth1 to become free. Usage count = 2
report|kernel|[    1.000000] usercopy: Kernel memory exposure attempt detected from SLUB object 'kmalloc-64' (offset 60, size 8)!
report|kernel|[    1.000000] initcall vhca_init+0x0/0x10 [vhca] returned with preemption imbalance
report|kernel|[    1.000000] DMA-API: vhca 0000:01:00.0: device driver frees DMA memory with different size
report|kernel|a program's question: [    1.000000] WARNING: CPU: 0 PID: 12 at kernel/foo.c:10 bar+0x1/0x2
report|kernel|25 %<6>[    1.000000][   T12] BUG: KASAN: slab-out-of-bounds in bar+0x1/0x2
ordinary|kernel|[    1.000000] DMA-API: preallocated 65536 debug entries
ordinary|kernel|[    1.000000] DMA-API: debugging enabled by kernel config
ordinary|kernel|[    1.000000] kobject: kobject_add_internal failed for infiniband (error: -12 parent: virtual)
ordinary|kernel|[    1.000000] hrtimer: interrupt took 18077549 ns
ordinary|kernel|[    1.000000] kunit: BUG tracker is no report
ordinary|kernel|BUG vhca_req (Not tainted): said by a program on the console
ordinary|kernel|[    1.000000] vhca 0000:01:00.0: device version 1.0
ordinary|kernel|WARNING: said by a program on the console
ordinary|kernel|[    1.000000] DEBUG: nothing
ordinary|kernel|[    1.000000] vhca: loading out-of-tree module taints kernel.
report|sanitizer|==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1
report|sanitizer|engine/rc.c:10:3: runtime error: left shift of 1 by 31 places
ordinary|sanitizer|12:00:00 ready: 2 adapters
L

# A report is cut out of the console from its first line on, and places in our modules
# get the source lines that the kernel's own faddr2line finds for them.
mkdir -p "$work/src/core"
: >"$work/src/core/ib_core.ko"
cat >"$work/faddr2line" <<'F'
#!/bin/sh
echo "$2:"
echo "$2 at $1-built/drivers/infiniband/core/device/registry.c:62"
F
chmod +x "$work/faddr2line"
cat >"$work/console" <<'C'
[    1.0] ib_registry_insert+0x56/0x3f0 [ib_core]
[    1.8] ------------[ cut here ]------------
[    1.9] refused because
[    2.0] BUG: KASAN: slab-use-after-free in strlen+0x8b/0xa0
[    2.1]  ib_registry_insert+0x56/0x3f0 [ib_core]
[    2.2]  foreign+0x1/0x2 [nfs]
C
printf 'ib_core 4096 0 - Live 0xffffffffc0000000 (O)\n' >"$work/modules"
decoded=$(cd tools/testing/lab/host && python3 - "$work" <<'P'
import sys
import decode
work = sys.argv[1]
decoder = decode.Decoder(f"{work}/src", f"{work}/faddr2line")
with open(f"{work}/console") as file:
    print(*[line.strip() for line in decode.console_report(file, decoder)], sep="|")
with open(f"{work}/modules") as file:
    print(decode.loaded_modules(file.read()))
P
)
expect "the first report, with source lines" "[    1.8] ------------[ cut here ]------------|[    1.9] refused because|[    2.0] BUG: KASAN: slab-use-after-free in strlen+0x8b/0xa0|[    2.1]  ib_registry_insert+0x56/0x3f0 [ib_core]|drivers/infiniband/core/device/registry.c:62|[    2.2]  foreign+0x1/0x2 [nfs]" "$(sed -n 1p <<<"$decoded")"
expect "where modules were loaded" "[(18446744072635809792, 4096, 'ib_core')]" "$(sed -n 2p <<<"$decoded")"
exit $bad
