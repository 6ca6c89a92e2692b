# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make help lists the targets.

TOP	:= $(CURDIR)
LAB	:= tools/testing/lab/lab
KDIR	?=
KERNEL	?= stock

.PHONY: all modules kbuild modules_install uninstall tools deb site lab demo demo-storage shell check check-long \
	check-device lint coverage counts mutants campaign campaigns soak bench bench-device fuzz fuzz-device clean help
all: modules tools

# ---- kernel modules ---------------------------------------------------------
#
# Our include/rdma must be found before the kernel's, and ccflags-y comes too late
# for that: hence NOSTDINC_FLAGS.

KBUILD = $(MAKE) -C $(abspath $(KDIR)) M=$(TOP) CONFIG_INFINIBAND=m \
	CONFIG_INFINIBAND_USER_ACCESS=m CONFIG_INFINIBAND_USER_MAD=m CONFIG_INFINIBAND_USER_MEM=y \
	CONFIG_INFINIBAND_VHCA=m CONFIG_INFINIBAND_IPOIB=m \
	NOSTDINC_FLAGS="-nostdinc -I$(TOP)/include -I$(TOP)/include/uapi"

RELEASE	:= $(if $(KDIR),$(shell cat "$(KDIR)/include/config/kernel.release" 2>/dev/null))
RUNNING	:= $(shell uname -r)
# The kernel's own core, if modules would be installed under it. Ours has a function that it has not.
ifneq ($(filter modules_install,$(MAKECMDGOALS)),)
IN_USE	:= $(if $(INSTALL_MOD_PATH)$(filter-out $(RUNNING),$(RELEASE)),,$(shell \
	grep -qs ' rdma_refuse_for[[:space:]]' /proc/kallsyms || \
	sed -n 's/^\(ib_core\) [0-9]* [0-9]* \([^ ]*\) .*/\1 \2/p' /proc/modules 2>/dev/null | tr , ' ' | sed 's/ *-*$$//'))
endif
# What keeps a target from being made, and what to do.
ifeq ($(KDIR),)
LACKS	= make $@ needs a kernel: make $@ KDIR=/lib/modules/$(RUNNING)/build
else ifeq ($(RELEASE),)
LACKS	= no headers of a kernel are in $(KDIR): apt install linux-headers-$(RUNNING), \
	KDIR=/lib/modules/$(RUNNING)/build
else ifeq ($(filter 6.12.% 6.12-% 7.%,$(RELEASE)),)
LACKS	= the modules are for Linux 6.12 and 7, not for $(RELEASE): name the KDIR of such a kernel
else ifneq ($(IN_USE),)
LACKS	= RDMA modules of the kernel's own are in use ($(IN_USE)): end what uses them, and unload them
endif

ifeq ($(KDIR),)
modules:
	$(LAB) trees ours distro
	@find build/trees/*/modules -name '*.ko' | LC_ALL=C sort
endif

ifneq ($(LACKS),)
modules_install uninstall kbuild $(if $(KDIR),modules):
	$(error $(LACKS))
else
DEPMOD	= depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(RELEASE)
UPDATES = $(INSTALL_MOD_PATH)/lib/modules/$(RELEASE)/updates

# what the package vhca-dkms calls on a host
kbuild:
	+$(KBUILD) modules

modules: kbuild
	tools/testing/lint/own-symbols $(KDIR) .

modules_install: modules
	@# There is no key to sign with, and header packages lack the System.map that
	@# kbuild wants to see before it runs depmod.
	+$(KBUILD) INSTALL_MOD_DIR=updates CONFIG_MODULE_SIG_ALL= modules_install
	$(DEPMOD)
	@echo "The RDMA core of $(RELEASE) is now ours. The distribution's RDMA modules (rdma_rxe, rdma_cm,"
	@echo "IPoIB, ...) do not load on it and must be rebuilt; make uninstall KDIR=$(KDIR) brings theirs back."

uninstall:
	cd $(UPDATES) && rm -rf drivers/infiniband/core drivers/infiniband/hw/vhca drivers/infiniband/ulp/ipoib
	find $(UPDATES) -depth -type d -empty -delete
	$(DEPMOD)
endif

# ---- tools ------------------------------------------------------------------

tools:
	$(LAB) tools

# ---- packages ---------------------------------------------------------------

deb:
	tools/packaging/build

# ---- documentation ----------------------------------------------------------

site:
	tools/site/build

# ---- the lab ----------------------------------------------------------------

lab:
	$(LAB) setup

shell:
	$(LAB) shell

demo:
	tools/testing/lab/demo/run $(KERNEL)

demo-storage:
	tools/testing/lab/demo/run-storage

bench:
	tools/testing/bench/all $(ONLY)

bench-device:
	$(MAKE) -s -C tools/vhcad bench

# SEED=, MESSAGES= and TRACE= reach it by themselves
campaign:
	$(MAKE) -C tools/vhcad campaign $(if $(TRACE),TRACE=$(abspath $(TRACE)))

# MESSAGES= and CAMPAIGNS= reach it by themselves
campaigns:
	$(MAKE) -s -C tools/vhcad campaigns

# ---- tests ------------------------------------------------------------------

check:
	tools/testing/run-checks

# tests that are too long for check
check-long:
	tools/testing/run-checks --long

# the device alone, on this host, without guests, cache and root
check-device:
	$(MAKE) -s -C tools/vhcad check

lint:
	tools/testing/run-checks lint

coverage:
	tools/testing/coverage/run

counts:
	tools/testing/counts/run

# ONLY=word: those whose names contain it
mutants:
	tools/testing/mutants/run $(ONLY)

# three guests for TIME=, amid faults that follow from SEED=: nothing may grow
SOAK = tools/testing/selftests/rdma/soak.sh
soak:
	$(LAB) run $$(sed -n 's/^# long: \(.*\) -- .*/\1/p' $(SOAK)) $(SOAK) $(or $(TIME),1h) $(or $(SEED),1)

# the user API of the kernel modules, in a guest
fuzz:
	tools/testing/fuzz/run $(if $(TIME),--time $(TIME)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)) \
		$(if $(REMOVAL),--removal) $(if $(DEVICE),--device $(DEVICE)) $(if $(COVERED),--lines) \
		$(if $(REFUSALS),--refusals) $(if $(REPLAY),--replay $(REPLAY))

# TIME=seconds a target
fuzz-device:
	$(MAKE) -s -C tools/vhcad fuzz

clean:
	rm -rf build
	$(MAKE) -s -C tools/vhcad clean
	$(MAKE) -s -C tools/provider clean
	$(MAKE) -s -C tools/rdma-why clean
	$(MAKE) -s -C tools/testing/core clean
	find drivers \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name '*.a' -o -name modules.order \) -delete
	rm -f Module.symvers modules.order .Module.symvers.cmd .modules.order.cmd .module-common.o .*.cmd

help:
	@echo 'Modules'
	@echo '  all (default)    modules and tools'
	@echo '  modules          the kernel modules, for the guests of the lab'
	@echo '  modules KDIR=... the same in place, for the kernel built in KDIR'
	@echo '  modules_install KDIR=...  install them below updates/ (INSTALL_MOD_PATH= for another root)'
	@echo '  uninstall KDIR=...        take them away: the distribution'"'"'s modules are used again'
	@echo '  tools            vhcad, vhcactl, the provider libvhca and rdma-why'
	@echo '  deb              Debian packages of all of it, in build/deb (Documentation/admin/packages.rst)'
	@echo '  site             the documentation as HTML, with the kernel API, in build/site/html'
	@echo 'Trying it (as root on Debian 12 or 13; everything needed is fetched and cached)'
	@echo '  lab              make everything that is cached (VHCA_CACHE=, default /var/cache/vhca-lab)'
	@echo '  demo             two guests, real traffic, figures beside those of rdma_rxe; build/demo.html shows it'
	@echo '  demo KERNEL=debug         the same on the debug kernel, under its checkers'
	@echo '  demo-storage     NVMe, NFS, iSER and SRP between two guests, beside rdma_rxe and TCP'
	@echo '  shell            two guests with a prompt each; tools/testing/lab/lab help says more'
	@echo 'Testing'
	@echo '  check            the tests; ends with "N passed, N failed, N skipped"'
	@echo '  check-long       the tests that are too long for check; ends alike'
	@echo '  check-device     the tests of vhcad alone, on this host without QEMU; ends alike'
	@echo '  lint             the static checks alone (rooms, headers, ABI, style ...); CHANGED=1: of what differs from BASE (HEAD)'
	@echo '  coverage         lines that the tests execute: build/coverage/index.html and a summary'
	@echo '  counts           count how much of the kernel and user interfaces of Linux 6.12 is there'
	@echo '  mutants          is each of the known faults caught by its test? (ONLY=word)'
	@echo '  campaign         a million random messages over bad links, host only (SEED=1 MESSAGES=1000000, SWITCHES=3)'
	@echo '  campaigns        30 of 100,000 messages with 1, 2 and 4 threads, under the thread sanitizer, host only'
	@echo '  bench            measurements, all or those of ONLY="WORD..."; build/bench.html shows them'
	@echo '  bench-device     measurements of vhcad alone, on this host without QEMU'
	@echo '                   (both: SCALE=1 for those of very many objects, too)'
	@echo '  soak             three guests, traffic that is compared, faults and churn; nothing may grow (TIME=1h SEED=1)'
	@echo '  fuzz             programs by chance against the user API, in the debug kernel (TIME=10m SEED=N ONLY=interface REMOVAL=1 DEVICE=rxe|siw|ufake REFUSALS=1 COVERED=1);'
	@echo '                   REPLAY=file runs those of a finding again'
	@echo '  fuzz-device      libFuzzer on all that vhcad parses (TIME=60 seconds a target)'
	@echo 'clean              remove all that was built (not the cache)'
	@echo 'To change the code: Documentation/hacking.rst'
